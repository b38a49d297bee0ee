"""The package as a wheel in a virtual environment of its own, with pytest and its plugin."""

from __future__ import annotations

import json
import unittest

from installed import Installed, environment, need_pytest
from recorded import STROBE


class Tools(Installed):
    def tool(self, name: str, *arguments: str):
        return self.command(environment() / "bin" / name, *arguments)

    def test_every_tool_is_there(self) -> None:
        self.assertRegex(self.tool("strobe", "--version").stdout, "strobe [0-9.]+")
        self.assertIn("tt-perf-report", self.tool("tt-perf-report", "--help").stdout)
        self.assertIn("FILE", self.tool("tracy-capture", "--help").stdout)
        self.assertEqual(self.tool("tracy-csvexport", "--help").returncode, 0)

    def test_a_script_is_recorded_and_reported(self) -> None:
        self.write("from tracy import signpost\ndef work(): signpost('here')\nwork()\n")
        for command in ([self.python, "-m", "tracy"], ["strobe", "run"]):
            done = self.command(*command, "-r", "--no-device", "script.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 signpost from", done.stdout)
            self.assertIn("work", self.names())

    def test_the_device_works_from_the_wheel(self) -> None:
        self.write("import ttnn\nd = ttnn.open_device()\nx = ttnn.from_torch([[1.0] * 32] * 32, device=d)\n"
                   "print(ttnn.matmul(x, x).to_list()[0][0])\nttnn.close_device(d)\n")
        done = self.command(self.python, "script.py")
        self.assertEqual(done.stdout, "32.0\n", done.stderr)

    def test_the_library_for_cuda_is_in_the_wheel(self) -> None:
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        self.write("from tracy import cuda\ntry: cuda.kernel('__global__ void k() {}', 'k')\n"
                   "except cuda.Error as reason: print(reason)\n")
        self.assertRegex(self.command(self.python, "script.py").stdout, "^[^\n]*CUDA driver[^\n]*\n$")

    def test_the_wrapper_of_a_quoted_command(self) -> None:
        self.write("import ttnn\nd = ttnn.open_device()\nx = ttnn.from_torch([[1.0] * 32] * 32, device=d)\n"
                   "ttnn.matmul(x, x)\nttnn.close_device(d)\n")
        command = f"{self.python} script.py & {self.python} -c 'print(1)'; wait"
        self.command(self.python, "-m", "tracy.profile", command)
        report = self.folder / "results/perf/device_ops_perf_trace.csv"
        self.assertIn("MatmulDeviceOperation", report.read_text())
        self.assertTrue((self.folder / "generated/profiler/.logs/tracy_profile_log_host.tracy").is_file())
        self.command(self.python, "-m", "tracy.profile", "-o", "named.csv", "-p", "9360", command)
        self.assertTrue((self.folder / "results/perf/named.csv").is_file())


class Pytest(Installed):
    def setUp(self) -> None:
        super().setUp()
        need_pytest()
        self.write("""
            import pytest
            def helper(): pass
            def test_one(): helper()
            @pytest.mark.tracy
            def test_two(): helper()
            def test_three(tracy_profile): helper()
        """, "test_it.py")

    def run_tests(self, *options: str) -> list[str]:
        done = self.command(self.python, "-m", "tracy", *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.names()

    def test_each_test_is_a_zone(self) -> None:
        names = self.run_tests("-m", "pytest", "-q", "test_it.py::test_one")
        for zone in ("test_it.py::test_one", "test_it.py::test_one (setup)", "helper", "test_one"):
            self.assertIn(zone, names)

    def test_with_partial_marked_tests_have_functions(self) -> None:
        names = self.run_tests("-p", "-m", "pytest", "-q", "test_it.py")
        self.assertEqual(names.count("helper"), 2)
        self.assertNotIn("test_one", names)
        names = self.run_tests("-p", "-m", "pytest", "-q", "--tracy-all", "--tracy-signposts", "test_it.py::test_one")
        self.assertEqual(names.count("helper"), 1)
        self.assertIn("`TT_SIGNPOST: test_it.py::test_one`", "\n".join(self.messages()))


    def test_a_session_for_each_test(self) -> None:
        names = self.run_tests("-m", "pytest", "-q", "--tracy-sessions", "all", "test_it.py")
        self.assertIn("test_it.py::test_one (session)", names)
        self.assertNotIn("test_one", names)
        session = json.loads((self.folder / "generated/profiler/.logs/processes/session.json").read_text())
        tests = {program["program"]: program for program in session["programs"] if not program["target"]}
        self.assertEqual(list(tests), ["test_it.py::test_one", "test_it.py::test_two", "test_it.py::test_three"])
        for name, program in tests.items():
            self.assertEqual(program["state"], "done")
            rows = self.command(STROBE, "export", program["file"]).stdout
            self.assertIn(f"\n{name.split('::')[1]},", rows)
            self.assertIn("\nhelper,", rows)

    def test_sessions_of_marked_tests_and_of_those_that_crash(self) -> None:
        self.write("""
            import os, pytest, signal
            log = open("log", "a")
            @pytest.fixture(scope="module")
            def shared():
                print("begin", os.getpid(), file=log, flush=True)
                yield
                print("end", os.getpid(), file=log, flush=True)
            def test_first(shared): pass
            @pytest.mark.mine
            def test_crashes(shared): os.kill(os.getpid(), signal.SIGSEGV)
            @pytest.mark.mine
            def test_fails(shared): assert os.getpid() == 1
            def test_last(shared): pass
        """, "test_it.py")
        done = self.command(self.python, "-m", "tracy", "-p", "-m", "pytest", "-q", "--tracy-sessions", "marked",
                            "--tracy-marker", "mine", "-W", "ignore::pytest.PytestUnknownMarkWarning", "test_it.py")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("was ended by SIGSEGV", done.stdout)
        self.assertIn("2 failed, 2 passed", done.stdout)
        lines = (self.folder / "log").read_text().split()
        self.assertEqual(lines.count("begin"), 4)
        self.assertEqual(lines.count("end"), 3)  # the crash could not


if __name__ == "__main__":
    unittest.main()
