"""libstrobe_cuda and the CUDA driver for Python, by ctypes: every call lets other threads run.

Nothing is loaded before it is wanted. Both are the process's own: the recording is that of the
native part, the contexts are those of PyTorch or CuPy.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional


class Error(RuntimeError):
    """What cannot be done, and why: one sentence."""


class Counts(NamedTuple):
    """What became of records, over all GPUs and since the start."""

    zones: int  # that began, spans included
    others: int  # data, events, sums
    lost: int  # found no room (STROBE_CUDA_CHUNKS)
    missed: int  # came before their module was attached
    cut: int  # shown shorter than they were
    unplaced: int  # not shown: too many at a time, or of an SM that has no place in the recording


class _Failure(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1024)]


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in Counts._fields]


_NO_PARAMETER = ctypes.c_size_t(-1).value


class _BuildOptions(ctypes.Structure):
    _fields_ = [("source", ctypes.c_char_p), ("name", ctypes.c_char_p), ("options", ctypes.POINTER(ctypes.c_char_p)),
                ("option_count", ctypes.c_size_t), ("without_zones", ctypes.c_int)]


class Shape(ctypes.Structure):
    """Of a launch."""

    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared_bytes", ctypes.c_uint32)]


class _Room(threading.local):
    """What a launch needs, made for each thread once."""

    SLOT = 16  # bytes; a number takes at most 8 of them

    def __init__(self) -> None:
        self.failure = _Failure()
        self.grow(16)

    def grow(self, count: int) -> None:
        memory = (ctypes.c_ubyte * (self.SLOT * count))()
        self.count = count
        self.bytes = memoryview(memory).cast("B")
        self.begin = ctypes.addressof(memory)
        self.pointers = (ctypes.c_void_p * count)()

    def fill(self, arguments: Sequence[Any]) -> Any:
        if len(arguments) > self.count:
            self.grow(len(arguments))
        for number, value in enumerate(arguments):
            if type(value) is bytes:
                at = number * self.SLOT
                self.bytes[at:at + len(value)] = value
                self.pointers[number] = self.begin + at
            else:
                self.pointers[number] = ctypes.addressof(value)
        return self.pointers


def _find_library() -> str:
    """In the package, in the build tree around it, or beside the installed libstrobe."""
    here = os.path.dirname(os.path.realpath(__file__))
    for folder in ("lib", os.path.join("..", ".."), os.path.join("..", "..", "..")):
        path = os.path.join(here, folder, "libstrobe_cuda.so.0")
        if os.path.exists(path):
            return os.path.normpath(path)
    raise Error("the library for CUDA, libstrobe_cuda.so.0, is not there; install the package again")


def _can_load(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _find_compiler() -> None:
    """Where the loader knows no NVRTC, that of a package: once it is loaded, it is found by its name."""
    if "STROBE_NVRTC" in os.environ or any(_can_load(f"libnvrtc.so.{version}") for version in (13, 12)):
        return
    for folder in sys.path:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "nvidia", "*", "lib", "libnvrtc.so.*")), reverse=True):
            for half in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*")):
                _can_load(half)  # it looks for this one by name, too
            if _can_load(path):
                return


class Library:
    """libstrobe_cuda. Functions raise Error."""

    def __init__(self) -> None:
        try:
            self._c = ctypes.CDLL(_find_library())
        except OSError as reason:
            raise Error(f"the library for CUDA cannot be loaded: {reason}") from None
        # Pointers take objects of ctypes, and pass where they are.
        handle, failure = ctypes.c_void_p, ctypes.POINTER(_Failure)
        signatures: dict[str, tuple[Any, list[Any]]] = {
            "attach": (ctypes.c_int, [failure]),
            "build": (ctypes.c_int, [ctypes.POINTER(_BuildOptions), ctypes.POINTER(handle), failure]),
            "find": (ctypes.c_int, [handle, ctypes.c_char_p, ctypes.POINTER(handle), failure]),
            "launch": (ctypes.c_int, [handle, ctypes.POINTER(Shape), handle, ctypes.POINTER(handle), failure]),
            "kernel_parameter": (ctypes.c_size_t, [handle, ctypes.c_size_t]), "unload": (None, [handle]), "flush": (ctypes.c_int, [failure]), "count": (_Counts, []),
        }
        for name, (result, arguments) in signatures.items():
            function = getattr(self._c, f"sb_cuda_{name}")
            function.restype, function.argtypes = result, arguments

        self._room = _Room()

    def _call(self, name: str, *arguments: Any) -> None:
        failure = _Failure()
        if getattr(self._c, f"sb_cuda_{name}")(*arguments, ctypes.byref(failure)) != 0:
            raise Error(failure.message.decode(errors="replace"))

    def attach(self) -> None:
        self._call("attach")

    def build(self, source: str, name: str, options: Sequence[str], zones: bool) -> int:
        _find_compiler()
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        what = _BuildOptions(source.encode(), name.encode(), given, len(options), not zones)
        module = ctypes.c_void_p()
        self._call("build", ctypes.byref(what), ctypes.byref(module))
        return module.value or 0

    def find(self, module: int, name: str) -> int:
        kernel = ctypes.c_void_p()
        self._call("find", module, name.encode(), ctypes.byref(kernel))
        return kernel.value or 0

    def parameters(self, kernel: int) -> Optional[list[int]]:
        """The sizes of a kernel's parameters; None: the driver is too old to tell."""
        sizes: list[int] = []
        while True:
            size = self._c.sb_cuda_kernel_parameter(kernel, len(sizes))
            if size == 0:
                return None
            if size == _NO_PARAMETER:
                return sizes
            sizes.append(size)

    def launch(self, kernel: int, shape: Shape, stream: int, arguments: Sequence[Any]) -> None:
        """Arguments are bytes, or objects of ctypes; they are copied before this returns."""
        room = self._room
        if self._c.sb_cuda_launch(kernel, shape, stream, room.fill(arguments), room.failure) != 0:
            raise Error(room.failure.message.decode(errors="replace"))

    def unload(self, module: int) -> None:
        self._c.sb_cuda_unload(module)

    def flush(self) -> None:
        self._call("flush")

    def count(self) -> Counts:
        counts = self._c.sb_cuda_count()
        return Counts(*(getattr(counts, name) for name in Counts._fields))


