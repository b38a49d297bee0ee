"""The names of ttnn that profiled scripts use, over the device that comes with Strobe.

``import ttnn`` gives this module where no real ttnn is installed. Tensors are matrices; their values
are kept with eight fractional bits. Operations return when they are enqueued, as there.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union
from collections.abc import Sequence

from tracy import _api

__all__ = [
    "Device", "MeshDevice", "MeshShape", "ReadDeviceProfiler", "Tensor", "add", "all_gather",
    "begin_trace_capture", "close_device", "close_mesh_device", "embedding", "end_trace_capture", "execute_trace",
    "from_torch", "layer_norm", "matmul", "multiply", "open_device", "open_mesh_device", "release_trace", "relu",
    "softmax", "start_tracy_zone", "stop_tracy_zone", "sum", "synchronize_device", "to_torch", "tracy_frame",
    "tracy_message", "transpose",
]

_ONE = 256  # 1.0
_HERE = Path(__file__).resolve().parent


# ---- the library ----

def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_HERE / "lib" / "libstrobe_bridge.so"))
    handle, number, text, truth = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_bool
    values = ctypes.POINTER(ctypes.c_int32)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "error": (text, []), "open": (handle, [text, text]), "close": (None, [handle]),
        "device_count": (number, [handle]), "grid": (None, [handle, ctypes.POINTER(number)]),
        "finish": (truth, [handle, number]), "read_profiler": (truth, [handle, number]),
        "tensor_create": (handle, [handle, number, number, number]), "tensor_destroy": (None, [handle]),
        "tensor_write": (truth, [handle, values]), "tensor_read": (truth, [handle, values]),
        "binary": (truth, [number, handle, handle, handle]), "matmul": (truth, [handle, handle, handle]),
        "embedding": (truth, [handle, handle, handle]), "relu": (truth, [handle, handle]),
        "transpose": (truth, [handle, handle]), "softmax": (truth, [handle, truth, handle]),
        "layer_norm": (truth, [handle, handle]), "reduce": (truth, [handle, handle]),
        "all_gather": (truth, [handle] * 5),
        "trace_begin": (truth, [handle, number]), "trace_end": (handle, [handle, number]),
        "trace_replay": (truth, [handle]), "trace_destroy": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"bridge_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library: Optional[ctypes.CDLL] = None


def _bridge() -> ctypes.CDLL:
    global _library
    if _library is None:
        _library = _load()
    return _library


def _check(result: Any) -> Any:
    if not result:
        raise RuntimeError(_bridge().bridge_error().decode(errors="replace"))
    return result


# ---- devices ----

class MeshShape(NamedTuple):
    """Rows and columns of devices. The built-in ones are linked in a ring."""

    rows: int
    columns: int


class MeshDevice:
    """One or more devices that were opened together. Closes itself at the end of a ``with`` block."""

    def __init__(self, name: str, shape: MeshShape) -> None:
        self.lock = threading.RLock()
        self.shape = shape
        self.handle: Optional[int] = _check(_bridge().bridge_open(name.encode(), str(_HERE / "kernels").encode()))
        self._tensors: weakref.WeakSet[Tensor] = weakref.WeakSet()
        self.traces: list[Optional[int]] = []  # by number; None: released, or not ended yet

    def __enter__(self) -> MeshDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def opened(self) -> int:
        if self.handle is None:
            raise RuntimeError("this device is closed")
        return self.handle

    def get_num_devices(self) -> int:
        return _bridge().bridge_device_count(self.opened())

    def compute_with_storage_grid_size(self) -> tuple[int, int]:
        """Columns and rows of cores of a device."""
        grid = (ctypes.c_uint32 * 2)()
        _bridge().bridge_grid(self.opened(), grid)
        return grid[0], grid[1]

    def keep(self, tensor: Tensor) -> None:
        self._tensors.add(tensor)

    def close(self) -> None:
        """Reads what devices still have recorded, and closes them. A second time it does nothing."""
        with self.lock:
            if self.handle is None:
                return
            for trace in filter(None, self.traces):
                _bridge().bridge_trace_destroy(trace)
            self.traces.clear()
            for tensor in list(self._tensors):
                tensor.deallocate()
            _bridge().bridge_close(self.handle)
            self.handle = None


Device = MeshDevice


def open_mesh_device(mesh_shape: Union[MeshShape, Sequence[int], None] = None, **_settings: object) -> MeshDevice:
    """Opens as many devices as the shape has. Further settings of the real ttnn (l1_small_size,
    trace_region_size, dispatch_core_config, ...) are about hardware and have no meaning here."""
    shape = MeshShape(1, 1) if mesh_shape is None else MeshShape(*mesh_shape)
    count = shape.rows * shape.columns
    return MeshDevice("emu" if count == 1 else f"emu:chips={count}", shape)


def open_device(device_id: int = 0, **_settings: object) -> MeshDevice:
    """Opens one device; all of them are alike, so the number only names it."""
    if device_id < 0:
        raise ValueError(f"device {device_id} does not exist")
    return MeshDevice("emu", MeshShape(1, 1))


def close_mesh_device(mesh_device: MeshDevice) -> None:
    mesh_device.close()


def close_device(device: MeshDevice) -> None:
    device.close()


def synchronize_device(device: MeshDevice) -> None:
    """Waits for all that was enqueued."""
    with device.lock:
        for index in range(device.get_num_devices()):
            _check(_bridge().bridge_finish(device.opened(), index))


def ReadDeviceProfiler(device: MeshDevice) -> None:  # noqa: N802: ttnn's name
    """Reads what the devices have recorded so far, so that there is room again."""
    with device.lock:
        for index in range(device.get_num_devices()):
            _check(_bridge().bridge_read_profiler(device.opened(), index))


# ---- tensors ----

class Tensor:
    """A matrix on a device."""

    def __init__(self, shape: tuple[int, int], device: MeshDevice, index: int = 0) -> None:
        self.shape, self.device, self.index = shape, device, index
        with device.lock:
            self.handle: Optional[int] = _check(_bridge().bridge_tensor_create(device.opened(), index, *shape))
        device.keep(self)

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None and self.device.handle is not None:
            self.deallocate()

    def deallocate(self) -> None:
        with self.device.lock:
            if self.handle is not None:
                _bridge().bridge_finish(self.device.handle, self.index)
                _bridge().bridge_tensor_destroy(self.handle)
                self.handle = None

    def used(self) -> int:
        if self.handle is None:
            raise RuntimeError("this tensor is deallocated, or its device is closed")
        return self.handle

    def write(self, values: Sequence[int]) -> None:
        with self.device.lock:
            _check(_bridge().bridge_tensor_write(self.used(), (ctypes.c_int32 * len(values))(*values)))

    def read(self) -> list[int]:
        size = self.shape[0] * self.shape[1]
        values = (ctypes.c_int32 * size)()
        with self.device.lock:
            _check(_bridge().bridge_tensor_read(self.used(), values))
        return list(values)

    def to_list(self) -> list[list[float]]:
        """Its values, row by row; waits for the operations that make them."""
        values, columns = self.read(), self.shape[1]
        return [[value / _ONE for value in values[row * columns:(row + 1) * columns]] for row in range(self.shape[0])]

    def __matmul__(self, other: Tensor) -> Tensor:
        return matmul(self, other)

    def __add__(self, other: Tensor) -> Tensor:
        return add(self, other)

    def __mul__(self, other: Tensor) -> Tensor:
        return multiply(self, other)

    def __repr__(self) -> str:
        return f"ttnn.Tensor({self.shape[0]} x {self.shape[1]}, device {self.index})"


def from_torch(values: Any, device: MeshDevice, index: int = 0, **_settings: object) -> Tensor:
    """A tensor of a matrix: lists of rows, or anything with ``tolist`` (torch, numpy).

    Layout, datatype and memory of the real ttnn are always tiles of 32-bit numbers in DRAM here.
    """
    rows = values.tolist() if hasattr(values, "tolist") else list(values)
    while rows and isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], list) and len(rows) == 1:
        rows = rows[0]
    if not rows or not all(isinstance(row, (list, tuple)) and len(row) == len(rows[0]) for row in rows) or not rows[0]:
        raise ValueError("a matrix is expected: rows of equal length")
    tensor = Tensor((len(rows), len(rows[0])), device, index)
    tensor.write([round(value * _ONE) for row in rows for value in row])
    return tensor


def to_torch(tensor: Tensor) -> Any:
    """Its values: a torch tensor where torch is installed, else lists of rows."""
    try:
        import torch
    except ImportError:
        return tensor.to_list()
    return torch.tensor(tensor.to_list())


# ---- operations ----

def _run(name: str, device: MeshDevice, *arguments: Any) -> None:
    with device.lock:
        _check(getattr(_bridge(), f"bridge_{name}")(*arguments))


def _like(tensor: Tensor, rows: Optional[int] = None, columns: Optional[int] = None) -> Tensor:
    shape = (tensor.shape[0] if rows is None else rows, tensor.shape[1] if columns is None else columns)
    return Tensor(shape, tensor.device, tensor.index)


def _unary(name: str, a: Tensor, *arguments: Any, out: Optional[Tensor] = None) -> Tensor:
    result = _like(a) if out is None else out
    _run(name, a.device, a.used(), *arguments, result.used())
    return result


def matmul(a: Tensor, b: Tensor) -> Tensor:
    result = _like(a, columns=b.shape[1])
    _run("matmul", a.device, a.used(), b.used(), result.used())
    return result


def add(a: Tensor, b: Tensor) -> Tensor:
    result = _like(a)
    _run("binary", a.device, 0, a.used(), b.used(), result.used())
    return result


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Value by value. The products of 8 + 8 fractional bits are not shifted back on the device."""
    result = _like(a)
    _run("binary", a.device, 1, a.used(), b.used(), result.used())
    return result


