#!/usr/bin/env python3
"""Times `strobe perf --compat` beside the real tt-perf-report.

For each sample CSV and for a generated one of 200,000 records: median wall time and peak memory of
both programs, as whole commands from a cold process, for the table and for `--csv` with summary
and plot.
"""

from __future__ import annotations

import argparse
import csv
import functools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "parity"))
from peer import DEFAULT_VENV, Peer, Unavailable, prepare  # noqa: E402  (lies there)

BIG_SOURCE = "wh_clip_encoder_2.csv"
BIG_STEM = "generated"
TIME_COLUMNS = ("HOST START TS", "HOST END TS")
OUR_RUNS, PEER_RUNS, PEER_RUNS_BIG = 10, 5, 3
TARGET_RATIO, TARGET_RATIO_BIG, TARGET_MEMORY_BIG = 30, 100, 0.25
TARGET_CSV_GB_S = 1.0
# Signposts would cut some samples down to nothing.
COMMANDS = {"table": ["--ignore-signposts"], "csv": ["--ignore-signposts", "--csv", "out.csv"]}
# ru_maxrss counts kilobytes on Linux and bytes on macOS.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
# A child counts the memory of the process that spawned it into its own peak, and this one is big;
# so a bare interpreter spawns and times what is measured.
METER = """
import os, sys, time
actions = []
for descriptor, name in ((1, "stdout"), (2, "stderr")):
    opened = os.open(name, os.O_WRONLY | os.O_CREAT)
    actions.append((os.POSIX_SPAWN_DUP2, opened, descriptor))
start = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - start, os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
ROW = "{:<42} {:<6} {:>10} {:>10} {:>8}  {:>11} {:>11}  {}"


@dataclass(frozen=True)
class Cost:
    wall_s: float
    peak_bytes: int
    is_upper_bound: bool  # the memory is at most this

    def memory(self) -> str:
        return f"{'<=' if self.is_upper_bound else ''}{self.peak_bytes / 1e6:.1f} MB"


class Failed(Exception):
    """A measured program did not end well."""


# --- the big file ----------------------------------------------------------------------------------


def shifted(rows: Sequence[list[str]], columns: Sequence[int], by: int) -> Iterator[list[str]]:
    for row in rows:
        moved = list(row)
        for column in columns:
            if column < len(moved) and moved[column]:
                moved[column] = str(int(moved[column]) + by)
        yield moved


def write_repeated(source: Path, target: Path, count: int) -> None:
    """The records of a file again and again, each round later than the one before."""
    with open(source, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    columns = [header.index(name) for name in TIME_COLUMNS if name in header]
    stamps = [int(row[at]) for row in rows for at in columns if at < len(row) and row[at]]
    round_length = max(stamps) - min(stamps) + 1 if stamps else 0
    part = target.with_suffix(".part")
    with open(part, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for start in range(0, count, len(rows)):
            block = rows[: count - start]
            writer.writerows(shifted(block, columns, start // len(rows) * round_length))
    part.replace(target)


def big_file(sources: Sequence[Path], count: int) -> Path:
    source = next((path for path in sources if path.name == BIG_SOURCE), None)
    source = source or max(sources, key=lambda path: path.stat().st_size)
    target = ROOT / "build" / "bench" / f"{BIG_STEM}-{source.stem}-{count}.csv"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        write_repeated(source, target, count)
    return target


# --- measuring -------------------------------------------------------------------------------------


def run_once(command: Sequence[str], environment: dict[str, str]) -> tuple[float, int]:
    """Wall seconds and peak bytes of a command, its output going to files."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        meter = [sys.executable, "-I", "-S", "-c", METER, *command]
        told = subprocess.run(meter, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True).stdout
        wall_s, status, peak = told.split()
        if int(status) != 0:
            complaint = (Path(folder) / "stderr").read_text(errors="replace")[-500:]
            raise Failed(f"status {int(status)} of {' '.join(command)}\n{complaint}")
    return float(wall_s), int(peak) * RSS_UNIT


@functools.lru_cache(maxsize=None)
def memory_floor() -> int:
    """What the meter tells of a program that needs next to nothing."""
    return run_once([shutil.which("true") or "/bin/true"], dict(os.environ))[1]


def measure(command: Sequence[str], runs: int, environment: dict[str, str]) -> Cost:
    walls, peaks = zip(*(run_once(command, environment) for _ in range(runs)))
    return Cost(statistics.median(walls), max(peaks), max(peaks) <= 1.05 * memory_floor())


