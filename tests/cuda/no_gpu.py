#!/usr/bin/env python3
"""Programs for a GPU where there is none: one sentence, and an exit code that says so.

    no_gpu.py FOLDER_OF_PROGRAMS TOOLS_GPU
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SENTENCE = "there is no CUDA driver here: libcuda.so.1 cannot be loaded"


def check_tool(tool, folder):
    """The command that runs all that needs a GPU."""
    smi = Path(folder) / "nvidia-smi"
    environment = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}
    for says, sentence in (("No devices were found", "there is no NVIDIA GPU here"), ("GPU 0: one", "there is no nvcc here")):
        smi.write_text(f"#!/bin/sh\necho '{says}'\n")
        smi.chmod(0o755)
        result = subprocess.run([tool], env=environment, capture_output=True, text=True, timeout=60)
        if (result.returncode, result.stdout, result.stderr) != (77, f"skipped: {sentence}\n", ""):
            sys.exit(f"{tool}: {result}")


def main():
    programs = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        # Also where there is a driver: the loader takes this for it, and it is none.
        (Path(folder) / "libcuda.so.1").touch()
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "STROBE_DEVICE": "cuda"}
        for name in ("cuda_ops", "cuda_tiny_gpt", "tiny_gpt"):
            result = subprocess.run([programs / name], env=environment, capture_output=True, text=True, timeout=60)
            if (result.returncode, result.stdout, result.stderr) != (1, "", f"{name}: {SENTENCE}\n"):
                sys.exit(f"{name}: {result}")
        check_tool(sys.argv[2], folder)
    print("each says so in one sentence")


if __name__ == "__main__":
    main()
