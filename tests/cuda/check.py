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
    "forgotten": {"STROBE_CUDA_CHUNKS": "1024", "STROBE_CUDA_WAIT": "1"},
    "capture": {"STROBE_CUDA_CHUNKS": "64"},
    "sampled": {"STROBE_CUDA_SAMPLE": "sm=4,block=2,warp=2"},
}
# Cases that run another one's kernels, with other settings.
STAND_INS = {"sampled": "spins"}
CHUNK = 128  # records


class Failure(Exception):
    pass


class Misplaced(Failure):
    """Of zones that are all there, but not at the right time."""


def expect(condition, message, kind=Failure):
    if not condition:
        raise kind(message)


def run(battery, case):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "zones.csv"
        environment = dict(os.environ, STROBE_CUDA_LOG=str(log), **ENVIRONMENT.get(case, {}))
        done = subprocess.run([battery, STAND_INS.get(case, case)], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode == 77:
            print("skipped: there is no GPU here")
            sys.exit(77)
        lines = done.stdout.splitlines()
        expect(lines and lines[-1].startswith("{"), f"{case}: no result: {done.stdout}{done.stderr}")
        rows = []
        if log.exists():
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
            expect(beyond <= slack_ns or begin - found[0][0] <= late, f"{owner}: {name} reaches out of what it lies in by {beyond} ns", Misplaced)
            stack.append(end)
    print(f"    ends and starts of neighbours are out of order by {worst} ns at most")


def durations(rows, is_quiet):
    """Spins take as long as they were told to: to 2 % or 50 ns, which recording takes part of; to 150 ns where all
    warps of an SM record at once."""
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
        # The second kind holds a zone, which takes longer where all record at once.
        if not known or row["kind"] != "zone" or (known[1] == "ns" and not is_quiet):
            continue
        if known[1] == "cycles":
            really = spent[owner(row)].pop(0) * ns / row["value"]
        else:
            really = int(known[2]) + 80  # the zone inside takes some time as well
        off[row["name"]].append((abs(ns - really), max(0.02 * really, 50 if is_quiet else 150)))
    for name, found in off.items():
        found.sort()
        # Few warps, known cycles: nearly all. Else a chunk may run full inside the zone, or instructions are fetched.
        part = 99 if is_quiet and name.startswith("cycles") else 90
        distance, most = found[len(found) * part // 100]
        expect(distance <= most, f"{name}: {100 - part} % are off by more than {distance:.0f} ns")
    return {name: " / ".join(f"{found[len(found) * part // 100][0]:.0f}" for part in (50, 90, 99)) for name, found in off.items()}


def without_trend(x, y):
    """The slope of y over x in millionths, and what is left without it."""
    middle_x = sum(x) / len(x)
    middle_y = sum(y) / len(y)
    slope = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x)
    return slope * 1e6, [b - middle_y - slope * (a - middle_x) for a, b in zip(x, y)]


def check_sync(result, rows, lines):
    """Each kernel lies inside the host's launch and wait, and their ends lie where events have them."""
    main = sorted((row for row in rows if row["kind"] == "main"), key=lambda row: row["begin_ns"])
    expect(len(main) == 1000, f"{len(main)} launches")
    outside = 0
    margin = []
    longer = []
    late = []
    for row, line in zip(main, lines):
        before, after, event_ns, since_first_ns = map(int, line.split())
        margin.append(min(row["begin_ns"] - before, after - row["end_ns"]))
        outside += margin[-1] < 0
        longer.append(event_ns - (row["end_ns"] - row["begin_ns"]))
        late.append(row["end_ns"] - main[0]["end_ns"] - since_first_ns)
    longer.sort()
    # Events tell the GPU's time, which runs a little faster or slower than the host's.
    ppm, late = without_trend([row["end_ns"] - main[0]["end_ns"] for row in main], late)
    scatter = (sorted(late)[-10] - sorted(late)[10]) / 2
    print(f"    least margin {min(margin)} ns, stated certainty {result['error_ns']} ns; events measure {longer[500]} ns "
          f"more; ends scatter by +-{scatter:.0f} ns around those of events in 98 %, at {ppm:+.2f} ppm")
    expect(outside == 0, f"{outside} of 1000 kernels are not inside their launch")
    # Events are told as floats of milliseconds: half a microsecond after some seconds.
    expect(scatter <= result["error_ns"] + 500, f"ends are off by {scatter:.0f} ns, which is more than was stated")


def check_case(battery, case, is_timed=True):
    """is_timed: the GPU runs as fast as one, and spins take as long as they were told to."""
    result, rows, lines, stderr = run(battery, case)
    print(f"  {case}: {result}")
    # Where the GPU's time is not well known, the two ends of a zone may be placed by different lines.
    slack_ns = 500 if is_timed else 500 + 4 * result["error_ns"]
    if case == "trap":
        blocks = result["expected"] // (8 * 29)
        expect(result["zones"] >= result["expected"] - 12 * 8, "zones are missing")
        expect(any(row["name"] == "trapped" for row in rows), "no zone of the kernel that trapped")
        expect("CUDA error" in stderr, "nothing was said")
        print(f"    {result['zones']} of {result['expected']} zones on {blocks} SMs survive")
    elif case == "long":
        expect(result["expected"] >= 15, f"only {result['expected']} of 20 looks found more zones")
        expect(result["lost"] == 0, "lost some")
        turns = defaultdict(int)
        for row in zones(rows):
            turns[row["block_x"], row["warp"]] += row["name"] == "turn"
        expect(min(turns.values()) > CHUNK, f"a warp has recorded {min(turns.values())} zones, which is no more than a chunk")
        # On the GPU made of software a lane of this loop may be left behind for a whole turn of the others.
        if is_timed:
            nested(rows, slack_ns)
    elif case == "constructor":
        told = result["zones"] + result["lost"] + result["missed"]
        expect(told == result["expected"], f"{told} of {result['expected']} zones are told or counted")
        expect(result["zones"] > result["expected"] / 2, "most were missed")
        nested(rows, slack_ns)
    elif case == "sampled":
        expect(0 < result["zones"] < result["expected"] / 6, "sampling has no effect")
        for row in rows:
            expect(row["sm"] % 4 == 0 and row["block_x"] % 2 == 0 and row["warp"] % 2 == 0, "a wrong warp was recorded")
    else:
        all_there(result, rows)
        if case != "divergent":
            nested(rows, slack_ns)
    if is_timed and case in ("spins", "streams", "sync"):
        print(f"    ns that durations are off by, in 50 / 90 / 99 %: {durations(rows, case != 'spins')}")
    if case == "forgotten":
        expect(result["lost"] == 0, f"{result['lost']} lost")
    if case == "everything":
        kinds = defaultdict(int)
        for row in rows:
            kinds[row["kind"]] += 1
        warps = result["expected"] // 25 * 8
        expect(kinds["data"] == warps and kinds["event"] == warps and kinds["sum"] == warps, str(dict(kinds)))
        sums = [row for row in rows if row["kind"] == "sum"]
        expect(all(row["times"] == 10 and row["value"] >= 10000 for row in sums), "sums are off")
        expect(not is_timed or all(row["value"] < 13000 for row in sums), "sums are too long")
    if case == "sync":
        check_sync(result, rows, lines)


CASES = ["spins", "divergent", "early", "blocks", "graphs", "streams", "forgotten", "long", "everything", "valid",
         "sampled", "sync", "constructor", "capture", "reset", "trap"]


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
