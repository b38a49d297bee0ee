#!/usr/bin/env python3
"""A report folder that was made on a GPU, read again (tests/fixtures/cuda/h200_report).

    report_folder.py STROBE FOLDER

An H200 ran `strobe run -r cuda_tiny_gpt -l 1 -w 32 -n 16 -s 2`: a transformer of 19 operations that is
recorded as a CUDA graph and replayed twice. The report that is made anew from the logs in the folder is
the same; perf and the viewer read it.
"""
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from collections import Counter
from pathlib import Path

STROBE, FOLDER = sys.argv[1], Path(sys.argv[2])
LOGS = ("profile_log_device.csv", "tracy_profile_log_host.tracy")
STEPS = 2
OPS_OF_STEP = 18


def strobe(*arguments):
    return subprocess.run([STROBE, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def report_in(folder):
    (path,) = Path(folder).glob("**/ops_perf_results*.csv")
    return path


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Report(unittest.TestCase):
    def test_made_anew_it_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = Path(folder) / ".logs"
            logs.mkdir()
            for name in LOGS:
                shutil.copy(FOLDER / name, logs)
            result = strobe("report", "--no-date", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            made = report_in(folder)
            self.assertEqual(made.read_bytes(), report_in(FOLDER).read_bytes())
            for name in ("zone_stats.csv", "core_kernel_stats.csv"):
                self.assertEqual((made.parent / name).read_bytes(), (FOLDER / name).read_bytes(), name)

    def test_operations_have_their_times_and_cores(self):
        rows = [row for row in rows_of(report_in(FOLDER)) if row["OP TYPE"] == "tt_dnn_device"]
        measured = [row for row in rows if row["DEVICE KERNEL DURATION [ns]"]]
        self.assertEqual(len(rows), 1 + OPS_OF_STEP + STEPS * OPS_OF_STEP)
        self.assertEqual(len(measured), 1 + STEPS * OPS_OF_STEP)
        sessions = Counter(row["METAL TRACE REPLAY SESSION ID"] for row in measured)
        self.assertEqual(sessions, {"": 1, "1": OPS_OF_STEP, "2": OPS_OF_STEP})
        for row in measured:
            self.assertEqual((row["DEVICE ARCH"], row["AVAILABLE WORKER CORE COUNT"]), ("h200", "132"))
            self.assertTrue(1 <= int(row["CORE COUNT"]) <= 132)
            self.assertTrue(100 < int(row["DEVICE KERNEL DURATION [ns]"]) < 100_000, row["DEVICE KERNEL DURATION [ns]"])
            self.assertIn(row["INPUT_0_DATATYPE"], ("BFLOAT16", "UINT32"))
        matmuls = [row for row in measured if row["OP CODE"] == "MatmulDeviceOperation"]
        self.assertEqual(len(matmuls), STEPS * 9)
        self.assertEqual({row["MATH FIDELITY"] for row in matmuls}, {"HiFi4"})

    def test_launches_of_a_replay_follow_each_other(self):
        measured = [row for row in rows_of(report_in(FOLDER)) if row["DEVICE FW START CYCLE"]]
        for session in ("1", "2"):
            last = 0
            for row in measured:
                if row["METAL TRACE REPLAY SESSION ID"] != session:
                    continue
                self.assertGreater(int(row["DEVICE FW START CYCLE"]), last, row["OP CODE"])
                last = int(row["DEVICE FW END CYCLE"])

    def test_perf_reads_it(self):
        result = strobe("perf", "--json", report_in(FOLDER))
        self.assertIn(result.returncode, (0, 3), result.stderr)
        read = json.loads(result.stdout)
        self.assertEqual((read["architecture"], read["worker_cores"]), ("h200", 132))
        self.assertEqual(read["totals"]["device_ops"], len([row for row in rows_of(report_in(FOLDER)) if row["OP TYPE"] == "tt_dnn_device"]))
        self.assertGreater(read["totals"]["device_time_us"], 0)
        self.assertEqual(read["dram_bandwidth_gb_per_s"], 4800)

    def test_the_viewer_opens_it(self):
        server = subprocess.Popen([STROBE, "view", FOLDER, "--no-index"], stdout=subprocess.PIPE, text=True)
        try:
            origin = re.search(r"http://[^/\s]+", server.stdout.readline()).group()
            ask = lambda what: json.load(urllib.request.urlopen(f"{origin}/api/{what}", timeout=60))
            info = ask("info")
            self.assertEqual(info["program"], "cuda_tiny_gpt")
            self.assertGreater(info["deviceZones"], 1000)
            self.assertTrue(all(context["name"].startswith("NVIDIA H200 0, SM ") for context in info["contexts"]))
            self.assertEqual(ask("ops")["architecture"], "h200")
            for name in ("MATMUL", "MULTIPLY", "VARIANCE"):
                found = ask(f"search?text={name}")["sources"]
                self.assertIn(name, {source["source"][0] for source in found})
        finally:
            server.terminate()
            server.wait(timeout=60)
            server.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
