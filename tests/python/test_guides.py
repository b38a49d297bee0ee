"""Every command line of the guides that users follow, as typed, with our examples for their models.

docs/guides-coverage.md says which test stands for which part of them.
"""

from __future__ import annotations

import csv
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

from installed import Installed, need_device_profiler, need_pytest
from recorded import BIN, LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"

FILES = ("profile_log_device.csv", "tracy_profile_log_host.tracy", "tracy_ops_times.csv", "tracy_ops_data.csv")
COLUMNS = ("OP CODE", "OP TYPE", "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]", "HOST DURATION [ns]", "CORE COUNT",
           "COMPUTE KERNEL SOURCE", "DATA MOVEMENT KERNEL SOURCE")


class Guide(Installed):
    def setUp(self) -> None:
        super().setUp()
        need_device_profiler()
        for name in EXAMPLES.glob("*.py"):
            shutil.copy(name, self.folder)
        shutil.copy(EXAMPLES / "basic_model.py", self.folder / "your_script.py")
        shutil.copy(EXAMPLES / "long_running.py", self.folder / "your_training_script.py")
        self.environment["TT_METAL_HOME"] = str(self.folder)

    def shell(self, line: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=LIMIT_S)
        self.assertEqual(done.returncode, code, f"{line}\n{done.stdout}\n{done.stderr}")
        return done

    def report(self) -> list[dict[str, str]]:
        newest = max((self.folder / "generated/profiler/reports").glob("*/ops_perf_results_*.csv"))
        return list(csv.DictReader(newest.read_text().splitlines()))

    def operations(self) -> list[dict[str, str]]:
        """Of the report, all with times of host and device."""
        rows = [row for row in self.report() if row["OP TYPE"] == "tt_dnn_device"]
        for row in rows:
            self.assertEqual(row["COMPLETENESS"], "complete")
            self.assertGreater(int(row["DEVICE KERNEL DURATION [ns]"]), 0)
            self.assertGreater(int(row["HOST DURATION [ns]"]), 0)
        return rows


class Modes(Guide):
    def test_quick_start(self) -> None:
        done = self.shell("TT_METAL_DEVICE_PROFILER=1 python -m tracy -p -r -v your_script.py")
        self.assertEqual(len(self.operations()), 15)
        folder = next((self.folder / "generated/profiler/reports").iterdir())
        for name in (*FILES, f"ops_perf_results_{folder.name}.csv"):
            self.assertTrue((folder / name).is_file(), name)
        for column in COLUMNS:
            self.assertIn(column, self.report()[0])
        for part in ("Where the time went", "Report:", "lost events"):
            self.assertIn(part, done.stdout + done.stderr)

    def test_quick_start_with_pytest(self) -> None:
        need_pytest()
        self.shell("TT_METAL_DEVICE_PROFILER=1 python -m tracy -p -r -v -m pytest test_model.py::test_model")
        self.assertEqual(len(self.operations()), 5)
        self.assertIn("Model.__call__", self.names())

    def test_host_only(self) -> None:
        self.shell("python -m tracy -p your_script.py")
        self.assertIn("TT_DNN_DEVICE_OP", self.names())
        self.assertFalse((self.folder / "generated/profiler/reports").exists())

    def test_combined(self) -> None:
        self.shell("TT_METAL_DEVICE_PROFILER=1 python -m tracy -p -r --sync-host-device your_script.py")
        self.assertEqual(len(self.operations()), 15)

    def test_whole_program(self) -> None:
        self.shell("python -m tracy your_script.py")
        self.assertIn("main", self.names())

    def test_lines_of_a_test(self) -> None:
        need_pytest()
        self.shell("python -m tracy -p -l -m pytest test_model.py::test_model")
        self.assertTrue(any(name.startswith("test_model:") for name in self.names()))

    def test_a_compiled_program(self) -> None:
        """nano_gpt of the training guides, here tiny_gpt."""
        program = self.folder / "build/tt-train/sources/examples/nano_gpt/nano_gpt"
        program.parent.mkdir(parents=True)
        program.symlink_to(BIN / "tiny_gpt")
        self.shell("env -u TT_METAL_DPRINT_CORES TT_METAL_DEVICE_PROFILER=1 python -m tracy -r -v -p "
                   "${TT_METAL_HOME}/build/tt-train/sources/examples/nano_gpt/nano_gpt -l 1 -s 1")
        rows = [row for row in self.report() if row["METAL TRACE REPLAY SESSION ID"]]
        self.assertEqual(len(rows), 18)
        self.shell("""TT_METAL_WATCHER_NOINLINE=1 \\
            TT_METAL_WATCHER_DEBUG_DELAY=10 \\
            TT_METAL_READ_DEBUG_DELAY_CORES=0,0 \\
            TT_METAL_WRITE_DEBUG_DELAY_CORES=0,0 \\
            TT_METAL_READ_DEBUG_DELAY_RISCVS=BR \\
            TT_METAL_WRITE_DEBUG_DELAY_RISCVS=BR \\
            python -m tracy -r -v -p build/tt-train/sources/examples/nano_gpt/nano_gpt -l 1 -s 1""")


