"""Tests of the judge: it accepts what may differ and notices what may not."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import parity  # noqa: E402  (lies beside this file)
from peer import Cache, Outcome, Peer, compensated_sum, png_size  # noqa: E402

STDOUT = """\
Detected CSV format: v2
Warning: something

🚀 Performance Report 🚀
========================

ID  OP Code    Device Time
--------------------------
 2  Matmul a          1 μs
 3  Tilize            2 μs
 4  Matmul b          3 μs
--------------------------
    3 device ops      6 μs

💡 Advice 💡
============

High Op-to-Op Gap
----------------
 3  Tilize            2 μs

Running with tracing could save 1234 μs (5.6% of overall time)

Matmul Optimization
-------------------
 2  Matmul a          1 μs
\x1b[38;5;15m- Use another thing\x1b[0m
- Use a second thing

 4  Matmul b          3 μs
✅ Optimized

Warning: Unclassified operation 'X' found.

📊 Stacked report 📊
====================

Total %  Op Code  Device Time Sum
---------------------------------
60.00 %  Matmul           3.00 μs
20.00 %  Move             1.00 μs
20.00 %  Tilize           1.00 μs
---------------------------------
Writing CSV stacked report to sum.csv
"""
OPS_CSV = (
    "ID,OP Code,Advice,Raw OP Code\r\n"
    '2,Matmul a,"Use this, now • Use ""that""",Matmul\r\n'
    '3,"Quoted,""Op""",,"Quoted,""Op"""\r\n'
)
SUMMARY_CSV = (
    "Total % [%],Op Code,Device Time Sum [μs],Op Count\n"
    '60.00,"Quoted,""Op""",3.00,1\n20.00,Move,1.00,1\n20.00,Tilize,1.00,1\n'
)
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (1800).to_bytes(4, "big") + (2400).to_bytes(4, "big")


def outcome(stdout: str = STDOUT, status: int = 0, **files: str) -> Outcome:
    texts = {"ops": OPS_CSV, "summary": SUMMARY_CSV, "plot": png_size(PNG).decode(), **files}
    return Outcome(status, stdout.encode(), b"", {name: text.encode() for name, text in texts.items()})


class CompareTest(unittest.TestCase):
    def differences(self, ours: Outcome) -> list[str]:
        return parity.compare(outcome(), ours)

    def assert_accepted(self, ours: Outcome) -> None:
        self.assertEqual(self.differences(ours), [])

    def assert_noticed(self, ours: Outcome, where: str) -> None:
        found = self.differences(ours)
        self.assertTrue(found and found[0].startswith(where), found)

    def edited(self, old: str, new: str) -> Outcome:
        self.assertIn(old, STDOUT)
        return outcome(STDOUT.replace(old, new))

    def test_equal_runs_agree(self) -> None:
        self.assert_accepted(outcome())

    def test_status_lines_are_free(self) -> None:
        self.assert_accepted(self.edited("Detected CSV format: v2\nWarning: something", "format v2"))
        self.assert_accepted(self.edited("Warning: Unclassified operation 'X' found.\n", ""))
        self.assert_accepted(self.edited("Writing CSV stacked report to sum.csv\n", "wrote it\n"))

    def test_exit_status(self) -> None:
        self.assert_noticed(outcome(status=1), "exit status")

    def test_table_to_the_byte(self) -> None:
        for old, new in (
            ("    3 device ops      6 μs", "    3 device ops      7 μs"),
            ("    3 device ops      6 μs", "    3 device ops      6 μs "),
            ("ID  OP Code    Device Time\n-", "ID  OP Code   Device Time \n-"),
            ("========================\n\nID", "========================\nID"),
        ):
            self.assert_noticed(self.edited(old, new), "table")

    def test_colour_of_a_table_row(self) -> None:
        row = " 3  Tilize            2 μs"
        self.assert_noticed(self.edited(row, f"\x1b[38;5;8m{row}\x1b[0m"), "table")

    def test_missing_table_and_summary(self) -> None:
        found = self.differences(outcome("nothing to show\n"))
        self.assertTrue(any(text.startswith("table: only the peer") for text in found), found)
        self.assertTrue(any(text.startswith("summary: only the peer") for text in found), found)

    def test_words_of_the_advice_are_free(self) -> None:
        self.assert_accepted(self.edited("Use another thing", "Try something else"))
        self.assert_accepted(self.edited("✅ Optimized", "fine"))
        sentence = "Running with tracing could save 1234 μs (5.6% of overall time)"
        self.assert_accepted(self.edited(sentence, "1234 μs to gain, 5.6 %"))

    def test_rows_and_items_of_the_advice(self) -> None:
        where = "rows of the advice"
        gap_part = "----------------\n 3  Tilize            2 μs\n"
        self.assert_noticed(self.edited(gap_part, "----------------\n"), where)
        self.assert_noticed(self.edited(gap_part, gap_part.replace("2 μs", "9 μs")), where)
        self.assert_noticed(self.edited("- Use a second thing\n", ""), where)

    def test_figures_of_the_advice(self) -> None:
        where = "advice: figures not named: "
        self.assert_noticed(self.edited("1234 μs (5.6%", "1235 μs (5.6%"), where + "1234")
        self.assert_noticed(self.edited("1234 μs (5.6%", "1234 μs (5.7%"), where + "5.6")

    def test_summary_to_the_byte(self) -> None:
        self.assert_noticed(self.edited("3.00 μs", "3.01 μs"), "summary")
        self.assert_noticed(self.edited("60.00 %  Matmul ", "60.00 %  matmul "), "summary")

    def test_only_equal_sums_may_change_places(self) -> None:
        first, second, third = STDOUT.split("---------------------------------\n")[1].splitlines()
        self.assert_accepted(self.edited(f"{second}\n{third}", f"{third}\n{second}"))
        self.assert_noticed(self.edited(f"{first}\n{second}", f"{second}\n{first}"), "summary")

    def test_operation_csv(self) -> None:
        self.assert_accepted(outcome(ops=OPS_CSV.replace('"Use this, now • Use ""that"""', "A • B")))
        for old, new in (
            (" • ", " and "),  # one item less
            ("3,", "4,"),
            ("\r\n", "\n"),
            ("Matmul a", '"Matmul a"'),  # a quote too many
            ("Advice", "Hints"),
        ):
            self.assertIn(old, OPS_CSV)
            self.assert_noticed(outcome(ops=OPS_CSV.replace(old, new)), "ops")

    def test_advice_cell_shows_its_item_count(self) -> None:
        masked = parity.mask_advice(OPS_CSV)
        self.assertEqual(masked.split("\r\n")[1], "2,Matmul a,<2 items>,Matmul")
        self.assertEqual(masked.split("\r\n")[2], '3,"Quoted,""Op""",<0 items>,"Quoted,""Op"""')

    def test_operation_csv_without_advice_stays_whole(self) -> None:
        text = 'ID,OP Code\r\n2,"a\nb"\r\n'
        self.assertEqual(parity.mask_advice(text), text)

    def test_summary_csv(self) -> None:
        lines = SUMMARY_CSV.splitlines(keepends=True)
        self.assert_accepted(outcome(summary="".join(lines[:2] + [lines[3], lines[2]])))
        self.assert_noticed(outcome(summary="".join([lines[0], lines[2], lines[1], lines[3]])), "summary")
        self.assert_noticed(outcome(summary=SUMMARY_CSV.replace("20.00", "20.0")), "summary")
        self.assert_noticed(outcome(summary=SUMMARY_CSV.replace("\n", "\r\n")), "summary")

    def test_files_and_plot_size(self) -> None:
        self.assert_noticed(outcome(plot="PNG of 1800 x 2401 pixels"), "plot")
        self.assert_noticed(outcome(more="x"), "names of the files")
        self.assertEqual(png_size(PNG), b"PNG of 1800 x 2400 pixels")
        self.assertEqual(png_size(b"GIF89a" + bytes(30)), b"not a PNG")


class PeerTest(unittest.TestCase):
    def test_compensated_sum(self) -> None:
        self.assertEqual(compensated_sum([0.1] * 10), 1.0)
        self.assertEqual(compensated_sum([1e100, 1.0, -1e100]), 1.0)
        self.assertEqual(repr(compensated_sum([])), "0")
        self.assertEqual(repr(compensated_sum([1, 2])), "3")
        self.assertEqual(compensated_sum([0, 0.5, 1, 0.25]), 1.75)
        self.assertEqual(compensated_sum([1.0, float("inf")]), float("inf"))

    @unittest.skipIf(sys.version_info < (3, 12), "sum() adds plainly before Python 3.12")
    def test_compensated_sum_is_that_of_python(self) -> None:
        values = [((at * 7919) % 1000) * 0.001 * 10.0 ** (at % 9) for at in range(5000)]
        self.assertEqual(compensated_sum(values), sum(values))

    def test_outcome_survives_packing(self) -> None:
        run = Outcome(-11, bytes(range(256)), "μ".encode(), {"a.csv": b"\r\n\xff"})
        self.assertEqual(Outcome.unpack(run.pack()), run)
        self.assertTrue(run.is_crash)

    def test_cache_tells_questions_apart(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            first, second = Path(name, "a.csv"), Path(name, "b.csv")
            first.write_bytes(b"1")
            second.write_bytes(b"2")
            cache = Cache(Path(name, "cache"), Peer(Path(name), (3, 13, 0), "2.3.3", "2.0"))
            keys = {cache.key(args, [path]) for args in ([], ["--color"]) for path in (first, second)}
            self.assertEqual(len(keys), 4)
            key = keys.pop()
            self.assertIsNone(cache.get(key))
            cache.put(key, outcome())
            self.assertEqual(cache.get(key), outcome())


class GeneratorTest(unittest.TestCase):
    def test_same_seed_same_bytes(self) -> None:
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            for index in range(6):
                first, again = (parity.generate_pair(Path(folder), 7, index) for folder in (a, b))
                self.assertEqual([path.read_bytes() for path in first], [path.read_bytes() for path in again])
                self.assertNotIn(b"", [path.read_bytes() for path in first])

    def test_each_file_has_at_least_twenty_cases(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cases = list(parity.cases_of(*parity.generate_pair(Path(folder), 1, 3)))
        self.assertGreaterEqual(len(cases), 20)
        self.assertEqual(len({case.id for case in cases}), len(cases))


if __name__ == "__main__":
    unittest.main()
