"""Finds the `strobe` binary and hands over to it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn


def find_own() -> Path:
    """The binary: that of $STROBE, the package's own, or that of the build tree around it."""
    here = Path(__file__).resolve().parent
    places = [os.environ.get("STROBE"), here / "bin" / "strobe", here.parents[1] / "bin" / "strobe"]
    for place in places:
        if place and os.access(place, os.X_OK):
            return Path(place)
    sys.exit("tracy: the strobe binary is not there; install the package again, or name it in $STROBE")


def name_of_command() -> str:
    """What a person types to start the binary: by its path where the shell would not find it."""
    script = Path(sys.executable).parent / "strobe"
    return str(script) if shutil.which("strobe") is None and script.exists() else "strobe"


def hand_over(*arguments: str) -> NoReturn:
    """Becomes the binary, which runs Python programs with this interpreter."""
    binary = find_own()
    os.environ["PYTHON"] = sys.executable
    sys.stdout.flush()
    os.execv(binary, [name_of_command(), *arguments])
