"""Damaged logs: each gives a report that says what is missing, exit code 3, and no other rows."""

from __future__ import annotations

import csv
import os
import random
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from make_logs import Maker, Run

ROOT = Path(__file__).resolve().parents[2]
STROBE = os.environ.get("STROBE", str(ROOT / "build/release/bin/strobe"))
VARIANTS = 300
COLUMN = "COMPLETENESS"


def id_of(line: str) -> str:
    return line.split(",")[7]


class Logs:
    """The files of a run as lists that can be damaged, and what the report should say of each id."""

    def __init__(self, folder: Path):
        logs = folder / ".logs"
        self.head, self.rows = self.split(logs / "profile_log_device.csv", 2)
        self.messages = re.findall(
            r"`[^`]*`;\d+\n", (logs / "tracy_ops_data.csv").read_text()
        )
        self.zone_head, self.zones = self.split(logs / "tracy_ops_times.csv", 1)
        self.tail = ""  # what follows the last row
        self.expected: dict[str, str] = {}

    @staticmethod
    def split(path: Path, head: int) -> tuple[list[str], list[str]]:
        lines = path.read_text().splitlines(keepends=True)
        return lines[:head], lines[head:]

    def write(self, folder: Path) -> None:
        logs = folder / ".logs"
        logs.mkdir()
        (logs / "profile_log_device.csv").write_text("".join(self.head + self.rows) + self.tail)
        (logs / "tracy_ops_data.csv").write_text("MessageName;total_ns\n" + "".join(self.messages))
        (logs / "tracy_ops_times.csv").write_text("".join(self.zone_head + self.zones))

    def pick(self, chance: random.Random) -> int:
        return chance.randrange(len(self.rows))

    # --- kinds of damage: each changes the logs and says what to expect ---

    def delete_rows(self, chance: random.Random) -> None:
        for _ in range(chance.randrange(1, 6)):
            self.expected[id_of(self.rows.pop(self.pick(chance)))] = "truncated"

    def corrupt_rows(self, chance: random.Random) -> None:
        for _ in range(chance.randrange(1, 4)):
            at = self.pick(chance)
            fields = self.rows[at].split(",")
            if len(fields) != 15 or not fields[7].isdigit():
                continue
            self.expected[fields[7]] = "truncated"
            broken = chance.choice((5, 7, 0, 11))
            fields[broken] = chance.choice(("", "??", "-1", "9" * 40))
            self.rows[at] = chance.choice((",".join(fields), fields[0] + "\n", "\0\0" + ",".join(fields[:9]) + "\n"))

    def repeat_rows(self, chance: random.Random) -> None:
        for _ in range(chance.randrange(1, 4)):
            at = self.pick(chance)
            row = self.rows[at]
            self.rows.insert(chance.choice((at, self.pick(chance))), row)
            self.expected[id_of(row)] = "duplicate"

    def reorder(self, chance: random.Random) -> None:
        chance.shuffle(self.rows)

    def cut(self, chance: random.Random) -> None:
        at = chance.randrange(len(self.rows) // 3, len(self.rows))
        left, lost = self.rows[:at], self.rows[at]
        self.rows, self.tail = left, lost[: chance.randrange(1, len(lost) - 1)]
        # What the log has of a device that was being written may lack cores.
        for id_ in {id_of(row) for row in left if row[:2] == left[-1][:2]}:
            self.expected[id_] = "truncated"

    def lose_program(self, chance: random.Random) -> None:
        id_ = id_of(self.rows[self.pick(chance)])
        self.rows = [row for row in self.rows if id_of(row) != id_]
        self.expected[id_] = "no device data"

    def lose_message(self, chance: random.Random) -> None:
        at = chance.choice([i for i, text in enumerate(self.messages) if "DEVICE_OP" in text])
        self.expected[re.search(r", (\d+) ->", self.messages.pop(at)).group(1)] = "truncated"

    def cut_message(self, chance: random.Random) -> None:
        at = chance.choice([i for i, text in enumerate(self.messages) if "DEVICE_OP" in text])
        text = self.messages[at]
        start = text.index("->")
        self.expected[re.search(r", (\d+) ->", text).group(1)] = "truncated"
        self.messages[at] = text[: chance.randrange(start + 10, len(text) - 40)] + "\n"

    def lose_zone(self, chance: random.Random) -> None:
        zone = self.zones.pop(chance.randrange(len(self.zones)))
        self.expected[re.search(r"id:(\d+)", zone).group(1)] = "truncated"

    def lose_host(self, chance: random.Random) -> None:
        zone = self.zones.pop(chance.randrange(len(self.zones)))
        id_ = re.search(r"id:(\d+)", zone).group(1)
        self.messages = [text for text in self.messages if f", {id_} ->" not in text]
        self.expected[id_] = "no host data"

    def lose_device(self, chance: random.Random) -> None:
        device = chance.choice("01")
        for row in self.rows:
            if row.startswith(device + ","):
                self.expected[id_of(row)] = "no device data"
        self.rows = [row for row in self.rows if not row.startswith(device + ",")]


KINDS = (
    Logs.delete_rows, Logs.corrupt_rows, Logs.repeat_rows, Logs.reorder, Logs.cut,
    Logs.lose_program, Logs.lose_message, Logs.cut_message, Logs.lose_zone, Logs.lose_host,
    Logs.lose_device,
)


@unittest.skipUnless(Path(STROBE).is_file(), f"{STROBE} is not built")
class DamageTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.run = Run(ops=8, cores=5, devices=2, cached=False, zones=True, seed=21)
        Maker(self.run).write(self.folder / "good")

    def report(self, logs: Path, *options: str) -> tuple[int, list[dict[str, str]]]:
        done = subprocess.run(
            [STROBE, "report", str(logs), "--no-date", "-q", *options], capture_output=True, text=True
        )
        path = logs / "reports" / "ops_perf_results.csv"
        self.assertTrue(path.is_file(), done.stderr)
        with open(path, newline="") as file:
            return done.returncode, list(csv.DictReader(file))

    def test_good_logs_are_complete(self) -> None:
        status, rows = self.report(self.folder / "good")
        self.assertEqual((status, {row[COLUMN] for row in rows}), (0, {"complete"}))

    def test_300_damaged_variants(self) -> None:
        _, good = self.report(self.folder / "good")
        times = {row["GLOBAL CALL COUNT"]: row["DEVICE KERNEL DURATION [ns]"] for row in good}
        for number in range(VARIANTS):
            chance = random.Random(number)
            kind = KINDS[number % len(KINDS)]
            with self.subTest(variant=number, kind=kind.__name__):
                logs = Logs(self.folder / "good")
                kind(logs, chance)
                with tempfile.TemporaryDirectory() as scratch:
                    logs.write(Path(scratch))
                    status, rows = self.report(Path(scratch))
                self.check(kind, logs, status, rows, times)

    def check(self, kind, logs: Logs, status: int, rows: list, times: dict[str, str]) -> None:
        self.assertEqual(status, 0 if kind is Logs.reorder else 3)
        found = {row["GLOBAL CALL COUNT"]: row[COLUMN] for row in rows if row[COLUMN] != "complete"}
        if kind is Logs.cut:  # ids that are gone altogether
            for id_, label in found.items():
                self.assertEqual(label, logs.expected.get(id_, "no device data"))
            self.assertLessEqual(set(logs.expected), set(found))
            return
        self.assertEqual(found, logs.expected)
        self.assertEqual(len(rows), len(times))
        for row in rows:
            if row[COLUMN] in ("complete", "duplicate"):
                self.assertEqual(row["DEVICE KERNEL DURATION [ns]"], times[row["GLOBAL CALL COUNT"]])

    def test_strict_refuses(self) -> None:
        logs = Logs(self.folder / "good")
        logs.delete_rows(random.Random(1))
        with tempfile.TemporaryDirectory() as scratch:
            logs.write(Path(scratch))
            done = subprocess.run(
                [STROBE, "report", scratch, "--strict"], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 1)
            self.assertFalse((Path(scratch) / "reports").exists())


if __name__ == "__main__":
    unittest.main()
