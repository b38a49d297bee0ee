#!/usr/bin/env python3
"""SMs of more GPUs than a recording has contexts for share them, and are told apart by their lanes.

    contexts.py STROBE PROGRAM

The program is the unit test of the host's side, on the driver that stands in for GPUs of which the
first runs four SMs. It says that there are three of 100 SMs, and launches three times two kernels,
each in a context that follows the last; or one of 132, and two in each of two contexts that live at
a time.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from runs import ask

GPU = "NVIDIA A100-SXM4-80GB 0"


def check(strobe, program, case, contexts, zones):
    """zones: of each lane, by SM."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "gpu.rec"
        subprocess.run([program, case], env={**os.environ, "STROBE_OUT": str(recording), "STROBE_CUDA_CHUNKS": "16"}, check=True)
        info = json.loads(subprocess.run([strobe, "info", "--json", recording], capture_output=True, check=True).stdout)
        names = sorted(context["name"].rsplit(",", 1)[0] for context in info["contexts"])
        if names != [f"{GPU}, {context}" for context in contexts]:
            sys.exit(f"{case}: contexts: {names}")
        tracks = [track for track in ask(strobe, recording, "tracks")["tracks"] if "sm" in track]
    found = sorted((*track["sm"], track["name"], track["group"], track["zones"]) for track in tracks)
    if found != [(0, sm, "warp slot 0", GPU, count) for sm, count in zones]:
        sys.exit(f"{case}: lanes: {found}")


def main():
    strobe, program = sys.argv[1:]
    check(strobe, program, "sms_of_many_gpus_share_contexts", ["SMs 0 to 1", "SMs 2 to 3"], [(sm, 6) for sm in range(4)])
    check(strobe, program, "contexts_of_one_gpu_all_have_room",
          [*(f"SM {sm}" for sm in range(4)), "SMs 0 to 2", "SMs 3 to 5"], [(sm, 2) for sm in range(4) for _ in range(2)])
    print("four SMs in two contexts, and in six")


if __name__ == "__main__":
    main()
