"""Instrument Python programs for Strobe, and for every tool that reads Tracy's recordings.

    import tracy

    tracy.signpost("Measurement", "after five warm-up runs")   # a row in the report, a message in the trace
    with tracy.zone("load"):                                   # a stretch of this thread's time
        ...
    tracy.message("batch 3"); tracy.plot("loss", 0.3); tracy.frame_mark()

    scale = tracy.cuda.kernel(source, "scale")                 # a CUDA kernel with zones inside; see there

    profiler = tracy.Profiler()                                # with -p: functions are recorded from here ...
    profiler.enable()
    run_model()
    profiler.disable()                                         # ... to here

``python -m tracy [OPTIONS] script.py`` (the same as ``strobe run``) records a whole program. Without
a recorder every call here costs next to nothing: programs may keep them.

For pytest, which would warn that the plugin's package is loaded already: PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import Any

from tracy._api import (Profiler, frame_mark, is_recording, message, plot, set_program_name, set_thread_name, signpost,
                        zone)

__version__ = "0.1.0"
__all__ = ["Profiler", "frame_mark", "is_recording", "message", "plot", "set_program_name", "set_thread_name",
           "signpost", "zone"]


def __getattr__(name: str) -> Any:
    if name != "cuda":
        raise AttributeError(f"module 'tracy' has no attribute {name!r}")
    import importlib  # few programs get here

    return importlib.import_module("tracy.cuda")