class Driver:
    """Of the CUDA driver, what it takes to stand in a context."""

    def __init__(self, library: Library) -> None:
        try:
            self._c = ctypes.CDLL("libcuda.so.1")
            is_ready = self._c.cuInit(0) == 0
        except OSError:
            is_ready = False
        if not is_ready:
            library.attach()  # fails, and says why
            raise Error("the CUDA driver cannot be started")
        self._primary: dict[int, int] = {}

    def current(self) -> int:
        """The context of this thread; 0: it has none."""
        context = ctypes.c_void_p()
        self._c.cuCtxGetCurrent(ctypes.byref(context))
        return context.value or 0

    def enter(self, context: int) -> int:
        """Makes a context current for this thread; what was, comes back. 0: leaves it as it is."""
        before = self.current()
        if context not in (0, before):
            self._c.cuCtxSetCurrent(ctypes.c_void_p(context))
        return before

    def leave(self, context: int, before: int) -> None:
        if context not in (0, before):
            self._c.cuCtxSetCurrent(ctypes.c_void_p(before or None))

    def _primary_of(self, device: int) -> int:
        """The context that PyTorch, CuPy and the CUDA runtime use. It is kept to the end."""
        if device not in self._primary:
            handle, context = ctypes.c_int(), ctypes.c_void_p()
            if (self._c.cuDeviceGet(ctypes.byref(handle), device) != 0
                    or self._c.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) != 0):
                raise Error(f"GPU {device} cannot be used")
            self._primary[device] = context.value or 0
        return self._primary[device]

    def context_of(self, device: Optional[int]) -> int:
        """Of a GPU; without one, that of this thread. If it has none, that of the first GPU becomes it."""
        if device is not None:
            return self._primary_of(device)
        if self.current() == 0:
            self._c.cuCtxSetCurrent(ctypes.c_void_p(self._primary_of(0)))
        return self.current()


_lock = threading.Lock()
_loaded: Optional[tuple[Library, Driver]] = None


def load() -> tuple[Library, Driver]:
    """Both, or Error with the reason."""
    global _loaded
    with _lock:
        if _loaded is None:
            library = Library()
            _loaded = library, Driver(library)
        return _loaded
