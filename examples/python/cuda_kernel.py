"""Zones inside a CUDA kernel that is launched from PyTorch or CuPy, whichever is there.

    python -m tracy cuda_kernel.py && strobe view generated/profiler/.logs/tracy_profile_log_host.tracy --open

Host zones and the zones of every warp come into one recording.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from tracy import cuda, zone

ROWS, COLUMNS, THREADS, LAUNCHES = 2048, 1024, 256, 20
WARPS = THREADS // 32
ZONES = LAUNCHES * ROWS * WARPS * 6  # softmax, largest, sum, write, and `over block` twice

SOURCE = r"""
#include <strobe/cuda.h>

__device__ float over_block(float value, bool largest) {
    __shared__ float parts[32];
    DeviceZoneScopedN("over block");
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = largest ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    float all = parts[0];
    for (int i = 1; i < blockDim.x / 32; i++)
        all = largest ? fmaxf(all, parts[i]) : all + parts[i];
    return all;
}

extern "C" __global__ void softmax(const float *in, float *out, int columns, float scale) {
    DeviceZoneScopedMainN("softmax");
    const float *from = in + (size_t)blockIdx.x * columns;
    float *to = out + (size_t)blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    {
        DeviceZoneScopedN("largest");
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            most = fmaxf(most, from[i] * scale);
        most = over_block(most, true);
    }
    {
        DeviceZoneScopedN("sum");
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            sum += __expf(from[i] * scale - most);
        sum = over_block(sum, false);
    }
    DeviceZoneScopedN("write");
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        to[i] = __expf(from[i] * scale - most) / sum;
}
"""


def find_framework(wanted: str | None) -> ModuleType:
    """PyTorch or CuPy, with a GPU."""
    for name in (wanted,) if wanted else ("torch", "cupy"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    sys.exit("cuda_kernel.py: neither PyTorch nor CuPy is installed here; it wants one of them")


def make_input(framework: ModuleType) -> Any:
    if framework.__name__ == "torch":
        if not framework.cuda.is_available():
            sys.exit("cuda_kernel.py: PyTorch finds no GPU here")
        return framework.rand(ROWS, COLUMNS, device="cuda")
    return framework.random.rand(ROWS, COLUMNS, dtype=framework.float32)


def reference(framework: ModuleType, values: Any) -> Any:
    if framework.__name__ == "torch":
        return framework.softmax(values, dim=1)
    powers = framework.exp(values)
    return powers / powers.sum(axis=1, keepdims=True)


def main() -> None:
    framework = find_framework(sys.argv[1] if len(sys.argv) > 1 else None)
    with zone("prepare"):
        values = make_input(framework)
        result = framework.empty_like(values)
        softmax = cuda.kernel(SOURCE, "softmax")
    for _ in range(LAUNCHES):
        softmax(values, result, COLUMNS, 1.0, grid=ROWS, block=THREADS)
    with zone("check"):
        error = float(abs(result - reference(framework, values)).max())
    cuda.flush()
    counted = cuda.counts()
    print(f"{framework.__name__}: softmax of {ROWS} rows, {LAUNCHES} times, off by {error:.1e} at most; "
          f"{counted.zones} zones recorded, {counted.lost} lost, {ZONES} expected")
    if error > 1e-5 or counted.zones + counted.lost + counted.missed != ZONES:
        sys.exit("cuda_kernel.py: that is not what it should be")


if __name__ == "__main__":
    try:
        main()
    except cuda.Error as reason:
        sys.exit(f"cuda_kernel.py: {reason}")
