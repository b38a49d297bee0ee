#!/usr/bin/env python3
"""Judges `strobe perf --compat` against the real tt-perf-report.

Both run with the same options over sample CSVs and generated ones. Table, summary and files must
agree byte for byte; words of status lines and advice may differ, rows and numbers in it may not.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import io
import random
import re
import shlex
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from peer import DEFAULT_CACHE, DEFAULT_VENV, Arena, Cache, Outcome, Unavailable, prepare

STATUS_AFTER_PEER_CRASH = (0, 1, 3)
SHOWN_DIFFERENCES = 20
KINDS = ("identical", "different", "peer failed")

# --- comparison ----------------------------------------------------------------------------------

TABLE, ADVICE, SUMMARY = "🚀 Performance Report 🚀", "💡 Advice 💡", "📊 Stacked report 📊"
SUM_COLUMN = "Device Time Sum [μs]"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
CSV_FIELD = re.compile(r'("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)')
SAVING = re.compile(r"could save (-?\d+) μs \((-?[\d.]+)%")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
TIME_SUM = re.compile(r"[\d,.-]+ μs")

Lines = Optional[list[str]]  # nothing: the section is not there
SumOf = Callable[[str], str]
Row = dict[str, str]


def framed(lines: list[str], title: str, after: int) -> Lines:
    """A section from its title through its second rule and `after` more lines."""
    if title not in lines:
        return None
    start = lines.index(title)
    rules = [at for at in range(start, len(lines)) if lines[at] and not lines[at].strip("-")]
    return lines[start : rules[1] + 1 + after] if len(rules) > 1 else lines[start:]


def table_lines(lines: list[str]) -> set[str]:
    return set(framed(lines, TABLE, 1) or []) - {""}


def advice_part(lines: list[str]) -> Lines:
    if ADVICE not in lines:
        return None
    end = lines.index(SUMMARY) if SUMMARY in lines else len(lines)
    return lines[lines.index(ADVICE) : end]


def advice_shape(lines: list[str]) -> Lines:
    """The advice without its words: the table rows it shows and a mark for each item."""
    part, rows = advice_part(lines), table_lines(lines)
    marked = [line if line in rows else ESCAPE.sub("", line)[:2] for line in part or []]
    return [line for line in marked if line in rows or line == "- "] if part else None


def saving_difference(theirs: list[str], ours: list[str]) -> Optional[str]:
    """The two figures of the gap advice must be named, whatever the sentence around them."""
    said = SAVING.search("\n".join(advice_part(theirs) or []))
    if not said:
        return None
    words = " ".join(set(advice_part(ours) or []) - table_lines(ours))
    missing = [figure for figure in said.groups() if figure not in NUMBER.findall(words)]
    return f"advice: figures not named: {', '.join(missing)}" if missing else None


def mask_advice(text: str) -> str:
    """An operation CSV with each cell of the advice replaced by its number of items."""
    masked: list[str] = []
    column, at, in_header = -1, 0, True
    for raw, end in CSV_FIELD.findall(text):
        if in_header and raw == "Advice":
            column = at
        elif at == column:
            raw = f"<{sum(map(bool, raw.strip(chr(34)).split(' • ')))} items>"
        masked.append(raw + end)
        at, in_header = (at + 1, in_header) if end == "," else (0, False)
    return "".join(masked)


def settle_ties(lines: list[str], sum_of: SumOf) -> list[str]:
    """The peer's sort is unstable: the order of rows with equal sums cannot be asked for."""
    return [line for _, run in groupby(lines, sum_of) for line in sorted(run)]


def sum_in_table(line: str) -> str:
    return str((TIME_SUM.findall(line) or [line])[0])


def sum_in_csv(header: str) -> SumOf:
    column = header.split(",").index(SUM_COLUMN)
    return lambda line: (next(csv.reader([line]), []) + [""] * (column + 1))[column]


def first_difference(part: str, theirs: Lines, ours: Lines) -> Optional[str]:
    if theirs == ours:
        return None
    if theirs is None or ours is None:
        return f"{part}: only {'ours' if theirs is None else 'the peer'} has it"
    pairs = enumerate(zip(theirs, ours))
    at = next((i for i, (a, b) in pairs if a != b), min(len(theirs), len(ours)))
    shown = [repr(lines[at]) if at < len(lines) else "(end)" for lines in (theirs, ours)]
    return f"{part}, line {at + 1}:\n    peer: {shown[0]}\n    ours: {shown[1]}"


