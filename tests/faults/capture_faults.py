#!/usr/bin/env python3
"""What must hold when recording goes wrong: nothing that reached the journal is lost, nothing hangs.

  capture_faults.py BIN_FOLDER

Kills the recorder and the program at random moments STROBE_FAULT_KILLS times (default 6; `make
faults` takes 200), cuts connections in the middle of a frame, sends garbage, fills the disk, stops
the recorder for a while. Every wait has a limit. Exits 1 at the first thing that does not hold.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
KILLS = int(os.environ.get("STROBE_FAULT_KILLS", "6"))
BIN = pathlib.Path(sys.argv[1]).resolve()


class Failed(Exception):
    """Something that must hold does not."""


def check(holds, what):
    if not holds:
        raise Failed(what)


def start_streamer(*options):
    """A program that listens; returns it and its port."""
    program = subprocess.Popen([BIN / "streamer", *map(str, options)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    line = program.stdout.readline().split()
    check(len(line) == 2 and line[0] == "listening", f"streamer said {line}")
    return program, int(line[1])


def start_capture(port, output, *options):
    return subprocess.Popen([BIN / "strobe", "capture", "-f", "-o", output, "-p", str(port), "--json",
                             "--wait", "20", *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def finish(process):
    """Exit code, output and messages of a process that must end by itself."""
    try:
        output, messages = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
    return process.returncode, output, messages


def end(process):
    if process.poll() is None:
        process.kill()
    process.communicate(timeout=LIMIT_S)


def journal_zones(journal):
    """Zones in the whole blocks of a journal, counted without the code that makes traces."""
    result = subprocess.run([BIN / "journal_zones", journal], capture_output=True, text=True,
                            timeout=LIMIT_S, check=False)
    check(result.returncode in (0, 1), f"journal_zones: {result.returncode} {result.stderr}")
    return int(result.stdout.split()[0]) if result.returncode == 0 else None


def recover(journal, output):
    result = subprocess.run([BIN / "strobe", "recover", "-f", "--json", journal, "-o", output],
                            capture_output=True, text=True, timeout=LIMIT_S, check=False)
    check(result.returncode in (0, 3), f"recover: {result.returncode} {result.stderr}")
    return json.loads(result.stdout)["zones"]


def zones_in(trace):
    result = subprocess.run([BIN / "strobe", "stats", "--json", trace], capture_output=True,
                            text=True, timeout=LIMIT_S, check=False)
    check(result.returncode in (0, 3), f"stats: {result.returncode} {result.stderr}")
    return sum(row["count"] for row in json.loads(result.stdout))


def await_journal(path, size):
    """Waits until the recording has begun."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_size > size:
            return
        time.sleep(0.005)
    raise Failed(f"{path} does not grow")


def recorder_killed(folder):
    recovered = 0
    for _ in range(KILLS):
        output = folder / "run.tracy"
        journal = folder / "run.tracy.journal"
        for path in (output, journal):
            path.unlink(missing_ok=True)
        program, port = start_streamer("--zones", 100000000, "--rate", 2000000)
        capture = start_capture(port, output)
        try:
            await_journal(journal, 2000)
            time.sleep(random.uniform(0, 0.3))
            capture.send_signal(signal.SIGKILL)
            capture.communicate(timeout=LIMIT_S)
        finally:
            end(capture)
            end(program)
        check(not output.exists(), "a killed recorder left half a trace")
        expected = journal_zones(journal)
        check(expected is not None and expected > 0, "the journal holds nothing")
        check(recover(journal, output) == expected, "recovered other zones than journalled")
        check(zones_in(output) == expected, "the trace has other zones than the journal")
        recovered += expected
    return f"{KILLS} kills, {recovered} zones recovered"


