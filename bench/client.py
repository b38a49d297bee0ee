#!/usr/bin/env python3
"""Measures libstrobe beside Tracy's own client.

PEER_TRACY names the `public` folder of Tracy's sources; without it only ours is measured. One
source, client_load.cpp, is compiled against both. Each figure is the median of several runs that
take turns; ns_per_zone is the median of slices of a thousand zones, which a busy machine disturbs
little, wall_ns_per_zone the whole run. `floor` is two reads of the clock and 32 bytes stored; for
paced zones it is measured in turns with them.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parents[1]
PROTOCOL = "82"
ROW = "{:<58} {:>10} {:>10} {:>7}  {}"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Bench:
    def __init__(self, build: Path, folder: Path, runs: int, zones: int) -> None:
        self.build, self.folder, self.runs, self.zones = build, folder, runs, zones
        self.peer = os.environ.get("PEER_TRACY")
        self.floor = 0.0

    # ---- programs ----

    def compile(self, name: str, *arguments: str) -> None:
        subprocess.run(["c++", "-O2", "-std=c++17", "-w", str(ROOT / "bench/client_load.cpp"), "-o",
                        str(self.folder / name), *arguments, "-lpthread", "-ldl"], check=True)

    def compile_all(self) -> None:
        ours = ["-I" + str(ROOT / "include")]
        library = ["-L" + str(self.build), "-lstrobe", "-Wl,-rpath," + str(self.build)]
        self.compile("plain", *ours)
        self.compile("ours", "-DTRACY_ENABLE", *ours, *library)
        if self.peer:
            theirs = ["-DTRACY_ENABLE", "-DTRACY_NO_SYSTEM_TRACING", "-DTRACY_ONLY_LOCALHOST",
                      "-I" + self.peer, self.peer + "/TracyClient.cpp"]
            self.compile("theirs", *theirs)
            self.compile("theirs_on_demand", "-DTRACY_ON_DEMAND", *theirs)

    def run(self, program: str, *arguments: str, reader: bool = False,
            **variables: str) -> dict[str, float]:
        port = free_port()
        environment = {**os.environ, "TRACY_PORT": str(port), "TRACY_NO_BROADCAST": "1", **variables}
        command = [str(self.folder / program), *arguments] + (["wait"] if reader else [])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        reading = None
        if reader:
            reading = subprocess.Popen([str(self.build / "bin/client_reader"), str(port), PROTOCOL],
                                       stdout=subprocess.PIPE, text=True)
        text = process.communicate(timeout=300)[0]
        if reading is not None:
            text += reading.communicate(timeout=60)[0]
        return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()}

    # ---- figures ----

    def both(self, what: str, unit: str, peer: str, goal: Optional[float], *arguments: str,
             key: str = "ns_per_zone", reader: bool = False, **variables: str) -> None:
        ours, theirs = [], []
        for _ in range(self.runs):
            ours.append(self.run("ours", *arguments, reader=reader, **variables)[key])
            if self.peer and peer:
                theirs.append(self.run(peer, *arguments, reader=reader)[key])
        self.show(what, unit, statistics.median(ours),
                  statistics.median(theirs) if theirs else None, goal)

    @staticmethod
    def show(what: str, unit: str, ours: float, theirs: Optional[float],
             goal: Optional[float]) -> None:
        ratio = f"{ours / theirs:.2f}" if theirs else ""
        note = "" if goal is None or not theirs else ("met" if ours / theirs <= goal else "MISSED")
        print(ROW.format(f"{what} [{unit}]", f"{ours:.2f}", f"{theirs:.2f}" if theirs else "-",
                         ratio, f"at most {goal}: {note}" if note else ""), flush=True)

    def recording(self) -> None:
        count = str(self.zones)
        floors = [self.run("plain", "floor", "5000000")["ns_per_zone"] for _ in range(self.runs)]
        self.floor = min(floors)
        self.show("floor: two clock reads, 32 bytes", "ns", self.floor, None, None)
        self.paced()
        for threads in ("1", "2"):
            for key in ("ns_per_zone", "wall_ns_per_zone"):
                self.both(f"zone, burst, reader, {threads} thread(s), {key}", "ns", "theirs", 0.7,
                          "burst", count, threads, key=key, reader=True)
        for key in ("ns_per_zone", "wall_ns_per_zone"):
            self.both(f"zone, burst, nobody connected, {key}", "ns", "theirs", 0.5, "burst", count,
                      "1", key=key)
        out = str(self.folder / "out.rec")
        self.both("zone, burst, file sink", "ns", "", None, "burst", count, "1", STROBE_OUT=out)
        self.both("zone, on demand, nobody connected", "ns", "theirs_on_demand", 1.0, "burst",
                  "50000000", "1", TRACY_ON_DEMAND="1")

    def paced(self) -> None:
        """Zones at a rate that the reader follows, above the floor measured in turns with them."""
        above: dict[str, list[float]] = {}
        for _ in range(self.runs):
            for program in ["ours"] + (["theirs"] if self.peer else []):
                found = self.run(program, "paced", "2000000", reader=True)
                above.setdefault(program, []).append(found["ns_per_zone"] - found["floor_ns"])
        middle = {program: statistics.median(values) for program, values in above.items()}
        self.show("zone, paced, reader, above the floor (goal 3)", "ns", middle["ours"],
                  middle.get("theirs"), None)

    def wire(self) -> None:
        documents = 40
        figures = {}
        for program in ["ours"] + (["theirs"] if self.peer else []):
            found = self.run(program, "parse", str(documents), reader=True)
            # A zone for each value, container and text, and one for each key.
            figures[program] = found["bytes"] / (documents + 1) / self.zones_per_document()
        self.show("wire, parser", "bytes/zone", figures["ours"], figures.get("theirs"), 1.0)

    @staticmethod
    def zones_per_document() -> int:
        # A row is an object with three keys: a number, a text, and a list of three numbers; a value
        # has a zone of its own and one for what it is.
        rows, keys, values = 2000, 3, 1 + 3 + 3
        return 2 + rows * (keys + 2 * values)

    def slowdown(self) -> None:
        plain = statistics.median(self.run("plain", "parse", "40")["us_per_document"]
                                  for _ in range(self.runs))
        self.show("parser without instrumentation", "us/document", plain, None, None)
        self.both("parser, a zone per function, reader", "us/document", "theirs", 1.0, "parse", "40",
                  key="us_per_document", reader=True)

    def start_and_exit(self) -> None:
        costs: dict[str, list[tuple[float, float]]] = {}
        for _ in range(5 * self.runs):
            for program in ["plain", "ours"] + (["theirs"] if self.peer else []):
                begin = time.monotonic_ns()
                text = subprocess.run([str(self.folder / program), "idle"], check=True, text=True,
                                      capture_output=True,
                                      env={**os.environ, "TRACY_PORT": str(free_port())}).stdout
                end = time.monotonic_ns()
                in_main = float(text.split()[1])
                costs.setdefault(program, []).append(((in_main - begin) / 1e6, (end - in_main) / 1e6))
        middle = {name: [statistics.median(column) for column in zip(*rows)]
                  for name, rows in costs.items()}
        for index, (what, goal) in enumerate((("start, added", 2.0), ("exit, added", 5.0))):
            added = {name: row[index] - middle["plain"][index] for name, row in middle.items()}
            self.show(f"{what} (goal {goal} ms)", "ms", added["ours"], added.get("theirs"), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--zones", type=int, default=10_000_000, help="of a burst")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-bench-") as folder:
        bench = Bench(options.build.resolve(), Path(folder), options.runs, options.zones)
        if not bench.peer:
            print("PEER_TRACY is not set: libstrobe alone", file=sys.stderr)
        bench.compile_all()
        print(ROW.format("", "strobe", "tracy", "ratio", ""))
        bench.recording()
        bench.wire()
        bench.slowdown()
        bench.start_and_exit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