def summary_difference(part: str, theirs: Lines, ours: Lines, sum_of: SumOf) -> Optional[str]:
    if theirs and ours and settle_ties(theirs, sum_of) == settle_ties(ours, sum_of):
        return None
    return first_difference(part, theirs, ours)


def file_difference(name: str, theirs: bytes, ours: bytes) -> Optional[str]:
    texts = [data.decode("utf-8", "surrogateescape") for data in (theirs, ours)]
    if texts[0].startswith("ID,"):
        texts = [mask_advice(text) for text in texts]
    a, b = (text.split("\n") for text in texts)
    if SUM_COLUMN in a[0]:
        return summary_difference(name, a, b, sum_in_csv(a[0]))
    return first_difference(name, a, b)


def compare(theirs: Outcome, ours: Outcome) -> list[str]:
    """All places where the two disagree, as text; empty if they agree."""
    a, b = theirs.lines, ours.lines
    found = [
        first_difference("exit status", [str(theirs.status)], [str(ours.status)]),
        first_difference("table", framed(a, TABLE, 1), framed(b, TABLE, 1)),
        first_difference("rows of the advice", advice_shape(a), advice_shape(b)),
        saving_difference(a, b),
        summary_difference("summary", framed(a, SUMMARY, 0), framed(b, SUMMARY, 0), sum_in_table),
        first_difference("names of the files", sorted(theirs.files), sorted(ours.files)),
    ]
    for name in sorted(theirs.files.keys() & ours.files.keys()):
        found.append(file_difference(name, theirs.files[name], ours.files[name]))
    return [text for text in found if text]


# --- generated inputs ----------------------------------------------------------------------------

PLAIN_OPS = """Tilize TilizeWithValPaddingDeviceOperation SoftmaxDeviceOperation Pool2D UpdateCache
LayerNormDeviceOperation InterleavedToShardedDeviceOperation MoveDeviceOperation NoCategoryOp 1e5
NlpCreateHeadsDeviceOperation ScaledDotProductAttentionDecode PadDeviceOperation Größenwandler
signpostish""".split() + ['Quoted,"Op" x', "Two  words ", "HaloDeviceOperation", "HaloDeviceOperation"]
COLLECTIVES = ["AllGather", "ReduceScatterDeviceOperation", "AllReduceAsync"]
MATMULS = ["Matmul", "MatmulDeviceOperation", "MinimalMatmulOp", "AllGatherMatmul"]
CONVS = ["OptimizedConvNew", "Conv2dDeviceOperation", "Conv2d"]
SIGNPOSTS = ["start", "loop", "loop", "phase, two", "Tilize", "stop"]
DATATYPES = "BFLOAT16 BFLOAT8_B BFLOAT4_B FLOAT32 ".split() * 3 + "UINT32 UINT8 INT32 FLOAT16".split()
MEMORIES = """DEV_0_DRAM_INTERLEAVED DEV_1_DRAM_INTERLEAVED DEV_0_DRAM_WIDTH_SHARDED
DEV_0_L1_INTERLEAVED DEV_0_L1_HEIGHT_SHARDED DEV_1_L1_BLOCK_SHARDED""".split()
MISSING = ["", "", "", "NA", "nan", "NULL", "N/A", "None"]
TRAITS = """signposts host missing-ops holes quoted-all shuffled by-device reals bom blank-lines
short-rows other-archs no-time repeated-header lost-times""".split()
RARE_TRAITS = {6: "no-datatypes", 9: "timeless"}  # by the last digit of a file's number
TENSORS = ("INPUT_0", "INPUT_1", "OUTPUT_0")
DURATION, LATENCY = "DEVICE KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"
ARCH, WORKERS = "DEVICE ARCH", "AVAILABLE WORKER CORE COUNT"
SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
CONV_KEYS = """act_block_h_ntiles=38;|act_block_h_ntiles=many;|per_core_out_matrix_height_ntile=12;w=1; |
'enable_act_double_buffer': 'true'; |'enable_act_double_buffer': 'false'; |
'enable_split_reader': 'true'; |'enable_split_reader': 'false'; """.replace("|\n", "|").split("|")
HALO_KEYS = """window_hw=(3;3); |stride_hw=(2;2); |padding=((1; 1); (1; 1)); |dilation_hw=(1;1); |
memory_layout=none;|memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;""".replace("|\n", "|").split("|")