def measure_peer(peer: Optional[Peer], args: Sequence[str], runs: int) -> Optional[Cost]:
    if peer is None:
        return None
    try:
        return measure([str(peer.command), *args], runs, peer.environment())
    except Failed as reason:
        print(f"the peer failed: {reason}")
        return None


# --- telling ---------------------------------------------------------------------------------------


def verdict(ours: Cost, theirs: Optional[Cost], is_big: bool) -> tuple[str, str]:
    """The ratio of the wall times, and whether the targets are met."""
    if theirs is None:
        return "-", "no peer"
    ratio = theirs.wall_s / ours.wall_s
    target = TARGET_RATIO_BIG if is_big else TARGET_RATIO
    text = f"{target}x {'met' if ratio >= target else 'MISSED'}"
    if is_big:
        share = ours.peak_bytes / theirs.peak_bytes
        met = "met" if share <= TARGET_MEMORY_BIG else "MISSED"
        text += f", memory {share:.3f} of the peer's ({TARGET_MEMORY_BIG} {met})"
    return f"{ratio:.1f}x", text


def tell(path: Path, strobe: Path, peer: Optional[Peer], is_big: bool) -> None:
    for name, options in COMMANDS.items():
        args = [str(path.absolute()), *options]
        ours = measure([str(strobe), "perf", "--compat", *args], OUR_RUNS, dict(os.environ))
        theirs = measure_peer(peer, args, PEER_RUNS_BIG if is_big else PEER_RUNS)
        ratio, targets = verdict(ours, theirs, is_big)
        their_wall = f"{theirs.wall_s:.3f} s" if theirs else "-"
        their_memory = theirs.memory() if theirs else "-"
        wall = f"{ours.wall_s * 1e3:.1f} ms"
        print(ROW.format(path.stem, name, their_wall, wall, ratio, their_memory, ours.memory(), targets))
        sys.stdout.flush()


def tell_csv_speed(program: Path, path: Path) -> None:
    """Echoes the line of the parser's own benchmark, beside its target."""
    if not program.is_file():
        print(f"csv: skipped, no program {program.name} beside strobe")
        return
    done = subprocess.run([str(program), str(path)], capture_output=True, text=True)
    line = done.stdout.strip()
    if done.returncode != 0 or not line.startswith("csv: "):
        print(f"csv: {program.name} ended with status {done.returncode}: {line} {done.stderr.strip()}")
        return
    met = "met" if float(line.split()[1]) >= TARGET_CSV_GB_S else "MISSED"
    print(f"{line} (target {TARGET_CSV_GB_S:g} GB/s {met})")


def find_sources(data: Optional[Path]) -> list[Path]:
    """The sample CSVs, else the project's own."""
    found = sorted(data.glob("*.csv")) if data else []
    if not found:
        found = sorted((ROOT / "examples" / "perf").glob("*.csv"))
        print("samples: none given or found, the project's own are used")
    return found


def find_peer(venv: Path) -> Optional[Peer]:
    try:
        peer = prepare(venv)
    except Unavailable as reason:
        print(f"peer skipped: {reason}; ours alone")
        return None
    print(f"peer: {peer.describe()}")
    return peer


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", type=Path, default=Path("build/release/bin/strobe"), metavar="PROGRAM")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of sample CSVs")
    parser.add_argument("--peer-venv", type=Path, default=DEFAULT_VENV, metavar="DIR")
    parser.add_argument("--rows", type=int, default=200_000, help="records of the big file, 0 for none")
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    strobe = options.strobe.absolute()
    sources = find_sources(options.data)
    if not sources:
        print("bench skipped: no CSV to measure with")
        return
    peer = find_peer(options.peer_venv)
    print(f"median wall time, peak memory; {OUR_RUNS} runs of strobe, {PEER_RUNS} of the peer", end="")
    print(f" ({PEER_RUNS_BIG} on the big file)\n")
    print(ROW.format("file", "output", "peer", "strobe", "ratio", "peer mem", "strobe mem", "targets"))
    for path in sources:
        tell(path, strobe, peer, is_big=False)
    if options.rows:
        big = big_file(sources, options.rows)
        tell(big, strobe, peer, is_big=True)
        tell_csv_speed(strobe.parent / "bench_csv", big)


def main() -> int:
    options = parse_options()
    if not options.strobe.is_file():
        sys.exit(f"no program {options.strobe}: build it first")
    try:
        run(options)
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
