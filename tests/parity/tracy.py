#!/usr/bin/env python3
"""Compares `strobe export --compat` with real csvexports, line by line, sorted.

usage: tracy.py [--strobe PROGRAM] CSVEXPORT=FILE.tracy ...

Each pair is a csvexport that was built elsewhere and a trace it can read. In every mode the tool
knows, its rows must equal ours. Then the trace is converted to each version and compression we
write; the tool must accept what came out, with rows equal to ours. A tool that refuses a version
(`needs a newer reader`) is reported as such. With the same program several traces may be named.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

MODES = [
    [], ["-e"], ["-u"], ["-u", "-e"], ["-m"], ["-g"], ["-f", "e"], ["-c", "-f", "E"], ["-s", ";"],
    ["-u", "-s", ";"], ["--truncated_mean"], ["-e", "--truncated_mean"], ["-u", "-p"],
    ["-u", "-t", "TT_", "-x", "CompileProgram,HWCommandQueue_write_buffer"],
]  # fmt: skip
CONVERSIONS = [
    ["--tracy-version", "0.11.0"],
    ["--tracy-version", "0.10.0", "--level", "9"],
    ["--tracy-version", "0.11.0", "--compression", "zstd"],
    ["--tracy-version", "0.10.0", "--compression", "zstd", "--level", "19"],
]
TIMEOUT_S = 60


def output_of(command: Sequence[str]) -> Optional[list[bytes]]:
    """Sorted lines, or None where the command fails."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None
    return sorted(done.stdout.splitlines()) if done.returncode == 0 else None


def layouts_of(header: bytes) -> list[str]:
    """Which tools a row per zone may be like."""
    columns = header.split(b",")
    if b"special_parent_text" in columns:
        return ["tt-0.13", "tt"] if b"value" in columns else ["tt-0.10"]
    if b"thread" not in columns:
        return ["tracy-0.9"]
    return ["tracy"] if b"value" in columns else ["tracy-0.11"]


def first_line(command: Sequence[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S)
    return done.stdout.split(b"\n", 1)[0]


def is_made_up(line: bytes) -> bool:
    """Points of the plot of memory use, which the tool makes up if it gets that far in time."""
    return line.startswith(b"Frame,") or line.startswith(b"Memory usage,")


def compare(strobe: str, peer: str, trace: Path, layout: str) -> tuple[int, list[str]]:
    equal, differing = 0, []
    for mode in MODES:
        theirs = output_of([peer, *mode, str(trace)])
        if theirs is None:
            continue  # an option this version does not know
        ours = output_of([strobe, "export", "--compat", "--like", layout, *mode, str(trace)])
        if ours is not None and "-p" in mode:
            ours, theirs = ([x for x in lines if not is_made_up(x)] for lines in (ours, theirs))
        if ours == theirs:
            equal += 1
        else:
            differing.append(" ".join(mode) or "statistics")
    return equal, differing


def check_pair(strobe: str, peer: str, trace: Path, folder: Path) -> bool:
    for layout in layouts_of(first_line([peer, "-u", str(trace)])):
        equal, differing = compare(strobe, peer, trace, layout)
        if not differing:
            break
    print(f"{peer} {trace.name}: {equal} modes equal to --like {layout}", f"DIFFERS in {differing}" if differing else "")
    is_good = not differing and equal > 0
    for options in CONVERSIONS:
        converted = folder / "converted.tracy"
        done = subprocess.run([strobe, "convert", *options, str(trace), str(converted)], capture_output=True)
        if done.returncode not in (0, 3):
            print(f"   {' '.join(options)}: not converted: {done.stderr.decode()}")
            is_good = False
            continue
        if output_of([peer, str(converted)]) is None:
            print(f"   {' '.join(options)}: refused by this version")
            continue
        equal, differing = compare(strobe, peer, converted, layout)
        told = f"DIFFERS in {differing}" if differing else ""
        print(f"   {' '.join(options)}: accepted, {equal} modes equal", told)
        is_good = is_good and not differing
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", default="build/release/bin/strobe", metavar="PROGRAM")
    parser.add_argument("pairs", nargs="+", metavar="CSVEXPORT=FILE")
    options = parser.parse_args()
    is_good = True
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        for pair in options.pairs:
            peer, _, trace = pair.partition("=")
            is_good = check_pair(options.strobe, peer, Path(trace), Path(folder)) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
