#!/usr/bin/env python3
"""Judges `strobe report` against tt-metal's own scripts.

Both read the same logs: invented ones (tests/report/make_logs.py) and, where they are there, the
sets of DATA. With --compat the ops report must be the same byte for byte; without it every cell
that the scripts fill must be the same, except where docs/report.md says that they are wrong.

The scripts are no package: PEER_TT_METAL names a folder with tools/tracy of tt-metal, and
PEER_TT_METAL_PYTHON a Python that has what they need (pandas, loguru, click, pyyaml, seaborn).
Without them the sets of DATA, which hold what the scripts wrote, are compared alone.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "report"))
from make_logs import Maker, Run  # noqa: E402  (lies there)

DATE = re.compile(r"\d{4}(_\d\d){5}|DATE")
SHOWN = 12
# What plain `strobe report` fills or corrects where the scripts do not (docs/report.md).
CORRECTED = {"OP CODE", "ATTRIBUTES"}  # of signposts only
COUNTERS = (
    "FPU_COUNTER SFPU_COUNTER MATH_COUNTER SRCA_WRITE_ACTUAL UNPACK0_BUSY_THREAD0 "
    "SRCB_WRITE_NOT_BLOCKED_PORT UNPACK1_BUSY_THREAD0 PACKER_DEST_READ_AVAILABLE PACKER_BUSY "
    "FPU_INSTRN_AVAILABLE_1 MATH_INSTRN_STARTED MATH_INSTRN_AVAILABLE AVAILABLE_MATH "
    "SRCA_WRITE_AVAILABLE SRCB_WRITE_AVAILABLE THREAD_STALLS_0 WAITING_FOR_SRCA_VALID "
    "DEST_READ_GRANTED_0 L1_0_UNPACKER_0 L1_0_UNPACKER_0_GRANT"
).split()

CASES: dict[str, tuple[Run, list[list[str]]]] = {
    "single device": (Run(ops=12), [[], ["--device-only"]]),
    "many cores": (Run(ops=9, cores=40, clock=1350, seed=7), [[], ["--device-only"]]),
    "eight devices": (Run(ops=12, devices=8, cores=8, seed=2), [[], ["--device-only"]]),
    "trace replay": (Run(ops=10, traced=4, replays=5, seed=3, signposts=True), [[], ["--device-only"]]),
    "trace on eight devices": (Run(ops=8, traced=3, replays=3, devices=8, seed=13), [[]]),
    "dispatch cores": (Run(ops=7, dispatch=True, seed=4), [[]]),
    "sums": (Run(ops=7, sums=True, seed=5), [[], ["--device-only"]]),
    "signposts and children": (Run(ops=8, signposts=True, children=True, fallback=True), [[]]),
    "no op cache": (Run(ops=9, cached=False, seed=6), [[]]),
    "cached ops": (Run(ops=30, seed=8), [[]]),
    "sub-devices and user zones": (Run(ops=8, sub_devices=True, zones=True, seed=9), [[], ["--device-only"]]),
    "ethernet": (Run(ops=6, erisc=True, seed=10), [[], ["--device-only"]]),
    "several dumps": (Run(ops=20, dumps=4, devices=2, seed=11), [[], ["--device-only"]]),
    "odd clock": (Run(ops=40, clock=1337, cores=12, seed=12), [[], ["--device-only"]]),
    "device only": (Run(ops=9, host=False, seed=14), [[]]),
    "analyses": (Run(ops=6, seed=15), [["-a", "device_kernel_duration", "-a", "device_fw_duration"]]),
    "counters": (Run(ops=5, counters=tuple(COUNTERS), seed=16), [[], ["--device-only"]]),
}


@dataclass
class Outcome:
    status: int
    files: dict[str, bytes]  # by name without date
    said: str


# --- running -------------------------------------------------------------------------------------


def collect(folder: Path) -> dict[str, bytes]:
    files = {}
    for path in sorted(folder.rglob("*.csv")):
        files[DATE.sub("DATE", path.name)] = path.read_bytes()
    return files


def run_ours(strobe: Path, logs: Path, options: Sequence[str], compat: bool) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(strobe), "report", str(logs), "-o", scratch, *options]
        command += ["--compat"] if compat else []
        command += [] if "--date" in options else ["--no-date"]
        done = subprocess.run(command, capture_output=True, text=True)
        return Outcome(done.returncode, collect(Path(scratch)), done.stderr)


def run_peer(python: str, tools: Path, logs: Path, options: Sequence[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(logs / ".logs", Path(scratch) / ".logs")
        environment = dict(os.environ, PYTHONPATH=str(tools), TT_METAL_HOME=scratch)
        command = [python, "-m", "tracy.process_ops_logs", "-o", scratch, *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=scratch)
        return Outcome(done.returncode, collect(Path(scratch) / "reports"), done.stderr)


def recorded(folder: Path) -> Outcome:
    return Outcome(int((folder / "rc").read_text()), collect(folder / "tree"), "")


def device_files(folder: Path) -> dict[str, bytes]:
    """What process_device_log.py writes, without the one line that names the log."""
    files = {}
    for name in ("device_stats.txt", "device_analysis_data.json"):
        if (folder / name).is_file():
            lines = (folder / name).read_bytes().splitlines(keepends=True)
            files[name] = b"".join(line for line in lines if b'"deviceInputLog": ' not in line)
    return files


def measure_ours(strobe: Path, logs: Path, options: Sequence[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        setup = [] if "-s" in options else ["-s", "default_setup"]
        command = [str(strobe), "report", str(logs), "-o", scratch, "-q", *options, *setup]
        done = subprocess.run(command, capture_output=True, text=True)
        return Outcome(done.returncode, device_files(Path(scratch) / "output/device"), done.stderr)


def measure_peer(python: str, tools: Path, logs: Path, options: Sequence[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, PYTHONPATH=str(tools), TT_METAL_HOME=scratch,
                           TT_METAL_PROFILER_DIR=scratch)
        log = logs / ".logs" / "profile_log_device.csv"
        command = [python, "-m", "tracy.process_device_log", "-d", str(log), *options,
                   "--no-print-stats", "--no-artifacts"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=scratch)
        return Outcome(done.returncode, device_files(Path(scratch) / "output/device"), done.stderr)


# --- comparing -----------------------------------------------------------------------------------


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def is_same_cell(theirs: str, ours: str) -> bool:
    if theirs == ours:
        return True
    try:
        a, b = float(theirs), float(ours)
    except ValueError:
        return False
    # Means over cores are added up in another order.
    return "." in theirs and (math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b)))


def compare_cells(name: str, theirs: bytes, ours: bytes, compat: bool, counts: Counter) -> Iterator[str]:
    a, b = rows_of(theirs), rows_of(ours)
    if len(a) != len(b):
        yield f"{name}: {len(a)} rows, ours {len(b)}"
    for number, (left, right) in enumerate(zip(a, b)):
        for column, text in left.items():
            if text == "" and not compat:
                continue
            if not compat and left.get("OP TYPE") == "signpost" and column in CORRECTED:
                continue
            counts["cells"] += 1
            if not is_same_cell(text, right.get(column, "(no such column)")):
                counts["different cells"] += 1
                yield f"{name}, row {number}, {column}: {text!r}, ours {right.get(column)!r}"


def compare(theirs: Outcome, ours: Outcome, compat: bool, counts: Counter) -> list[str]:
    found: list[str] = []
    if ours.status != 0:
        found.append(f"exit status {ours.status}: {ours.said.strip()[:200]}")
    for name, data in theirs.files.items():
        if not name.startswith(("ops_perf_results", "per_core_op_to_op_times")):
            continue
        counts["files"] += 1
        if name not in ours.files:
            found.append(f"{name}: not written")
            continue
        if data == ours.files[name]:
            counts["files equal byte for byte"] += 1
        found += compare_cells(name, data, ours.files[name], compat, counts)
    return found


def compare_device(theirs: Outcome, ours: Outcome, counts: Counter) -> list[str]:
    """Byte for byte."""
    found = [] if ours.status == 0 else [f"exit status {ours.status}: {ours.said.strip()[:200]}"]
    for name, data in theirs.files.items():
        counts["files"] += 1
        counts["files equal byte for byte"] += data == ours.files.get(name)
        if data != ours.files.get(name):
            found.append(f"{name}: differs")
    return found


# --- all of it -----------------------------------------------------------------------------------


def report(label: str, found: list[str], counts: Counter) -> None:
    counts["comparisons"] += 1
    counts["identical"] += not found
    print(f"{'ok' if not found else 'DIFFERENT'} {label}")
    for line in found[:SHOWN]:
        print(f"    {line}")


def compare_recorded(strobe: Path, data: Path, counts: Counter) -> None:
    for folder in sorted(data.glob("*/out/*")):
        command = json.loads((folder / "cmd.json").read_text())
        theirs = recorded(folder)
        name = f"{folder.parents[1].name} {' '.join(command[1:])}".strip()
        if command[0] == "dev" and theirs.status == 0:
            theirs.files = device_files(folder / "tree/output/device")
            ours = measure_ours(strobe, folder.parents[1], command[1:])
            report(f"recorded: {name} (device log)", compare_device(theirs, ours, counts), counts)
        if command[0] != "ops" or theirs.status != 0 or name.startswith("err_"):
            continue
        options = command[1:]
        for compat in (True, False):
            ours = run_ours(strobe, folder.parents[1], options, compat)
            report(f"recorded: {name}{' (compat)' if compat else ''}",
                   compare(theirs, ours, compat, counts), counts)


def compare_live(strobe: Path, python: str, tools: Path, data: Optional[Path], counts: Counter) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        sets = []
        for name, (run, variants) in CASES.items():
            logs = Path(scratch) / name.replace(" ", "_")
            Maker(run).write(logs)
            sets += [(name, logs, options) for options in variants]
        for folder in sorted(data.iterdir()) if data else []:
            if (folder / ".logs").is_dir() and not folder.name.startswith("err_"):
                sets.append((folder.name, folder, []))
        for name, logs, options in sets:
            theirs = run_peer(python, tools, logs, options)
            label = f"live: {name} {' '.join(options)}".strip()
            if theirs.status != 0:
                counts["the scripts failed"] += 1
                print(f"skipped {label}: the scripts fail: {theirs.said.strip().splitlines()[-1][:160]}")
                continue
            for compat in (True, False):
                ours = run_ours(strobe, logs, options, compat)
                report(label + (" (compat)" if compat else ""),
                       compare(theirs, ours, compat, counts), counts)


def compare_live_device(strobe: Path, python: str, tools: Path, counts: Counter) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for name, (run, _) in CASES.items():
            logs = Path(scratch) / name.replace(" ", "_")
            Maker(run).write(logs)
            for setup in ("default_setup", "test_custom_cycle_count", "test_dispatch_cores"):
                options = ["-s", setup]
                theirs = measure_peer(python, tools, logs, options)
                label = f"live: {name} {setup} (device log)"
                if theirs.status != 0:
                    counts["the scripts failed"] += 1
                    print(f"skipped {label}: the scripts fail: "
                          f"{theirs.said.strip().splitlines()[-1][:160]}")
                    continue
                ours = measure_ours(strobe, logs, options)
                report(label, compare_device(theirs, ours, counts), counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=ROOT / "build/release/bin/strobe")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data/report")
    options = parser.parse_args()
    counts: Counter = Counter()
    data = options.data if options.data.is_dir() else None
    if data:
        compare_recorded(options.strobe, data, counts)
    else:
        print(f"without recorded sets: {options.data} is not there")
    peer = os.environ.get("PEER_TT_METAL")
    if peer:
        python = os.environ.get("PEER_TT_METAL_PYTHON", sys.executable)
        compare_live(options.strobe, python, Path(peer) / "tools", data, counts)
        compare_live_device(options.strobe, python, Path(peer) / "tools", counts)
    else:
        print("without the real scripts: PEER_TT_METAL is not set")
    print(", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing compared")
    return 0 if counts["comparisons"] == counts["identical"] else 1


if __name__ == "__main__":
    sys.exit(main())
