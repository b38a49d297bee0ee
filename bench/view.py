#!/usr/bin/env python3
"""Measures `strobe view` on a large trace, generated: 100 million zones nested on four threads.

Prints the time until the server answers (reading and indexing the file), its memory; the latency of
what a page asks while someone zooms and moves at random, one request after the other, p50 and p99;
and, with Chromium, the time to first paint and the browser's memory before and after a minute's
worth of moving. There is no peer to run beside: the desktop viewer of Tracy answers no requests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET_PAINT_S, TARGET_P99_MS = 1.0, 50.0
REQUESTS, SCREEN, THREADS = 2000, 1400, 4


def met(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def make_trace(program: Path, zones: int) -> Path:
    target = ROOT / "build" / "bench" / f"random-{zones}.tracy"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        subprocess.run([str(program), "make", "random", str(zones), str(target)], check=True)
    return target


def memory_bytes(process: int, key: str) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"{key}:\s+(\d+) kB", status).group(1)) * 1024


def ask(connection: HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        sys.exit(f"{path}: {response.status} {body[:200]!r}")
    return body


def measure_requests(port: int) -> None:
    """Windows of any place and width, each power of ten of widths as likely as the others."""
    connection = HTTPConnection("127.0.0.1", port)
    end = json.loads(ask(connection, "/api/info"))["end"]
    chance = random.Random(7)
    latencies_ms, sizes = [], []
    for _ in range(REQUESTS):
        span = max(100, int(end * 10 ** chance.uniform(-7, 0)))
        start = chance.randrange(0, max(1, end - span))
        tracks = ",".join(str(i) for i in range(THREADS))
        path = f"/api/zones?from={start - span // 2}&to={start + span * 3 // 2}&width={2 * SCREEN}&tracks={tracks}"
        begun = time.perf_counter()
        sizes.append(len(ask(connection, path)))
        latencies_ms.append((time.perf_counter() - begun) * 1e3)
    latencies_ms.sort()
    p50, p99 = statistics.median(latencies_ms), latencies_ms[int(len(latencies_ms) * 0.99)]
    print(
        f"requests: {REQUESTS} of two screens of all tracks, p50 {p50:.1f} ms, p99 {p99:.1f} ms "
        f"({TARGET_P99_MS:g} ms {met(p99 < TARGET_P99_MS)}), largest {latencies_ms[-1]:.1f} ms; "
        f"answers of {statistics.median(sizes) / 1e6:.2f} MB, largest {max(sizes) / 1e6:.2f} MB"
    )


def measure_page(link: str, strobe: Path) -> None:
    sample = strobe.parent / "view_sample"
    command = ["node", str(ROOT / "web" / "test.mjs"), "bench", str(strobe), str(sample)]
    command.append(str(ROOT / "build" / "bench" / "view"))
    environment = {**os.environ, "BENCH_LINK": link}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    found = re.search(r"BENCH (\{.*\})", done.stdout)
    if done.returncode != 0 or not found:
        print(f"page: not measured\n{done.stdout[-1500:]}")
        return
    told = json.loads(found.group(1))
    paint = told["firstPaint"] / 1e3
    print(
        f"page: first paint of all zones {paint:.2f} s after opening ({TARGET_PAINT_S:g} s "
        f"{met(paint < TARGET_PAINT_S)}); drawing a frame takes {told['drawMedian']:.1f} ms, p99 "
        f"{told['drawP99']:.1f} ms; heap {told['heapBefore'] / 1e6:.1f} MB, after {told['moves']} moves "
        f"{told['heapAfter'] / 1e6:.1f} MB"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", type=Path, default=Path("build/release/bin/strobe"), metavar="PROGRAM")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the zones to generate")
    options = parser.parse_args()
    strobe = options.strobe.absolute()
    zones = max(1000, int(100_000_000 * options.scale))
    trace = make_trace(strobe.parent / "bench_trace", zones)
    begun = time.perf_counter()
    server = subprocess.Popen([str(strobe), "view", str(trace)], stdout=subprocess.PIPE, text=True)
    try:
        link = server.stdout.readline().strip()
        ready_s = time.perf_counter() - begun
        resident = memory_bytes(server.pid, "VmRSS")
        print(
            f"server: {zones:,} zones read and indexed in {ready_s:.1f} s; memory {resident / 1e9:.2f} GB, "
            f"{resident / zones:.1f} bytes a zone"
        )
        measure_requests(int(link.rstrip("/").rsplit(":", 1)[1]))
        measure_page(link, strobe)
        print(f"server afterwards: memory {memory_bytes(server.pid, 'VmRSS') / 1e9:.2f} GB")
    finally:
        server.terminate()
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
