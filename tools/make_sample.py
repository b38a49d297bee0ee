#!/usr/bin/env python3
"""Write the sample ops reports under examples/perf.

Two invented models go through a small timing model (roofline, dispatch by the host, a bounded queue) and are written
as tt-metal's ops_perf_results CSV. No value comes from a real run; the output depends on nothing but this file.
"""
from __future__ import annotations

import argparse
import csv
import io
import itertools
import math
import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

Row = dict[str, str]
BF16, BFP8, BFP4, UINT = "BFLOAT16", "BFLOAT8_B", "BFLOAT4_B", "UINT32"
DTYPE_BYTES = {BF16: 2.0, BFP8: 1.0, BFP4: 0.5, UINT: 4.0}
DRAM, BANKS, L1 = "DRAM_INTERLEAVED", "DRAM_WIDTH_SHARDED", "L1_INTERLEAVED"
WIDTH, HEIGHT, BLOCK = "L1_WIDTH_SHARDED", "L1_HEIGHT_SHARDED", "L1_BLOCK_SHARDED"
TILE, PLAIN, NONE = "TILE", "ROW_MAJOR", "std::nullopt"
L1_BYTES_PER_NS = 32.0  # what one core moves between its memory and its units
FIRST_CYCLE = 9_855_555_555_547  # of the device, when the host starts to count
QUEUE_DEPTH = 8  # programs the host may be ahead of the device

# Names between bars; {a,b} stands for each of a and b.
COLUMNS = ["".join(parts) for name in (
    "OP CODE|OP TYPE|GLOBAL CALL COUNT|DEVICE ID|DEVICE ARCH|ATTRIBUTES|MATH FIDELITY|CORE COUNT|"
    "AVAILABLE WORKER CORE COUNT|PARALLELIZATION STRATEGY|HOST START TS|HOST END TS|HOST DURATION [ns]|"
    "DEVICE FW {START,END} CYCLE|OP TO OP LATENCY{, BR/NRISC START} [ns]|DEVICE {FW,KERNEL} DURATION [ns]|"
    "DEVICE KERNEL DURATION {DM START,PER CORE MIN,PER CORE MAX,PER CORE AVG} [ns]|"
    "DEVICE KERNEL FIRST TO LAST START [ns]|DEVICE {BRISC,NCRISC,TRISC0,TRISC1,TRISC2,ERISC} KERNEL DURATION [ns]|"
    "DEVICE COMPUTE CB {WAIT FRONT,RESERVE BACK} [ns]|DISPATCH {TOTAL CQ CMD OP,GO SEND WAIT} TIME [ns]|"
    "{INPUT_0,INPUT_1,INPUT_2,INPUT_3,INPUT_4,OUTPUT_0}_{W_PAD[LOGICAL],Z_PAD[LOGICAL],Y_PAD[LOGICAL],X_PAD[LOGICAL],"
    "LAYOUT,DATATYPE,MEMORY}|METAL TRACE{, REPLAY SESSION} ID|{COMPUTE,DATA MOVEMENT} KERNEL {SOURCE,HASH}|"
    "TENSIX {DM 0,DM 1,COMPUTE 0,COMPUTE 1,COMPUTE 2} MAX KERNEL SIZE [B]|"
    "{ACTIVE,IDLE} ETH DM {0,1} MAX KERNEL SIZE [B]|PM {IDEAL,COMPUTE,BANDWIDTH} [ns]|PM REQ {I,O} BW|PM FPU UTIL (%)|"
    "{NOC UTIL,DRAM BW UTIL,NPE CONG IMPACT} (%)|SFPU Util {Min,Median,Max} (%)|Avg SFPU util on full grid (%)|"
    "FPU Util {Min,Median,Max} (%)|Avg FPU util on full grid (%)|MATH Util {Min,Median,Max} (%)|"
    "Avg Math util on full grid (%)").split("|")
    for parts in itertools.product(*(part.split(",") for part in re.split("[{}]", name)))]


