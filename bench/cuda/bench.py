#!/usr/bin/env python3
"""What zones in CUDA kernels cost: builds bench_cuda.cu with nvcc, runs it, prints a table.

    bench.py --include DIR --lib DIR [--arch sm_90]

With PEER_FLASHINFER=DIR, a checkout of FlashInfer, its profiler is measured on the same kernels.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def build(options, name, flags, folder):
    if options.built:
        return Path(options.built) / name
    binary = Path(folder) / name
    command = ["nvcc", f"-arch={options.arch}", "-std=c++17", "-O3", f"-I{options.include}", *flags,
               str(HERE / "bench_cuda.cu"), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: {name} cannot be built:\n{done.stderr}")
    return binary


def measure(options, binary):
    environment = dict(os.environ, LD_LIBRARY_PATH=options.lib, STROBE_CUDA_CHUNKS="4096", TRACY_ON_DEMAND="1")
    done = subprocess.run([str(binary)], capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        sys.exit(f"bench: {binary.name} failed: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "counts" in row:
            found["counts"] = row["counts"]
        elif "kernel" in row:
            found["about " + row["kernel"]] = row
        elif row["measure"] == "zones":
            found["zones", row["blocks"]] = row
        else:
            found[row["measure"]] = row
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", default=str(HERE.parent.parent / "include"))
    parser.add_argument("--lib", required=True, help="where libstrobe_cuda.so is")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--built", help="a folder with the programs plain, strobe and flashinfer, built elsewhere")
    options = parser.parse_args()
    ways = {"plain": [], "strobe": ["-DSTROBE_ENABLE", f"-L{options.lib}", "-lstrobe_cuda", "-lstrobe"]}
    peer = os.environ.get("PEER_FLASHINFER")
    if peer:
        ways["flashinfer"] = ["-DPEER_FLASHINFER", f"-I{peer}/include"]
    else:
        print("without a peer: PEER_FLASHINFER names no checkout of FlashInfer")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in ways.items():
            results[name] = measure(options, build(options, name, flags, folder))
    plain = results["plain"]
    print("measure;" + ";".join(ways))
    for blocks in (1, 4, 8):
        row = [f"ns per zone and warp, {blocks} blocks per SM"]
        for name in ways:
            at = results[name]["zones", blocks]
            row.append(f"{(at['us'] - plain['zones', blocks]['us']) * 1000 / at['rounds']:.1f}")
        print(";".join(row))
    for kernel in ("matmul", "matmul, each step", "softmax"):
        print(";".join([f"{kernel} us"] + [f"{results[name][kernel]['us']:.1f}" for name in ways]))
        print(";".join([f"{kernel} % more"] + [f"{(results[name][kernel]['us'] / plain[kernel]['us'] - 1) * 100:.2f}" for name in ways]))
    for kernel in ("zones", "matmul", "matmul, each step", "softmax"):
        for what in ("registers", "shared", "blocks"):
            print(";".join([f"{kernel} {what}"] + [str(results[name]["about " + kernel][what]) for name in ways]))
    for name in ways:
        wrong = [kernel for kernel in ("matmul", "softmax") if not results[name][kernel]["is_right"]]
        if wrong:
            print(f"{name}: wrong results: {wrong}")
    print(f"matmul {plain['matmul']['tflops']} TFLOP/s, softmax {plain['softmax']['gbs']} GB/s, "
          f"recorded: {results['strobe']['counts']}")


if __name__ == "__main__":
    main()
