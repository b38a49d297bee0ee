#!/usr/bin/env python3
"""What a launch from Python costs on the host: tracy.cuda beside CuPy's RawKernel.

    PYTHONPATH=build/release/python launch.py

The same empty kernel with the same four arguments, 200 launches between two waits, so that the
queue of the GPU is never full; the median of 50 rounds, in microseconds a launch.
"""
import statistics
import sys
import time

from tracy import cuda

LAUNCHES, ROUNDS = 200, 50
SOURCE = 'extern "C" __global__ void nothing(const float *a, float *b, int count, float by) {}'


def measure(launch, wait):
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        rounds.append((time.perf_counter() - start) / LAUNCHES * 1e6)
        wait()
    return statistics.median(rounds)


def main():
    try:
        import cupy
    except ImportError:
        sys.exit("launch.py: CuPy, the peer, is not here")
    try:
        ours = cuda.kernel(SOURCE, "nothing")
    except cuda.Error as reason:
        sys.exit(f"launch.py: {reason}")
    wait = cupy.cuda.get_current_stream().synchronize
    a, b = cupy.zeros(32, dtype=cupy.float32), cupy.zeros(32, dtype=cupy.float32)
    theirs = cupy.RawKernel(SOURCE, "nothing")
    other = measure(lambda: theirs((1,), (32,), (a, b, cupy.int32(32), cupy.float32(1.0))), wait)
    print(f"{'cupy.RawKernel':26} {other:6.2f} us")
    tell("tracy.cuda, arrays of CuPy", measure(lambda: ours(a, b, 32, 1.0, grid=1, block=32), wait), other)
    try:
        import torch
    except ImportError:
        return
    c, d = torch.zeros(32, device="cuda"), torch.zeros(32, device="cuda")
    tell("tracy.cuda, tensors", measure(lambda: ours(c, d, 32, 1.0, grid=1, block=32), wait), other)


def tell(name, one, other):
    print(f"{name:26} {one:6.2f} us, {one / other:.2f} times as long")


if __name__ == "__main__":
    main()