def python_text(value: object) -> str:
    return str(value).replace(",", ";")  # as tt-metal does


@dataclass(frozen=True)
class Arch:
    name: str
    grid: tuple[int, int]
    dram_gbs: float
    ghz: float
    tflops: dict[str, float]  # per core, by math fidelity

    def core_set(self, cores: int) -> str:
        """Text of the first `cores` cores: whole rows, then the rest."""
        rows, rest = divmod(cores, self.grid[0])
        parts = [f"[(x=0;y=0) - (x={self.grid[0] - 1};y={rows - 1})]"] * (rows > 0)
        return "{" + "; ".join(parts + [f"[(x=0;y={rows}) - (x={rest - 1};y={rows})]"] * (rest > 0)) + "}"


@dataclass(frozen=True)
class Tensor:
    y: int
    x: int
    memory: str = DRAM
    dtype: str = BF16
    z: int = 1
    w: int = 1
    layout: str = TILE

    @property
    def padded(self) -> tuple[int, int, int, int]:
        unit = 32 if self.layout == TILE else 1
        return self.w, self.z, self.y + -self.y % unit, self.x + -self.x % unit

    @property
    def bytes(self) -> float:
        w, z, y, x = self.padded
        return w * z * y * x * DTYPE_BYTES[self.dtype]

    def config(self, arch: Arch, cores: int) -> str:
        buffer, layout = self.memory.split("_", 1)
        shard, parts = NONE, {WIDTH: (1, cores), HEIGHT: (cores, 1), BLOCK: arch.grid[::-1]}.get(self.memory)
        if parts:
            shape = f"{{{-(-self.padded[2] * self.z // parts[0])}; {-(-self.padded[3] // parts[1])}}}"
            shard = f"ShardSpec(grid={arch.core_set(cores)};shape={shape};orientation=ShardOrientation::ROW_MAJOR)"
        where = f"memory_layout=TensorMemoryLayout::{layout};buffer_type=BufferType::{buffer}"
        return f"MemoryConfig({where};shard_spec={shard})"

    def cells(self, name: str, device: int) -> Row:
        values = [f"{p}[{n}]" for p, n in zip(self.padded, (self.w, self.z, self.y, self.x))]
        values += [self.layout, self.dtype, f"DEV_{device}_{self.memory}"]
        return dict(zip((column for column in COLUMNS if column.startswith(name)), values))


