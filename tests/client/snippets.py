#!/usr/bin/env python3
"""The programs in docs/client/*.md compile as they stand, instrumented and not, and run.

snippets.py BUILD_FOLDER: where libstrobe.so and bin/strobe are.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = {"c": ["cc", "-std=gnu11", "-Werror"], "cpp": ["c++", "-std=c++17", "-Werror"]}


def programs() -> list[tuple[str, str, str]]:
    """Page, language and text of each."""
    found = []
    for page in sorted((ROOT / "docs/client").glob("*.md")):
        for language, text in re.findall(r"^```(c|cpp)\n(.*?)^```$", page.read_text(), re.M | re.S):
            found.append((page.name, language, text))
    return found


def check(build: Path, folder: Path, language: str, text: str) -> None:
    source = folder / f"snippet.{language}"
    source.write_text(text)
    command = [*COMPILERS[language], "-Wall", f"-I{ROOT / 'include'}", str(source), "-o",
               str(folder / "snippet"), "-pthread"]
    # What only macros use is not used where they are empty.
    subprocess.run([*command, "-Wno-unused-variable"], check=True)
    subprocess.run([str(folder / "snippet")], check=True)
    subprocess.run([*command, "-DTRACY_ENABLE", f"-L{build}", "-lstrobe", f"-Wl,-rpath,{build}"],
                   check=True)
    recording = folder / "out.rec"
    recording.unlink(missing_ok=True)
    subprocess.run([str(folder / "snippet")], check=True,
                   env={**os.environ, "STROBE_OUT": str(recording)})
    subprocess.run([str(build / "bin/strobe"), "info", str(recording)], check=True,
                   stdout=subprocess.DEVNULL)


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    failed = 0
    all_programs = programs()
    with tempfile.TemporaryDirectory() as folder:
        for page, language, text in all_programs:
            try:
                check(build, Path(folder), language, text)
            except subprocess.CalledProcessError as error:
                print(f"{page}, {language}: {error}", file=sys.stderr)
                failed += 1
    print(f"{len(all_programs) - failed} of {len(all_programs)} programs")
    return 1 if failed > 0 or len(all_programs) < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
