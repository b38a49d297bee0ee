#!/usr/bin/env python3
"""What recording costs a Python program, per function call: Strobe beside others, in one run.

The program is a tree of calls of small functions. Measured is the time per call beyond that of the
program alone, under:

  strobe      `strobe run`, functions recorded in C
  hook        sys.setprofile with a function in Python that calls a function in C for each event, the
              way tt-metal's tracy module does it
  cProfile    of the standard library (sums only, no timeline)
  viztracer   from PyPI, installed into build/peer; left out where it cannot be

and, for lines, `strobe run -l` beside sys.settrace with such a function. A C program with a zone
every microsecond is run with and without recording as well (`bin/bench_zones`).

usage: bench/python.py [--strobe FILE] [--python FILE] [--calls N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import sys, time
def leaf(x):
    return x
def branch(n):
    if n == 0:
        return leaf(n)
    return branch(n - 1) + branch(n - 1)
def loop(n):
    for _ in range(n):
        branch(9)
CALLS = 2 ** 10 - 1 + 2 ** 9  # of branch(9)
TURN = 10
def measure(calls):
    # The fastest of many short turns, which a busy machine disturbs little.
    best = float("inf")
    for _ in range(max(calls // (TURN * CALLS), 1)):
        start = time.perf_counter()
        loop(TURN)
        best = min(best, time.perf_counter() - start)
    return best / (TURN * CALLS) * 1e9
"""

# As the original's module does it; the functions in C are ours, which do less than its own.
HOOK = """
sys.path.insert(0, {package!r})
def hook(frame, event, arg):
    from tracy._native import start_zone, stop_zone
    if event == "line":
        stop_zone()
    if event in ["call", "c_call", "line"]:
        start_zone(frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno)
    elif event in ["return", "c_return", "c_exception", "exception"]:
        stop_zone()
"""


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.environment = dict(os.environ, PYTHON=options.python)

    def script(self, name: str, body: str) -> Path:
        path = self.folder / f"{name}.py"
        path.write_text(PROGRAM + body)
        return path

    def once(self, command: list[str | Path]) -> float:
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, capture_output=True, check=True)
        return float(next(line for line in done.stdout.splitlines() if line.startswith("ns ")).split()[1])

    def commands(self) -> dict[str, list[str | Path]]:
        n, python, strobe = self.options.calls, self.options.python, self.options.strobe
        tell = f"print('ns', measure({n}))\n"
        few = f"print('ns', measure({n // 4}))\n"
        names = HOOK.format(package=str(strobe.parents[1] / "python"))
        hook = names + "sys.setprofile(hook)\n" + tell
        lines = names + "def tracer(frame, event, arg):\n    hook(frame, event, arg)\n    return tracer\n" \
                        "sys.settrace(tracer)\n" + few
        profiled = "import cProfile\np = cProfile.Profile(); p.enable()\n" + tell
        alone = self.script("alone", tell)
        found = {"alone": [python, alone],
                 "strobe": [strobe, "run", "-o", self.folder / "out", alone],
                 "hook": [python, self.script("hook", hook)],
                 "cProfile": [python, self.script("profiled", profiled)],
                 "strobe -l": [strobe, "run", "-l", "-o", self.folder / "out", self.script("lines", few)],
                 "settrace": [python, self.script("traced", lines)]}
        viztracer = find_viztracer(Path(python))
        if viztracer is not None:
            body = f"from viztracer import VizTracer\nt = VizTracer(tracer_entries={8 * n}, verbose=0); t.start()\n"
            found["viztracer"] = [viztracer, self.script("viz", body + tell + "t.stop()\n")]
        return found

    def measure(self) -> dict[str, float]:
        commands = self.commands()
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(self.options.rounds):
            for name, command in commands.items():
                times[name].append(self.once(command))
        return {name: min(values) for name, values in times.items()}


def find_viztracer(python: Path) -> Path | None:
    """An interpreter that has it, of the same version; made on demand."""
    version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True,
                             capture_output=True, check=True).stdout.strip()
    folder = ROOT / "build" / "peer" / f"viztracer-{version}"
    interpreter = folder / "bin" / "python3"
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
        done = subprocess.run([interpreter, "-m", "pip", "install", "-q", "viztracer"], capture_output=True, text=True)
        if done.returncode:
            print("viztracer cannot be installed; it is left out")
    has_it = subprocess.run([interpreter, "-c", "import viztracer"], capture_output=True).returncode == 0
    return interpreter if has_it else None


def show(times: dict[str, float]) -> None:
    alone = times["alone"]
    print(f"{'':12}{'ns/call':>10}{'added':>10}{'of hook':>10}")
    for name in ("alone", "strobe", "hook", "cProfile", "viztracer", "strobe -l", "settrace"):
        if name not in times:
            continue
        added = times[name] - alone
        base = times["settrace" if name in ("strobe -l", "settrace") else "hook"] - alone
        share = "" if name == "alone" else f"{added / base:10.2f}"
        print(f"{name:12}{times[name]:10.0f}{'' if name == 'alone' else f'{added:10.0f}':>10}{share}")
    print("(for lines the share is of settrace)")


def zones(binary: Path) -> None:
    """A zone every microsecond: the time of the program with and without recording."""
    if binary.exists():
        print()
        subprocess.run([binary], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strobe", type=Path, default=ROOT / "build/release/bin/strobe")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.strobe = options.strobe.resolve()
    with tempfile.TemporaryDirectory() as folder:
        show(Bench(options, Path(folder)).measure())
    zones(options.strobe.with_name("bench_zones"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