def relu(a: Tensor) -> Tensor:
    return _unary("relu", a)


def softmax(a: Tensor, dim: int = -1, *, is_causal: bool = False) -> Tensor:
    _refuse_other_dimensions(dim)
    return _unary("softmax", a, is_causal)


def layer_norm(a: Tensor) -> Tensor:
    return _unary("layer_norm", a)


def transpose(a: Tensor, dim0: int = -2, dim1: int = -1) -> Tensor:
    if {dim0 % 2, dim1 % 2} != {0, 1}:
        raise ValueError("a matrix has two dimensions to exchange")
    return _unary("transpose", a, out=_like(a, a.shape[1], a.shape[0]))


def sum(a: Tensor, dim: int = -1) -> Tensor:  # noqa: A001: ttnn's name
    """The sum of each row, as a tensor of one column."""
    _refuse_other_dimensions(dim)
    return _unary("reduce", a, out=_like(a, columns=1))


def embedding(ids: Sequence[int], table: Tensor) -> Tensor:
    """Row r is row ids[r] of the table."""
    numbers = Tensor((1, len(ids)), table.device, table.index)
    numbers.write(list(ids))
    result = _like(table, rows=len(ids))
    _run("embedding", table.device, numbers.used(), table.used(), result.used())
    return result


def all_gather(parts: Sequence[Tensor]) -> list[Tensor]:
    """The rows of both parts, on both devices. A tensor here lies on one device, so there are two of them: one on
    the first and one on the second device of a mesh, whose rows fill whole tiles of 32."""
    if [part.index for part in parts] != [0, 1] or parts[0].device is not parts[1].device:
        raise ValueError("two tensors are expected: on devices 0 and 1 of one mesh")
    rows = parts[0].shape[0] + parts[1].shape[0]
    results = [_like(part, rows=rows) for part in parts]
    mesh = parts[0].device
    _run("all_gather", mesh, mesh.opened(), *(tensor.used() for tensor in [*parts, *results]))
    return results


