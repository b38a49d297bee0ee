"""What tt-metal's own tests ask of a report, asked of ours."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from make_logs import Maker, Run
from test_report import STROBE

NOC_COLUMNS = ("NOC UTIL (%)", "MULTICAST NOC UTIL (%)", "DRAM BW UTIL (%)",
               "DRAM BW UTIL PER CTRL (%)", "ETH BW UTIL (%)", "NPE CONG IMPACT (%)")


@unittest.skipUnless(Path(STROBE).is_file(), f"{STROBE} is not built")
class EdgeCaseTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.log = self.folder / ".logs" / "profile_log_device.csv"

    def make(self, **run) -> None:
        Maker(Run(**run)).write(self.folder)

    def strobe(self, *arguments: str, status: int = 0) -> None:
        command = [STROBE, "report", str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)

    def rows(self, *arguments: str, status: int = 0) -> list[dict[str, str]]:
        self.strobe("--no-date", *arguments, status=status)
        with open(self.folder / "reports" / "ops_perf_results.csv", newline="") as file:
            return list(csv.DictReader(file))

    def measured(self, setup: str) -> dict:
        self.strobe("--setup", setup, "-q")
        path = self.folder / "output" / "device" / "device_analysis_data.json"
        return json.loads(path.read_text())["data"]["devices"]["0"]["cores"]["DEVICE"]

    def keep_rows(self, wanted) -> None:
        lines = self.log.read_text().splitlines(keepends=True)
        self.log.write_text("".join(lines[:2] + [line for line in lines[2:] if wanted(line.split(","))]))

    def add_rows(self, *rows: str) -> None:
        with open(self.log, "a") as file:
            file.writelines(row + "\n" for row in rows)

    def test_sub_devices_have_their_column(self) -> None:
        self.make(sub_devices=True)
        rows = self.rows()
        self.assertEqual({row["SUB DEVICE ID"] for row in rows}, {"0", "1"})
        self.assertNotIn("SUB DEVICE MANAGER ID", rows[0])
        for row in rows:
            self.assertEqual(int(row["SUB DEVICE ID"]), (int(row["GLOBAL CALL COUNT"]) >> 10) % 2)
            self.assertGreater(int(row["DEVICE FW DURATION [ns]"]), 0)

    def test_noc_columns_are_there_and_empty(self) -> None:
        self.make()
        for row in self.rows():
            self.assertEqual([row[column] for column in NOC_COLUMNS], [""] * 6)

    def test_model_and_tensors(self) -> None:
        self.make(ops=1, cores=1)
        (row,) = self.rows()
        self.assertEqual(row["CORE COUNT"], "1")
        self.assertEqual((row["PM IDEAL [ns]"], row["PM BANDWIDTH [ns]"]), ("7", "7"))
        self.assertEqual(row["PM REQ I BW"], "[292.5714416503906; 1e-07]")
        self.assertEqual(row["PM REQ O BW"], "[0.1; 1e+16]")
        self.assertRegex(row["INPUT_0_X_PAD[LOGICAL]"], r"^\d+\[\d+\]$")
        self.assertEqual(row["INPUT_0_W_PAD[LOGICAL]"], "1[1]")

    def test_replays_are_numbered_from_one(self) -> None:
        self.make(ops=5, traced=3, replays=4)
        sessions: dict[str, list[int]] = {}
        for row in self.rows():
            if row["METAL TRACE REPLAY SESSION ID"]:
                sessions.setdefault(row["GLOBAL CALL COUNT"], []).append(
                    int(row["METAL TRACE REPLAY SESSION ID"]))
        self.assertEqual(list(sessions.values()), [[1, 2, 3, 4]] * 3)

    def test_a_trace_that_never_ran_is_labelled(self) -> None:
        self.make(ops=5, traced=2, replays=1)
        messages = self.folder / ".logs" / "tracy_ops_data.csv"
        lines = messages.read_text().splitlines(keepends=True)
        messages.write_text("".join(line for line in lines if "TT_METAL_TRACE_REPLAY" not in line))
        self.keep_rows(lambda fields: fields[8] == "")
        labels = [row["COMPLETENESS"] for row in self.rows(status=3)]
        self.assertEqual(sorted(labels), ["complete"] * 3 + ["not replayed"] * 2)

    def test_a_device_that_is_missing_is_labelled(self) -> None:
        self.make(ops=3, devices=2)
        self.keep_rows(lambda fields: fields[0] != "1")
        labels = {(row["DEVICE ID"], row["COMPLETENESS"]) for row in self.rows(status=3)}
        self.assertEqual(labels, {("0", "complete"), ("1", "no device data")})

    def test_dumps_in_the_middle_of_a_run(self) -> None:
        self.make(ops=8, dumps=4)
        self.assertEqual({row["COMPLETENESS"] for row in self.rows()}, {"complete"})

    def test_host_only_ops_leave_a_report_whole(self) -> None:
        self.make(fallback=True)
        labels = [row["COMPLETENESS"] for row in self.rows("--strict")]
        self.assertEqual(labels.count("host only"), 1)

    def test_whole_traces_are_measured(self) -> None:
        self.make(ops=1, cores=1)
        for i in range(5):
            for zone, edge in (("FW", 0), ("KERNEL", 10)):
                self.add_rows(*(
                    f"0,9,9,TENSIX_RISC_AGG,{50 + edge},{90000000 + 1000 * i + time},0,77824,1,{i + 1},"
                    f"TRACE-{zone},{type_},1,f," for type_, time in
                    (("ZONE_START", edge), ("ZONE_END", 500 - edge))))
        found = self.measured("default_setup")["analysis"]
        self.assertEqual(found["trace_fw_duration"]["stats"]["Count"], 5)
        self.assertEqual(found["trace_kernel_duration"]["stats"]["Count"], 5)

    def test_events_are_listed(self) -> None:
        self.make(ops=2, cores=2, erisc=True)
        for i in range(4):
            self.add_rows(f"0,1,1,BRISC,60,{500 + i},0,1024,,,EVENT,TS_EVENT,1,f,",
                          f"0,5,5,ERISC,61,{500 + i},{i},1024,,,DATA,TS_DATA,1,f,")
        events = self.measured("test_timestamped_events")["riscs"]["TENSIX"]["events"]
        self.assertEqual((len(events["all_events"]), len(events["erisc_events"])), (8, 4))

    def test_rows_without_ids_end_nothing(self) -> None:
        self.make(ops=2, cores=2, host=False)
        lines = self.log.read_text().splitlines(keepends=True)
        self.log.write_text("".join(lines[:2]) + "".join(
            ",".join([*line.split(",")[:7], "0", *line.split(",")[8:]]) for line in lines[2:]))
        self.assertEqual(self.rows(), [])


if __name__ == "__main__":
    unittest.main()
