#!/usr/bin/env python3
"""Measures `strobe view` on a large trace, generated: 100 million zones nested on four threads.

Prints the time until the server answers, when it reads and indexes the file and when it finds the
index that was kept, with its memory; the latency of what a page asks while someone zooms and moves at random, one request after the other, p50 and p99;
and, with Chromium, the time to first paint and the browser's memory before and after a minute's
worth of moving. There is no peer to run beside: the desktop viewer of Tracy answers no requests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
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


def report_memory(what: str, process: int, zones: int) -> None:
    """The file's pages are the system's cache, which it takes back when it needs the room."""
    own, file = memory_bytes(process, "RssAnon"), memory_bytes(process, "RssFile")
    print(f"{what}: {own / 1e9:.2f} GB of its own ({own / zones:.1f} bytes a zone), {file / 1e9:.2f} GB of files")


def start(strobe: Path, trace: Path, environment: dict, how: str) -> tuple[subprocess.Popen, str]:
    begun = time.perf_counter()
    server = subprocess.Popen([str(strobe), "view", str(trace)], stdout=subprocess.PIPE, text=True, env=environment)
    link = server.stdout.readline().strip()
    print(f"{how}: the server answers after {time.perf_counter() - begun:.2f} s")
    zones = int(trace.stem.rsplit("-", 1)[1])
    report_memory("  memory", server.pid, zones)
    return server, link


def wait_for_index(cache: Path) -> None:
    begun = time.perf_counter()
    while not list(cache.glob("view/*.index")):
        time.sleep(0.1)
    size = next(cache.glob("view/*.index")).stat().st_size
    print(f"  the index is kept {time.perf_counter() - begun:.1f} s later, {size / 1e9:.2f} GB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", type=Path, default=Path("build/release/bin/strobe"), metavar="PROGRAM")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the zones to generate")
    options = parser.parse_args()
    strobe = options.strobe.absolute()
    zones = max(1000, int(100_000_000 * options.scale))
    trace = make_trace(strobe.parent / "bench_trace", zones)
    cache = ROOT / "build" / "bench" / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    environment = {**os.environ, "STROBE_CACHE": str(cache)}
    server, _ = start(strobe, trace, environment, "reading and indexing")
    wait_for_index(cache)
    server.terminate()
    server.wait()
    server, link = start(strobe, trace, environment, "with the index kept")
    try:
        measure_requests(int(link.rstrip("/").rsplit(":", 1)[1]))
        measure_page(link, strobe)
        report_memory("server afterwards", server.pid, zones)
    finally:
        server.terminate()
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
