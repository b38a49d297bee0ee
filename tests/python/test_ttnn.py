"""The names of ttnn over the built-in device, and that a real ttnn has precedence."""

from __future__ import annotations

import csv
import unittest

from recorded import PYTHON, Recorded

MODEL = """
    import ttnn
    from tracy import signpost

    def rows(height, width, value):
        return [[value] * width for _ in range(height)]

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(rows(32, 64, 1.0), device=device)
    w = ttnn.from_torch(rows(64, 32, 0.5), device=device)
"""


class Device(Recorded):
    def run_model(self, text: str, *options: str, code: int = 0):
        script = self.write(MODEL)
        script.write_text(script.read_text() + "\n".join(line.strip() for line in text.strip().splitlines()) + "\n")
        return self.tracy(*options, script, code=code)

    def test_operations_give_what_they_should(self) -> None:
        self.run_model("""
            assert ttnn.matmul(x, w).to_list() == rows(32, 32, 32.0)
            assert (x @ w).to_list() == ttnn.to_torch(x @ w)
            assert ttnn.add(x, x).to_list() == rows(32, 64, 2.0)
            assert ttnn.relu(ttnn.from_torch(rows(2, 3, -1.0), device=device)).to_list() == rows(2, 3, 0.0)
            assert ttnn.softmax(x).to_list() == rows(32, 64, 1 / 64)
            assert ttnn.sum(x).to_list() == rows(32, 1, 64.0)
            assert ttnn.transpose(x).shape == (64, 32)
            assert ttnn.embedding([3, 1], w).to_list() == rows(2, 32, 0.5)
            assert ttnn.layer_norm(x).to_list() == rows(32, 64, 0.0)
            ttnn.synchronize_device(device)
            ttnn.ReadDeviceProfiler(device)
            ttnn.close_device(device)
            ttnn.close_device(device)
        """)

    def test_a_report_has_a_row_for_each(self) -> None:
        self.run_model("""
            signpost("Warmup")
            ttnn.matmul(x, w)
            signpost("Measurement", "one run")
            ttnn.matmul(x, w)
            ttnn.close_device(device)
        """, "-p", "-r", "--no-device")
        report = next((self.folder / "generated/profiler/reports").glob("*/ops_perf_results_*.csv"))
        rows = list(csv.DictReader(report.read_text().splitlines()))
        self.assertEqual([row["OP CODE"] for row in rows],
                         ["Warmup", "MatmulDeviceOperation", "Measurement", "MatmulDeviceOperation"])
        self.assertEqual(rows[2]["ATTRIBUTES"], "one run")

    def test_zones_and_messages_have_the_names_of_ttnn(self) -> None:
        self.run_model("""
            ttnn.tracy_message("Starting batch processing")
            ttnn.tracy_message("Critical section entered", color=0xFF0000)
            ttnn.start_tracy_zone("my_file.py", "MY_CUSTOM_ZONE", line_number=42)
            ttnn.stop_tracy_zone("MY_CUSTOM_ZONE", color=0x00FF00)
            ttnn.start_tracy_zone("my_file.py", "other", 43)
            ttnn.stop_tracy_zone()
            ttnn.tracy_frame()
        """, "-p")
        zones = [(row["name"], row["src_file"], row["src_line"]) for row in self.rows() if row["src_file"] == "my_file.py"]
        self.assertEqual(zones, [("MY_CUSTOM_ZONE", "my_file.py", "42"), ("other", "my_file.py", "43")])
        self.assertIn("Critical section entered", "\n".join(self.messages()))

    def test_a_zone_by_hand_lasts_beyond_the_functions_that_start_and_stop_it(self) -> None:
        self.run_model("""
            def work(): pass
            ttnn.start_tracy_zone("a.py", "outer", 1)
            work()
            ttnn.stop_tracy_zone()
        """)
        zones = {row["name"]: row for row in self.rows()}
        outer, work = zones["outer"], zones["work"]
        self.assertLess(int(outer["ns_since_start"]), int(work["ns_since_start"]))
        self.assertGreater(int(outer["exec_time_ns"]), int(work["exec_time_ns"]))

    def test_traces_are_captured_and_replayed(self) -> None:
        self.run_model("""
            trace = ttnn.begin_trace_capture(device)
            y = ttnn.matmul(x, w)
            ttnn.end_trace_capture(device, trace)
            ttnn.execute_trace(device, trace)
            assert y.to_list() == rows(32, 32, 32.0)
            ttnn.release_trace(device, trace)
        """)

    def test_meshes_have_several_devices(self) -> None:
        self.run_model("""
            mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
            assert mesh.get_num_devices() == 2
            mesh.close()
        """)

    def test_devices_of_a_mesh_exchange_their_parts(self) -> None:
        self.run_model("""
            mesh = ttnn.open_mesh_device((1, 2))
            wholes = ttnn.all_gather([ttnn.from_torch(rows(32, 32, float(n)), mesh, n) for n in (0, 1)])
            assert [whole.to_list() for whole in wholes] == 2 * [rows(32, 32, 0.0) + rows(32, 32, 1.0)]
            mesh.close()
        """)

    def test_mistakes_are_told(self) -> None:
        done = self.run_model("ttnn.matmul(x, x)", code=1)
        self.assertIn("RuntimeError: matmul: 32 x 64 and 32 x 64 do not fit", done.stderr)
        done = self.run_model("ttnn.close_device(device)\nx.to_list()", code=1)
        self.assertIn("deallocated, or its device is closed", done.stderr)


class RealOne(Recorded):
    def test_a_real_ttnn_has_precedence(self) -> None:
        real = self.folder / "site" / "ttnn"
        real.mkdir(parents=True)
        (real / "__init__.py").write_text("from ttnn import part\nname = 'real'\n")
        (real / "part.py").write_text("")
        self.environment["PYTHONPATH"] += f":{real.parent}"
        done = self.command(PYTHON, "-c", "import ttnn, ttnn.part; print(ttnn.name)")
        self.assertEqual(done.stdout, "real\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
