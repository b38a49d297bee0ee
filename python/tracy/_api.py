"""What ``import tracy`` gives. It works, and does nothing, where the native part is missing."""

from __future__ import annotations

import functools
import os
import sys
import threading
from types import TracebackType
from typing import Any, Callable, TypeVar

try:
    from tracy import _native
except ImportError as reason:  # no extension for this interpreter
    _native = None  # type: ignore[assignment]
    unavailable: str | None = f"there is no native part for Python {sys.version_info[0]}.{sys.version_info[1]}: {reason}"
else:
    unavailable = None
    # Record for whoever comes: into the file of `strobe run`, or while a reader is connected.
    _native.start(True, os.path.dirname(__file__) + os.sep)

Function = TypeVar("Function", bound=Callable[..., Any])


def is_recording() -> bool:
    """Whether what happens now is recorded by anybody."""
    return _native is not None and _native.is_recording()


def message(text: str, color: int = 0) -> None:
    """A text at this moment. The colour is 0xRRGGBB; 0 leaves it to the viewer."""
    if _native is not None:
        _native.message(text, color)


def signpost(header: str, message: str | None = None) -> None:
    """A row of its own in the ops report, and a message in the trace."""
    if _native is not None:
        _native.message(f"`TT_SIGNPOST: {header}`" if message is None else f"`TT_SIGNPOST: {header}\n{message}`")


def frame_mark(name: str | None = None) -> None:
    """The end of a frame: of the default set, or of the one with this name."""
    if _native is not None:
        _native.frame_mark(name)


def plot(name: str, value: float) -> None:
    """A number over time."""
    if _native is not None:
        _native.plot(name, value)


def set_program_name(name: str | None) -> None:
    """What recordings that begin from now on call this program; None: by its file."""
    if _native is not None:
        _native.set_program_name(name)


def set_thread_name(name: str) -> None:
    """What recordings call this thread."""
    if _native is not None:
        _native.set_thread_name(name)


def end_recording() -> None:
    """Writes what is left and closes the recording; for processes that end without saying so."""
    cuda = sys.modules.get("tracy.cuda")
    if cuda is not None:
        cuda.flush_at_end()
    if _native is not None:
        _native.stop()


class _SilentZone:
    """Stands in where there is nothing to record with."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> _SilentZone:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def text(self, text: str) -> None:
        pass


_Zone: Any = _SilentZone if _native is None else _native.Zone


class zone(_Zone):  # noqa: N801: used like a function
    """A stretch of this thread's time: ``with zone("load"):``, or ``@zone("load")`` on a function.

    Its place in the source is the caller's. ``zone.text`` adds a line while it is open.
    """

    def __init__(self, name: str, color: int = 0) -> None:
        place = sys._getframe(1)
        super().__init__(name, color, place.f_code.co_filename, place.f_lineno, place.f_code.co_name)

    def __call__(self, function: Function) -> Function:
        import inspect  # it takes long to load, and few programs get here

        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(f"{function.__qualname__} gives way to others before it ends; use `with zone(...)` "
                            "around the parts of it that do not")

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return recorded  # type: ignore[return-value]


class Profiler:
    """Records functions between ``enable`` and ``disable``, or in a ``with`` block.

    This is what ``-p`` is for: without it the whole program is recorded, and a Profiler changes
    nothing. Threads that are started in between are recorded too (from Python 3.12 on: all threads).
    Nothing happens if nobody records.
    """

    _lock = threading.Lock()
    _everywhere = [0]  # profilers that are enabled, in all threads
    _here = threading.local()  # and in this one: before Python 3.12 threads are traced one by one
    whole_program = False  # set by the runner: functions are recorded from start to end
    lines = False  # the same: and their lines

    def __init__(self) -> None:
        self._is_enabled = False

    def enable(self) -> None:
        if self._is_enabled or Profiler.whole_program or not is_recording():
            return
        self._is_enabled = True
        with Profiler._lock:
            counter = Profiler._counter()
            counter[0] += 1
            if counter[0] == 1:
                start_tracing(Profiler.lines)

    def disable(self) -> None:
        if not self._is_enabled:
            return
        self._is_enabled = False
        with Profiler._lock:
            counter = Profiler._counter()
            counter[0] -= 1
            if counter[0] <= 0:
                counter[0] = 0
                stop_tracing()

    @staticmethod
    def _counter() -> list[int]:
        if _native.traces_all_threads:
            return Profiler._everywhere
        if not hasattr(Profiler._here, "count"):
            Profiler._here.count = [0]
        return Profiler._here.count

    def __enter__(self) -> Profiler:
        self.enable()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.disable()


def start_tracing(lines: bool) -> None:
    """Records functions of this thread and of those that it starts."""
    if not _native.traces_all_threads:
        threading.setprofile(_native.trace_attach)
    _native.trace_start(lines)


def stop_tracing() -> bool:
    """False if the program has set a profile function of its own, and functions were recorded up to then."""
    if not _native.traces_all_threads:
        threading.setprofile(None)  # type: ignore[arg-type]
    return _native.trace_stop()