class Options(Guide):
    def test_no_op_info_cache(self) -> None:
        self.shell("python -m tracy -p -r -v --no-op-info-cache your_script.py")
        folder = next((self.folder / "generated/profiler/reports").iterdir())
        self.assertEqual((folder / "tracy_ops_data.csv").read_text().count(" ->\n{"), 15)

    def test_more_operations(self) -> None:
        self.shell("python -m tracy -p -r -v --op-support-count 5000 your_script.py")
        self.shell("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=5000 python -m tracy -p -r your_script.py")
        self.assertEqual(len(self.operations()), 15)

    def test_mid_run(self) -> None:
        self.shell("python -m tracy -p -r --dump-device-data-mid-run your_training_script.py")
        self.assertEqual(len(self.operations()), 75)
        self.shell("""TT_METAL_DEVICE_PROFILER=1 \\
            TT_METAL_PROFILER_SYNC=1 \\
            TT_METAL_PROFILER_MID_RUN_DUMP=1 \\
            python -m tracy -p -r your_training_script.py""")
        self.assertEqual(len(self.operations()), 75)

    def test_name_and_folder(self) -> None:
        self.shell("python -m tracy -p -r -o out -n decoder your_script.py")
        self.assertTrue(list((self.folder / "out/reports/decoder").glob("*/ops_perf_results_decoder_*.csv")))

    def test_no_device(self) -> None:
        self.shell("python -m tracy -p -r --no-device your_script.py")
        self.assertEqual({row["DEVICE KERNEL DURATION [ns]"] for row in self.report()}, {""})


