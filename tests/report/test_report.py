"""`strobe report` as a whole: what lies in the folder, who can read it, the notebook."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from make_logs import Maker, Run

ROOT = Path(__file__).resolve().parents[2]
STROBE = os.environ.get("STROBE", str(ROOT / "build/release/bin/strobe"))
DATA = ROOT / "../shared/data/report"
NOTEBOOK = ROOT / "notebooks" / "profiler_results.ipynb"


def find_python(*modules: str) -> str | None:
    """A Python that has the modules: this one, or one that the comparisons have installed."""
    candidates = [sys.executable, "/usr/bin/python3", *map(str, (ROOT / "build").glob("*/bin/python3"))]
    candidates += filter(None, [os.environ.get("PEER_PYTHON")])
    for candidate in candidates:
        wanted = "; ".join(f"import {module}" for module in modules)
        if subprocess.run([candidate, "-c", wanted], capture_output=True).returncode == 0:
            return candidate
    return None


@unittest.skipUnless(Path(STROBE).is_file(), f"{STROBE} is not built")
class ReportTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def make(self, **run) -> Path:
        Maker(Run(**run)).write(self.folder)
        return self.folder

    def strobe(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, path: Path) -> list[dict[str, str]]:
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    def test_folder_has_every_file(self) -> None:
        done = self.strobe("report", self.make(signposts=True, children=True), "-n", "run", "--stats")
        (csv_path,) = (self.folder / "reports" / "run").glob("*/ops_perf_results_run_*.csv")
        names = {path.name for path in csv_path.parent.iterdir()}
        self.assertLessEqual(
            {"profile_log_device.csv", "tracy_ops_times.csv", "tracy_ops_data.csv", "report.json",
             "core_kernel_stats.csv", "zone_stats.csv", "stats"},
            names,
        )
        for name in ("profile_log_device.csv", "tracy_ops_times.csv", "tracy_ops_data.csv"):
            self.assertEqual(
                (csv_path.parent / name).read_bytes(), (self.folder / ".logs" / name).read_bytes()
            )
        self.assertIn(f"OPs csv generated at: {csv_path}", done.stderr)
        self.assertIn(f"Next:    strobe perf {csv_path}", done.stdout)
        for picture in ("time_per_op", "spread_per_op", "kernels", "steps", "cores"):
            self.assertTrue(
                (csv_path.parent / "stats" / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
            )
            self.assertIn("<svg", (csv_path.parent / "stats" / f"{picture}.svg").read_text())

    def test_side_file_counts(self) -> None:
        self.strobe("report", self.make(fallback=True, signposts=True), "--no-date")
        side = json.loads((self.folder / "reports" / "report.json").read_text())
        self.assertEqual((side["schema"], side["signposts"], side["rows"]), (1, 2, 9))
        self.assertEqual((side["completeness"]["complete"], side["completeness"]["host only"]), (6, 1))
        self.assertEqual((side["device"]["arch"], side["device"]["clock_mhz"]), ("wormhole_b0", 1000))

    def test_perf_reads_it(self) -> None:
        self.strobe("report", self.make(ops=9), "--no-date")
        done = self.strobe("perf", self.folder / "reports", "--json")
        self.assertEqual(len(json.loads(done.stdout)["ops"]), 9)

    def test_perf_finds_nothing_wrong_with_traces(self) -> None:
        self.strobe("report", self.make(ops=9, traced=3, replays=2), "--no-date")
        self.strobe("perf", self.folder / "reports")

    def test_tt_perf_report_reads_it(self) -> None:
        python = find_python("tt_perf_report")
        if python is None:
            self.skipTest("tt-perf-report is not installed (make parity installs it)")
        self.strobe("report", self.make(ops=9), "--no-date")
        done = subprocess.run(
            [python, "-m", "tt_perf_report.perf_report", self.folder / "reports/ops_perf_results.csv"],
            capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-500:])

    def test_ttnn_visualizer_reads_it(self) -> None:
        python = find_python("ttnn_visualizer.csv_queries")
        if python is None:
            self.skipTest("ttnn-visualizer is not installed (PEER_PYTHON names a Python with it)")
        self.strobe("report", self.make(ops=9), "--no-date")
        program = (
            "import sys, types; from ttnn_visualizer import csv_queries as q\n"
            "i = types.SimpleNamespace(performance_path=sys.argv[1],"
            " remote_connection=None, profiler_path=None)\n"
            "with q.OpsPerformanceQueries(i) as queries: print(len(queries.get_all_entries()))\n"
            "with q.DeviceLogProfilerQueries(i) as queries:"
            " print(len(queries.get_all_entries(limit=5)))\n"
        )
        done = subprocess.run(
            [python, "-c", program, self.folder / "reports"], capture_output=True, text=True
        )
        self.assertEqual(done.stdout.split(), ["9", "5"], done.stderr[-800:])

    def test_reports_of_one_second_do_not_mix(self) -> None:
        folder = self.make(ops=2)
        running = [subprocess.Popen([STROBE, "report", folder, "-q"]) for _ in range(4)]
        self.assertEqual([process.wait() for process in running], [0] * 4)
        self.strobe("report", folder, "-q", "--device-only")
        reports = list((folder / "reports").glob("*/ops_perf_results_*.csv"))
        self.assertEqual(len(reports), 5)
        for report in reports:
            self.assertEqual(report.stem, f"ops_perf_results_{report.parent.name}")

    def test_nothing_to_read_is_an_error(self) -> None:
        done = self.strobe("report", self.folder, status=1)
        self.assertIn("no logs here", done.stderr)

    def test_recorded_sets_of_damage(self) -> None:
        if not DATA.is_dir():
            self.skipTest(f"{DATA} is not there")
        expected = {
            "err_last_op_unfinished": ["truncated"],
            "err_malformed_json": ["truncated", "truncated"],  # the op, and a call that refers to it
            "err_missing_device_op": ["no device data"],
        }
        for name, wanted in expected.items():
            with self.subTest(set=name):
                self.strobe("report", DATA / name, "-o", self.folder, "--no-date", status=3)
                labels = [
                    row["COMPLETENESS"]
                    for row in self.rows(self.folder / "reports" / "ops_perf_results.csv")
                ]
                self.assertEqual([t for t in labels if t not in ("complete", "host only")], wanted)
                self.strobe("report", DATA / name, "-o", self.folder, "--strict", status=1)

    def test_notebook_runs(self) -> None:
        python = find_python("nbclient", "nbformat", "ipykernel", "pandas", "matplotlib")
        if python is None:
            self.skipTest("nbclient, ipykernel, pandas and matplotlib are not installed")
        self.strobe("report", self.make(ops=20, signposts=True, fallback=True), "--no-date", "--stats")
        shutil.copy(NOTEBOOK, self.folder)
        program = (
            "import nbformat, nbclient; n = nbformat.read('profiler_results.ipynb', 4)\n"
            "nbclient.NotebookClient(n, timeout=120, kernel_name='python3').execute()\n"
            "print(sum(len(c.get('outputs', [])) > 0 for c in n.cells))\n"
        )
        environment = dict(os.environ, REPORT=str(self.folder / "reports/ops_perf_results.csv"))
        done = subprocess.run(
            [python, "-c", program], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        self.assertEqual(done.stdout.strip(), "9", done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