@dataclass
class Trace:
    """One generated CSV: what it is like, and the rows made so far."""

    rng: random.Random
    layout: str  # v1, v2 or v2.1
    devices: int
    steps: int
    traits: set[str]
    time_offset: int  # keeps the time stamps of two files used together apart
    rows: list[Row] = field(default_factory=list)

    def dimension(self, tensor: str, axis: str) -> str:
        return f"{tensor}_{axis}" + ("" if self.layout == "v1" else "_PAD[LOGICAL]")

    def columns(self) -> list[str]:
        names = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "ATTRIBUTES", "MATH FIDELITY"]
        names += ["CORE COUNT", LATENCY, DURATION, "IGNORED"]
        names += [] if "no-time" in self.traits else ["HOST START TS"]
        names += self.rng.choice([[ARCH], [WORKERS], [ARCH, WORKERS]]) if self.layout == "v2.1" else []
        facts = ["MEMORY"] if "no-datatypes" in self.traits else ["MEMORY", "DATATYPE"]
        names += [self.dimension(tensor, axis) for tensor in TENSORS for axis in "WZYX"]
        names += [f"{tensor}_{fact}" for tensor in TENSORS for fact in facts]
        self.rng.shuffle(names)
        return names

    def fill_tensor(self, row: Row, tensor: str, sizes: Sequence[int]) -> None:
        for axis, size in zip("WZYX", sizes):
            plain = self.layout == "v1" or self.rng.random() < 0.02
            row[self.dimension(tensor, axis)] = str(size) if plain else f"{size}[{max(1, size - 3)}]"
        row[f"{tensor}_DATATYPE"] = self.rng.choice(DATATYPES)
        row[f"{tensor}_MEMORY"] = self.rng.choice(MEMORIES)

    def fill_matmul(self, row: Row) -> None:
        rng = self.rng
        m, k, n = (32 * rng.randint(1, 128) for _ in range(3))
        w, z = rng.choice([(1, 1), (1, 1), (1, 8), (2, 3)])
        for tensor, sizes in zip(TENSORS, ((w, z, m, k), (1, z, k, n), (w, z, m, n))):
            self.fill_tensor(row, tensor, sizes)
        block, height, width = (rng.randint(1, 3) for _ in range(3))
        config = f"in0_block_w={block};out_subblock_h={height};out_subblock_w={width}"
        configs = ["std::nullopt", f"{SHARDED}({config})", f"Config({config})", "Config(in0_block_w=1)"]
        row["ATTRIBUTES"] = rng.choice(["", config] + [f"{{'program_config': '{c}'}}" for c in configs])
        # Times near what memory or arithmetic allow, so that each kind of bound comes up.
        limit = rng.choice([2 * w * z * (m * k + k * n) / 300, 2 * m * k * n * w * z / 120_000])
        row[DURATION] = str(max(1, int(limit / rng.uniform(0.05, 1.3))))

    def fill_conv(self, row: Row) -> None:
        rng = self.rng
        for tensor in TENSORS:
            self.fill_tensor(row, tensor, (1, 1, 32 * rng.randint(1, 4096), 8 * rng.randint(1, 64)))
        window = f"window_hw=({rng.randint(1, 7)};{rng.randint(1, 7)}); "
        row["ATTRIBUTES"] = "".join(rng.sample(CONV_KEYS, rng.randint(0, 5)) + [window])
        row[DURATION] = str(rng.randint(1000, 5_000_000))

    def operation(self, device: int, code: str, step: int) -> Row:
        rng, mixed = self.rng, "other-archs" in self.traits
        row = {"OP CODE": code, "OP TYPE": "tt_dnn_device", "DEVICE ID": str(device), "IGNORED": 'a,"b"'}
        row["GLOBAL CALL COUNT"] = str(1024 * (step + 1) + device)
        row["CORE COUNT"] = str(rng.choice([1, 9, 10, 20, 64, 64, 110]))
        row[DURATION] = str(rng.choice([0, rng.randint(1, 3000), rng.randint(1000, 5_000_000)]))
        row[LATENCY] = str(rng.choice([-rng.randint(1, 900), 6500, 6501, rng.randint(0, 10**7)]))
        row["MATH FIDELITY"] = rng.choice(["HiFi4", "HiFi2", "LoFi"])
        row[ARCH] = rng.choice(["Blackhole", "wormhole_b0"]) if mixed else "blackhole"
        row[WORKERS] = str(rng.choice([0, 64, 110]) if mixed else 110)
        self.fill_tensor(row, "INPUT_0", (1, 1, 32, 64))
        row["INPUT_0_MEMORY"] = rng.choice(MEMORIES + ["HOST"])
        row["OUTPUT_0_DATATYPE"] = rng.choice(DATATYPES)
        row["ATTRIBUTES"] = "".join(rng.sample(HALO_KEYS, rng.randint(0, len(HALO_KEYS))))
        if code in MATMULS:
            self.fill_matmul(row)
        elif code in CONVS:
            self.fill_conv(row)
        self.spoil(row)
        return row

    def spoil(self, row: Row) -> None:
        """Empties cells, but none without which the peer would give up."""
        if "reals" in self.traits:
            row[DURATION] += self.rng.choice(["", ".0", ".25"])
            row[LATENCY] += self.rng.choice(["", ".0", ".5", "e0", " "])
        if "timeless" in self.traits:
            row[DURATION] = row[LATENCY] = ""
        loose = {"GLOBAL CALL COUNT", "CORE COUNT", "IGNORED", ARCH, WORKERS, DURATION, LATENCY}
        if row["OP CODE"] in MATMULS + CONVS:
            loose |= {f"{name}_DATATYPE" for name in TENSORS if "DRAM" not in row[f"{name}_MEMORY"]}
        else:
            loose |= {"ATTRIBUTES", "MATH FIDELITY", *(name for name in row if name.startswith(TENSORS))}
        for name in sorted(loose):
            if "holes" in self.traits and self.rng.random() < 0.06:
                row[name] = self.rng.choice(MISSING)

    def host_row(self) -> Row:
        row = {"OP CODE": self.rng.choice(["(torch) add", "(torch) view"]), "OP TYPE": "python_fallback"}
        row["DEVICE ID"] = self.rng.choice(["", "host", "0"] if self.devices or self.steps % 2 else [""])
        row[DURATION], row[LATENCY] = self.rng.choice(["", "5000"]), self.rng.choice(["", "7200"])
        return row

    def step(self, step: int) -> None:
        rng = self.rng
        if "signposts" in self.traits and rng.random() < 0.15:
            self.rows.append({"OP CODE": rng.choice(SIGNPOSTS), "OP TYPE": "signpost"})
        if "host" in self.traits and rng.random() < 0.2:
            self.rows.append(self.host_row())
        modelled = [] if self.traits & {"no-datatypes", "timeless"} else [MATMULS, MATMULS, CONVS]
        code = rng.choice(rng.choice([PLAIN_OPS, PLAIN_OPS, COLLECTIVES] + modelled))
        for device in range(self.devices):
            # The first step is whole: two files used together must have the same devices.
            if step == 0 or "missing-ops" not in self.traits or rng.random() > 0.04:
                self.rows.append(self.operation(device, code, step))

    def stamp(self) -> None:
        """All time stamps differ: the peer's sort leaves the order of equal ones open."""
        for at, row in enumerate(self.rows):
            slip = self.rng.randint(0, 9) if "shuffled" in self.traits else 0
            stamp = 10_000_000 + 4000 * (at + slip) + 2 * (at % 2000) + self.time_offset
            lost = "lost-times" in self.traits and self.rng.random() < 0.1
            row["HOST START TS"] = "" if lost else str(stamp)

    def text(self) -> str:
        for step in range(self.steps):
            self.step(step)
        if "by-device" in self.traits:
            self.rows.sort(key=lambda row: row.get("DEVICE ID", ""))
        self.stamp()
        names, out, quoted = self.columns(), io.StringIO(), "quoted-all" in self.traits
        # After a lone CR the peer loses an empty first cell, unless it is quoted.
        end = self.rng.choice(["\n", "\r\n", "\n", "\r" if quoted else "\n"])
        writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        writer.writerow(names + (["OP CODE"] if "repeated-header" in self.traits else []))
        for row in self.rows:
            cells = [row.get(name, "") for name in names]
            while "short-rows" in self.traits and not cells[-1]:
                cells.pop()
            writer.writerow(cells)
            out.write(end if "blank-lines" in self.traits and self.rng.random() < 0.1 else "")
        return ("\ufeff" if "bom" in self.traits else "") + out.getvalue()


