#!/usr/bin/env python3
"""Kernels launched from PyTorch and CuPy on a real GPU, recorded by `python -m tracy`.

    check_python.py EXAMPLE STROBE [CASE...]

EXAMPLE is examples/python/cuda_kernel.py; PYTHONPATH has the package. Each case is a program; what
it prints as JSON is how often each zone must be in the recording. `whole` records all functions of
the example, too. Exits with 77 without a GPU.
"""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

PRELUDE = r'''
import json, sys, threading
from tracy import cuda
SOURCE = r"""
#include <strobe/cuda.h>
extern "C" __global__ void add(float *values, float by, int count) {
    DeviceZoneScopedMainN("add");
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        DeviceZoneScopedN("row");
        values[i] += by;
    }
}
extern "C" __global__ void spin(long long cycles, unsigned *hits) {
    DeviceZoneScopedMainN("spin");
    const long long start = clock64();
    while (clock64() - start < cycles) {}
    if (hits && threadIdx.x == 0)
        atomicAdd(hits, 1u);
}
"""
DEEP = r"""
#include <strobe/cuda.h>
extern "C" __global__ void deep(int *out, int words) {
    extern __shared__ int room[];
    DeviceZoneScopedMainN("deep");
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        room[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        out[i] = room[words - 1 - i];
}
"""
N, BLOCKS, THREADS = 1 << 16, 64, 256
WARPS, ROWS = BLOCKS * THREADS // 32, N // 32  # a row zone for each step of each warp
def expect(launches, zones, lost=None):
    """Prints what must be there; zones are per name."""
    counts = cuda.counts()
    print(json.dumps({"zones": zones, "launches": launches, "lost": counts.lost + counts.missed,
                      "unplaced": counts.unplaced}))
def check(condition, text):
    if not condition:
        sys.exit(f"wrong: {text}")
'''

