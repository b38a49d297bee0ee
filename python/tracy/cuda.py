"""Zones inside CUDA kernels that are launched from Python, with PyTorch, CuPy or neither.

    from tracy import cuda

    scale = cuda.kernel(r'''
        #include <strobe/cuda.h>
        extern "C" __global__ void scale(float *values, float by, int count) {
            DeviceZoneScopedMainN("scale");
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
                values[i] *= by;
        }''', "scale")
    scale(tensor, 0.5, tensor.numel(), grid=132, block=256)

The source is built with NVRTC for the GPU at hand. A launch goes to the current stream of whoever
made the arrays, returns at once as theirs do, and is a zone of this thread; the zones of the
kernel come into the same recording. docs/cuda.md says what can be recorded in a kernel.

Importing this never fails. Where there is no GPU, driver or compiler, ``kernel`` raises ``Error``
with one sentence.
"""

from __future__ import annotations

import atexit
import operator
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from tracy import _api
from tracy._cuda_library import Counts, Driver, Error, Library, Shape, load
from tracy._cuda_parameters import Array, Parameter, describe_array, find_parameters, pack, parse_parameters

__all__ = ["Counts", "Error", "Kernel", "counts", "flush", "kernel"]

Extent = Union[int, Sequence[int]]

_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_THREADS_MOST = 1024
_SHAPES_MOST = 256  # that a kernel keeps

# ---- modules ----


class _Module:
    """A source, built for each context that wants it. It stays while somebody uses a kernel of it."""

    def __init__(self, source: str, name: str, options: tuple[str, ...], zones: bool) -> None:
        self._text = source, f"{name}.cu", options, zones
        self._built: dict[int, int] = {}  # modules by context
        self._found: dict[tuple[int, str], int] = {}  # kernels, the same
        self._building = threading.Lock()  # over both; launches of what is built do not wait for it
        self._users = 0
        self._left = threading.Condition()  # the last of them has
        self.is_unloaded = False

    def enter(self, library: Library, context: int, name: str) -> int:
        """A kernel, for the context that is current. It is there until ``leave``."""
        with self._left:
            if self.is_unloaded:
                raise Error(f"{name} was unloaded")
            self._users += 1
        try:
            found = self._found.get((context, name))
            return found if found is not None else self._find(library, context, name)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        with self._left:
            self._users -= 1
            if self._users == 0:
                self._left.notify_all()

    def _find(self, library: Library, context: int, name: str) -> int:
        with self._building:
            if context not in self._built:
                self._built[context] = library.build(*self._text)
            found = self._found[context, name] = library.find(self._built[context], name)
            return found

    def unload(self, library: Library, driver: Driver) -> None:
        with self._left:
            self.is_unloaded = True
            while self._users > 0:
                self._left.wait()
            for context, module in self._built.items():
                before = driver.enter(context)
                library.unload(module)
                driver.leave(context, before)
            self._built.clear()
            self._found.clear()


_lock = threading.Lock()
# A source that comes again is not built again. Kept to the end: graphs may hold kernels of it.
_modules: dict[tuple[str, tuple[str, ...], bool], _Module] = {}
_owner = 0  # the process that uses GPUs; what is forked from it cannot


def _module_of(source: str, name: str, options: tuple[str, ...], zones: bool) -> _Module:
    global _owner
    with _lock:
        if _owner == 0:
            # Registered after PyTorch's and CuPy's, and so called before they tear down.
            atexit.register(flush_at_end)
            _owner = os.getpid()
        known = _modules.get((source, options, zones))
        if known is None or known.is_unloaded:
            known = _modules[source, options, zones] = _Module(source, name, options, zones)
        return known


def flush_at_end() -> None:
    """For a process that ends: what fails is said, and stops nothing."""
    if _owner == os.getpid():
        try:
            flush()
        except Error as reason:
            print(f"tracy: {reason}", file=sys.stderr)


# ---- frameworks ----