def program_killed(folder):
    recorded = 0
    for _ in range(max(1, KILLS // 2)):
        output = folder / "run.tracy"
        journal = folder / "run.tracy.journal"
        for path in (output, journal):
            path.unlink(missing_ok=True)
        program, port = start_streamer("--zones", 100000000, "--rate", 2000000)
        capture = start_capture(port, output, "--keep-journal")
        try:
            await_journal(journal, 2000)
            time.sleep(random.uniform(0, 0.2))
            program.send_signal(signal.SIGKILL)
            code, text, messages = finish(capture)
        finally:
            end(capture)
            end(program)
        check(code == 3, f"exit {code} after the program was killed: {messages}")
        check("ended early" in messages, f"no word of it: {messages}")
        expected = journal_zones(journal)
        check(json.loads(text)["zones"] == expected, "zones differ from the journal")
        check(zones_in(output) == expected, "the trace has other zones than the journal")
        recorded += expected
    return f"{max(1, KILLS // 2)} kills, {recorded} zones recorded"


def cut_in_a_frame(folder):
    output = folder / "run.tracy"
    program, port = start_streamer("--zones", 1000000, "--cut", 2000000)
    code, text, messages = finish(start_capture(port, output, "--keep-journal"))
    end(program)
    # The system tells of the cut by an end or by a reset, whichever comes first.
    is_told = "middle of a frame" in messages or "connection was lost" in messages
    check(code == 3 and is_told, f"exit {code}: {messages}")
    check(json.loads(text)["zones"] == journal_zones(folder / "run.tracy.journal"), "zones differ")
    return f"{json.loads(text)['zones']} zones kept"


def garbage(folder):
    output = folder / "run.tracy"
    program, port = start_streamer("--zones", 1000000, "--garbage", 2000000)
    code, text, messages = finish(start_capture(port, output))
    end(program)
    check(code == 3 and "does not unpack" in messages, f"exit {code}: {messages}")
    check(json.loads(text)["zones"] > 0, "nothing was kept")
    return f"{json.loads(text)['zones']} zones kept"


def no_answer(folder):
    program, port = start_streamer("--silent")
    code, _, messages = finish(start_capture(port, folder / "run.tracy"))
    end(program)
    check(code == 1 and "does not answer" in messages, f"exit {code}: {messages}")
    program, port = start_streamer("--gone")
    code, _, messages = finish(start_capture(port, folder / "run.tracy"))
    end(program)
    check(code == 1 and "recorded before" in messages, f"exit {code}: {messages}")
    return "refusals are explained"


def stopped_for_a_while(folder):
    output = folder / "run.tracy"
    program, port = start_streamer("--zones", 3000000)
    capture = start_capture(port, output)
    await_journal(folder / "run.tracy.journal", 2000)
    capture.send_signal(signal.SIGSTOP)
    time.sleep(1)
    capture.send_signal(signal.SIGCONT)
    code, text, messages = finish(capture)
    end(program)
    check(code == 0 and json.loads(text)["zones"] == 3000000, f"exit {code}: {messages} {text}")
    return "a slow recorder makes the program wait, and loses nothing"


def told_to_stop(folder):
    output = folder / "run.tracy"
    program, port = start_streamer("--zones", 100000000, "--rate", 2000000)
    capture = start_capture(port, output)
    await_journal(folder / "run.tracy.journal", 2000)
    capture.send_signal(signal.SIGTERM)
    code, text, messages = finish(capture)
    end(program)
    check(code == 0 and json.loads(text)["ending"] == "stopped", f"exit {code}: {messages}")
    check(not (folder / "run.tracy.journal").exists(), "the journal was left")
    return f"{json.loads(text)['zones']} zones"


def disk_full(folder):
    small = folder / "small"
    small.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small],
                           capture_output=True, check=False)
    if mount.returncode != 0:
        return "skipped: a small file system needs the right to mount"
    try:
        output = small / "run.tracy"
        program, port = start_streamer("--zones", 5000000)
        code, _, messages = finish(start_capture(port, output, "--memory", "0"))
        end(program)
        check(code in (1, 3) and "No space left" in messages, f"exit {code}: {messages}")
        journal = small / "run.tracy.journal"
        if code == 1:
            check(journal.exists() and not output.exists(), "neither trace nor journal is whole")
            expected = journal_zones(journal)
            check(recover(journal, folder / "saved.tracy") == expected, "recovered other zones")
            return f"{expected} zones recovered from the journal"
        return "the trace was written up to there"
    finally:
        subprocess.run(["umount", small], check=False)


CASES = [recorder_killed, program_killed, cut_in_a_frame, garbage, no_answer, stopped_for_a_while,
         told_to_stop, disk_full]


def main():
    random.seed(os.environ.get("STROBE_FAULT_SEED", "1"))
    failed = False
    for case in CASES:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="strobe-faults-"))
        try:
            print(f"ok     {case.__name__}: {case(folder)}", flush=True)
            shutil.rmtree(folder)
        except (Failed, subprocess.TimeoutExpired) as problem:
            print(f"FAILED {case.__name__}: {problem} (files in {folder})", flush=True)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
