#!/usr/bin/env python3
"""Compiles the kernels of examples/cuda with NVRTC, as the cuda device does; no GPU is needed.

    twins.py INCLUDE KERNELS CACHE

Every variant of every kernel, with zones and without, for the GPUs that have the tensor cores they
use. Exits with 77 where the compiler cannot be had.
"""
import sys
from pathlib import Path

from nvrtc import compile_source, find_library

VARIANTS = {
    "matmul.cu": ("matmul", [["-DRESULT=bfloat16"], ["-DRESULT=float"]]),
    "rowwise.cu": ("rowwise", [[f"-DOPERATION={i}", "-DRESULT=bfloat16"] for i in range(3)] + [["-DOPERATION=3", "-DRESULT=float"]]),
    "elementwise.cu": ("elementwise", [[f"-DOPERATION={i}", "-DRESULT=bfloat16"] for i in range(3)]),
    "transpose.cu": ("transpose", [["-DRESULT=bfloat16"]]),
    "embedding.cu": ("embedding", [["-DRESULT=bfloat16"]]),
}


def main():
    include, kernels, cache = sys.argv[1:]
    nvrtc = find_library(Path(cache))
    sources = {path.name for path in Path(kernels).glob("*.cu")}
    if sources != set(VARIANTS):
        sys.exit(f"kernels that are not tried, or not there: {sources ^ set(VARIANTS)}")
    count = 0
    for name, (function, variants) in VARIANTS.items():
        source = (Path(kernels) / name).read_text()
        # Only the matrix product uses what the oldest of them might not have.
        for architecture in ("sm_80", "sm_90") if name == "matmul.cu" else ("sm_90",):
            for variant in variants:
                options = [f"--gpu-architecture={architecture}", f"-I{include}", f"-I{kernels}", *variant]
                on, said = compile_source(nvrtc, source, [*options, "-DSTROBE_ENABLE"])
                if said.strip("\0\n "):
                    sys.exit(f"{name}, {' '.join(options)}: the compiler complains: {said}")
                off, _ = compile_source(nvrtc, source, options)
                if function.encode() not in on or b"sb_cuda_this_gate" not in on or b"sb_cuda_this_gate" in off:
                    sys.exit(f"{name}, {' '.join(options)}: not the code that is wanted")
                count += 2
    print(f"{count} modules")


if __name__ == "__main__":
    main()
