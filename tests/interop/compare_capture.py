#!/usr/bin/env python3
"""Records the same program with Strobe and with a real tracy-capture, and compares what the real
tracy-csvexport makes of both traces: zones, texts, messages, plots, device zones; times apart.

  compare_capture.py --strobe build/release/bin/strobe --client DEMO \
      --capture tracy-capture --csvexport tracy-csvexport [--tracy-version 0.10.0] [--port 19100]

The three programs are of one version of Tracy (an older csvexport may need --tracy-version). They
are not part of Strobe. Prints one line per comparison; exits 1 if something differs.
"""
import argparse
import collections
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Options of csvexport, and the columns that carry times, thread numbers or shares.
EXPORTS = {
    "statistics": ([], {"total_ns", "total_perc", "mean_ns", "min_ns", "max_ns", "std_ns"}),
    "zones": (["-u"], {"ns_since_start", "exec_time_ns", "thread"}),
    "messages": (["-m"], {"total_ns"}),
    "plots": (["-u", "-p"], {"ns_since_start", "exec_time_ns", "thread"}),
    "device zones": (["-g"], {"Time from start of program", "GPU execution time"}),
}
LIMIT_S = 60


def record(recorder, client, port, output):
    """Runs the client under a recorder; both must end by themselves."""
    environment = dict(os.environ, TRACY_PORT=str(port))
    recording = subprocess.Popen(recorder + ["-f", "-o", output, "-a", "127.0.0.1", "-p", str(port)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.3)
    try:
        subprocess.run(client, env=environment, timeout=LIMIT_S, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        recording.wait(timeout=LIMIT_S)
    finally:
        recording.kill()
    if recording.returncode != 0:
        sys.exit(f"{recorder[0]}: exit {recording.returncode}: {recording.stderr.read().decode()}")


def rows(csvexport, options, dropped, trace):
    """What csvexport prints, as a multiset of rows without the dropped columns."""
    result = subprocess.run([csvexport, *options, trace], capture_output=True, timeout=LIMIT_S,
                            check=False)
    if result.returncode != 0:
        return None
    table = list(csv.reader(io.StringIO(result.stdout.decode("utf-8", "replace"))))
    if not table:
        return collections.Counter()
    kept = [i for i, name in enumerate(table[0]) if name not in dropped]

    def reduced(row):
        # Older versions quote nothing, so that a text with a line break begins a row of its own.
        if len(row) != len(table[0]) or row[0].endswith('"'):
            return (row[0],)
        # A point of a plot: the fork's version has its value in another column than the header says.
        if row[1:3] == ["", ""]:
            return tuple(cell for cell in row if cell and not re.fullmatch(r"\d{5,}", cell))
        return tuple(row[i] for i in kept)

    # The processor's load and the use of memory are measured anew in each run; csvexport has no
    # names for these plots and shows the first of all.
    return collections.Counter(reduced(row) for row in table[1:] if row and row[0] != "Frame")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strobe", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--capture", required=True)
    parser.add_argument("--csvexport", required=True)
    parser.add_argument("--tracy-version")
    parser.add_argument("--port", type=int, default=19100)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = (str(pathlib.Path(folder) / name) for name in ("ours.tracy", "theirs.tracy"))
        record([arguments.strobe, "capture", "-q"], arguments.client, arguments.port, ours)
        record([arguments.capture], arguments.client, arguments.port, theirs)
        if arguments.tracy_version:
            converted = str(pathlib.Path(folder) / "converted.tracy")
            subprocess.run([arguments.strobe, "convert", "--tracy-version",
                            arguments.tracy_version, ours, converted], check=False,
                           stderr=subprocess.DEVNULL)
            ours = converted
        for name, (options, dropped) in EXPORTS.items():
            left = rows(arguments.csvexport, options, dropped, ours)
            right = rows(arguments.csvexport, options, dropped, theirs)
            if left is None and right is None:
                print(f"     {name}: this csvexport does not export them")
            elif left == right:
                print(f"ok   {name}: {sum(left.values())} rows")
            else:
                failed = True
                left, right = left or collections.Counter(), right or collections.Counter()
                print(f"DIFF {name}: ours {sum(left.values())} rows, theirs {sum(right.values())}")
                for what, extra in (("only ours", left - right), ("only theirs", right - left)):
                    for row, count in list(extra.items())[:5]:
                        print(f"     {what}: {count} x {row}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
