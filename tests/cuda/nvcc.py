#!/usr/bin/env python3
"""Builds programs of CUDA with nvcc, the compiler of a package, and runs them where there is no GPU.

    nvcc.py SOURCE_TREE LIBRARIES CACHE

The example of the documentation, the programs that need a GPU (tests/cuda/battery.cu and
bench/cuda/bench_cuda.cu), and two files in one program: all compile without a warning, and say in
one sentence that there is no GPU. What is off leaves nothing behind. Exits with 77 where the
compiler cannot be had.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packages import install, skip

PACKAGES = ["nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-crt==13.0.88",
            "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"]
STRICT = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]
ON = "-DSTROBE_ENABLE"

# Around the kernel of the documentation.
MAIN = """
#include <cstdio>

int main() {
    if (sb_cuda_init() != 0) {
        fprintf(stderr, "no GPU\\n");
        return 3;
    }
    scale<<<132, 256>>>(nullptr, 0.5f, 0);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
"""

# A second file of a program, with a kernel and zones of its own.
OTHER = """
#include <strobe/cuda.h>

__global__ void other() {
    DeviceZoneScopedN("other");
}

void launch_other() {
    other<<<1, 32>>>();
}
"""


class Compiler:
    def __init__(self, tree, libraries, cache):
        toolkit = install(Path(cache), PACKAGES)
        self.nvcc = toolkit / "bin" / "nvcc"
        if not self.nvcc.exists():
            skip("the packages hold no nvcc")
        self.flags = ["-std=c++17", "-arch=sm_90", f"-I{tree}/include", *STRICT, f"-L{toolkit}/lib"]
        self.strobe = [f"-L{libraries}", "-lstrobe_cuda", "-lstrobe"]

    def build(self, to, *arguments):
        done = subprocess.run([self.nvcc, *self.flags, *arguments, "-o", to], capture_output=True, text=True, timeout=300)
        if done.returncode or done.stderr or done.stdout:
            sys.exit(f"nvcc {' '.join(map(str, arguments))}:\n{done.stdout}{done.stderr}")
        return to


def documented_kernel(tree):
    text = (tree / "docs" / "cuda.md").read_text()
    return re.search(r"```cuda\n(.*?)```", text, re.DOTALL)[1]


def undefined_symbols(path):
    names = subprocess.run(["nm", "--undefined-only", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\bsb_\w+", names))


def expect_no_gpu(program, arguments, code, sentence, libraries):
    """Also where there is a GPU: none of them is visible."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=60)
    if (done.returncode, done.stdout, done.stderr) != (code, "", sentence + "\n"):
        sys.exit(f"{program}: {done}")


def main():
    tree, libraries, cache = map(Path, sys.argv[1:])
    compiler = Compiler(tree, libraries, cache)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        example = folder / "scale.cu"
        example.write_text(documented_kernel(tree) + MAIN)
        other = folder / "other.cu"
        other.write_text(OTHER)

        for extra in ([], ["-rdc=true"]):
            program = compiler.build(folder / "scale", ON, *extra, example, other, *compiler.strobe)
            expect_no_gpu(program, [], 3, "no GPU", libraries)
        if not undefined_symbols(compiler.build(folder / "on.o", ON, "-c", example)):
            sys.exit("the symbols of the library are not found in what uses it")
        left = undefined_symbols(compiler.build(folder / "off.o", "-c", example))
        if left:
            sys.exit(f"zones that are off want {left}")

        battery = compiler.build(folder / "battery", ON, tree / "tests/cuda/battery.cu", *compiler.strobe)
        expect_no_gpu(battery, ["spins"], 77, "battery: there is no GPU here", libraries)
        for extra in ([], [ON, *compiler.strobe]):
            bench = compiler.build(folder / "bench", tree / "bench/cuda/bench_cuda.cu", *extra)
            expect_no_gpu(bench, [], 77, "bench_cuda: there is no GPU here", libraries)
    print("programs of nvcc are built, and say that there is no GPU")


if __name__ == "__main__":
    main()
