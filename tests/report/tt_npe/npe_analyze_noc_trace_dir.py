"""What `strobe report --analyze-noc-traces` needs of tt-npe, with figures made of the run ids."""

import re
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional


class OpUID(NamedTuple):
    ttnn_op_id: int
    metal_trace_id: Optional[int]


class Result:
    def __init__(self, number: int) -> None:
        self.number = number
        self.overall_avg_link_util = number * 1.2345
        self.overall_avg_mcast_write_link_util = number / 7
        self.dram_bw_util = number * 3.25

    def getDramBwUtilPerControllerStr(self) -> str:
        return f"c0:{self.number}.5% c1:0.1%"

    def getEthBwUtilPerCoreStr(self) -> str:
        return "(0,1,2):3.4%" if self.number % 2 == 1 else "-"

    def getCongestionImpact(self) -> float:
        return self.number * 0.12345


class Point(NamedTuple):
    result: Result


class Stats(dict):
    def __iter__(self) -> Iterator[Any]:
        return iter(self.items())

    def getDatapointByID(self, run: int, trace: Optional[int], session: Optional[int]) -> Optional[Point]:
        both = None if trace is None else trace << 32 | (session or 0)
        return self.get((OpUID(run >> 10, both), run & 1023))


def analyze_noc_traces_in_dir(noc_trace_dir: str, **_: Any) -> Stats:
    print("tt-npe talks on standard output")
    stats = Stats()
    for path in Path(noc_trace_dir).glob("noc_trace_dev*.json"):
        found = re.search(r"_ID(\d+)(?:_traceID(\d+))?\.json", path.name)
        assert found is not None
        run = int(found[1])
        op = OpUID(run >> 10, int(found[2]) if found[2] else None)
        stats[(op, run & 1023)] = Point(Result((run >> 10) % 97 + 1))
    return stats
