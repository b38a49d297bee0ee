"""The real tt-perf-report, used as the judge of `strobe perf --compat`.

Prepares it in a virtual environment of its own, runs it (warm, in a forked child, so that a case
costs its own work and not half a second of imports) and remembers its answers on disk; runs strobe
beside it under the same conditions.

The file is also the program of the warm worker: the environment's interpreter runs it with
`--serve`, so it may import nothing but the standard library at its top.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Iterable, Iterator, NoReturn, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_VENV = ROOT / "build" / "peer"
DEFAULT_CACHE = ROOT / "build" / "peer-cache"

PEER_NAME = "tt-perf-report"
PEER_VERSION = "1.2.4"
# The behaviour we imitate was written down with this pandas; others are only a fallback.
PANDAS_PIN = "pandas==2.3.3"
# From here on sum() of floats is compensated, which the last digits of the report show.
COMPENSATED_SINCE = (3, 12)

CASE_LIMIT_S = 300

Version = tuple[int, ...]


class Unavailable(Exception):
    """The peer cannot be had on this machine; the text says why."""


@dataclass(frozen=True)
class Outcome:
    """What one run of either program left behind."""

    status: int  # exit status, or minus the signal's number
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]  # a PNG is reduced to a line that tells its size

    @property
    def lines(self) -> list[str]:
        return self.stdout.decode("utf-8", "surrogateescape").split("\n")

    @property
    def is_crash(self) -> bool:
        return self.status < 0 or (self.status == 1 and b"Traceback" in self.stderr)

    def pack(self) -> bytes:
        # Latin-1 maps every byte to one character and back, which JSON can carry.
        files = {name: data.decode("latin-1") for name, data in self.files.items()}
        record = [self.status, self.stdout.decode("latin-1"), self.stderr.decode("latin-1"), files]
        return gzip.compress(json.dumps(record).encode("ascii"), 1)

    def store(self, folder: Path) -> None:
        """Lays a run out as files for a person to look at."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in {"stdout": self.stdout, "stderr": self.stderr, **self.files}.items():
            (folder / name).write_bytes(data)

    @staticmethod
    def unpack(data: bytes) -> Outcome:
        status, stdout, stderr, files = json.loads(gzip.decompress(data))
        return Outcome(
            status,
            stdout.encode("latin-1"),
            stderr.encode("latin-1"),
            {name: text.encode("latin-1") for name, text in files.items()},
        )


@dataclass(frozen=True)
class Peer:
    """A tt-perf-report that is ready to run."""

    venv: Path
    python_version: Version
    pandas_version: str
    numpy_version: str

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def command(self) -> Path:
        return self.venv / "bin" / PEER_NAME

    @property
    def needs_compensation(self) -> bool:
        return self.python_version < COMPENSATED_SINCE

    def describe(self) -> str:
        python = ".".join(map(str, self.python_version))
        text = f"{PEER_NAME} {PEER_VERSION}, Python {python}, pandas {self.pandas_version}"
        text += f", numpy {self.numpy_version}"
        if self.needs_compensation:
            text += "; sum() replaced by the compensated one of Python 3.12, on which its last digits depend"
        return text

    def environment(self) -> dict[str, str]:
        """Headless plots, UTF-8 whatever the locale, and caches that stay in the build folder."""
        return {
            **os.environ,
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(self.venv / "matplotlib"),
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONUTF8": "1",
        }


# --- preparation -------------------------------------------------------------------------------