def generate_pair(folder: Path, seed: int, index: int) -> tuple[Path, Path]:
    """Writes the index-th generated CSV and one of the same kind that goes with it."""
    rng = random.Random(f"{seed}/{index}")
    layout, devices = ["v1", "v2", "v2.1"][index % 3], [1, 2, 1, 4, 0, 8, 3][index % 7]
    steps = 0 if index == 1 else 1100 if index % 14 == 2 else rng.randint(10, 60)
    traits = {*rng.sample(TRAITS, rng.randint(2, 7)), RARE_TRAITS.get(index % 10, ""), "host" * (not devices)}
    first, second = (folder / f"gen{index:03}-{layout}-{devices}dev{end}.csv" for end in ("", "-b"))
    for offset, path in enumerate((first, second)):
        path.write_bytes(Trace(rng, layout, devices, steps, traits, offset).text().encode())
    return first, second


# --- cases ---------------------------------------------------------------------------------------

# In braces: the files, signposts of the first one, and IDs at its thirds.
CASES = """
default            | {file}
no-advice          | {file} --no-advice --group-by memory
csv                | {file} --csv out.csv
csv-raw            | {file} --csv out.csv --raw-op-codes --ignore-signposts --no-summary
csv-no-advice      | --csv=a.b.csv --no-advice {file}
csv-visualizer     | {file} --ignore-signposts --print-signposts --raw-op-codes --csv o --summary-file s
csv-tracing        | {file} --csv out.csv --no-summary --tracing-mode --end-signpost "{last}"
csv-window         | {file} --csv .csv --start-signpost "{first}" --print-signposts --no-host-ops
summary-file       | {file} --summary-file sum.csv --no-host-ops
by-op              | {file} --group-by op --ignore-signposts --summary-file sum
by-category        | {file} --group-by category --ignore-signposts --summary-file sum
apart              | {file} --no-merge-devices --ignore-signposts --summary-file sum
apart-by-op        | {file} --no-merge-devices --group-by op --color
apart-by-memory    | {file} --no-merge-devices --group-by memory --tracing-mode --ignore-signposts
apart-csv          | {file} --no-merge-devices --ignore-signposts --csv out.csv
apart-csv-category | {file} --no-merge-devices --group-by category --csv out.csv --ignore-signposts
ignore-signposts   | {file} --ignore-signposts --color
print-signposts    | {file} --print-signposts --color
start              | {file} --start-signpost "{first}"
end                | {file} --end-signpost "{last}" --print-signposts
start-end          | {file} --start-signpost "{first}" --end-signpost "{last}" --no-advice
start-end-same     | {file} --start-signpost "{often}" --end-signpost "{often}" --print-signposts --color
start-unknown      | {file} --start-signpost nowhere --end-signpost ""
id-range           | {file} --id-range {a}-{b} --ignore-signposts
id-from            | {file} --id-range {b}- --ignore-signposts --color
id-to              | {file} --id-range -{a} --ignore-signposts --no-host-ops
id-commas          | {file} --id-range " 1,0 - 1,000 " --csv out.csv --no-summary
id-bad             | {file} --id-range 12
no-host-ops        | {file} --no-host-ops --ignore-signposts --color
min-percentage     | {file} --min-percentage 5 --color --ignore-signposts
no-color           | {file} --color --no-color --id-range {b}-{a}
no-summary         | {file} --no-summary --ignore-signposts
no-stacked-report  | {file} --no-stacked-report --color
stacked-csv        | {file} --stacked-csv st --color
classic-colors     | {file} --classic-colors --summary-file s --no-stack-by-in0 --ignore-signposts
two-files          | {file} {other} --ignore-signposts --csv out.csv
two-files-apart    | {file} {other} --no-merge-devices --no-advice --ignore-signposts
abbreviated        | --no-adv --ign --group op --min -1 --col {file}
ambiguous          | {file} --no-st
arch               | {file} --arch Blackhole --ignore-signposts
arch-n1            | {file} --arch n1 --csv out.csv --ignore-signposts --no-summary
"""