def _torch() -> Any:
    """PyTorch, if the program uses it on a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized() else None


def _current_device() -> Optional[int]:
    """That of PyTorch or CuPy; None: neither is in use."""
    torch, cupy = _torch(), sys.modules.get("cupy")
    if torch is not None:
        return int(torch.cuda.current_device())
    return int(cupy.cuda.Device().id) if cupy is not None else None


def _current_stream(owner: str, device: Optional[int]) -> Optional[int]:
    """Of one of the two, on a GPU; of others nobody knows."""
    library = sys.modules.get(owner)
    if owner == "cupy" and library is not None:
        return int(library.cuda.get_current_stream(-1 if device is None else device).ptr)
    if owner != "torch" or library is None:
        return None
    raw = getattr(library._C, "_cuda_getCurrentRawStream", None)  # much quicker, where it is there
    if raw is not None and device is not None:
        return int(raw(device))
    return int(library.cuda.current_stream(device).cuda_stream)


def _in_use() -> set[str]:
    """Which of the two the program uses on a GPU."""
    return {name for name, module in (("torch", _torch()), ("cupy", sys.modules.get("cupy"))) if module is not None}


def _address_of_stream(stream: Any) -> int:
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    for attribute in ("cuda_stream", "ptr"):  # of PyTorch, of CuPy
        if isinstance(getattr(stream, attribute, None), int):
            return int(getattr(stream, attribute))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream: {stream!r} is neither a stream of PyTorch or CuPy nor its address")


def _choose_device(name: str, arrays: Sequence[Array]) -> Optional[int]:
    device = arrays[0].device if arrays else None
    for array in arrays:
        if array.device not in (None, device):
            if device is not None:
                raise ValueError(f"{name}: its arrays are on different GPUs ({device}, {array.device})")
            device = array.device
    return _current_device() if device is None else device


def _choose_stream(name: str, arrays: Sequence[Array], device: Optional[int]) -> int:
    owners = {array.owner for array in arrays} or _in_use()
    streams = {_current_stream(owner, device) for owner in owners}
    streams |= {array.stream for array in arrays if array.owner not in ("torch", "cupy")}
    streams.discard(None)
    if len(streams) > 1:
        raise ValueError(f"{name}: its arrays come from libraries on different streams; say which with stream=")
    return streams.pop() or 0 if streams else 0


# ---- kernels ----

def _extent(what: str, value: Extent, limits: Sequence[int]) -> tuple[int, int, int]:
    sizes = (value,) if hasattr(value, "__index__") else tuple(value)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{what}: {len(sizes)} sizes; it has one to three")
    try:
        x, y, z = whole = *map(operator.index, sizes), *(1,) * (3 - len(sizes))
    except TypeError:
        x, y, z = whole = 0, 0, 0
    if not (1 <= x <= limits[0] and 1 <= y <= limits[1] and 1 <= z <= limits[2]):
        raise ValueError(f"{what}: {value!r}; its sizes are whole numbers, at least 1 and at most "
                         f"{' x '.join(map(str, limits))}")
    return whole


def _shape(grid: Extent, block: Extent, shared: int) -> Shape:
    blocks, threads = _extent("grid", grid, _GRID_LIMITS), _extent("block", block, _BLOCK_LIMITS)
    if threads[0] * threads[1] * threads[2] > _THREADS_MOST:
        raise ValueError(f"block: {block!r}; it has at most {_THREADS_MOST} threads")
    if not 0 <= shared < 1 << 31:
        raise ValueError(f"shared: {shared} bytes")
    return Shape(blocks, threads, shared)


class Kernel:
    """Made by ``kernel``; called with the arguments of the kernel and the shape of the launch."""

    def __init__(self, module: _Module, name: str, parameters: tuple[Parameter, ...]) -> None:
        self.name = name
        self.parameters = parameters
        self._module = module
        self._shapes: dict[tuple[int, int, int], Shape] = {}
        self._zones: dict[tuple[Any, ...], Any] = {}
        self._checked: set[int] = set()  # handles, one for each GPU
        self._library, self._driver = load()

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(f'{p.type} {p.name}' for p in self.parameters)})>"

    def build(self, device: Optional[int]) -> None:
        """For a GPU, before the first launch there."""
        self._on(device, lambda handle: None)

    def _on(self, device: Optional[int], use: Callable[[int], None]) -> None:
        """With the kernel for a GPU, in its context."""
        driver = self._driver
        context = driver.context_of(device)
        before = driver.enter(context)
        try:
            handle = self._module.enter(self._library, context, self.name)
            try:
                self._use(handle, use)
            finally:
                self._module.leave()
        finally:
            driver.leave(context, before)

    def _use(self, handle: int, use: Callable[[int], None]) -> None:
        if handle not in self._checked:
            self._check(self._library.parameters(handle))
            self._checked.add(handle)
        use(handle)

    def _check(self, sizes: Optional[Sequence[int]]) -> None:
        """What the source seems to say is compared with what the kernel takes, where the driver tells:
        it would read what is not there."""
        if sizes is None:
            return
        if len(sizes) != len(self.parameters):
            raise Error(f"{self.name} takes {len(sizes)} parameters, not {len(self.parameters)}: "
                        f"({', '.join(each.type for each in self.parameters)}); say them with parameters='...'")
        for each, size in zip(self.parameters, sizes):
            known = 8 if each.is_pointer else each.scalar.size if each.scalar is not None else size
            if known != size:
                raise Error(f"{self.name}: parameter {each.name} has {size} bytes, and `{each.type}` has {known}; "
                            "say all of them with parameters='...'")

    def __call__(self, *arguments: Any, grid: Extent, block: Extent, shared: int = 0, stream: Any = None) -> None:
        """Launches. ``shared`` is dynamic shared memory, in bytes."""
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} has {len(self.parameters)} parameters, but {len(arguments)} arguments came")
        described = [describe_array(value) for value in arguments]
        packed = [pack(*each) for each in zip(self.parameters, arguments, described)]
        arrays = [array for array in described if array is not None]
        shape = self._shape_of(grid, block, shared)
        place = sys._getframe(1)
        with self._zone_at(place.f_code.co_filename, place.f_lineno, place.f_code.co_name):
            self._launch(shape, stream, packed, arrays)

    def _shape_of(self, grid: Extent, block: Extent, shared: int) -> Shape:
        """Kept where it is plain: most launches of a kernel are alike."""
        if type(grid) is not int or type(block) is not int:
            return _shape(grid, block, shared)
        if (grid, block, shared) not in self._shapes:
            if len(self._shapes) >= _SHAPES_MOST:
                self._shapes.clear()
            self._shapes[grid, block, shared] = _shape(grid, block, shared)
        return self._shapes[grid, block, shared]

    def _zone_at(self, *place: Any) -> Any:
        """The zone of launches from there."""
        if place not in self._zones:
            file, line, function = place
            self._zones[place] = _api._Zone(self.name, 0, file, line, function)
        return self._zones[place]

    def _launch(self, shape: Shape, stream: Any, packed: Sequence[Any], arrays: Sequence[Array]) -> None:
        device = _choose_device(self.name, arrays)
        chosen = _choose_stream(self.name, arrays, device) if stream is None else _address_of_stream(stream)
        self._on(device, lambda handle: self._library.launch(handle, shape, chosen, packed))

    def unload(self) -> None:
        """Waits for what was launched, reads what it recorded, and takes the source from all GPUs,
        with all kernels in it. Launches of other threads that have begun are waited for. Without
        this it stays to the end of the process."""
        self._module.unload(self._library, self._driver)


def kernel(source: str, name: str, *, options: Sequence[str] = (), parameters: Optional[str] = None,
           zones: bool = True) -> Kernel:
    """Builds a kernel, which is ``extern "C"``, for the current GPU; for others at their first launch.

    ``options`` are NVRTC's (``-I``, ``-D``, ``--use_fast_math``). ``parameters``, as in
    ``"const float *in, int count"``, is for kernels whose own are hidden behind macros. Without
    ``zones`` it is built as if they were not in the source.
    """
    found = parse_parameters(parameters) if parameters is not None else find_parameters(source, name)
    if found is None:
        raise ValueError(f"the source has no `__global__ void {name}(...)`; if a macro makes it, say its parameters with "
                         "parameters='...'")
    load()
    made = Kernel(_module_of(source, name, tuple(options), zones), name, found)
    made.build(_current_device())
    return made


def flush() -> None:
    """Waits for all that was launched, on all GPUs, and records it. At exit this is done by itself."""
    if _owner == os.getpid():
        load()[0].flush()


def counts() -> Counts:
    """What became of the records of kernels so far; after ``flush``, of all."""
    return load()[0].count() if _owner == os.getpid() else Counts(0, 0, 0, 0, 0, 0)