@dataclass(frozen=True)
class Op:
    code: str
    inputs: list[Tensor]
    output: Tensor
    cores: int
    attrs: Row = field(default_factory=dict)
    reach: float = 0.16  # share of the roofline that it reaches
    flops: float = 0.0
    fidelity: str = "HiFi4"
    traffic: float | None = None  # DRAM bytes, where not the whole of the tensors

    @property
    def computes(self) -> bool:
        return re.match("Binary|Conv|Layer|Matmul|Paged|Pool|Rotary|SDPA|Scaled|Tilize|Untilize", self.code) is not None

    def least_ns(self, arch: Arch) -> tuple[float, float, float]:
        """The time that compute, DRAM and L1 need at least."""
        tensors = [*self.inputs, self.output]
        traffic = sum(t.bytes for t in tensors if "DRAM" in t.memory) if self.traffic is None else self.traffic
        local = sum(t.bytes for t in tensors if "DRAM" not in t.memory)
        compute = self.flops / (arch.tflops[self.fidelity] * 1e3 * self.cores)
        return compute, traffic / arch.dram_gbs, local / (self.cores * L1_BYTES_PER_NS)

    def attribute_text(self, arch: Arch) -> str:
        attrs = {"output_mem_config": self.output.config(arch, self.cores), **self.attrs}
        if self.computes:
            config = f"math_fidelity={self.fidelity};math_approx_mode=0;fp32_dest_acc_en=0;packer_l1_acc=1"
            attrs["compute_kernel_config"] = f"WormholeComputeKernelConfig({config})"
        return python_text(dict(sorted(attrs.items())))

    def kernel_cells(self, program: str) -> Row:
        cells: Row = {}
        name, dice = self.code.replace("DeviceOperation", "").lower(), random.Random(program)
        for title, names in (("COMPUTE", [name] * self.computes), ("DATA MOVEMENT", [f"read_{name}", f"write_{name}"])):
            cells[f"{title} KERNEL SOURCE"] = python_text([f"kernels/{n}.cpp" for n in names])
            cells[f"{title} KERNEL HASH"] = python_text([f"{n}/{dice.getrandbits(64)}/" for n in names])
        for title in (column for column in COLUMNS if "KERNEL SIZE" in column):
            used = title.startswith("TENSIX DM") or self.computes and title.startswith("TENSIX")
            cells[title] = str(600 + 4 * dice.getrandbits(9) if used else 0)
        return cells

    def model_cells(self, arch: Arch, kernel_ns: int) -> Row:
        compute, bandwidth = [max(1, round(ns)) for ns in self.least_ns(arch)[:2]] if self.flops else (1, 1)
        ideal = max(compute, bandwidth)
        rates = [[round(t.bytes / ideal, 5) for t in some if self.flops] for some in (self.inputs, [self.output])]
        values = [ideal, compute, bandwidth, *rates, round(100 * compute / kernel_ns, 3)]
        return dict(zip((column for column in COLUMNS if column.startswith("PM ")), map(python_text, values)))