@dataclass(frozen=True)
class Case:
    id: str  # file/name
    args: list[str]
    inputs: list[Path]


def cases_of(path: Path, other: Path) -> Iterator[Case]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["OP CODE"] for row in rows if row["OP TYPE"] == "signpost"] or ["nowhere"]
    words = {"file": path.name, "other": other.name, "first": names[0], "last": names[-1]}
    words["often"] = Counter(names).most_common(1)[0][0]
    words["a"], words["b"] = (str(2 + part * len(rows) // 3) for part in (1, 2))
    for line in CASES.strip().splitlines():
        name, options = line.split("|")
        if path == other and "{other}" in options:
            continue  # every time stamp would come twice, in no certain order
        args = [word.format(**words) for word in shlex.split(options)]
        yield Case(f"{path.stem}/{name.strip()}", args, [path] + [other] * ("{other}" in options))


# --- running and telling -------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    case: Case
    kind: str  # one of KINDS
    differences: list[str]


def judge(case: Case, arena: Arena, options: argparse.Namespace) -> Verdict:
    theirs = arena.theirs(case.args, case.inputs)
    ours = (arena.theirs_anew if options.self_check else arena.ours)(case.args, case.inputs)
    if options.keep:
        theirs.store(options.keep / case.id / "peer")
        ours.store(options.keep / case.id / "ours")
    if not theirs.is_crash:
        differences = compare(theirs, ours)
        return Verdict(case, "different" if differences else "identical", differences)
    fine = ours.status in STATUS_AFTER_PEER_CRASH
    return Verdict(case, "peer failed", [] if fine else [f"the peer failed, ours: {ours.status}"])


def tell_differences(verdicts: Sequence[Verdict]) -> None:
    bad = [verdict for verdict in verdicts if verdict.differences]
    for verdict in bad[:SHOWN_DIFFERENCES]:
        print(f"\n{verdict.case.id}: strobe perf --compat {shlex.join(verdict.case.args)}")
        print("\n".join(f"  {text}" for text in verdict.differences))
    if len(bad) > SHOWN_DIFFERENCES:
        print(f"\n... and {len(bad) - SHOWN_DIFFERENCES} more cases that differ")


def tell_table(verdicts: Sequence[Verdict]) -> None:
    print("\n{:<40} {:>6} {:>10} {:>10} {:>12}".format("file", "cases", *KINDS))
    for name, group in groupby(verdicts, lambda verdict: verdict.case.id.split("/")[0]):
        kinds = Counter(verdict.kind for verdict in group)
        counts = [sum(kinds.values()), *(kinds[kind] for kind in KINDS)]
        print("{:<40} {:>6} {:>10} {:>10} {:>12}".format(name, *counts))
    failed = [verdict.case.id for verdict in verdicts if verdict.kind == "peer failed"]
    if failed:
        print("\nThe peer itself failed, only an orderly end was asked of ours:", *failed, sep="\n  ")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--strobe", type=Path, default=Path("build/release/bin/strobe"), metavar="PROGRAM")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of sample CSVs")
    parser.add_argument("--peer-venv", type=Path, default=DEFAULT_VENV, metavar="DIR")
    parser.add_argument("--synthetic", type=int, default=40, metavar="N", help="generated files (40)")
    parser.add_argument("--seed", type=int, default=1, help="of the generated files (1)")
    parser.add_argument("--only", default="", metavar="PATTERN", help="part of FILE/CASE, or wildcards")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what both programs wrote")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--self-check", action="store_true", help="the peer in the place of strobe")
    return parser.parse_args()


