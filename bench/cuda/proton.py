#!/usr/bin/env python3
"""What Triton's Proton costs inside kernels: the zones and the softmax of bench_cuda.cu, as Triton kernels.

    proton.py

Needs PyTorch and Triton with triton.profiler. Proton reads its buffers after every launch, while the host waits, so
events around launches would time that: kernels are timed by their blocks, with the GPU's global timer.
"""
import os
import sys
import tempfile

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl

ZONES = 60  # its buffer in shared memory holds 128 records, the oldest are overwritten
REPEATS = 3


@triton.jit
def timer():
    return tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)


@triton.jit
def zones(times, out, rounds, ON: tl.constexpr):
    begin = timer()
    value = tl.program_id(0)
    for _ in range(rounds):
        if ON:
            pl.enter_scope("zone")
        value = tl.inline_asm_elementwise("mad.lo.u32 $0, $1, 1664525, 1013904223;", "=r,r", [value], dtype=tl.int32,
                                          is_pure=False, pack=1)
        if ON:
            pl.exit_scope("zone")
    if value == 1:
        tl.store(out, value)
    tl.store(times + 2 * tl.program_id(0), begin)
    tl.store(times + 2 * tl.program_id(0) + 1, timer())


@triton.jit
def softmax(times, x, y, COLUMNS: tl.constexpr, ON: tl.constexpr):
    begin = timer()
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    if ON:
        pl.enter_scope("softmax")
        pl.enter_scope("largest")
    values = tl.load(x + at)
    most = tl.max(values, 0)
    if ON:
        pl.exit_scope("largest")
        pl.enter_scope("sum")
    values = tl.exp(values - most)
    total = tl.sum(values, 0)
    if ON:
        pl.exit_scope("sum")
        pl.enter_scope("write")
    tl.store(y + at, values / total)
    if ON:
        pl.exit_scope("write")
        pl.exit_scope("softmax")
    tl.store(times + 2 * tl.program_id(0), begin)
    tl.store(times + 2 * tl.program_id(0) + 1, timer())


def median_us(launch, blocks):
    """From the begin of the first block to the end of the last."""
    times = torch.zeros(2 * blocks, dtype=torch.int64, device="cuda")
    found = []
    for _ in range(REPEATS + 1):
        launch(times)
        torch.cuda.synchronize()
        found.append((times[1::2].max() - times[0::2].min()).item() / 1000)
    return sorted(found[1:])[REPEATS // 2]


def measure(on):
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    x = torch.randn(16384, 4096, device="cuda")
    y = torch.empty_like(x)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    found = {}
    for blocks in (1, 4, 8):
        grid = (blocks * sms,)
        found[blocks] = median_us(lambda times: zones[grid](times, out, ZONES, on, num_warps=8), blocks * sms)
        print(f"{'with' if on else 'without'}: zones, {blocks} blocks per SM: {found[blocks]:.1f} us", flush=True)
    found["softmax"] = median_us(lambda times: softmax[(16384,)](times, x, y, 4096, on, num_warps=8), 16384)
    print(f"{'with' if on else 'without'}: softmax: {found['softmax']:.1f} us", flush=True)
    return found


def main():
    pl.enable_semantic("triton")
    plain = measure(False)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        proton.start("zones", data="trace", backend="instrumentation")
        profiled = measure(True)
    print(f"Triton {triton.__version__}, Proton; us without, us with")
    for blocks in (1, 4, 8):
        print(f"ns per zone and warp, {blocks} blocks per SM: {(profiled[blocks] - plain[blocks]) * 1000 / ZONES:.1f}"
              f" ({plain[blocks]:.1f}, {profiled[blocks]:.1f})")
    print(f"softmax % more: {(profiled['softmax'] / plain['softmax'] - 1) * 100:.1f}"
          f" ({plain['softmax']:.1f}, {profiled['softmax']:.1f})", flush=True)
    os._exit(0)  # it writes all it has recorded otherwise


if __name__ == "__main__":
    sys.exit(main())