class Run:
    """One host that feeds devices, and the rows that its profiler writes."""

    def __init__(self, arch: Arch, devices: int, seed: int) -> None:
        self.arch = arch
        self.cores = arch.grid[0] * arch.grid[1]
        self.rows: list[Row] = []
        self.dispatch = (40_000, 120_000)  # host time per op, ns
        self._random = random.Random(seed)
        self.host = 3_000_000_000 + seed * 1_000_003  # now, ns
        self._calls = 0
        self._built: set[str] = set()
        self._ends: list[list[int]] = [[] for _ in range(devices)]  # of every kernel
        self._recorded = [0] * devices  # end of the last kernel that has a row

    def between(self, low: float, high: float) -> int:
        return int(low + (high - low) * self._random.random())

    def signpost(self, name: str, message: str = "") -> None:
        self.host += self.between(2_000, 9_000)
        self.rows += [{"OP CODE": name, "OP TYPE": "signpost", "ATTRIBUTES": message, "HOST START TS": str(self.host)}]

    def fallback(self, code: str, tensor: Tensor) -> None:
        """An op done by the host, which first waits for the tensor."""
        self._calls += 1
        self.host = max(self.host, self._ends[0][-1]) + self.between(30_000, 60_000)
        row = {"OP CODE": code, "OP TYPE": "python_fallback", "GLOBAL CALL COUNT": str(1 << 31 | self._calls << 10),
               "ATTRIBUTES": "{'dim': '-1'; 'keepdim': 'False'}", **self._host_cells(self.between(310_000, 420_000))}
        self.rows.append({**row, **tensor.cells("INPUT_0", 0)})

    def launch(self, *ops: Op, lost_on: int = -1) -> None:
        """Run ops on all devices; device `lost_on` loses its records."""
        for op in ops:
            program = "|".join([op.code, op.attribute_text(self.arch), *map(str, op.inputs)])
            self._calls += 1
            hosts = [self._dispatch(program, ends) for ends in self._ends]
            ready = self.host + self.between(1_500, 2_600)
            starts = [max(ready, ends[-1] + self.between(2_000, 4_800) if ends else 0) for ends in self._ends]
            least = max(op.least_ns(self.arch)) / op.reach
            spans = [self.between(1_100, 1_500) + self.between(0.975 * least, 1.025 * least) for _ in starts]
            if "AllGather" in op.code:  # all must arrive before any can finish
                spans = [max(starts) - start + max(spans) + self.between(0, 300) for start in starts]
            for device, (host, start, span) in enumerate(zip(hosts, starts, spans)):
                self._ends[device].append(start + span)
                if device != lost_on:
                    self.rows.append({**host, **self._device_cells(op, program, device, start, span)})

    def _dispatch(self, program: str, ends: list[int]) -> Row:
        self.host = max([self.host, *ends[-QUEUE_DEPTH:-QUEUE_DEPTH + 1]])
        ns = self.between(*self.dispatch) if program in self._built else self.between(18e6, 210e6)
        self._built.add(program)
        return self._host_cells(ns)

    def _host_cells(self, ns: int) -> Row:
        start = self.host + self.between(300, 1_200)
        self.host = start + ns
        return {"HOST START TS": str(start), "HOST END TS": str(self.host), "HOST DURATION [ns]": str(ns)}

    def _device_cells(self, op: Op, program: str, device: int, start: int, span: int) -> Row:
        gap = start - self._recorded[device] if self._recorded[device] else 0
        self._recorded[device] = start + span
        cells = {"OP CODE": op.code, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": str(self._calls << 10 | device),
                 "DEVICE ID": str(device), "DEVICE ARCH": self.arch.name, "CORE COUNT": str(op.cores),
                 "ATTRIBUTES": op.attribute_text(self.arch), "AVAILABLE WORKER CORE COUNT": str(self.cores),
                 "MATH FIDELITY": op.fidelity if op.computes else ""}
        for i, tensor in enumerate(op.inputs):
            cells.update(tensor.cells(f"INPUT_{i}", device))
        return {**cells, **op.output.cells("OUTPUT_0", device), **op.kernel_cells(program),
                **op.model_cells(self.arch, span), **self._time_cells(op, start, span, gap)}

    def _time_cells(self, op: Op, start: int, span: int, gap: int) -> Row:
        before, after, late = self.between(180, 320), self.between(260, 460), self.between(0, 40)
        first, last = [FIRST_CYCLE + round(t * self.arch.ghz) for t in (start - before, start + span + after)]
        cells = {"DEVICE FW START CYCLE": first, "DEVICE FW END CYCLE": last, "OP TO OP LATENCY [ns]": gap,
                 "OP TO OP LATENCY BR/NRISC START [ns]": gap and gap + late, "DEVICE KERNEL DURATION [ns]": span,
                 "DEVICE FW DURATION [ns]": before + span + after, "DEVICE KERNEL DURATION DM START [ns]": span - late,
                 "DEVICE KERNEL FIRST TO LAST START [ns]": 30 + self.between(2, 5) * op.cores,
                 "DEVICE NCRISC KERNEL DURATION [ns]": span * self.between(600, 960) // 1000}
        for name in ["BRISC"] + ["TRISC0", "TRISC1", "TRISC2"] * op.computes + ["ERISC"] * ("AllGather" in op.code):
            cells[f"DEVICE {name} KERNEL DURATION [ns]"] = span - late - self.between(20, 320)
        return {name: str(value) for name, value in cells.items()}

    def csv(self) -> str:
        out = io.StringIO()
        lines = [COLUMNS] + [[row.get(column, "") for column in COLUMNS] for row in self.rows]
        csv.writer(out, lineterminator="\n").writerows(lines)
        return out.getvalue()


def matmul(a: Tensor, out: Tensor, weights: str, fidelity: str, cores: int, reach: float, config: str = NONE) -> Op:
    b = Tensor(a.padded[3], out.padded[3], BANKS if "DRAMSharded" in config else DRAM, weights)
    attrs = {"bcast_batch": "1", "output_dtype": f"DataType::{out.dtype}", "program_config": config}
    return Op("MatmulDeviceOperation", [a, b], out, cores, attrs, reach, 2.0 * a.padded[2] * b.y * b.x, fidelity)


def multicast(kind: str, block: int, per_n: int, sub: str = "") -> str:
    area = "out_subblock_h={};out_subblock_w={};".format(*sub.split("x")) if sub else ""
    values = f"in0_block_w={block};{area}per_core_M=1;per_core_N={per_n}"
    return f"MatmulMultiCoreReuseMultiCast{kind}ProgramConfig({values})"


def binary(kind: str, a: Tensor, b: Tensor, cores: int) -> Op:
    return Op("BinaryNgDeviceOperation", [a, b], a, cores, {"binary_op_type": f"BinaryOpType::{kind}", "scalar": NONE})


def norm(x: Tensor, cores: int) -> Op:
    return Op("LayerNormDeviceOperation", [x, Tensor(1, x.x)], x, cores, {"norm_type": "LayerNormType::RMSNORM"}, 0.07)


def simple(code: str, x: Tensor, out: Tensor, cores: int, reach: float = 0.16) -> Op:
    return Op(f"{code}DeviceOperation", [x], out, cores, {"output_dtype": f"DataType::{out.dtype}"}, reach)


# The decoder: eight users, a prompt of 1024 tokens, a paged key/value cache.
DIM, QKV, FF, VOCAB, HEAD, HEADS, KV_HEADS, USERS, LAYERS, PROMPT = 2304, 3840, 6912, 49152, 128, 18, 6, 8, 4, 1024
X, WIDE, GATE = Tensor(USERS, DIM, WIDTH), Tensor(USERS, FF, WIDTH, BFP8), Tensor(USERS, 576, WIDTH, BFP8)


def decode_attention(run: Run, position: int, new_page: bool) -> None:
    qkv, flat, small = Tensor(USERS, QKV, WIDTH), Tensor(USERS, QKV, L1), Tensor(USERS, DIM, L1, BFP8)
    q, kv, angles = [Tensor(heads, HEAD, HEIGHT, z=USERS) for heads in (HEADS, KV_HEADS, 1)]
    cache, pages = Tensor(64, HEAD, DRAM, BFP8, KV_HEADS, USERS * 32), Tensor(USERS, 32, DRAM, UINT, layout=PLAIN)
    place, read = Tensor(1, USERS, DRAM, UINT, layout=PLAIN), 2.0 * USERS * position * KV_HEADS * HEAD
    update = Op("PagedUpdateCacheDeviceOperation", [cache, kv, place, pages], cache, USERS, reach=0.1, traffic=kv.bytes)
    run.launch(norm(X, 18), matmul(X, qkv, BFP8, "HiFi2", 12, 0.87, multicast("DRAMSharded", 6, 10)),
               simple("ShardedToInterleaved", qkv, flat, 30), simple("NLPCreateHeadsDecode", flat, q, USERS),
               norm(q, USERS), norm(kv, USERS),
               *(Op("RotaryEmbeddingLlama", [x, angles], x, USERS, {"is_decode_mode": "true"}) for x in (q, kv)))
    run.host += new_page and run.between(260_000, 420_000)  # the host writes a page table
    run.launch(update, update, Op("ScaledDotProductAttentionDecode", [q, cache, cache, place, pages], q, 64,
                                  {"is_causal": "true", "k_chunk_size": "128"}, 0.58, 64 * read, "HiFi2", read),
               simple("NLPConcatHeadsDecode", q, X, HEADS),
               matmul(small, GATE, BFP8, "HiFi4", 6, 0.82, multicast("1D", 8, 3, "1x3")), binary("MUL", X, GATE, HEADS),
               matmul(X, X, BFP8, "HiFi2", 36, 0.76, multicast("1D", 4, 2, "1x2")), binary("ADD", X, X, HEADS))


def decode_mlp(run: Run, tuned: bool) -> None:
    run.launch(norm(X, 18), matmul(X, WIDE, BFP4, "LoFi", 12, 0.9, multicast("DRAMSharded", 6, 18)),
               matmul(X, WIDE, BFP8, "HiFi2", 12, 0.86, multicast("DRAMSharded", 6, 18)), binary("MUL", WIDE, WIDE, 54))
    if not tuned:  # through DRAM, in small blocks
        run.launch(simple("ShardedToInterleaved", WIDE, Tensor(USERS, FF), 54))
    run.launch(matmul(WIDE, X, BFP8, "HiFi2", 36, 0.64, multicast("1D", 6, 2, "1x2")) if tuned else
               matmul(Tensor(USERS, FF), X, BFP8, "HiFi4", 36, 0.47, multicast("1D", 1, 2, "1x1")))
    run.launch(binary("ADD", X, X, HEADS))


def token(run: Run, position: int) -> None:
    part, logits, plain = Tensor(USERS, VOCAB // 3), Tensor(USERS, VOCAB), Tensor(USERS, VOCAB, layout=PLAIN)
    ids, table, x = Tensor(1, USERS, DRAM, UINT, layout=PLAIN), Tensor(VOCAB, DIM, layout=PLAIN), Tensor(USERS, DIM)
    run.launch(Op("EmbeddingsDeviceOperation", [ids, table], x, 8, {"tilized": "true"}, 0.2, traffic=2 * x.bytes))
    run.host += run.between(15_000, 30_000)  # the host makes the rotation angles
    run.launch(simple("InterleavedToSharded", x, X, 18))
    for layer in range(LAYERS):
        decode_attention(run, position, layer == 2)
        decode_mlp(run, layer % 2 == 1)
    project = matmul(X, part, BFP8, "HiFi2", 64, 0.74, multicast("1D", 2, 8, "1x4"))
    join = Op("ConcatDeviceOperation", [part] * 3, logits, 64, {"dim": "3"}, 0.5)
    run.launch(norm(X, 18), project, project, matmul(X, part, BFP8, "HiFi2", 64, 0.41), join,
               simple("Untilize", logits, plain, 64, 0.3))
    run.fallback("(torch) argmax", plain)
    run.host += run.between(50_000, 90_000)


def decoder() -> Run:
    run = Run(Arch("wormhole_b0", (8, 8), 288.0, 1.0, {"HiFi4": 74 / 72, "HiFi2": 148 / 72, "LoFi": 262 / 72}), 1, 11)
    for name, message in (("compile", "first run of every program"), ("warmup", "")):
        run.signpost(name, message)
        token(run, PROMPT)
    run.dispatch = (5_500, 8_500)
    run.signpost("measure", f"{USERS} users; {PROMPT} tokens of prompt")
    for n in range(4):
        run.signpost(f"token {n}")
        token(run, PROMPT + n + 1)
    return run


# The vision net: a convolutional encoder, one image (3:5) per device; each needs the features of both.
def window(run: Run, code: str, src: Tensor, out: Tensor, reach: float, lost_on: int = -1) -> Tensor:
    """Halo, Move if the image keeps its size, then a convolution or pool of 3x3."""
    stride, split = 1 if out.y == src.y else 2, run.arch.grid[1] if src.memory == BLOCK else run.cores
    width, per_core = math.isqrt(src.y * 5 // 3), -(-out.y // (32 * split))
    cores = -(-out.y // (32 * per_core)) * (run.cores // split)
    sliding = (f"SlidingWindowConfig(batch_size=1; input_hw=({src.y // width};{width}); window_hw=(3;3); "
               f"stride_hw=({stride};{stride}); padding=((1; 1); (1; 1)); dilation_hw=(1;1); is_transpose=false)")
    attrs = {"block_config": f"Conv2dBlockConfig(act_block_h_ntiles={per_core};act_block_w_ntiles={-(-src.x // 32)})",
             "enable_act_double_buffer": "true" if stride == 1 else "false", "sliding_window_config": sliding,
             "parallelization_config": f"Config(per_core_out_matrix_height_ntile={per_core};num_cores_nhw={cores})"}
    padded = Tensor(src.y + cores * split // run.cores * width, src.x, src.memory, layout=PLAIN)
    run.launch(Op("HaloDeviceOperation", [src], padded, cores, {"config": sliding, "pad_val": "0"}, 0.4))
    if stride == 1:
        run.launch(simple("Move", padded, padded, cores, 0.8), lost_on=lost_on)
    weights = [Tensor(9 * src.x, out.x, DRAM, BFP8), Tensor(1, out.x, DRAM, BFP8)] * (code != "Pool2D")
    flops = 18.0 * out.y * src.x * out.x * bool(weights)
    run.launch(Op(code, [padded, *weights], out, cores, attrs, reach, flops, "LoFi" if src.x > 64 else "HiFi2"))
    return out


def encode(run: Run, lost_on: int) -> None:
    conv, x = "Conv2dDeviceOperation", Tensor(384 * 640, 8, HEIGHT, layout=PLAIN)
    run.launch(simple("InterleavedToSharded", Tensor(x.y, x.x, layout=PLAIN), x, run.cores, 0.5))
    stem = window(run, conv, x, Tensor(192 * 320, 32, HEIGHT, BFP8), 0.2)
    pooled = window(run, "Pool2D", stem, Tensor(96 * 160, 32, HEIGHT, layout=PLAIN), 0.15)
    x = Tensor(pooled.y, 32, HEIGHT, BFP8)
    run.launch(simple("Tilize", pooled, x, 96))
    for scale, memory, reach, blocks in (1, HEIGHT, 0.3, 1), (2, HEIGHT, 0.36, 2), (4, BLOCK, 0.45, 2):
        if memory != x.memory:
            run.launch(simple("Reshard", x, Tensor(x.y, x.x, memory, BFP8), run.cores))
        out = Tensor(pooled.y // scale ** 2, 96 * scale, memory, BFP8)
        x = window(run, conv, Tensor(x.y, x.x, memory, BFP8), out, reach, lost_on)
        for _ in range(blocks):
            run.launch(binary("ADD", window(run, conv, window(run, conv, x, x, reach), x, 0.9 * reach), x, 60))
    near, both, hidden, wide, out = [Tensor(x.y, n) for n in (384, 768, 1024, 2048, 64)]
    run.launch(simple("ShardedToInterleaved", x, near, 30), simple("AllGather", near, both, 8, 0.3),
               matmul(both, hidden, BFP8, "HiFi2", 110, 0.85),
               matmul(hidden, wide, BFP8, "HiFi4", 110, 0.86, multicast("", 4, 6, "1x3")),
               matmul(wide, out, BFP8, "HiFi2", 30, 0.4, multicast("1D", 8, 1, "1x1")),
               simple("Untilize", out, Tensor(out.y, 64, layout=PLAIN), 30))


def vision() -> Run:
    run = Run(Arch("blackhole", (11, 10), 512.0, 1.35, {"HiFi4": 1.3824, "HiFi2": 2.7648, "LoFi": 5.5296}), 2, 23)
    for name, lost_on in (("warmup", -1), ("inference", 0)):
        run.signpost(name)
        encode(run, lost_on)
        run.dispatch = (1_200, 2_500)
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the sample ops reports.")
    parser.add_argument("--out", type=Path, default=Path("examples/perf"), help="folder of the reports")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a report differs")
    args = parser.parse_args()
    stale = 0
    for name, run in (("decoder_wormhole/ops_perf_results_2026_01_15_10_30_00.csv", decoder()),
                      ("vision_blackhole/ops_perf_results_2026_01_15_11_00_00.csv", vision())):
        path, text = args.out / name, run.csv().encode()
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            print(f"{path}: not what make_sample.py writes", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
