#!/usr/bin/env python3
"""Times `strobe report` beside tt-metal's own scripts.

Both read the same invented logs of about two million rows (--ops) in one run; then Strobe alone
reads a device log of 2 GB (--big-bytes). PEER_TT_METAL names a folder with tools/tracy of tt-metal, PEER_TT_METAL_PYTHON
a Python with what the scripts need; without them Strobe is measured alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))
from make_logs import Maker, Run  # noqa: E402  (lies there)

TARGET_RATIO, TARGET_MB_S, TARGET_MEMORY_MB = 50, 300, 200
RUNS = 5
OPS, BIG_BYTES = 1900, 2_000_000_000
# A small process spawns and measures, so that this one's memory does not count.
METER = """
import os, sys, time
start = time.perf_counter()
sink = os.open(os.devnull, os.O_WRONLY)
actions = [(os.POSIX_SPAWN_DUP2, sink, 1), (os.POSIX_SPAWN_DUP2, sink, 2)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss,
      os.waitstatus_to_exitcode(status))
"""


@dataclass
class Cost:
    wall_s: float
    cpu_s: float
    peak_mb: float


def measure(command: Sequence[str], environment: Optional[dict] = None) -> Cost:
    done = subprocess.run(
        [sys.executable, "-c", METER, *command], capture_output=True, text=True, env=environment
    )
    wall, cpu, memory, status = done.stdout.split()
    if status != "0":
        raise SystemExit(f"{' '.join(command)} ended with {status}")
    return Cost(float(wall), float(cpu), int(memory) * 1024 / 1e6)


def best(costs: list[Cost]) -> Cost:
    """The run that was disturbed least; memory is the largest of all."""
    quickest = min(costs, key=lambda cost: cost.wall_s)
    return Cost(quickest.wall_s, min(c.cpu_s for c in costs), max(c.peak_mb for c in costs))


def run_ours(strobe: Path, logs: Path, scratch: Path, runs: int) -> Cost:
    command = [str(strobe), "report", str(logs), "-o", str(scratch), "--no-date", "-q"]
    return best([measure(command) for _ in range(runs)])


def run_peer(python: str, tools: Path, logs: Path) -> Cost:
    environment = dict(os.environ, PYTHONPATH=str(tools), TT_METAL_HOME=str(logs))
    return measure([python, "-m", "tracy.process_ops_logs", "-o", str(logs)], environment)


def write_big_log(source: Path, target: Path, size: int, ops: int) -> None:
    """The same rows over and over, with other ids and times: programs of their own."""
    lines = source.read_text().splitlines(keepends=True)
    head, rows = lines[:2], lines[2:]
    step = ops + 1
    with open(target, "w") as file:
        file.writelines(head)
        round_ = 0
        while file.tell() < size:
            for row in rows:
                fields = row.split(",", 8)
                fields[5] = str(int(fields[5]) + round_ * 10_000_000)
                fields[7] = str(int(fields[7]) + (round_ * step << 10))
                file.write(",".join(fields))
            round_ += 1


def show(label: str, cost: Cost, size: int) -> None:
    print(
        f"{label:<34} {cost.wall_s:8.2f} s wall {cost.cpu_s:8.2f} s CPU "
        f"{size / 1e6 / cost.cpu_s:8.0f} MB/s per core {cost.peak_mb:8.1f} MB"
    )


def verdict(what: str, value: float, target: float, at_least: bool) -> bool:
    reached = value >= target if at_least else value <= target
    print(f"{'reached' if reached else 'MISSED'}: {what} {value:.1f} (target {target})")
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=ROOT / "build/release/bin/strobe")
    parser.add_argument("--ops", type=int, default=OPS, help="1000 rows each (default: %(default)s)")
    parser.add_argument("--big-bytes", type=int, default=BIG_BYTES, help="0: no large log")
    parser.add_argument("--scratch", type=Path, help="where the logs are made (needs 5 GB)")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        logs, out = Path(scratch) / "logs", Path(scratch) / "out"
        Maker(Run(ops=options.ops, cores=64)).write(logs)
        log = logs / ".logs" / "profile_log_device.csv"
        size = log.stat().st_size
        with open(log) as file:
            print(f"{sum(1 for _ in file) - 2} rows, {size / 1e6:.0f} MB")
        ours = run_ours(options.strobe, logs, out, RUNS)
        show("strobe report", ours, size)
        peer = os.environ.get("PEER_TT_METAL")
        if peer:
            python = os.environ.get("PEER_TT_METAL_PYTHON", sys.executable)
            theirs = run_peer(python, Path(peer) / "tools", logs)
            show("process_ops_logs.py", theirs, size)
            results.append(verdict("times quicker", theirs.wall_s / ours.wall_s, TARGET_RATIO, True))
        else:
            print("without the real scripts: PEER_TT_METAL is not set")
        shutil.rmtree(out)
        if options.big_bytes == 0:
            return 0 if all(results) else 1
        big = Path(scratch) / "big"
        (big / ".logs").mkdir(parents=True)
        write_big_log(log, big / ".logs" / log.name, options.big_bytes, options.ops)
        big_size = (big / ".logs" / log.name).stat().st_size
        alone = run_ours(options.strobe, big, out, 2)
        show(f"strobe report, {big_size / 1e9:.1f} GB device log", alone, big_size)
        results.append(verdict("MB/s per core", big_size / 1e6 / alone.cpu_s, TARGET_MB_S, True))
        results.append(verdict("MB of memory", alone.peak_mb, TARGET_MEMORY_MB, False))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
