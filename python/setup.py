"""Builds the wheel: CMake makes the package complete in its build folder, this takes it from there.

STROBE_BUILD names a build folder of the project that is already built for this interpreter; without
it one is made (build/wheel-VERSION in the checkout).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

PROJECT = Path(__file__).resolve().parent.parent


def build_with_cmake() -> Path:
    if not (PROJECT / "CMakeLists.txt").exists():
        raise SystemExit("the package is built from a checkout of the whole project")
    folder = PROJECT / "build" / f"wheel-{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run(["cmake", "-S", PROJECT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DSTROBE_TESTS=OFF", "-DSTROBE_BENCH=OFF", f"-DSTROBE_PYTHONS={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "strobe_python"], check=True)
    return folder


class BuildFromTree(build_py):
    """Takes the package as CMake has assembled it."""

    def run(self) -> None:
        build = Path(os.environ["STROBE_BUILD"]) if "STROBE_BUILD" in os.environ else build_with_cmake()
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        source, goal = build / "python", Path(self.build_lib)
        shutil.rmtree(goal / "tracy", ignore_errors=True)  # of an earlier build, with files that are no more
        native = source / "tracy" / f"_native{suffix}"
        if not native.exists():
            raise SystemExit(f"{native} is not there: the build folder was not built for this interpreter")
        shutil.copytree(source / "tracy", goal / "tracy", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__", "_native.*"))
        shutil.copy2(native, goal / "tracy")
        shutil.copy2(source / "ttnn.py", goal)
        (goal / "tracy" / "bin").mkdir(exist_ok=True)
        shutil.copy2(build / "bin" / "strobe", goal / "tracy" / "bin")
        for library in ("libstrobe.so.0", "libstrobe_cuda.so.0"):
            shutil.copy2((build / library).resolve(), goal / "tracy" / "lib" / library)


class WithBinaries(Distribution):
    def has_ext_modules(self) -> bool:
        return True  # the wheel is for this platform and interpreter


setup(packages=["tracy"], py_modules=["ttnn"], cmdclass={"build_py": BuildFromTree}, distclass=WithBinaries)
