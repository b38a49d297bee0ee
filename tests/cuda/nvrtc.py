#!/usr/bin/env python3
"""Compiles strobe/cuda.h with NVRTC, the run-time compiler of a package: no GPU is needed.

    nvrtc.py INCLUDE CACHE

Zones compile for several GPUs, use no local memory, and leave no trace in the code when they are
off. Exits with 77 where the package cannot be had.
"""
import ctypes
import sys
from pathlib import Path

from packages import install, skip

PACKAGE = "nvidia-cuda-nvrtc==13.0.88"

# All that there is; clang compiles it too (clang.cu).
KERNEL = Path(__file__).with_name("everything.cu").read_text()

# The same without a word about zones.
BARE = r"""
template <int N> __device__ float twice(float value) {
    return value * N;
}

extern "C" __global__ void kernel(float *values, int count) {
    __shared__ unsigned span;
    if (threadIdx.x == 0)
        span = 0u;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        values[i] = twice<2>(values[i]);
    values[count] += 1;
    values[count + 1] *= 2;
    values[count + 2] *= 2;
    __syncthreads();
}
"""


def find_library(cache):
    """The compiler's library."""
    found = sorted(install(cache, [PACKAGE]).glob("lib/libnvrtc.so.*"))
    if not found:
        skip(f"{PACKAGE} holds no library")
    try:
        # It looks for its other half by name, and finds what is loaded already.
        for other in found[0].parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(other), ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(found[0]))
    except OSError as error:
        skip(str(error))


def compile_source(nvrtc, source, options, code=True):
    """A binary (or, for an architecture that only the driver knows, PTX) and what the compiler said."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    result = nvrtc.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if result:
        sys.exit(f"{' '.join(options)}: {log.value.decode()}")
    (nvrtc.nvrtcGetCUBINSize if code else nvrtc.nvrtcGetPTXSize)(program, ctypes.byref(size))
    binary = ctypes.create_string_buffer(size.value)
    (nvrtc.nvrtcGetCUBIN if code else nvrtc.nvrtcGetPTX)(program, binary)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return binary.raw, log.value.decode()


def main():
    include, cache = sys.argv[1:]
    nvrtc = find_library(Path(cache))
    include = f"-I{include}"
    for architecture in ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100"):
        options = [f"--gpu-architecture={architecture}", include]
        on, said = compile_source(nvrtc, KERNEL, [*options, "-DSTROBE_ENABLE"])
        if said.strip("\0\n "):
            sys.exit(f"{architecture}: the compiler complains: {said}")
        for name in (b"sb_cuda_this_gate", b"sb_cuda_this_missed"):
            if name not in on:
                sys.exit(f"{architecture}: the host would not find {name.decode()}")
        off, _ = compile_source(nvrtc, KERNEL, options)
        bare, _ = compile_source(nvrtc, BARE, options)
        if off != bare:
            sys.exit(f"{architecture}: zones that are off change the code")
        if on == off:
            sys.exit(f"{architecture}: zones that are on do not")
        few, _ = compile_source(nvrtc, KERNEL, [*options, "-DSTROBE_ENABLE", "-DSTROBE_CUDA_WARPS=8"])
        if few == on:
            sys.exit(f"{architecture}: STROBE_CUDA_WARPS has no effect")
    ptx, _ = compile_source(nvrtc, KERNEL, ["--gpu-architecture=compute_90", include, "-DSTROBE_ENABLE"], code=False)
    if b".local" in ptx or b"call" in ptx:
        sys.exit("a zone calls or spills")
    print("zones compile, and leave nothing behind when they are off")


if __name__ == "__main__":
    main()
