#!/usr/bin/env python3
"""Times `strobe export --compat` beside the real tracy-csvexport.

Two generated traces: 20 million zones of 64 source locations, nested at random on four threads, and
50 million identical zones on one. For each: seconds to load, memory per zone, statistics once
loaded; then whole commands, statistics and a row per zone, median wall time and peak memory of both
programs, their output going to /dev/null. With --compare both outputs must hold the same lines.

The peer comes from no registry: PEER_TRACY_CSVEXPORT names a csvexport that was built elsewhere.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

ROOT = Path(__file__).resolve().parents[1]
PEER_VARIABLE = "PEER_TRACY_CSVEXPORT"
TRACES = {"random": 20_000_000, "identical": 50_000_000}
COMMANDS = {"statistics": [], "rows": ["-u"]}
TARGET_RATIO = {"statistics": 2, "rows": 10}
TARGET_MEMORY, TARGET_STATS_S = 0.7, 0.5
OUR_RUNS, PEER_RUNS = 3, 1
ROW = "{:<10} {:<11} {:>9} {:>9} {:>7}  {:>11} {:>12} {:>6}  {}"
# A bare interpreter spawns and times what is measured, since a child inherits its spawner's peak.
METER = """
import os, sys, time
actions = [(os.POSIX_SPAWN_OPEN, 1, sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
start = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - start, os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


class Failed(Exception):
    """A measured program did not end well."""


@dataclass(frozen=True)
class Cost:
    wall_s: float
    peak_bytes: int


def run_once(command: Sequence[str]) -> tuple[float, int]:
    meter = [sys.executable, "-I", "-S", "-c", METER, "/dev/null", *command]
    told = subprocess.run(meter, stdout=subprocess.PIPE, check=True).stdout
    wall_s, status, peak = told.split()
    if int(status) != 0:
        raise Failed(f"status {int(status)} of {' '.join(command)}")
    return float(wall_s), int(peak) * 1024


def measure(command: Sequence[str], runs: int) -> Cost:
    walls, peaks = zip(*(run_once(command) for _ in range(runs)))
    return Cost(statistics.median(walls), max(peaks))


def sorted_digest(command: Sequence[str]) -> str:
    """A digest of the output's lines, in whatever order they come."""
    shell = 'set -o pipefail; "$@" | LC_ALL=C sort -S 1G | sha256sum'
    done = subprocess.run(["bash", "-c", shell, "-", *command], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.split()[0]


def met(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def make_trace(program: Path, kind: str, zones: int) -> Path:
    target = ROOT / "build" / "bench" / f"{kind}-{zones}.tracy"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        subprocess.run([str(program), "make", kind, str(zones), str(target)], check=True)
    return target


def tell_load(program: Path, kind: str, path: Path) -> None:
    """Echoes what bench_trace measured inside one process."""
    done = subprocess.run([str(program), "load", str(path)], stdout=subprocess.PIPE, check=True, text=True)
    words = done.stdout.split()
    told = dict(zip(words[::2], words[1::2]))
    verdict = met(float(told["stats"]) < TARGET_STATS_S)
    print(
        f"{kind}: {int(told['zones']):,} zones, loaded in {told['load']} s, {told['bytes']} bytes a zone; "
        f"statistics of all {told['stats']} s ({TARGET_STATS_S} s {verdict}), with quantiles {told['quantiles']} s"
    )


def tell(kind: str, path: Path, zones: int, strobe: Path, peer: Optional[Path], compare: bool) -> None:
    for name, options in COMMANDS.items():
        our_command = [str(strobe), "export", "--compat", *options, str(path)]
        ours = measure(our_command, OUR_RUNS)
        memory = f"{ours.peak_bytes / zones:.1f} B/zone"
        if peer is None:
            print(ROW.format(kind, name, "-", f"{ours.wall_s:.2f} s", "-", "-", memory, "-", "no peer"))
            continue
        peer_command = [str(peer), *options, str(path)]
        theirs = measure(peer_command, PEER_RUNS)
        ratio, share = theirs.wall_s / ours.wall_s, ours.peak_bytes / theirs.peak_bytes
        targets = f"{TARGET_RATIO[name]}x {met(ratio >= TARGET_RATIO[name])}"
        targets += f", memory {TARGET_MEMORY} {met(share <= TARGET_MEMORY)}"
        if compare:
            same = sorted_digest(our_command) == sorted_digest(peer_command)
            targets += ", equal lines" if same else ", LINES DIFFER"
        print(
            ROW.format(
                kind, name, f"{theirs.wall_s:.2f} s", f"{ours.wall_s:.2f} s", f"{ratio:.1f}x",
                f"{theirs.peak_bytes / zones:.1f} B/zone", memory, f"{share:.2f}", targets,
            )  # fmt: skip
        )
        sys.stdout.flush()


def find_peer() -> Optional[Path]:
    named = os.environ.get(PEER_VARIABLE)
    if not named:
        print(f"peer: none, {PEER_VARIABLE} names no csvexport; ours alone")
        return None
    if not os.access(named, os.X_OK):
        sys.exit(f"{PEER_VARIABLE}: {named} is no program")
    print(f"peer: {named}")
    return Path(named)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", type=Path, default=Path("build/release/bin/strobe"), metavar="PROGRAM")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the zones to generate")
    parser.add_argument("--compare", action="store_true", help="also compare all lines (slow)")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    strobe = options.strobe.absolute()
    program = strobe.parent / "bench_trace"
    if not strobe.is_file() or not program.is_file():
        sys.exit(f"no programs {strobe} and {program}: build them first")
    peer = find_peer()
    traces = {kind: max(1, int(zones * options.scale)) for kind, zones in TRACES.items()}
    paths = {kind: make_trace(program, kind, zones) for kind, zones in traces.items()}
    for kind, path in paths.items():
        tell_load(program, kind, path)
    print(f"\nmedian wall time of whole commands, {OUR_RUNS} runs of strobe, {PEER_RUNS} of the peer")
    print(ROW.format("trace", "output", "peer", "strobe", "ratio", "peer mem", "strobe mem", "share", "targets"))
    try:
        for kind, path in paths.items():
            tell(kind, path, traces[kind], strobe, peer, options.compare)
    except Failed as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
