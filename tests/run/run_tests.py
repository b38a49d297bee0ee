#!/usr/bin/env python3
"""`strobe run`: what is recorded, what is told, and what is left when things go wrong.

usage: run_tests.py FOLDER_OF_BINARIES [unittest arguments]
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1)).resolve()
STROBE = BIN / "strobe"
SUBJECT = BIN / "run_subject"
TYPED = shlex.quote(str(SUBJECT))  # in a line for a shell
LIMIT_S = 60


def command_lines() -> list[str]:
    """Of all processes that there are."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_text(errors="replace"))
    return lines


class Run(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="strobe-run-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("TT_", "STROBE_O", "TRACY_"))}

    def run_strobe(self, *arguments: str | Path, **more) -> subprocess.CompletedProcess[str]:
        return subprocess.run([STROBE, "run", *arguments], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=LIMIT_S, **more)

    def session(self, folder: str = "generated/profiler") -> dict:
        return json.loads((self.folder / folder / ".logs/processes/session.json").read_text())

    def zones(self, folder: str = "generated/profiler") -> int:
        trace = self.folder / folder / ".logs/tracy_profile_log_host.tracy"
        rows = subprocess.run([STROBE, "export", "-u", trace], text=True, capture_output=True, timeout=LIMIT_S)
        return sum(row.startswith("work,") for row in rows.stdout.splitlines())


class Recording(Run):
    def test_a_program_is_recorded_and_its_trace_named(self) -> None:
        done = self.run_strobe(SUBJECT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tracy_profile_log_host.tracy", done.stdout)
        self.assertEqual(self.zones(), 100)

    def test_each_process_has_a_trace(self) -> None:
        self.run_strobe(SUBJECT, "fork")
        programs = self.session()["programs"]
        self.assertEqual(sorted(p["zones"] for p in programs), [50, 100])
        self.assertEqual([p["main"] for p in programs if p["zones"] == 100], [True])
        for program in programs:
            self.assertTrue(Path(program["file"]).is_file())

    def test_the_process_with_operations_is_the_main_one(self) -> None:
        self.run_strobe("sh", "-c", f"{TYPED} & {TYPED} signpost; wait")
        programs = self.session()["programs"]
        self.assertEqual([p["operations"] for p in programs if p["main"]], [1])

    def test_options_of_the_program_are_its_own(self) -> None:
        done = self.run_strobe("-o", "out", "echo", "-r", "--no-device", "-o", "x")
        self.assertEqual(done.stdout, "-r --no-device -o x\n")
        self.assertIn("nothing of echo was recorded", done.stderr)

    def test_letters_may_share_a_dash(self) -> None:
        done = self.run_strobe("-rv", SUBJECT, "signpost")
        self.assertIn("100 zones", done.stderr)
        self.assertIn("1 signpost from", done.stdout)

    def test_the_report_has_the_signposts_and_its_name(self) -> None:
        done = self.run_strobe("-r", "-n", "named", "-o", "out", "--no-device", SUBJECT, "signpost")
        reports = list((self.folder / "out/reports/named").glob("*/ops_perf_results_named_*.csv"))
        self.assertEqual(len(reports), 1, done.stderr)
        self.assertIn("here,signpost", reports[0].read_text())
        self.assertIn("OPs csv generated at: ", done.stderr)

    def test_logs_can_be_processed_again(self) -> None:
        self.run_strobe(SUBJECT, "signpost")
        done = self.run_strobe("--process-logs-only")
        self.assertIn("1 signpost from", done.stdout)

    def test_variables_are_those_of_the_options(self) -> None:
        show = "env | grep -E '^(TT_METAL|TTNN)' | sort"
        done = self.run_strobe("-r", "-o", "out", "--no-op-info-cache", "--op-support-count", "5000", "--sync-host-device",
                               "--collect-noc-traces", "--profiler-capture-perf-counters", "fpu,l1", "sh", "-c", show)
        variables = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        logs = f"{self.folder}/out/.logs"
        self.assertEqual(variables, {
            "TT_METAL_DEVICE_PROFILER": "1", "TT_METAL_DEVICE_PROFILER_NOC_EVENTS": "1",
            "TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH": logs, "TT_METAL_PROFILER_DIR": f"{self.folder}/out",
            "TT_METAL_PROFILER_NO_CACHE_OP_INFO": "1", "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT": "5000",
            "TT_METAL_PROFILER_SYNC": "1", "TT_METAL_PROFILER_TRACE_TRACKING": "1",
            "TT_METAL_PROFILE_PERF_COUNTERS": "9", "TTNN_OP_PROFILER": "1"})

    def test_variables_of_the_user_stay(self) -> None:
        self.environment |= {"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT": "77", "TT_METAL_DEVICE_PROFILER": "1"}
        done = self.run_strobe("sh", "-c", "echo $TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT $TT_METAL_DEVICE_PROFILER")
        self.assertTrue(done.stdout.startswith("77 1\n"))
        done = self.run_strobe("--no-device", "sh", "-c", "echo [$TT_METAL_DEVICE_PROFILER]")
        self.assertTrue(done.stdout.startswith("[]\n"))

    def test_options_that_exclude_each_other_are_refused(self) -> None:
        for options in (["-r", "--enable-accumulate-profiling"], ["-r", "--no-capture-tool"],
                        ["--dump-device-data-mid-run", "--device-trace-profiler"],
                        ["--dump-device-data-mid-run", "--profile-dispatch-cores"],
                        ["--profiler-capture-perf-counters", "fpu,nonsense"], ["--op-support-count", "many"], []):
            with self.subTest(options=options):
                done = self.run_strobe(*options, *([SUBJECT] if options else []))
                self.assertEqual(done.returncode, 2, done.stderr)


class Operations(Run):
    """A program on the built-in device, and what its host tells of operations."""

    def messages(self, *options: str) -> list[str]:
        done = self.run_strobe("-r", "--no-device", *options, BIN / "tiny_gpt", "-q", "-l", "1", "-s", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = next((self.folder / "generated/profiler/reports").glob("*"))
        return (report / "tracy_ops_data.csv").read_text().split("`")[1::2]

    def test_a_report_has_the_columns_of_the_host(self) -> None:
        self.messages()
        report = next((self.folder / "generated/profiler/reports").glob("*/ops_perf_results_*.csv"))
        rows = list(csv.DictReader(report.read_text().splitlines()))
        operations = [row for row in rows if row["OP TYPE"] == "tt_dnn_device"]
        self.assertEqual(len(operations), 19)
        for row in operations:
            self.assertGreater(int(row["HOST DURATION [ns]"]), 0)
            self.assertGreater(int(row["CompileProgram_TT_HOST_FUNC [ns]"]), 0)
            self.assertEqual(int(row["GLOBAL CALL COUNT"]) % 1024, 0)
        matmul = next(row for row in operations if row["OP CODE"] == "MatmulDeviceOperation")
        self.assertEqual(matmul["INPUT_0_X_PAD[LOGICAL]"], "64[64]")
        self.assertEqual(matmul["COMPUTE KERNEL SOURCE"], "['matmul.c']")
        self.assertGreater(int(matmul["TENSIX DM 0 MAX KERNEL SIZE [B]"]), 0)
        self.assertEqual([row["OP CODE"] for row in rows if row["OP TYPE"] == "signpost"],
                         ["compile", "step 1", "step 2"])

    def test_a_program_is_described_once(self) -> None:
        operations = [m for m in self.messages() if m.startswith("TT_DNN_DEVICE_OP")]
        full = [m for m in operations if " ->" in m]
        self.assertEqual(len(operations), 19)
        self.assertEqual(len({m.split(",")[1] for m in operations}), len(full))
        self.assertLess(len(full), 19)

    def test_without_the_cache_all_are_described(self) -> None:
        operations = [m for m in self.messages("--no-op-info-cache") if m.startswith("TT_DNN_DEVICE_OP")]
        self.assertTrue(all(" ->" in m for m in operations))


class SeveralProcesses(Run):
    """Each of them runs operations on a device."""

    TYPED = f"{shlex.quote(str(BIN / 'tiny_gpt'))} -q -l 1 -s 1"

    @staticmethod
    def rows(report: Path) -> list[dict[str, str]]:
        with report.open(newline="") as file:
            return list(csv.DictReader(file))

    def test_each_has_a_report_of_its_own(self) -> None:
        done = self.run_strobe("-r", "sh", "-c", f"{self.TYPED}; {self.TYPED}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p["main"] for p in self.session()["programs"]], [True, False])
        reports = sorted((self.folder / "generated/profiler/reports").glob("*/ops_perf_results_*.csv"))
        self.assertEqual(len(reports), 2)
        for report in reports:
            self.assertEqual({row["COMPLETENESS"] for row in self.rows(report) if row["OP TYPE"] == "tt_dnn_device"}, {"complete"})
        self.run_strobe(SUBJECT)
        self.assertEqual(sorted(p.name for p in (self.folder / "generated/profiler/.logs/processes").iterdir()),
                         [".lock", "session.json"])

    def test_the_report_of_a_quoted_command_has_all_rows(self) -> None:
        done = subprocess.run([STROBE, "profile", f"{self.TYPED} & {self.TYPED}; wait"], cwd=self.folder,
                              env=self.environment, text=True, capture_output=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows(self.folder / "results/perf/device_ops_perf_trace.csv")
        owners = [row["PROCESS ID"] for row in rows]
        self.assertEqual(len(set(owners)), 2)
        self.assertEqual(owners.count(owners[0]) * 2, len(rows))
        self.assertEqual({row["COMPLETENESS"] for row in rows if row["OP TYPE"] == "tt_dnn_device"}, {"complete"})


class Faults(Run):
    def test_exit_codes_are_passed_on(self) -> None:
        self.assertEqual(self.run_strobe(SUBJECT, "fail").returncode, 7)
        self.assertEqual(self.run_strobe("--check-exit-code", SUBJECT, "fail").returncode, 4)

    def test_nothing_is_lost_by_a_crash(self) -> None:
        for how, code in (("segfault", 139), ("kill", 137), ("_exit", 0)):
            with self.subTest(how=how):
                done = self.run_strobe("-r", SUBJECT, "signpost", how)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(self.zones(), 100)
                self.assertIn("1 signpost from", done.stdout)

    def test_a_program_that_closes_all_descriptors_is_not_written_to(self) -> None:
        self.run_strobe(SUBJECT, "close")
        self.assertEqual((self.folder / "victim").stat().st_size, 0)
        self.assertGreaterEqual(self.zones(), 100)
        self.assertGreater(self.session()["programs"][0]["lost"], 0)

    def test_two_processes_do_not_record_into_one_file(self) -> None:
        self.environment["STROBE_OUT"] = str(self.folder / "shared.rec")
        first = subprocess.Popen([SUBJECT, "hang"], env=self.environment)
        time.sleep(0.5)
        self.assertEqual(subprocess.run([SUBJECT], env=self.environment, timeout=LIMIT_S).returncode, 0)
        first.terminate()
        self.assertEqual(first.wait(LIMIT_S), -signal.SIGTERM)
        for name in ("shared.rec", "shared.rec.2"):
            rows = subprocess.run([STROBE, "export", "-u", self.folder / name], text=True, capture_output=True).stdout
            self.assertEqual(rows.count("work,"), 100)

    def test_a_program_without_standard_descriptors_is_recorded(self) -> None:
        self.run_strobe("sh", "-c", f"exec 0<&- 1>&- 2>&-; {TYPED} chatter")
        self.assertEqual(self.zones(), 100)

    def test_a_program_that_goes_elsewhere_is_recorded(self) -> None:
        self.run_strobe(SUBJECT, "away")
        self.assertEqual(self.zones(), 100)

    def test_a_removed_folder_is_made_again(self) -> None:
        done = self.run_strobe("sh", "-c", f"{TYPED}; sleep 0.3; rm -rf generated")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.zones(), 100)

    def test_nothing_is_lost_by_a_folder_that_is_removed_once_recordings_are_open(self) -> None:
        is_open = "ls -l /proc/$PPID/fd | grep -q '[.]rec'"  # by strobe, the shell's parent
        is_back = "[ -d generated/profiler/.logs/processes ]"
        wait = "until {}; do sleep 0.01; done"
        done = self.run_strobe("sh", "-c", f"{TYPED}; {wait.format(is_open)}; rm -rf generated; "
                                           f"{wait.format(is_back)}; {TYPED}")
        self.assertEqual([p["zones"] for p in self.session()["programs"]], [100, 100], done.stderr)
        self.assertIn("was removed while", done.stderr)

    def test_more_processes_than_descriptors_are_recorded(self) -> None:
        many = shlex.quote(f"for i in $(seq 40); do {TYPED}; done")
        done = subprocess.run(["sh", "-c", f"ulimit -n 24; exec {shlex.quote(str(STROBE))} run sh -c {many}"],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([p["zones"] for p in self.session()["programs"]], [100] * 40)

    def test_a_limit_for_files_does_not_end_the_program(self) -> None:
        done = subprocess.run(["bash", "-c", f"ulimit -f 1; exec {shlex.quote(str(STROBE))} run {TYPED}"],
                              cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot record", done.stderr)

    def test_gigabytes_of_output_go_through(self) -> None:
        with open(os.devnull, "wb") as nothing:
            rc = subprocess.run([STROBE, "run", SUBJECT, "chatter"], cwd=self.folder, stdout=nothing, timeout=LIMIT_S,
                                stderr=subprocess.DEVNULL, env=self.environment).returncode
        self.assertEqual(rc, 0)
        self.assertEqual(self.zones(), 100)

    def test_a_program_that_hangs_at_exit_ends_when_told_to(self) -> None:
        for how in ("hang", "ignore"):
            with self.subTest(how=how):
                process = subprocess.Popen([STROBE, "run", SUBJECT, how, "hang"], cwd=self.folder, env=self.environment,
                                           stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                time.sleep(1)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(LIMIT_S), 137 if how == "ignore" else 143)
                self.assertEqual(self.zones(), 100)

    def test_what_is_left_over_is_ended(self) -> None:
        name = f"strobe-{os.getpid()}"
        done = self.run_strobe("sh", "-c", f"sh -c 'echo {name} > /dev/null; sleep 300' & kill -9 $$")
        self.assertEqual(done.returncode, 137)
        self.assertIn("told to end", done.stderr)
        self.assertEqual([line for line in command_lines() if name in line], [])

    def test_folders_that_cannot_be_used_are_named(self) -> None:
        done = self.run_strobe("-o", "/proc/strobe", SUBJECT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/strobe", done.stderr)

    def test_two_runs_do_not_share_a_folder(self) -> None:
        first = subprocess.Popen([STROBE, "run", "sleep", "3"], cwd=self.folder, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        done = self.run_strobe(SUBJECT)
        first.terminate()
        first.wait(LIMIT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another program is being recorded", done.stderr)

    def test_what_is_not_there_is_named(self) -> None:
        done = self.run_strobe("./nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("./nowhere", done.stderr)
        self.assertEqual(self.run_strobe("").returncode, 2)

    def test_what_cannot_be_executed_is_named(self) -> None:
        (self.folder / "plain").write_bytes(b"\x7fELF\0")
        self.assertIn("may not be executed", self.run_strobe("./plain").stderr)
        (self.folder / "folder").mkdir()
        self.assertIn("is a folder", self.run_strobe("./folder").stderr)
        script = self.folder / "script"
        script.write_text("#!/nowhere/interpreter\n")
        script.chmod(0o755)
        self.assertIn("interpreter that it names", self.run_strobe("./script").stderr)

    def test_an_executable_text_is_for_the_shell(self) -> None:
        script = self.folder / "script"
        script.write_text(f"{TYPED}\necho $1\n")
        script.chmod(0o755)
        done = self.run_strobe("./script", "argument")
        self.assertIn("argument\n", done.stdout)
        self.assertEqual(self.zones(), 100)

    def test_the_next_command_can_be_pasted(self) -> None:
        done = self.run_strobe("-o", "it's a folder", SUBJECT)
        line = next(line for line in done.stdout.splitlines() if line.startswith("Next: "))
        self.assertTrue(Path(shlex.split(line)[3]).is_file(), line)

    def test_a_full_disk_is_told(self) -> None:
        if not os.path.ismount("/dev/shm") or os.geteuid() != 0:
            self.skipTest("needs to mount a file system")
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], capture_output=True).returncode:
            self.skipTest("cannot mount a file system")
        self.addCleanup(subprocess.run, ["umount", disk], capture_output=True)
        done = self.run_strobe("-o", disk, SUBJECT)
        self.assertIn(done.returncode, (1, 3))
        self.assertTrue("cannot record" in done.stderr or "could not" in done.stderr, done.stderr)

    def test_busy_ports_do_no_harm(self) -> None:
        taken = []
        for port in range(8086, 8106):
            listener = socket.socket()
            try:
                listener.bind(("127.0.0.1", port))
                listener.listen()
            except OSError:
                pass
            taken.append(listener)
        done = self.run_strobe("sh", "-c", f"echo port=$TRACY_PORT; {TYPED}")
        for listener in taken:
            listener.close()
        self.assertEqual(self.zones(), 100)
        self.assertRegex(done.stdout, r"port=[0-9]+")


if __name__ == "__main__":
    unittest.main(verbosity=2)