class Workflows(Guide):
    def test_signposts(self) -> None:
        self.shell("python -m tracy -p -r signposts.py")
        posts = [(row["OP CODE"], row["ATTRIBUTES"]) for row in self.report() if row["OP TYPE"] == "signpost"]
        self.assertEqual(posts, [("Warmup Start", ""), ("Measurement Start", "Beginning timed runs"), ("Measurement End", "")])
        done = self.shell('strobe perf generated/profiler/reports --start-signpost "Measurement Start" '
                          '--end-signpost "Measurement End" --no-color')
        self.assertIn("25 device ops", done.stdout)

    def test_end_to_end(self) -> None:
        self.shell("python -m tracy -p -r -v --sync-host-device end_to_end.py")
        self.assertEqual(len(self.operations()), 60)
        self.assertEqual(self.names().count("Model.__call__") + self.names().count("__call__"), 10)

    def test_the_wrapper_of_another_team(self) -> None:
        self.shell('python -m tracy.profile "python your_script.py"')
        text = (self.folder / "results/perf/device_ops_perf_trace.csv").read_text()
        self.assertEqual(text.count("MatmulDeviceOperation"), 6)

    def test_the_wrapper_tells_where_operations_come_from(self) -> None:
        self.write("""
            import tracy, ttnn
            with ttnn.open_device(0) as device:
                a = ttnn.from_torch([[1.0] * 32] * 32, device)
                b = a @ a
                tracy.message('MLIR_PROGRAM_METADATA;{"name": "main"}')
                tracy.message('MLIR_OP_LOCATION;loc("model.mlir":17:14)')
                b = a @ a
                tracy.message("MLIR_CONST_EVAL_OP;true")
                b = a @ a
        """)
        self.shell('python -m tracy.profile "python script.py"')
        with (self.folder / "results/perf/device_ops_perf_trace.csv").open(newline="") as file:
            rows = [(row["LOC"], row["CONST_EVAL_OP"], row["PROGRAM_METADATA"]) for row in csv.DictReader(file)]
        place = 'loc("model.mlir":17:14)'
        self.assertEqual(rows, [("loc(unknown)", "false", "{}"), (place, "false", '{"name": "main"}'),
                                (place, "true", '{"name": "main"}')])

    def test_the_report_tool(self) -> None:
        self.shell("python -m tracy -r -p -v signposts.py; cp generated/profiler/reports/*/ops_perf_results_*.csv trace.csv")
        for line in ("tt-perf-report trace.csv", "tt-perf-report trace.csv --no-advice",
                     "tt-perf-report trace.csv --id-range 5-10",
                     "tt-perf-report trace.csv --id-range 31-", "tt-perf-report trace.csv --id-range -12",
                     "tt-perf-report trace.csv --csv my_report.csv", "tt-perf-report trace.csv --ignore-signposts",
                     'tt-perf-report trace.csv --signpost "Measurement Start"'):
            with self.subTest(line=line):
                self.shell(line)

    def test_the_tools_are_there_under_their_names(self) -> None:
        self.shell("command -v capture-release csvexport-release tracy-capture tracy-csvexport tt-perf-report strobe")

    def test_the_trace_goes_into_a_viewer(self) -> None:
        self.shell("python -m tracy -p -r your_script.py")
        self.shell("cp generated/profiler/reports/*/tracy_profile_log_host.tracy ./ && "
                   "strobe view tracy_profile_log_host.tracy --static page.html && test -s page.html")


class Cpp(Guide):
    """The snippets for host code in C++, compiled against our headers."""

    SOURCE = """
        #include <tracy/Tracy.hpp>
        #include <string>
        void automatic() { ZoneScoped; }
        void phases() {
            { ZoneScopedN("Phase1_Setup"); }
            { ZoneScopedN("Phase2_Compute"); }
            { ZoneScopedN("Phase3_Cleanup"); }
        }
        void coloured() { ZoneScopedN("MyZone"); ZoneColor(0x00FF00); }
        void process_batch(int batch_id) {
            ZoneScopedN("ProcessBatch");
            std::string info = "batch_id: " + std::to_string(batch_id);
            ZoneText(info.c_str(), info.size());
        }
        void messages(int count) {
            TracyMessageL("Starting important operation");
            std::string msg = "Processing " + std::to_string(count) + " items";
            TracyMessage(msg.c_str(), msg.size());
        }
        int main() {
            automatic(); phases(); coloured(); process_batch(3); messages(5);
            for (int i = 0; i < 3; i++) FrameMarkNamed("main");
        }
    """

    def test_zones_messages_and_frames(self) -> None:
        if shutil.which("c++") is None:
            self.skipTest("no compiler for C++")
        self.write(self.SOURCE, "host.cpp")
        headers, library = shlex.quote(f"{ROOT}/include"), shlex.quote(str(BIN.parent))
        self.shell(f"c++ -DTRACY_ENABLE -I{headers} host.cpp -o host -L{library} -lstrobe -Wl,-rpath,{library}")
        self.shell("strobe run ./host")
        self.assertEqual(sorted(self.names()), ["MyZone", "Phase1_Setup", "Phase2_Compute", "Phase3_Cleanup", "ProcessBatch",
                                                "automatic"])
        self.assertIn("Processing 5 items", "\n".join(self.messages()))


if __name__ == "__main__":
    unittest.main()