def output_of(command: Sequence[str]) -> Optional[str]:
    """Standard output of a command that succeeds, else nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CASE_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def python_candidates() -> Iterator[str]:
    if os.environ.get("PEER_PYTHON"):
        yield os.environ["PEER_PYTHON"]
    for name in ("python3.14", "python3.13", "python3.12", "python3"):
        found = shutil.which(name)
        if found:
            yield found
    for path in sorted(Path.home().glob(".pyenv/versions/*/bin/python3"), reverse=True):
        yield str(path)
    yield sys.executable


def find_python() -> str:
    """The first interpreter with a compensated sum(), else the newest of the older ones."""
    older: list[tuple[Version, str]] = []
    # A Python without ensurepip makes environments that nothing can be installed into.
    probe = "import sys, venv, ensurepip; print(*sys.version_info[:3])"
    for candidate in python_candidates():
        answer = output_of([candidate, "-c", probe])
        if answer is None:
            continue
        version = tuple(int(part) for part in answer.split())
        if version >= COMPENSATED_SINCE:
            return candidate
        older.append((version, candidate))
    if not older:
        raise Unavailable("no Python with the modules venv and ensurepip")
    return max(older)[1]


def probe_venv(venv: Path) -> Optional[Peer]:
    """The peer that an environment holds, if it is there, of our version, and can be imported."""
    script = (
        "import sys, json, tt_perf_report.perf_report; from importlib.metadata import version as v;"
        f"print(json.dumps([sys.version_info[:3], v('{PEER_NAME}'), v('pandas'), v('numpy')]))"
    )
    answer = output_of([str(venv / "bin" / "python"), "-c", script])
    if answer is None:
        return None
    python_version, peer_version, pandas_version, numpy_version = json.loads(answer.splitlines()[-1])
    if peer_version != PEER_VERSION:
        return None
    return Peer(venv, tuple(python_version), pandas_version, numpy_version)


def install(venv: Path, requirements: Sequence[str]) -> Optional[str]:
    """Installs into an environment; what pip complained about last, or nothing."""
    command = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries", "1"]
    # Building these from source would take minutes only to fail for want of a compiler.
    command += ["--only-binary", "pandas,numpy,matplotlib", *requirements]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    complaints = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return complaints[-1] if complaints else f"pip ended with status {done.returncode}"


def prepare(venv: Path = DEFAULT_VENV) -> Peer:
    """A ready peer, made on the first call and found again on the next ones."""
    venv = venv.absolute()
    found = probe_venv(venv)
    if found:
        return found
    made = subprocess.run(
        [find_python(), "-m", "venv", "--clear", str(venv)], capture_output=True, text=True
    )
    if made.returncode != 0:
        raise Unavailable(f"no virtual environment: {(made.stderr or made.stdout).strip()[-200:]}")
    wanted = f"{PEER_NAME}=={PEER_VERSION}"
    complaint = install(venv, [wanted, PANDAS_PIN])
    if complaint:
        complaint = install(venv, [wanted])
    found = None if complaint else probe_venv(venv)
    if not found:
        raise Unavailable(complaint or f"{wanted} installed but cannot be imported")
    return found


# --- running -----------------------------------------------------------------------------------


class Worker:
    """A process that has the peer imported and forks a child for each run. One thread uses it."""

    def __init__(self, peer: Peer) -> None:
        command = [str(peer.python), str(Path(__file__).resolve()), "--serve"]
        if peer.needs_compensation:
            command.append("--compensate")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=peer.environment(),
            text=True,
        )

    def run(self, args: Sequence[str], folder: Path) -> Outcome:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps({"args": list(args), "folder": str(folder)}) + "\n")
        stdin.flush()
        reply = stdout.readline()
        if not reply:
            raise RuntimeError("the warm worker ended; its complaint stands above")
        return collect(int(reply), folder)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


STDOUT_NAME, STDERR_NAME = ".stdout", ".stderr"


def png_size(data: bytes) -> bytes:
    if len(data) < 24 or not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return b"not a PNG"
    return b"PNG of %d x %d pixels" % struct.unpack(">II", data[16:24])


def collect(status: int, folder: Path) -> Outcome:
    """Gathers what a run left in its folder; the inputs are links there and stay out."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        files[path.relative_to(folder).as_posix()] = png_size(data) if path.suffix == ".png" else data
    return Outcome(status, files.pop(STDOUT_NAME), files.pop(STDERR_NAME), files)


