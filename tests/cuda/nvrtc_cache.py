#!/usr/bin/env python3
"""Kernels that NVRTC builds in one process, found by the next: no GPU is needed.

    nvrtc_cache.py LIBSTROBE_CUDA DRIVER KERNELS CACHE

DRIVER is the folder of the driver that is none (tests/unit/cuda_fake_driver.c); the compiler is
that of a package. Exits with 77 where it cannot be had.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nvrtc import find_library
from twins import VARIANTS


class Failure(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1024)]


class Options(ctypes.Structure):
    _fields_ = [("source", ctypes.c_char_p), ("name", ctypes.c_char_p), ("options", ctypes.POINTER(ctypes.c_char_p)),
                ("option_count", ctypes.c_size_t), ("without_zones", ctypes.c_int)]


def build_here(library, path, *options):
    """Builds a kernel as the cuda device does, and says how long that took."""
    strobe = ctypes.CDLL(library)
    failure, module = Failure(), ctypes.c_void_p()
    given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    asked = Options(Path(path).read_bytes(), path.encode(), given, len(options), 0)
    if strobe.sb_cuda_attach(ctypes.byref(failure)):
        sys.exit(failure.message.decode())
    begin = time.monotonic()
    if strobe.sb_cuda_build(ctypes.byref(asked), ctypes.byref(module), ctypes.byref(failure)):
        sys.exit(failure.message.decode())
    print(json.dumps((time.monotonic() - begin) * 1e3))


class Builder:
    def __init__(self, library, driver, nvrtc, cache):
        folder = os.path.dirname(nvrtc)
        self.library, self.cache = library, Path(cache)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": f"{driver}:{folder}", "STROBE_NVRTC": nvrtc, "STROBE_CACHE": cache}

    def build(self, path, *options):
        """Milliseconds, in a process of its own."""
        result = subprocess.run([sys.executable, __file__, "build", self.library, path, *options], env=self.environment,
                                capture_output=True, text=True, timeout=120)
        if result.returncode:
            sys.exit(f"{path}: {result.stderr}")
        return json.loads(result.stdout)

    def kept(self):
        """What is kept is another file when it is written again."""
        return {path.name: path.stat().st_ino for path in self.cache.glob("cuda/*.code")}


def check_kernel(builder, path, options):
    before = builder.kept()
    first = builder.build(path, *options)
    kept = builder.kept()
    if len(kept) != len(before) + 1:
        sys.exit(f"{path}: nothing was kept of it")
    again = builder.build(path, *options)
    if builder.kept() != kept:
        sys.exit(f"{path}: was built again")
    print(f"{os.path.basename(path)}: built in {first:.0f} ms, found in {again:.1f} ms")


def check_change(builder, folder, path, options):
    """A header that one of them includes."""
    header = Path(folder) / "bfloat16.h"
    count = len(builder.kept())
    header.write_text(header.read_text() + "\n__device__ const int more = 1;\n")
    builder.build(path, *options)
    if len(builder.kept()) != count + 1:
        sys.exit(f"{header}: has changed, and nobody noticed")


def check_branches(builder, folder):
    """Headers of the host in a branch that is not taken; and one that a macro names."""
    guarded, hidden = Path(folder) / "guarded.cu", Path(folder) / "hidden.cu"
    guarded.write_text('#ifndef __CUDACC_RTC__\n#include <utility>\n#endif\n#include "bfloat16.h"\n')
    hidden.write_text('#define HEADER "bfloat16.h"\n#include HEADER\n')
    check_kernel(builder, str(guarded), [])
    count = len(builder.kept())
    builder.build(str(hidden))
    if len(builder.kept()) != count:
        sys.exit(f"{hidden}: was kept, and nobody knows what it includes")


def main():
    library, driver, kernels, package = sys.argv[1:]
    nvrtc = find_library(Path(package))._name
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "kernels")
        shutil.copytree(kernels, folder)
        builder = Builder(library, driver, nvrtc, os.path.join(work, "cache"))
        for name, (_, variants) in VARIANTS.items():
            path, options = os.path.join(folder, name), [f"-I{folder}", *variants[0]]
            check_kernel(builder, path, options)
        check_change(builder, folder, path, options)
        check_branches(builder, folder)


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build_here(*sys.argv[2:])
    else:
        main()
