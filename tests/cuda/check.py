#!/usr/bin/env python3
"""Runs tests/cuda/battery.cu case by case and looks at the zones it recorded.

    check.py BATTERY [CASE...]

Exits with 77 where there is no GPU.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ENVIRONMENT = {
    "trap": {"STROBE_CUDA_POOL": "host"},
    "graphs": {"STROBE_CUDA_CHUNKS": "2048"},
    "forgotten": {"STROBE_CUDA_CHUNKS": "1024"},
    "sampled": {"STROBE_CUDA_SAMPLE": "sm=4,block=2,warp=2"},
}


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def run(battery, case):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "zones.csv"
        environment = dict(os.environ, STROBE_CUDA_LOG=str(log), **ENVIRONMENT.get(case, {}))
        name = "spins" if case == "sampled" else case
        done = subprocess.run([battery, name], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode == 77:
            print("skipped: there is no GPU here")
            sys.exit(77)
        lines = done.stdout.splitlines()
        expect(lines and lines[-1].startswith("{"), f"{case}: no result: {done.stdout}{done.stderr}")
        with open(log, newline="") as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("sm", "begin_ns", "end_ns", "value", "warp", "block_x", "launch", "times"):
            row[key] = int(row[key])
    return json.loads(lines[-1]), rows, lines[:-1], done.stderr


def zones(rows):
    return [row for row in rows if row["kind"] in ("zone", "main", "span")]


def all_there(result, rows):
    expect(result["missed"] == 0, f"{result['missed']} missed")
    told = result["zones"] + result["lost"]
    expect(told == result["expected"], f"{result['expected']} zones, but {result['zones']} told and {result['lost']} lost")
    expect(len(zones(rows)) == result["zones"], f"{len(zones(rows))} rows for {result['zones']} zones")


def nested(rows, slack_ns=500):
    """Zones of a warp lie inside each other or beside each other, but for what clocks are off by: the
    two ends of a zone may have been placed by looks that fitted them anew."""
    warps = defaultdict(list)
    for row in zones(rows):
        if row["kind"] != "span":
            warps[row["launch"], row["block_x"], row["warp"], row["sm"]].append((row["begin_ns"], row["end_ns"], row["name"]))
    worst = 0
    for owner, found in warps.items():
        found.sort(key=lambda zone: (zone[0], -zone[1]))
        stack = []
        for begin, end, name in found:
            while stack and stack[-1] <= begin + slack_ns:
                worst = max(worst, min(stack[-1] - begin, end - begin))
                stack.pop()
            beyond = end - stack[-1] if stack else 0
            # One that begins a little after what it holds; the begin of a long one is less certain.
            late = slack_ns + (end - begin) * 2e-6
            expect(beyond <= slack_ns or begin - found[0][0] <= late, f"{owner}: {name} reaches out of what it lies in by {beyond} ns")
            stack.append(end)
    print(f"    ends and starts of neighbours are out of order by {worst} ns at most")


def durations(rows):
    """Spins take as long as they were told to: 99 % of them to 2 %, or the 150 ns that recording takes
    at most. The rest waited for their instructions or for other warps."""
    off = defaultdict(list)
    spent = defaultdict(list)

    def owner(row):
        return row["launch"], row["block_x"], row["warp"], row["name"]

    for row in sorted(rows, key=lambda row: row["begin_ns"]):
        if row["kind"] == "data":
            spent[owner(row)].append(row["value"])
    for row in sorted(zones(rows), key=lambda row: row["begin_ns"]):
        ns = row["end_ns"] - row["begin_ns"]
        known = re.fullmatch(r"(cycles|ns) (\d+)", row["name"])
        if not known or row["kind"] != "zone":
            continue
        if known[1] == "cycles":
            really = spent[owner(row)].pop(0) * ns / row["value"]
        else:
            really = int(known[2]) + 150  # the zone inside takes some time as well
        off[row["name"]].append((abs(ns - really), max(0.02 * really, 150)))
    for name, found in off.items():
        found.sort()
        distance, most = found[len(found) * 99 // 100]
        expect(distance <= most, f"{name}: 1 % of them are off by more than {distance:.0f} ns")
    return {name: f"{found[len(found) // 2][0]:.0f} ns in the middle, {found[len(found) * 99 // 100][0]:.0f} in 99 %" for name, found in off.items()}


def check_sync(result, rows, lines):
    """Each kernel lies inside the host's launch and wait."""
    main = sorted((row for row in rows if row["kind"] == "main"), key=lambda row: row["begin_ns"])
    expect(len(main) == 1000, f"{len(main)} launches")
    outside = 0
    margin = []
    against_events = []
    for row, line in zip(main, lines):
        before, after, event_ns = map(int, line.split())
        margin.append(min(row["begin_ns"] - before, after - row["end_ns"]))
        outside += margin[-1] < 0
        against_events.append(event_ns - (row["end_ns"] - row["begin_ns"]))
    against_events.sort()
    print(f"    least margin {min(margin)} ns, stated certainty {result['error_ns']} ns; events measure "
          f"{against_events[500]} ns more in the middle, {against_events[10]} to {against_events[-10]} in 98 %")
    expect(outside == 0, f"{outside} of 1000 kernels are not inside their launch")


def check_case(battery, case):
    result, rows, lines, stderr = run(battery, case)
    print(f"  {case}: {result}")
    if case == "trap":
        blocks = result["expected"] // (8 * 29)
        expect(result["zones"] >= result["expected"] - 12 * 8, "zones are missing")
        expect(any(row["name"] == "trapped" for row in rows), "no zone of the kernel that trapped")
        expect("CUDA error" in stderr, "nothing was said")
        print(f"    {result['zones']} of {result['expected']} zones on {blocks} SMs survive")
    elif case == "long":
        expect(result["expected"] >= 15, f"only {result['expected']} of 20 looks found more zones")
        expect(result["lost"] == 0, "lost some")
        nested(rows)
    elif case == "sampled":
        expect(0 < result["zones"] < result["expected"] / 6, "sampling has no effect")
        for row in rows:
            expect(row["sm"] % 4 == 0 and row["block_x"] % 2 == 0 and row["warp"] % 2 == 0, "a wrong warp was recorded")
    else:
        all_there(result, rows)
        if case != "divergent":
            nested(rows)
    if case in ("spins", "streams", "sync"):
        print(f"    off by: {durations(rows)}")
    if case == "forgotten":
        expect(result["lost"] == 0, f"{result['lost']} lost")
    if case == "everything":
        kinds = defaultdict(int)
        for row in rows:
            kinds[row["kind"]] += 1
        warps = result["expected"] // 25 * 8
        expect(kinds["data"] == warps and kinds["event"] == warps and kinds["sum"] == warps, str(dict(kinds)))
        sums = [row for row in rows if row["kind"] == "sum"]
        expect(all(row["times"] == 10 and 10000 <= row["value"] < 13000 for row in sums), "sums are off")
    if case == "sync":
        check_sync(result, rows, lines)


CASES = ["spins", "divergent", "early", "blocks", "graphs", "streams", "forgotten", "long", "everything", "valid",
         "sampled", "sync", "trap"]


def main():
    battery, *cases = sys.argv[1:]
    failed = 0
    for case in cases or CASES:
        try:
            check_case(battery, case)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"  {case}: FAILED: {failure}")
    print(f"{failed} of {len(cases or CASES)} cases failed" if failed else f"all {len(cases or CASES)} cases hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
