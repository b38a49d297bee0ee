"""Finds the `strobe` binary and hands over to it."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

# What takes long to load (pathlib, shutil) is not used here: this runs before every program.


def find_own() -> str:
    """The binary: that of $STROBE, the package's own, or that of the build tree around it."""
    here = os.path.dirname(os.path.realpath(__file__))
    places = [os.environ.get("STROBE"), os.path.join(here, "bin", "strobe"),
              os.path.join(here, "..", "..", "bin", "strobe")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return os.path.normpath(place)
    sys.exit("tracy: the strobe binary is not there; install the package again, or name it in $STROBE")


def name_of_command() -> str:
    """What a person types to start the binary: by its path where the shell would not find it."""
    script = os.path.join(os.path.dirname(sys.executable), "strobe")
    is_found = any(os.access(os.path.join(folder, "strobe"), os.X_OK) for folder in os.get_exec_path())
    return "strobe" if is_found or not os.access(script, os.X_OK) else script


def hand_over(*arguments: str) -> NoReturn:
    """Becomes the binary, which runs Python programs with this interpreter."""
    binary = find_own()
    os.environ["PYTHON"] = sys.executable
    sys.stdout.flush()
    os.execv(binary, [name_of_command(), *arguments])
