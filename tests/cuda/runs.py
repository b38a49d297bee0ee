#!/usr/bin/env python3
"""Ops of a GPU in the viewer: the recording of a program names the op of each warp.

    runs.py STROBE PROGRAM

The program is the unit test of the backend, on the driver that stands in for a GPU: op 1024 once, and
op 2048 in a trace that is replayed three times, and op 4096 once, six blocks of two warps each.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

EXPECTED = [(1024, 12), (2048, 12), (2048, 12), (2048, 12), (4096, 12)]


def ask(strobe, recording, what):
    """What the viewer answers."""
    viewer = subprocess.Popen([strobe, "view", "--no-index", recording], stdout=subprocess.PIPE, text=True)
    try:
        link = re.search(r"http://\S+", viewer.stdout.readline())[0]
        with urllib.request.urlopen(link + f"api/{what}", timeout=60) as answer:
            return json.load(answer)
    finally:
        viewer.terminate()
        viewer.wait()


def main():
    strobe, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "gpu.rec"
        subprocess.run([program], env={**os.environ, "STROBE_OUT": str(recording)}, check=True)
        found = [(run["id"], run["kernels"]) for run in ask(strobe, recording, "runs")["runs"]]
    if found != EXPECTED:
        sys.exit(f"runs and their warps are {found}, should be {EXPECTED}")
    print("every warp has its op")


if __name__ == "__main__":
    main()
