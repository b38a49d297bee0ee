#!/usr/bin/env python3
"""Invents the logs of a run in the formats of tt-metal: for tests, comparisons and benchmarks.

A run is a list of ops on some devices. Every op is a program on some cores; every core has five
processors, each with a firmware zone around a kernel zone. Switches add what the formats can carry.
The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, TextIO

TITLES = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data"
)
PROCESSORS = (
    ("BRISC", "BRISC", "brisc.cc", 433, 0, 0),
    ("NCRISC", "NCRISC", "ncrisc.cc", 129, 10, 1),
    ("TRISC_0", "TRISC", "trisc.cc", 150, 13, 2),
    ("TRISC_1", "TRISC", "trisc.cc", 150, 16, 3),
    ("TRISC_2", "TRISC", "trisc.cc", 150, 19, 4),
)
FIRMWARE = "tt_metal/hw/firmware/src/tt-1xx/"
ZONES_HEADER = (
    "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,value,"
    "special_parent_text\n"
)
OP_NAMES = ("MatmulDeviceOperation", "BinaryNgDeviceOperation", "SoftmaxDeviceOperation")
FIRST_CYCLE = 40_000_000
HOST_START = 5_000_000_000
COUNTER_TIMER = 9090


@dataclass
class Run:
    """What is to be invented."""

    ops: int = 6
    cores: int = 4
    devices: int = 1
    seed: int = 1
    clock: int = 1000
    arch: str = "wormhole_b0"
    cached: bool = True  # later calls send short messages
    traced: int = 0  # so many ops at the end are captured and ...
    replays: int = 0  # ... replayed so often
    dispatch: bool = False
    sums: bool = False
    sub_devices: bool = False
    zones: bool = False  # user zones inside kernels
    counters: tuple[str, ...] = ()
    signposts: bool = False
    children: bool = False
    fallback: bool = False  # an op that never leaves the host
    erisc: bool = False
    host: bool = True
    compute_cores: int = 64
    dumps: int = 1  # the log is written in so many pieces


@dataclass
class Execution:
    id: int
    device: int
    start: int
    trace: str = ","
    cores: list[tuple[int, int]] = field(default_factory=list)
    spans: dict[tuple[int, int], int] = field(default_factory=dict)


def timer(text: str) -> int:
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return (value >> 16 ^ value & 0xFFFF) or 1


class Maker:
    def __init__(self, run: Run):
        self.run = run
        self.random = random.Random(run.seed)
        self.grid = [(1 + i % 8, 1 + i // 8) for i in range(run.cores)]
        self.timers = {name: timer(name) for name in ("FW", "KERNEL", "user")}

    # --- what happened ---

    def ids(self, device: int) -> list[int]:
        return [(base << 10) | device for base in range(1, self.run.ops + 1)]

    def executions(self, device: int) -> list[Execution]:
        run, now, found = self.run, FIRST_CYCLE + device * 1_000_003, []
        plain = run.ops - run.traced
        ids = self.ids(device)
        order = [(i, ",") for i in ids[:plain]]
        for session in range(1, run.replays + 1):
            order += [(i, f"7,{session}") for i in ids[plain:]]
        for id_, trace in order:
            # Every replay of an op runs on the same cores.
            cores = self.grid[: max(1, run.cores // 2)] if (id_ >> 10) % 3 == 2 else self.grid
            spans = {core: self.random.randrange(600, 3000) for core in cores}
            found.append(Execution(id_, device, now, trace, list(cores), spans))
            now += max(spans.values()) + self.random.randrange(300, 2500)
        return found

    # --- the device log ---

    def meta(self, execution: Execution) -> str:
        if not self.run.sub_devices:
            return ""
        return f'{{"sub_device_id":{(execution.id >> 10) % 2};"sub_device_manager_id":7}}'

    def processor_rows(
        self, execution: Execution, core: tuple[int, int], processor: tuple
    ) -> Iterator[str]:
        name, zone, file, line, delay, index = processor
        run, meta = self.run, self.meta(execution)
        x, y = core
        jitter = (x * 7 + y * 3) % 11
        start = execution.start + delay + jitter
        # The master's firmware ends last, or the original takes an end for part of the next op.
        end = execution.start + jitter + execution.spans[core] - 25 * index
        place = f"{execution.device},{x},{y},{name}"
        owner = f"{execution.id},{execution.trace}"
        fw, kernel = timer(f"{zone}-FW"), timer(f"{zone}-KERNEL")

        def row(timer_id: int, time: int, data: int, zone_name: str, kind: str, text: str) -> str:
            return (
                f"{place},{timer_id},{time},{data},{owner},{zone_name},{kind},{line},"
                f"{FIRMWARE}{file},{text}\n"
            )

        yield row(fw, start, 0, f"{zone}-FW", "ZONE_START", meta)
        if run.sums and name in ("TRISC_0", "TRISC_2"):
            title = "CB-COMPUTE-WAIT-FRONT" if name == "TRISC_0" else "CB-COMPUTE-RESERVE-BACK"
            yield row(timer(title), start, 17 + jitter, title, "ZONE_TOTAL", meta)
        yield row(kernel, start + 21, 0, f"{zone}-KERNEL", "ZONE_START", meta)
        if run.zones and name == "NCRISC":
            yield row(timer("READ"), start + 40, 0, "READ; page", "ZONE_START", meta)
            yield row(timer("READ"), start + 140, 0, "READ; page", "ZONE_END", meta)
        if name == "BRISC":
            for number, counter in enumerate(run.counters):
                text = json.dumps(
                    {
                        "counter type": counter,
                        "ref cnt": 1000 + jitter,
                        "value": 100 + 37 * number % 800 + jitter * 5,
                    },
                    separators=(";", ":"),
                )
                yield row(COUNTER_TIMER, start + 30, 0, "", "TS_DATA", text)
        yield row(kernel, end - 30, 0, f"{zone}-KERNEL", "ZONE_END", meta)
        yield row(fw, end, 0, f"{zone}-FW", "ZONE_END", meta)

    def erisc_rows(self, execution: Execution) -> Iterator[str]:
        place = f"{execution.device},9,0,ERISC"
        for offset, name, kind in (
            (4, "ERISC-FW", "ZONE_START"),
            (18, "ERISC-KERNEL", "ZONE_START"),
            (390, "ERISC-KERNEL", "ZONE_END"),
            (420, "ERISC-FW", "ZONE_END"),
        ):
            yield (
                f"{place},{timer(name)},{execution.start + offset},0,{execution.id},"
                f"{execution.trace},{name},{kind},210,{FIRMWARE}erisc.cc,{self.meta(execution)}\n"
            )

    def dispatch_rows(self, executions: list[Execution]) -> Iterator[str]:
        file = "tt_metal/impl/dispatch/kernels/cq_dispatch.cpp"
        commands = (
            "CQ_DISPATCH_CMD_SET_WRITE_OFFSET",
            "CQ_DISPATCH_CMD_WRITE_PACKED",
            "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL",
        )
        for execution in executions:
            for number, command in enumerate(commands):
                at = execution.start - 160 + number * 45
                place = f"{execution.device},9,9,BRISC"
                zone = f"CQ-DISPATCH:{execution.id}:{command}"
                yield f"{place},{timer(zone)},{at},0,0,,,{zone},ZONE_START,1673,{file},\n"
                yield (
                    f"{place},223,{at + 2},12,0,,,process_cmd_d_dispatch,TS_DATA,1302,{file},"
                    f'{{"dispatch_command_type":"{command}"}}\n'
                )
                if number == 0:
                    yield (
                        f"{place},20268,{at + 4},{execution.id},0,,,runtime_host_id_dispatch,"
                        f'TS_DATA,1426,{file},{{"workers_runtime_id":{execution.id}}}\n'
                    )
                yield f"{place},{timer(zone)},{at + 30},0,0,,,{zone},ZONE_END,1673,{file},\n"
        for execution in executions:
            place, at = f"{execution.device},9,9,NCRISC", execution.start - 150
            command = "CQ_DISPATCH_CMD_SEND_GO_SIGNAL"
            zone = f"CQ-DISPATCH-SUBORDINATE:{command}"
            yield f"{place},{timer(zone)},{at},0,0,,,{zone},ZONE_START,617,{file},\n"
            yield (
                f"{place},224,{at + 3},14,0,,,process_cmd_s,TS_DATA,640,{file},"
                f'{{"dispatch_command_type":"{command}"}}\n'
            )
            yield f"{place},{timer(zone)},{at + 97},0,0,,,{zone},ZONE_END,617,{file},\n"

    def device_rows(self, device: int, executions: list[Execution]) -> Iterator[str]:
        for core in self.grid:
            for processor in PROCESSORS:
                for execution in executions:
                    if core in execution.spans:
                        yield from self.processor_rows(execution, core, processor)
        if self.run.erisc:
            for execution in executions:
                yield from self.erisc_rows(execution)
        if self.run.dispatch:
            yield from self.dispatch_rows(executions)

    def write_device_log(self, file: TextIO) -> None:
        run = self.run
        file.write(
            f"ARCH: {run.arch}, CHIP_FREQ[MHz]: {run.clock}, Max Compute Cores: "
            f"{run.compute_cores}\n{TITLES}\n"
        )
        executions = [self.executions(device) for device in range(run.devices)]
        for dump in range(run.dumps):
            for device, all_of_it in enumerate(executions):
                size = -(-len(all_of_it) // run.dumps)
                file.writelines(
                    self.device_rows(device, all_of_it[dump * size : (dump + 1) * size])
                )

    # --- the host's files ---

    def tensor(self, device: int, size: int) -> dict:
        return {
            "dtype": "BFLOAT16" if size % 64 else "BFLOAT8_B",
            "layout": "TILE",
            "shape": {"W": "1[1]", "X": f"{size}[{size - 3}]", "Y": "32[32]", "Z": "1[1]"},
            "storage_type": {
                "device_id": device,
                "memory_config": {"buffer_type": "DRAM", "memory_layout": "INTERLEAVED"},
            },
        }

    def op_json(self, kind: int, device: int, id_: int) -> dict:
        sizes = {
            f"{name}_max_kernel_size": 100 * kind + number
            for number, name in enumerate(("IDLE_ETH_DM_0", "TENSIX_COMPUTE_0", "TENSIX_DM_1"))
        }
        return {
            "attributes": {"note": "it's \"so\" µ, or not", "width": str(kind), "x": "a\\b"},
            "device_id": device,
            "global_call_count": id_,
            "input_tensors": [self.tensor(device, 32 + 32 * i) for i in range(2 - kind % 2)],
            "kernel_info": {
                "compute_kernels": [
                    {"math_fidelity": "HiFi4", "name": "c/1", "source": "kernels/compute/mm.cpp"}
                ]
                if kind != 1
                else [],
                "datamovement_kernels": [
                    {"name": "r/2", "source": "kernels/reader, one.cpp"},
                    {"name": "w/3", "source": "kernels/writer.cpp"},
                ],
                "kernel_sizes": sizes,
            },
            "op_code": OP_NAMES[kind],
            "op_hash": 13580271832445190000 + kind,
            "op_type": "tt_dnn_device",
            "optional_input_tensors": [self.tensor(device, 64)] if kind == 2 else [],
            "output_tensors": [self.tensor(device, 96)],
            "performance_model": {
                "bandwidth_ns": 7 + kind,
                "compute_ns": 421 + kind,
                "ideal_ns": 7,
                "input_bws": [292.5714416503906, 1e-07],
                "output_bws": [0.1, 1e16],
            },
            "program_cache_hit": False,
        }

    def op_message(self, kind: int, device: int, id_: int, is_full: bool) -> str:
        body = self.op_json(kind, device, id_)
        text = f'TT_DNN_DEVICE_OP: "{body["op_code"]}", {body["op_hash"]}, {device}, false, {id_}'
        return f"`{text} ->\n{json.dumps(body, indent=4, sort_keys=True)}`" if is_full else f"`{text}`"

    def host_events(self) -> tuple[list[tuple[str, int]], list[str]]:
        run, now = self.run, HOST_START
        messages, zones, known = [], [], set()
        plain = run.ops - run.traced
        place = "ttnn/api/tools/profiler/op_profiler_serialize.hpp,423"
        if run.signposts:
            messages.append(("`TT_SIGNPOST: start`", now - 500))
        for number in range(run.ops):
            if number == plain:
                messages += [
                    (f"`TT_METAL_TRACE_BEGIN: {device}, 7`", now + device)
                    for device in range(run.devices)
                ]
            for device in range(run.devices):
                id_, kind = self.ids(device)[number], number % len(OP_NAMES)
                is_full = not run.cached or (device, kind) not in known
                known.add((device, kind))
                messages.append((self.op_message(kind, device, id_, is_full), now + 1000))
                zones.append(
                    f'TT_DNN_DEVICE_OP,{place},,"id:{id_}",{now},20000,1,id:{id_},\n'
                )
                if run.children:
                    zones.append(
                        f"CompileProgram,tt_metal/compile.cpp,88,,,{now + 50},{700 + number},1,,"
                        f"id:{id_}\n"
                    )
                now += 50_000
            if run.signposts and number == 2:
                messages.append(("`TT_SIGNPOST: middle\nsecond line`", now))
        if run.traced:
            messages += [
                (f"`TT_METAL_TRACE_END: {device}, 7`", now + device)
                for device in range(run.devices)
            ]
        for _ in range(run.replays):
            for device in range(run.devices):
                now += 10_000
                messages.append((f"`TT_METAL_TRACE_REPLAY: {device}, 7`", now))
        if run.fallback:
            id_, now = (1 << 31) | (900 << 10), now + 50_000
            body = {
                "attributes": None,
                "global_call_count": id_,
                "input_tensors": [],
                "op_code": "torch.add",
                "op_type": "python_fallback",
                "output_tensors": [],
            }
            text = f"`TT_DNN_FALL_BACK_OP:\"torch.add\" ->\n{json.dumps(body)}`"
            messages.append((text, now))
            zones.append(f'TT_DNN_FALLBACK_OP,{place},,"id:{id_}",{now},9000,1,id:{id_},\n')
        messages.append(("`unrelated message`", now + 1))
        return messages, zones

    def write(self, folder: Path) -> None:
        logs = folder / ".logs"
        logs.mkdir(parents=True, exist_ok=True)
        with open(logs / "profile_log_device.csv", "w") as file:
            self.write_device_log(file)
        if not self.run.host:
            return
        messages, zones = self.host_events()
        with open(logs / "tracy_ops_data.csv", "w") as file:
            file.write("MessageName;total_ns\n")
            file.writelines(f"{text};{time}\n" for text, time in messages)
        with open(logs / "tracy_ops_times.csv", "w") as file:
            file.write(ZONES_HEADER)
            file.writelines(zones)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, kind in Run.__annotations__.items():
        option = "--" + name.replace("_", "-")
        default = getattr(Run, name)
        if kind == "bool":
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=default)
        elif kind in ("int", "str"):
            parser.add_argument(option, type=type(default), default=default)
    options = vars(parser.parse_args())
    folder = options.pop("folder")
    Maker(Run(**options)).write(folder)


if __name__ == "__main__":
    main()