class Cache:
    """Answers of the peer on disk, so that only new questions are asked."""

    def __init__(self, folder: Path, peer: Peer) -> None:
        self._folder = folder
        self._peer = peer.describe()
        self._digests: dict[Path, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def key(self, args: Sequence[str], inputs: Iterable[Path]) -> str:
        question = json.dumps([self._peer, list(args), [self._digest(path) for path in inputs]])
        return hashlib.sha256(question.encode()).hexdigest()

    def get(self, key: str) -> Optional[Outcome]:
        try:
            return Outcome.unpack((self._folder / key).read_bytes())
        except (OSError, EOFError, ValueError):
            return None  # not asked yet, or cut off by an interrupted run

    def put(self, key: str, outcome: Outcome) -> None:
        part = self._folder / f"{key}.{os.getpid()}.part"
        part.write_bytes(outcome.pack())
        part.replace(self._folder / key)

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self._digests[path]


class Arena:
    """Runs both programs on the same question, each in an empty folder with links to the inputs."""

    def __init__(self, peer: Peer, cache: Cache, strobe: Path) -> None:
        self._peer, self._cache, self._strobe = peer, cache, strobe.absolute()
        self._local = threading.local()
        self._workers: list[Worker] = []

    def theirs(self, args: Sequence[str], inputs: Sequence[Path]) -> Outcome:
        key = self._cache.key(args, inputs)
        known = self._cache.get(key)
        if known is None:
            known = self.theirs_anew(args, inputs)
            self._cache.put(key, known)
        return known

    def theirs_anew(self, args: Sequence[str], inputs: Sequence[Path]) -> Outcome:
        with folder_with(inputs) as folder:
            return self._worker().run(args, folder)

    def ours(self, args: Sequence[str], inputs: Sequence[Path]) -> Outcome:
        with folder_with(inputs) as folder:
            with open(folder / STDOUT_NAME, "wb") as out, open(folder / STDERR_NAME, "wb") as err:
                command = [str(self._strobe), "perf", "--compat", *args]
                child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err)
                try:
                    status = child.wait(CASE_LIMIT_S)
                except subprocess.TimeoutExpired:
                    child.kill()
                    status = child.wait()
            return collect(status, folder)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()

    def _worker(self) -> Worker:
        # One per thread: a worker answers one question at a time.
        worker: Optional[Worker] = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = Worker(self._peer)
            self._workers.append(worker)
        return worker


@contextmanager
def folder_with(inputs: Iterable[Path]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="parity-") as name:
        folder = Path(name)
        for path in inputs:
            (folder / path.name).symlink_to(path.absolute())
        yield folder


# --- the worker's side, run by the environment's interpreter -------------------------------------


def compensated_sum(values: Iterable[Any], start: Any = 0) -> Any:
    """sum() as CPython has it since 3.12: Neumaier's for floats, plain for all else."""
    total, carry = start, 0.0
    for value in values:
        if type(total) is float and type(value) is float:
            grown = total + value
            if abs(total) >= abs(value):
                carry += (total - grown) + value
            else:
                carry += (value - grown) + total
            total = grown
        else:
            total = total + value
    return total + carry if carry and math.isfinite(carry) else total


def load_tool(compensate: bool) -> ModuleType:
    tool = importlib.import_module("tt_perf_report.perf_report")
    if compensate:
        # A name in the module hides the builtin for the tool alone, not for pandas.
        vars(tool)["sum"] = compensated_sum
    return tool


def exit_status(main: Callable[[], Any]) -> int:
    """Runs a main function and ends as the interpreter would have."""
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_forked(tool: ModuleType, args: Sequence[str], folder: str) -> NoReturn:
    status = 1
    try:
        signal.alarm(CASE_LIMIT_S)
        os.chdir(folder)
        for descriptor, name in ((1, STDOUT_NAME), (2, STDERR_NAME)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), descriptor)
        sys.argv = [PEER_NAME, *args]
        status = exit_status(tool.main)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def serve(compensate: bool) -> None:
    """Answers one JSON request per line of stdin with the exit status of its run."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever an import prints must not be taken for a reply
    tool = load_tool(compensate)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            run_forked(tool, request["args"], request["folder"])
        _, status = os.waitpid(child, 0)
        replies.write(f"{os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    if "--serve" not in sys.argv:
        sys.exit("this file is imported by parity.py and by bench/perf.py")
    serve("--compensate" in sys.argv)
