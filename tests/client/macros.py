#!/usr/bin/env python3
"""Checks tests/client/macros.txt against the headers in include/tracy.

Every macro listed as supported must be defined with TRACY_ENABLE and without it; a header or macro
listed as unsupported must not be there at all, so that using it is an error and not nothing.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACY = ROOT / "include" / "tracy"


def defined(header: str, enabled: bool) -> set[str]:
    language = "c" if header.endswith(".h") else "c++"
    command = ["cc", "-E", "-dM", "-x", language, str(TRACY / header)]
    if enabled:
        command.insert(1, "-DTRACY_ENABLE")
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[1].split("(")[0] for line in listing.splitlines()}


def main() -> int:
    rows = [line.split(maxsplit=3) for line in (ROOT / "tests/client/macros.txt").read_text().splitlines()
            if line and not line.startswith("#")]
    present = {(header, enabled): defined(header, enabled)
               for header in ("TracyC.h", "Tracy.hpp") for enabled in (True, False)}
    faults = []
    for header, name, state, *more in rows:
        if name == "-":
            if (TRACY / header).exists():
                faults.append(f"{header} is listed as unsupported and is there")
            continue
        for enabled in (True, False):
            is_there = name in present[header, enabled]
            if state == "supported" and not is_there and more[:1] != ["type"]:
                faults.append(f"{header}: {name} is not defined (enabled: {enabled})")
            if state != "supported" and is_there:
                faults.append(f"{header}: {name} is listed as unsupported and is there")
    print("\n".join(faults) or f"{len(rows)} names as listed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
