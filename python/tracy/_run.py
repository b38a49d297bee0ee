"""Runs a script or module with its functions recorded: what `strobe run` starts for Python.

usage: python -m tracy._run [--partial] [--lines] [--module] -- TARGET [ARGUMENTS...]
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import types
from typing import NoReturn

from tracy import _api
from tracy._api import Profiler


def _take_options(arguments: list[str]) -> tuple[set[str], list[str]]:
    border = arguments.index("--")
    return set(arguments[:border]), arguments[border + 1:]


def _is_packed(path: str) -> bool:
    import zipfile  # it takes long, and is rarely needed

    return os.path.isdir(path) or path.endswith(".pyc") or zipfile.is_zipfile(path)


def _run_script(path: str) -> None:
    """As the interpreter runs a script: as __main__, with its folder first in sys.path."""
    if not path.endswith(".py") and _is_packed(path):
        del sys.path[0]
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _run_module(name: str) -> None:
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _own_frames(trace: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without the frames of the runner in front of the program's."""
    own = {__file__, runpy.__file__, "<frozen runpy>"}
    while trace is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    return trace


# What the Python processes that a program starts are told; _site/sitecustomize.py asks for it.
_VARIABLE = "STROBE_PYTHON"


def _tell_children(options: set[str]) -> None:
    site = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_site")
    paths = [site, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ[_VARIABLE] = " ".join(sorted(options))


def begin_child() -> None:
    """In a process that the program has started: as in the program itself."""
    if _VARIABLE in os.environ and _api.unavailable is None:
        _start(set(os.environ[_VARIABLE].split()))


def _start(options: set[str]) -> None:
    Profiler.lines = "--lines" in options
    if "--partial" not in options and _api.is_recording():
        Profiler.whole_program = True
        _api.start_tracing(Profiler.lines)


def _begin(options: set[str]) -> None:
    if _api.unavailable is not None:
        print(f"tracy: functions are not recorded: {_api.unavailable}", file=sys.stderr)
        return
    _tell_children(options)
    _start(options)


def _end() -> None:
    if not Profiler.whole_program:
        return
    Profiler.whole_program = False
    if not _api.stop_tracing():
        print("tracy: functions of the main thread were recorded until the program set a profile function of its own "
              "(sys.setprofile, cProfile); Python 3.12 and later can do both", file=sys.stderr)


def main(arguments: list[str]) -> NoReturn:
    options, command = _take_options(arguments)
    sys.argv[:] = command
    run = _run_module if "--module" in options else _run_script
    _begin(options)
    try:
        run(command[0])
    except SystemExit:
        raise
    except BaseException as error:
        _end()
        trace = _own_frames(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    finally:
        _end()
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