def run(cases: Sequence[Case], options: argparse.Namespace) -> int:
    peer = prepare(options.peer_venv)
    print(f"peer: {peer.describe()}")
    arena = Arena(peer, Cache(DEFAULT_CACHE, peer), options.strobe)
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda case: judge(case, arena, options), cases))
    arena.close()
    tell_table(verdicts)
    tell_differences(verdicts)
    return sum(1 for verdict in verdicts if verdict.differences)


def main() -> int:
    options = parse_options()
    if not (options.list or options.self_check or options.strobe.is_file()):
        sys.exit(f"no program {options.strobe}: build it first")
    samples = sorted(options.data.glob("*.csv")) if options.data else []
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        pairs = list(zip(samples, [*samples[1:], *samples[:1]]))
        pairs += [generate_pair(Path(folder), options.seed, index) for index in range(options.synthetic)]
        wanted = f"*{options.only}*"
        cases = [case for pair in pairs for case in cases_of(*pair) if fnmatch.fnmatch(case.id, wanted)]
        if options.list:
            print("\n".join(case.id for case in cases))
            return 0
        if not samples:
            print(f"samples skipped: no CSV in {options.data or 'the data folder (not given)'}")
        try:
            failed = run(cases, options)
        except Unavailable as reason:
            print(f"parity skipped: {reason}")
            return 0
    print(f"\n{len(cases) - failed} passed, {failed} failed, {0 if samples else 1} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