def _refuse_other_dimensions(dim: int) -> None:
    if dim not in (-1, 1):
        raise ValueError("only rows: dim is -1")


# ---- traces ----

def begin_trace_capture(device: MeshDevice, cq_id: int = 0) -> int:
    """Operations from here to end_trace_capture are recorded instead of run. There is one queue."""
    with device.lock:
        _check(_bridge().bridge_trace_begin(device.opened(), 0))
        device.traces.append(None)
        return len(device.traces) - 1


def end_trace_capture(device: MeshDevice, trace_id: int, cq_id: int = 0) -> int:
    with device.lock:
        device.traces[trace_id] = _check(_bridge().bridge_trace_end(device.opened(), 0))
    return trace_id


def _trace(device: MeshDevice, trace_id: int) -> int:
    trace = device.traces[trace_id] if trace_id < len(device.traces) else None
    if trace is None:
        raise RuntimeError(f"there is no trace {trace_id} on this device")
    return trace


def execute_trace(device: MeshDevice, trace_id: int, cq_id: int = 0, blocking: bool = True) -> None:
    with device.lock:
        _check(_bridge().bridge_trace_replay(_trace(device, trace_id)))
    if blocking:
        synchronize_device(device)


def release_trace(device: MeshDevice, trace_id: int) -> None:
    with device.lock:
        _bridge().bridge_trace_destroy(_trace(device, trace_id))
        device.traces[trace_id] = None


# ---- the host's profiler ----

def tracy_message(source: str, color: int = 0xF0F8FF) -> None:
    """A text at this moment; the colour is 0xRRGGBB."""
    _api.message(source, color)


def start_tracy_zone(source: str, functName: str, lineNum: int = 0, color: int = 0,  # noqa: N803: ttnn's names
                     line_number: Optional[int] = None) -> None:
    """Begins a zone on this thread. The line has two names, that of the code and that of the guides."""
    if _api._native is not None:
        _api._native.start_zone(source, functName, lineNum if line_number is None else line_number, color)


def stop_tracy_zone(name: str = "", color: int = 0) -> None:
    """Ends the innermost zone of start_tracy_zone; name and colour may be given late."""
    if _api._native is not None:
        _api._native.stop_zone(name, color)


def tracy_frame() -> None:
    _api.frame_mark()
