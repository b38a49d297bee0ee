#!/usr/bin/env python3
"""Runs compiled kernels on a GPU that is made of software (tests/cuda/ptx) and looks at their zones.

    ptx_zones.py BATTERY DRIVER_FOLDER CACHE [SEED...]

Without seeds: the cases of check.py, by its rules, and some that only such a GPU can do. With seeds:
lanes part and warps take turns at random, each seed otherwise; every path is counted even so. Exits
with 77 where the compiler cannot be had.
"""
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import check
from check import Failure, Misplaced, all_there, check_case, expect, nested, zones
from nvrtc import find_library

CASES = ["spins", "divergent", "early", "blocks", "graphs", "streams", "forgotten", "long", "everything", "valid",
         "sampled", "trap"]
OWN_CASES = ["paths", "alone", "inherited", "small_pool", "sync", "gpus", "outside"]
UNRULY_CASES = ["paths", "early", "small_pool", "alone", "everything", "divergent"]
MISPLACED_MOST_NS = 5_000_000
ZONES_OF_WARP = {"paths": 21, "inherited": 3, "alone": 16}
# Zones that each unruly warp has. Lanes that parted in a loop may come together in different rounds of it, and be one path.
NAMES = {"paths": ["turn", "third", "others", "rest"], "early": ["early"], "everything": ["everything", "child", "waits"],
         "divergent": ["divergent", "left", "left left", "right", "single"]}

check.ENVIRONMENT["small_pool"] = {"STROBE_CUDA_CHUNKS": "16"}
check.STAND_INS["small_pool"] = "paths"
check.ENVIRONMENT["gpus"] = {"STROBE_PTX_GPUS": "2"}
# Paths that get into each other's way take a chunk each.
check.ENVIRONMENT["paths"] = {"STROBE_CUDA_CHUNKS": "4096"}


def counted(result, rows):
    """Each zone and event is told or counted as lost: once for each path that asked which of its lanes are active."""
    told = result["zones"] + result["others"] + result["lost"]
    expect(told == result["paths"], f"{result['paths']} paths, but {told} told and lost")
    expect(result["missed"] == 0, f"{result['missed']} missed")
    expect(len(zones(rows)) == result["zones"], f"{len(zones(rows))} rows for {result['zones']} zones")


def each_warp_has(rows, count, zones_of_warp):
    """Zones belong to the warp that recorded them."""
    found = defaultdict(int)
    for row in zones(rows):
        found[row["launch"], row["block_x"], row["warp"]] += 1
    expect(len(found) == count // zones_of_warp, f"{len(found)} warps, not {count // zones_of_warp}")
    wrong = {owner: times for owner, times in found.items() if times != zones_of_warp}
    expect(not wrong, f"{len(wrong)} warps do not have {zones_of_warp} zones each")


def check_sync(rows, lines):
    """Each kernel lies inside the host's launch and wait, but for what a busy machine keeps threads waiting."""
    main = sorted((row for row in rows if row["kind"] == "main"), key=lambda row: row["begin_ns"])
    expect(len(main) == len(lines), f"{len(main)} launches, not {len(lines)}")
    for row, line in zip(main, lines):
        before, after = map(int, line.split())
        margin = min(row["begin_ns"] - before, after - row["end_ns"])
        expect(margin > -MISPLACED_MOST_NS, f"a kernel is outside of its launch by {-margin} ns")


def check_gpus(rows, lines):
    """The same for each of two GPUs."""
    for gpu in ("0", "1"):
        own = [line.rsplit(" ", 1)[0] for line in lines if line.endswith(f" {gpu}")]
        expect(len(own) == 30, f"{len(own)} launches on GPU {gpu}")
        check_sync([row for row in rows if row["device"] == gpu], own)


def check_own_case(battery, case):
    result, rows, lines, stderr = check.run(battery, case)
    print(f"  {case}: {result}")
    if case == "outside":
        expect("CUDA error 700" in stderr and "ptx: small" in stderr, f"nothing was said: {stderr}")
        return
    expect("ptx" not in stderr, stderr)
    if case in ("paths", "small_pool"):
        counted(result, rows)
    else:
        all_there(result, rows)
        nested(rows, 500 + 4 * result["error_ns"])
    if case == "small_pool":
        expect(result["lost"] > 0, "nothing was lost, so that no loss was counted")
    if case == "paths":
        expect(result["zones"] == result["expected"], f"{result['zones']} zones, not {result['expected']}")
    if case in ZONES_OF_WARP:
        each_warp_has(rows, result["expected"], ZONES_OF_WARP[case])
    if case == "sync":
        check_sync(rows, lines)
    if case == "gpus":
        check_gpus(rows, lines)


def check_unruly(battery, case):
    result, rows, _, stderr = check.run(battery, case)
    print(f"  {case}: {result}")
    expect("ptx" not in stderr, stderr)
    if case in ("paths", "early", "small_pool"):
        counted(result, rows)
    if case == "alone":
        all_there(result, rows)
        nested(rows, 500 + 4 * result["error_ns"])
    expect(all(row["begin_ns"] <= row["end_ns"] for row in rows if row["kind"] != "sum"), "a zone ends before it begins")
    if result["lost"] > 0:
        return
    found = defaultdict(set)
    for row in zones(rows):
        found[row["launch"], row["block_x"], row["warp"]].add(row["name"])
    for owner, names in found.items():
        missing = set(NAMES.get(case, [])) - names
        expect(not missing, f"{owner}: has no zone {missing}")


def prepare(folder, cache):
    """Programs find the driver and the compiler."""
    compiler = Path(find_library(Path(cache))._name)
    os.environ["STROBE_NVRTC"] = str(compiler)
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{compiler.parent}"
    os.environ.pop("STROBE_PTX_UNRULY", None)


def attempt(what, run, *arguments, tries=3):
    """Where many others want to run, the GPU's time is not known well enough to place zones: that is tried again."""
    try:
        run(*arguments)
        return 0
    except Misplaced as failure:
        print(f"  {what}: {failure}")
        if tries > 1:
            return attempt(what, run, *arguments, tries=tries - 1)
    except (Failure, OSError, subprocess.TimeoutExpired) as failure:
        print(f"  {what}: {failure}")
    print(f"  {what}: FAILED")
    return 1


def main():
    battery, folder, cache, *seeds = sys.argv[1:]
    prepare(folder, cache)
    failed = 0
    for case in [] if seeds else CASES:
        failed += attempt(case, check_case, battery, case, False)
    for case in [] if seeds else OWN_CASES:
        failed += attempt(case, check_own_case, battery, case)
    for seed in seeds:
        os.environ["STROBE_PTX_UNRULY"] = seed
        print(f"seed {seed}:")
        for case in UNRULY_CASES:
            failed += attempt(case, check_unruly, battery, case)
    print(f"{failed} cases failed" if failed else "all cases hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
