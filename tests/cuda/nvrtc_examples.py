#!/usr/bin/env python3
"""Compiles the kernels of Python examples with NVRTC, with zones and without: no GPU is needed.

    nvrtc_examples.py INCLUDE CACHE EXAMPLE...

An example has its kernels in SOURCE. Exits with 77 where the compiler cannot be had.
"""
import ast
import sys
from pathlib import Path

from nvrtc import compile_source, find_library


def source_of(path):
    """Without running it: what it wants may not be here."""
    for node in ast.parse(Path(path).read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "SOURCE":
            return ast.literal_eval(node.value)
    sys.exit(f"{path}: has no SOURCE")


def main():
    include, cache, *examples = sys.argv[1:]
    nvrtc = find_library(Path(cache))
    for example in examples:
        source = source_of(example)
        for architecture in ("sm_80", "sm_90"):
            options = [f"--gpu-architecture={architecture}", f"-I{include}"]
            on, said = compile_source(nvrtc, source, [*options, "-DSTROBE_ENABLE"])
            if said.strip("\0\n "):
                sys.exit(f"{example}, {architecture}: the compiler complains: {said}")
            off, _ = compile_source(nvrtc, source, options)
            if b"sb_cuda_this_gate" not in on or b"sb_cuda_this_gate" in off:
                sys.exit(f"{example}, {architecture}: zones are not what was asked for")
        print(f"{example} compiles")


if __name__ == "__main__":
    main()
