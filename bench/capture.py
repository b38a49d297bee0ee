#!/usr/bin/env python3
"""Recording, beside the real tracy-capture: rate, processor time, memory, wait, size of the file.

  bench/capture.py --bin build/release/bin [--zones 50000000]

One program (tests/streamer) prepares its stream and then sends it as fast as it is taken, to `strobe
capture` and, where PEER_TRACY_CAPTURE names one (0.14, protocol 82), to tracy-capture. Two kinds of
zones: identical ones, and realistic ones (64 source locations, random nesting and times). Strobe is
measured with everything in memory and Zstandard at level 3, as tracy-capture does it, and with its
own defaults, whose memory is bounded. The rate counts from the welcome to the recorder's goodbye,
which it says when it has taken in everything; the wait for the file counts from there. Under the
figures stands which of the goals are met: those are ratios, so that they say something on a busy
machine too.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT_S = 600
BOUND_MIB = 1024  # of the columns; texts and buffers come on top
BUFFERS_MIB = 64

SAME = "strobe, in memory, zstd 3"
DEFAULTS = "strobe, defaults (1 GiB, lz4)"

# What is measured, of which of our runs, and the ratio to the peer's that is the goal.
GOALS = (
    ("Mzones/s", SAME, ">=", 2.0),
    ("ns/zone CPU", SAME, "<=", 0.5),
    ("B/zone memory", SAME, "<=", 0.7),
    ("s to file", SAME, "<=", 0.5),
    ("B/zone file", SAME, "<=", 1.0),
    ("Mzones/s", DEFAULTS, ">=", 2.0),
    ("ns/zone CPU", DEFAULTS, "<=", 0.5),
    ("s to file", DEFAULTS, "<=", 0.5),
)


def measure(recorder, streamer, zones, kind, folder):
    """Runs both and returns what was measured; None if the recorder failed."""
    output = pathlib.Path(folder) / "run.tracy"
    output.unlink(missing_ok=True)
    program = subprocess.Popen([streamer, "--zones", str(zones), kind, "--prepared"],
                               stdout=subprocess.PIPE, text=True)
    port = program.stdout.readline().split()[1]
    recording = subprocess.Popen([*recorder, "-f", "-o", str(output), "-a", "127.0.0.1", "-p", port],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    times = {}
    for line in program.stdout:
        words = line.split()
        times[words[0]] = float(words[-1])
        if words[0] == "closed":
            break
    _, status, usage = os.wait4(recording.pid, 0)
    ended = time.clock_gettime(time.CLOCK_MONOTONIC)
    program.wait(timeout=LIMIT_S)
    if status != 0 or not output.exists():
        return None
    return {
        "Mzones/s": zones / (times["closed"] - times["began"]) / 1e6,
        "ns/zone CPU": (usage.ru_utime + usage.ru_stime) / zones * 1e9,
        "B/zone memory": usage.ru_maxrss * 1024 / zones,
        "MiB peak": usage.ru_maxrss / 1024,
        "s to file": ended - times["closed"],
        "B/zone file": output.stat().st_size / zones,
    }


def show(name, values, peer):
    cells = []
    for key, value in values.items():
        ratio = f" ({value / peer[key]:.2f}x)" if peer else ""
        cells.append(f"{key} {value:.2f}{ratio}")
    print(f"  {name:34} " + ", ".join(cells), flush=True)


def judge(ours, peer):
    for key, name, relation, goal in GOALS:
        if not peer or not ours.get(name):
            continue
        ratio = ours[name][key] / peer[key]
        is_met = round(ratio, 3) >= goal if relation == ">=" else round(ratio, 3) <= goal
        print(f"    {name}: {key} {ratio:.3f}x, goal {relation} {goal}x: "
              + ("met" if is_met else "NOT MET"))
    if ours.get(DEFAULTS):
        peak = ours[DEFAULTS]["MiB peak"]
        is_met = peak <= BOUND_MIB + BUFFERS_MIB
        print(f"    {DEFAULTS}: peak {peak:.0f} MiB, bound {BOUND_MIB} and buffers: "
              + ("met" if is_met else "NOT MET"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--zones", type=int, default=50000000)
    arguments = parser.parse_args()
    binaries = pathlib.Path(arguments.bin).resolve()
    peer = os.environ.get("PEER_TRACY_CAPTURE")
    if not peer:
        print("PEER_TRACY_CAPTURE is not set: Strobe is measured alone", file=sys.stderr)
    load = os.getloadavg()[0]
    print(f"{arguments.zones} zones, {os.cpu_count()} processors, load before {load:.1f}"
          + ("" if load < 0.5 else " (not quiet: times are upper bounds)"))
    strobe = [binaries / "strobe", "capture", "-q"]
    ours = {
        SAME: [*strobe, "--memory", "0", "--compression", "zstd",
               "--level", "3"],
        "strobe, in memory, lz4": [*strobe, "--memory", "0"],
        DEFAULTS: strobe,
    }
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("identical", "realistic"):
            print(kind)
            theirs = None
            measured = {}
            if peer:
                theirs = measure([peer], binaries / "streamer", arguments.zones, kind, folder)
                if theirs:
                    show("tracy-capture", theirs, None)
            for name, recorder in ours.items():
                values = measure(recorder, binaries / "streamer", arguments.zones, kind, folder)
                if values:
                    measured[name] = values
                    show(name, values, theirs)
                else:
                    print(f"  {name}: FAILED")
                    failed = True
            judge(measured, theirs)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
