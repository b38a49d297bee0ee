#!/usr/bin/env python3
"""Runs the examples on a GPU that is made of software (tests/cuda/ptx), from NVRTC to the ops report
and the recording.

    ptx_examples.py PROGRAMS DRIVER_FOLDER CACHE

They check their results themselves. Exits with 77 where the compiler cannot be had.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from ptx_zones import prepare

OPS = {"cuda_ops": 11, "cuda_tiny_gpt": 1 + 2 * 18}
ARGUMENTS = {"cuda_tiny_gpt": ["-l", "1", "-w", "32", "-n", "16", "-s", "2"]}


def fail(why):
    sys.exit(f"FAILED: {why}")


def run(command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode != 0 or "WRONG" in done.stdout or "ptx:" in done.stderr:
        fail(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def check_softmax(programs, folder):
    said = run([programs / "cuda_softmax"], folder)
    found = re.search(r"off by (\S+); (\d+) zones, (\d+) lost", said)
    if not found or float(found[1]) > 1e-6:
        fail(said)
    # A main zone, and five inside it, in each warp of each block of each launch.
    expected = 20 * 2048 * 8 * 6
    if int(found[2]) + int(found[3]) != expected:
        fail(f"{expected} zones are expected: {said}")
    print(said.strip())


def check_report(programs, name):
    with tempfile.TemporaryDirectory() as folder:
        said = run([programs / "strobe", "run", "-r", programs / name, *ARGUMENTS.get(name, [])], folder)
        reports = list(Path(folder).glob("**/ops_perf_results*.csv"))
        if len(reports) != 1:
            fail(f"{name}: there is no report: {said}")
        with open(reports[0], newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["OP TYPE"] == "tt_dnn_device"]
    measured = [row for row in rows if row["DEVICE KERNEL DURATION [ns]"]]
    if len(measured) != OPS[name]:
        fail(f"{name}: {len(measured)} of {len(rows)} ops are measured, not {OPS[name]}")
    for row in measured:
        if int(row["DEVICE KERNEL DURATION [ns]"]) <= 0 or not 1 <= int(row["CORE COUNT"]) <= 4:
            fail(f"{name}: {row}")
    print(f"{name}: {len(measured)} ops are measured")


def check_recording(programs):
    """All that kernels record, but for sums: 4 blocks of 8 warps, each with these and one span."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STROBE_OUT"] = str(Path(folder) / "everything.rec")
        run([programs / "ptx_battery", "everything"], folder)
        rows = run([programs / "strobe", "export", "--gpu", os.environ.pop("STROBE_OUT")], folder)
    found = Counter(row["name"] for row in csv.DictReader(rows.splitlines()))
    expected = {"everything": 32, "child": 32, "waits": 32, "event 77": 32, "from warp 0 to warp 3": 4}
    expected.update({f"number = {1000 + block}": 8 for block in range(4)})
    if found != expected:
        fail(f"in the recording are {dict(found)}")
    print("zones, values and events are in the recording")


def main():
    programs, folder, cache = sys.argv[1:]
    programs = Path(programs).resolve()
    prepare(folder, cache)
    os.environ["STROBE_DEVICE"] = "cuda"
    check_recording(programs)
    for name in OPS:
        check_report(programs, name)
    with tempfile.TemporaryDirectory() as own:
        check_softmax(programs, own)


if __name__ == "__main__":
    main()
