"""Running Python programs under `strobe run`, and what was recorded of them."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

BIN = Path(os.environ["STROBE_BIN"]).resolve()
STROBE = BIN / "strobe"
PYTHON = os.environ["PYTHON"]
LIMIT_S = 120

Tree = list  # [name, child, child, ...]


class Recorded(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="strobe-python-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "TTNN_", "STROBE_O", "TRACY_"))}
        self.environment["PYTHONPATH"] = str(BIN.parent / "python")

    def write(self, text: str, name: str = "script.py") -> Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def command(self, *command: str | Path, **more) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=LIMIT_S, **more)

    def tracy(self, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """python -m tracy with these arguments."""
        done = self.command(PYTHON, "-m", "tracy", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def record(self, text: str, *options: str) -> None:
        self.tracy(*options, self.write(text))

    # ---- what there is ----

    def rows(self) -> list[dict[str, str]]:
        trace = self.folder / "generated/profiler/.logs/tracy_profile_log_host.tracy"
        done = self.command(STROBE, "export", "-u", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(done.stdout.splitlines()))

    def trees(self, file: str = "script.py") -> list[Tree]:
        """Zones of Python functions of this file as trees, a list per thread that has any."""
        threads: dict[str, list[tuple[int, int, str]]] = {}
        for row in self.rows():
            if row["src_file"].endswith(file):
                start = int(row["ns_since_start"])
                threads.setdefault(row["thread"], []).append((start, -int(row["exec_time_ns"]), row["name"]))
        return [self._nest(sorted(zones)) for zones in threads.values()]

    @staticmethod
    def _nest(zones: list[tuple[int, int, str]]) -> Tree:
        root: Tree = []
        open_zones: list[tuple[int, Tree]] = []
        for start, minus, name in zones:
            while open_zones and open_zones[-1][0] <= start:
                open_zones.pop()
            node = [name]
            (open_zones[-1][1] if open_zones else root).append(node)
            open_zones.append((start - minus, node))
        return root

    def names(self) -> list[str]:
        return [row["name"] for row in self.rows()]

    def messages(self) -> list[str]:
        trace = self.folder / "generated/profiler/.logs/tracy_profile_log_host.tracy"
        done = self.command(STROBE, "export", "-m", "-s", ";", trace)
        return done.stdout.split("\n", 1)[1].splitlines()
