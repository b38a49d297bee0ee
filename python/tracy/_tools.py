"""The command-line tools of the package: each is the one binary under another name."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from tracy import _strobe


def _become(name: str) -> NoReturn:
    binary = _strobe.find_own()
    os.environ.setdefault("PYTHON", sys.executable)
    os.execv(binary, [name, *sys.argv[1:]])


def strobe() -> NoReturn:
    _become("strobe")


def perf_report() -> NoReturn:
    _become("tt-perf-report")


def capture() -> NoReturn:
    _become("tracy-capture")


def csvexport() -> NoReturn:
    _become("tracy-csvexport")
