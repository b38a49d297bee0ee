"""The package in a virtual environment, made once and used by all tests that want it."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from recorded import BIN, LIMIT_S, PYTHON, Recorded

PACKAGE = Path(__file__).resolve().parents[2] / "python"


def _install(python: Path, package: Path) -> bool:
    """With the setuptools that are there, or else fetched."""
    environment = dict(os.environ, STROBE_BUILD=str(BIN.parent))
    for isolation in (["--no-build-isolation"], []):
        done = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *isolation, package], env=environment,
                              capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode == 0:
            return True
    return False


@functools.cache
def environment() -> Path:
    """The folder of the environment."""
    folder = Path(tempfile.mkdtemp(prefix="strobe-venv-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", folder], check=True)
    copy = folder / "project" / "python"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    if not _install(folder / "bin" / "python", copy):
        raise unittest.SkipTest("setuptools can neither be found nor fetched")
    return folder


@functools.cache
def need_pytest() -> None:
    python = environment() / "bin" / "python"
    if subprocess.run([python, "-c", "import pytest"], capture_output=True).returncode == 0:
        return
    if subprocess.run([python, "-m", "pip", "install", "-q", "pytest"], capture_output=True, timeout=LIMIT_S).returncode:
        raise unittest.SkipTest("pytest can neither be found nor fetched")


@functools.cache
def need_device_profiler() -> None:
    """Whether the device of this build writes a log of its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "probe.py"
        script.write_text("import ttnn\nd = ttnn.open_device()\nx = ttnn.from_torch([[1.0]], device=d)\n"
                          "ttnn.relu(x)\nttnn.close_device(d)\n")
        subprocess.run([environment() / "bin" / "python", "-m", "tracy", "-p", "-r", script], cwd=folder,
                       capture_output=True, timeout=LIMIT_S)
        if not (Path(folder) / "generated/profiler/.logs/profile_log_device.csv").exists():
            raise unittest.SkipTest("the device of this build has no profiler")


class Installed(Recorded):
    """`python`, `strobe` and the other tools are those of the environment."""

    def setUp(self) -> None:
        super().setUp()
        bin_folder = environment() / "bin"
        self.python = bin_folder / "python"
        del self.environment["PYTHONPATH"], self.environment["PYTHON"]
        self.environment["PATH"] = f"{bin_folder}:{self.environment['PATH']}"