CASES = {
    "streams": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        spin = cuda.kernel(SOURCE, "spin")
        side, other = torch.cuda.Stream(), torch.cuda.Stream()
        x = torch.zeros(N, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            spin(50_000_000, None, grid=1, block=32)
            add(x, 1.0, N, grid=BLOCKS, block=THREADS)
        check(not side.query(), "a launch waits, or is on another stream")
        check(torch.cuda.default_stream().query(), "the launch is on the default stream")
        add(torch.zeros(N, device="cuda"), 1.0, N, grid=BLOCKS, block=THREADS, stream=other)
        side.synchronize()
        check(bool((x == 1).all()), "the result of the side stream")
        cuda.flush()
        expect({"add": 2, "spin": 1}, {"add": 2 * WARPS, "row": 2 * ROWS, "spin": 1})
    """,
    "threads": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        x = [torch.zeros(N, device="cuda") for _ in range(4)]
        torch.cuda.synchronize()
        def work(mine):
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(50):
                    add(mine, 1.0, N, grid=BLOCKS, block=THREADS)
                torch.cuda.current_stream().synchronize()
        threads = [threading.Thread(target=work, args=(mine,)) for mine in x]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        check(all(bool((mine == 50).all()) for mine in x), "the results of threads")
        cuda.flush()
        expect({"add": 200}, {"add": 200 * WARPS, "row": 200 * ROWS})
    """,
    "graph": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        x = torch.zeros(N, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            add(x, 1.0, N, grid=BLOCKS, block=THREADS)
            y = x * 2
        for _ in range(100):
            graph.replay()
        torch.cuda.synchronize()
        check(bool((y == 200).all()), "the result of replays")
        cuda.flush()
        expect({"add": 1}, {"add": 100 * WARPS, "row": 100 * ROWS})
    """,
    "at_exit": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        spin = cuda.kernel(SOURCE, "spin")
        x = torch.zeros(N, device="cuda")
        expect({"add": 1, "spin": 1}, {"add": WARPS, "row": ROWS, "spin": 4})
        spin(300_000_000, None, grid=4, block=32)
        add(x, 1.0, N, grid=BLOCKS, block=THREADS)
    """,
    "cupy": """
        import cupy
        add = cuda.kernel(SOURCE, "add")
        spin = cuda.kernel(SOURCE, "spin")
        x, hits = cupy.zeros(N, dtype=cupy.float32), cupy.zeros(1, dtype=cupy.uint32)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(10):
                add(x, cupy.float32(0.5), N, grid=(BLOCKS, 1), block=(THREADS,))
            spin(20_000_000, hits, grid=8, block=64)
        check(not stream.done, "a launch waits, or is on another stream")
        stream.synchronize()
        check(bool((x == 5).all()) and int(hits[0]) == 8, "the results")
        cuda.flush()
        expect({"add": 10, "spin": 1}, {"add": 10 * WARPS, "row": 10 * ROWS, "spin": 16})
    """,
    "both": """
        import cupy, torch
        add = cuda.kernel(SOURCE, "add")
        x, y = torch.zeros(N, device="cuda"), cupy.zeros(N, dtype=cupy.float32)
        for array in (x, y):
            add(array, 1.0, N, grid=BLOCKS, block=THREADS)
        spin = cuda.kernel(SOURCE, "spin")
        spin(1000, None, grid=1, block=32)
        with torch.cuda.stream(torch.cuda.Stream()):
            try:
                spin(1000, None, grid=1, block=32)
                check(False, "two streams are one too many")
            except ValueError as reason:
                check("stream=" in str(reason), str(reason))
            spin(1000, None, grid=1, block=32, stream=0)
        check(bool((y == 1).all()) and bool((x == 1).all()), "the results")
        cuda.flush()
        expect({"add": 2, "spin": 3}, {"add": 2 * WARPS, "row": 2 * ROWS, "spin": 2})
    """,
    "unload": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        check(cuda.kernel(SOURCE, "add")._module is add._module, "built twice")
        x = torch.zeros(N, device="cuda")
        add(x, 1.0, N, grid=BLOCKS, block=THREADS)
        add.unload()
        try:
            add(x, 1.0, N, grid=BLOCKS, block=THREADS)
            check(False, "launched what is unloaded")
        except cuda.Error as reason:
            check("unloaded" in str(reason), str(reason))
        again = cuda.kernel(SOURCE, "add")
        again(x, 1.0, N, grid=BLOCKS, block=THREADS)
        silent = cuda.kernel(SOURCE, "add", zones=False)
        silent(x, 1.0, N, grid=BLOCKS, block=THREADS)
        check(bool((x == 3).all()), "the result")
        cuda.flush()
        expect({"add": 4}, {"add": 2 * WARPS, "row": 2 * ROWS})
    """,
    "shared": """
        import torch
        deep = cuda.kernel(DEEP, "deep")
        for words in (1000, 40000, 20000, 50000):
            out = torch.zeros(words, dtype=torch.int32, device="cuda")
            deep(out, words, grid=1, block=256, shared=4 * words)
            check(bool((out == torch.arange(words - 1, -1, -1, device="cuda")).all()), f"{words} words")
        cuda.flush()
        expect({"deep": 4}, {"deep": 4 * 8})
    """,
    "others": """
        import numpy
        add = cuda.kernel(SOURCE, "add")
        launches = 0
        try:
            import numba.cuda
        except ImportError:
            pass
        else:
            array = numba.cuda.to_device(numpy.zeros(N, dtype=numpy.float32))
            add(array, numpy.float32(1), numpy.int64(N), grid=numpy.int32(BLOCKS), block=THREADS)
            check(bool((array.copy_to_host() == 1).all()), "the array of Numba")
            launches += 1
        try:
            import jax.numpy
        except ImportError:
            pass
        else:
            array = jax.numpy.zeros(N, dtype="float32").block_until_ready()
            add(array, 1, N, grid=BLOCKS, block=THREADS)
            cuda.flush()
            check(bool((numpy.asarray(array) == 1).all()), "the array of JAX")
            launches += 1
        cuda.flush()
        print(launches, "libraries")
        expect({"add": launches}, {"add": launches * WARPS, "row": launches * ROWS} if launches else {})
    """,
    "losses": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        x = torch.zeros(1 << 22, device="cuda")
        for _ in range(20):
            add(x, 1.0, 1 << 22, grid=1056, block=THREADS)
        cuda.flush()
        check(cuda.counts().lost > 0, "nothing is lost: too much memory")
        expect({"add": 20}, {"add": 20 * 1056 * 8, "row": 20 * (1 << 22) // 32})
    """,
    "alone": """
        spin = cuda.kernel(SOURCE, "spin")
        for _ in range(5):
            spin(10_000, None, grid=132, block=128)
        cuda.flush()
        expect({"spin": 5}, {"spin": 5 * 132 * 4})
    """,
    "errors": """
        import torch
        add = cuda.kernel(SOURCE, "add")
        x = torch.zeros(N, device="cuda")
        def refused(kind, text, *arguments, **shape):
            try:
                add(*arguments, **{"grid": BLOCKS, "block": THREADS, **shape})
            except kind as reason:
                return check(text in str(reason), f"{reason!r} does not say {text!r}")
            check(False, f"{arguments} are taken")
        refused(TypeError, "holds float16", x.half(), 1.0, N)
        refused(TypeError, "holds bfloat16", x.bfloat16(), 1.0, N)
        refused(ValueError, "on the CPU", x.cpu(), 1.0, N)
        refused(TypeError, "fetched first", x, x.sum(), N)
        refused(TypeError, "count is an int", x, 1.0, 2.5)
        refused(cuda.Error, "cannot have 1048576 bytes of shared memory", x, 1.0, N, shared=1 << 20)
        try:
            cuda.kernel("extern \\"C\\" __global__ void broken(int n) { nonsense }", "broken")
            check(False, "nonsense is built")
        except cuda.Error as reason:
            check(str(reason) == "broken.cu: cannot be built", str(reason))
        try:
            cuda.kernel("__global__ void mangled(int n) {}", "mangled")
            check(False, "a mangled name is found")
        except cuda.Error as reason:
            check("no kernel mangled" in str(reason), str(reason))
        add(x, 1, N, grid=BLOCKS, block=THREADS)
        cuda.flush()
        expect({"add": 2}, {"add": WARPS, "row": ROWS})
    """,
}


def export(strobe, trace, option):
    done = subprocess.run([strobe, "export", option, str(trace)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def run_case(strobe, name, script, arguments=()):
    with tempfile.TemporaryDirectory() as folder:
        partial = [] if name.startswith("whole") else ["-p"]
        environment = dict(os.environ, **({"STROBE_CUDA_CHUNKS": "16"} if name == "losses" else {}))
        command = [sys.executable, "-m", "tracy", *partial, "-o", folder, str(script), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        if done.returncode:
            return f"exit {done.returncode}: {done.stdout}{done.stderr}", done
        trace = Path(folder) / ".logs/tracy_profile_log_host.tracy"
        recorded = export(strobe, trace, "-g")
        # Of the script alone: other functions may be called like a kernel.
        calls = [row for row in export(strobe, trace, "-u") if Path(row["src_file"]).name == Path(script).name]
        device = collections.Counter(row["name"] for row in recorded)
        host = collections.Counter(row["name"] for row in calls)
        told = subprocess.run([strobe, "export", "--json", str(trace)], capture_output=True, text=True).stdout
        losses = sum(loss["count"] for loss in json.loads(told).get("losses", []))
    if name not in CASES:
        zones = {"softmax": 327680, "largest": 327680, "sum": 327680, "write": 327680, "over block": 655360}
        wanted = {"zones": zones, "launches": {"softmax": 20}, "lost": 0, "unplaced": 0}
        lost = int(done.stdout.split(" lost")[0].split()[-1])
        wanted["lost"] = lost
    else:
        wanted = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    missing = sum(wanted["zones"].values()) - sum(device.values())
    if missing != wanted["lost"] + wanted["unplaced"] or (missing == 0 and dict(device) != wanted["zones"]):
        return f"zones: {dict(device)}, not {wanted}", done
    launched = min(int(row["ns_since_start"]) for row in calls if row["name"] in wanted["launches"])
    begun = min(int(row["Time from start of program"]) for row in recorded)
    if begun < launched:
        return f"a kernel begins {launched - begun} ns before it is launched", done
    if losses != wanted["lost"]:
        return f"{losses} losses are told of {wanted['lost']}", done
    if any(host[launch] != times for launch, times in wanted["launches"].items()):
        return f"launches: {[(launch, host[launch]) for launch in wanted['launches']]}, not {wanted['launches']}", done
    return None, done


def main():
    example, strobe, *chosen = sys.argv[1:]
    failed = 0
    for name in chosen or ["example_torch", "example_cupy", "whole_torch", "whole_cupy", *CASES]:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            if name not in CASES:
                problem, done = run_case(strobe, name, example, [name.partition("_")[2]])
            else:
                script = Path(folder) / "script.py"
                script.write_text(PRELUDE + textwrap.dedent(CASES[name]))
                problem, done = run_case(strobe, name, script)
        if problem and any(text in problem for text in ("no CUDA driver", "finds no GPU")):
            print("skipped: there is no GPU here")
            sys.exit(77)
        failed += problem is not None
        print(f"{'ok' if problem is None else 'FAILED'} {name} ({time.monotonic() - start:.1f} s)"
              + (f": {problem}" if problem else ""))
        if os.environ.get("VERBOSE"):
            print(done.stdout, done.stderr)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
