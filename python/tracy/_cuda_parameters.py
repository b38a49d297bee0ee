"""Parameters of kernels: read from the source, and filled from Python's values without guessing.

Every argument becomes the bytes of the parameter's own type. What does not fit is refused in one
sentence that names the parameter, since a kernel would take it for something else in silence.
"""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import re
import struct
from typing import Any, NamedTuple, Optional, Union


class Scalar(NamedTuple):
    """A type of numbers: kind i, u, f (with B for bfloat16) or b, and its size in bytes."""

    kind: str
    size: int


class Parameter(NamedTuple):
    """One of a kernel's. A type that is not known here has no scalar."""

    name: str
    type: str  # as in the source, without qualifiers
    is_pointer: bool
    scalar: Optional[Scalar]  # of the value, or of what is pointed to


class Array(NamedTuple):
    """What an argument for a pointer says about itself."""

    address: int
    scalar: Optional[Scalar]
    type: str
    device: Optional[int]  # None: it does not say
    owner: str  # the library that made it: torch, cupy, ...
    stream: Optional[int]  # on which it is ready, where its owner has no current one


Packed = Union[bytes, Any]  # an object of ctypes where the type is not known

# ---- types ----

_INTEGER_WORDS = {"char": 1, "short": 2, "int": 4, "long": 8}
_NAMES = {
    "float": Scalar("f", 4), "double": Scalar("f", 8), "bool": Scalar("b", 1), "half": Scalar("f", 2),
    "__half": Scalar("f", 2), "bfloat16": Scalar("B", 2), "nv_bfloat16": Scalar("B", 2),
    "__nv_bfloat16": Scalar("B", 2), "float16": Scalar("f", 2), "float32": Scalar("f", 4), "float64": Scalar("f", 8),
    "size_t": Scalar("u", 8), "ptrdiff_t": Scalar("i", 8), "intptr_t": Scalar("i", 8), "uintptr_t": Scalar("u", 8),
}
for _bits in (8, 16, 32, 64):
    for _kind, _prefix in (("i", "int"), ("u", "uint")):
        _NAMES[f"{_prefix}{_bits}_t"] = _NAMES[f"{_prefix}{_bits}"] = Scalar(_kind, _bits // 8)

_QUALIFIERS = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|__grid_constant__|struct|enum)\b")


@functools.lru_cache(maxsize=None)
def scalar_of(name: str) -> Optional[Scalar]:
    """The type of numbers with this name, of C++, CUDA or an array library; None: another type."""
    words = name.replace("std::", "").split()
    if len(words) == 1 and words[0] in _NAMES:
        return _NAMES[words[0]]
    if not words or any(word not in ("signed", "unsigned", *_INTEGER_WORDS) for word in words):
        return None
    kind = "u" if "unsigned" in words else "i"
    sizes = [_INTEGER_WORDS[word] for word in words if word in _INTEGER_WORDS and word != "int"]
    return Scalar(kind, sizes[0] if sizes else 4)


# ---- the source ----

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def _up_to_closing(text: str, start: int) -> Optional[str]:
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return None


def _split(text: str) -> list[str]:
    """At commas that are not inside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _parse_one(text: str, number: int) -> Parameter:
    text = " ".join(_QUALIFIERS.sub(" ", text.split("=")[0]).split())
    is_array = text.endswith("]")
    text = text.split("[")[0].strip()
    if "*" in text or is_array:
        pointee, _, name = text.rpartition("*") if "*" in text else text.rpartition(" ")
        pointee = pointee.strip()
        return Parameter(name.strip() or f"parameter {number}", f"{pointee} *", True, scalar_of(pointee))
    head, _, last = text.rpartition(" ")
    is_named = head != "" and scalar_of(text) is None  # `unsigned int` is a type, `unsigned n` has a name
    kind, name = (head, last) if is_named else (text, f"parameter {number}")
    return Parameter(name, kind, False, scalar_of(kind))


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """From a list as it stands between the parentheses of a function. Names may be left out."""
    text = _NOT_CODE.sub(" ", text)
    if text.strip() in ("", "void"):
        return ()
    return tuple(_parse_one(part, number) for number, part in enumerate(_split(text), 1))


def find_parameters(source: str, kernel: str) -> Optional[tuple[Parameter, ...]]:
    """Those of a kernel; None if the source does not say it in plain words."""
    text = _NOT_CODE.sub(" ", source)
    found = re.search(rf"__global__\b[^;{{}}]*?\b{re.escape(kernel)}\s*\(", text)
    inside = _up_to_closing(text, found.end()) if found else None
    return None if inside is None else parse_parameters(inside)


# ---- arrays ----

_NUMBERS = frozenset((int, float, bool, type(None)))


def describe_array(value: Any) -> Optional[Array]:
    """What a tensor, or anything with the CUDA array interface, is. None: no array."""
    kind = type(value)
    if kind in _NUMBERS:
        return None  # most arguments end here
    owner = _owner_of(kind)
    if owner == "cupy" and hasattr(value, "data"):  # as below, without making a dictionary
        name = _name_of(value.dtype)
        return Array(value.data.ptr, scalar_of(name), name, value.data.device_id, owner, None)
    if hasattr(value, "is_cuda") and hasattr(value, "data_ptr"):
        name = _name_of(value.dtype)
        device = value.device.index if value.is_cuda else None
        address = value.data_ptr() if value.is_cuda else -1
        return Array(address, scalar_of(name), name, device, "torch", None)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return None
    text = interface["typestr"]
    scalar = Scalar(text[1], int(text[2:])) if text[1] in "iufb" else None
    return Array(interface["data"][0], scalar, str(getattr(value, "dtype", text)), None, owner, interface.get("stream"))


@functools.lru_cache(maxsize=None)
def _name_of(dtype: Any) -> str:
    """Of a type of elements; putting it together takes NumPy longer than all the rest of a launch."""
    return str(dtype).replace("torch.", "")


@functools.lru_cache(maxsize=None)
def _owner_of(kind: type) -> str:
    """The library that a type is of."""
    return kind.__module__.partition(".")[0]


def _may_point(pointee: Scalar, element: Scalar) -> bool:
    """Integers of either sign share memory, and truth values are bytes."""
    if pointee.size != element.size:
        return False
    return pointee.kind == element.kind or (pointee.kind in "iu" and element.kind in "iub")


_address = struct.Struct("<Q").pack


def _pack_pointer(parameter: Parameter, value: Any, array: Optional[Array]) -> Packed:
    if isinstance(value, ctypes.c_void_p):
        value = value.value
    if value is None:
        return _address(0)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < 1 << 64:
            raise ValueError(f"{parameter.name}: {value} is no address")
        return _address(value)
    if array is None:
        raise TypeError(f"{parameter.name} is a {parameter.type} and takes an array on the GPU or an address, not "
                        f"{_what(value)}")
    if array.address < 0:
        raise ValueError(f"{parameter.name}: the tensor is on the CPU; a kernel takes those of a GPU")
    if parameter.scalar and array.scalar and not _may_point(parameter.scalar, array.scalar):
        raise TypeError(f"{parameter.name} is a {parameter.type}, but the array holds {array.type}")
    return _address(array.address)


# ---- numbers ----

def _what(value: Any) -> str:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _refuse(parameter: Parameter, value: Any) -> TypeError:
    is_array = describe_array(value) is not None
    hint = "; its value would have to be fetched first (item())" if is_array else ""
    return TypeError(f"{parameter.name} is {_with_article(parameter.type)}, not {_what(value)}{hint}")


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _integer(parameter: Parameter, scalar: Scalar, value: Any) -> bytes:
    try:
        number = operator.index(value)
    except TypeError:
        raise _refuse(parameter, value) from None
    try:
        return number.to_bytes(scalar.size, "little", signed=scalar.kind == "i")
    except OverflowError:
        raise ValueError(f"{parameter.name}: {number} does not fit into {_with_article(parameter.type)}") from None


def _real(parameter: Parameter, scalar: Scalar, value: Any) -> bytes:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number and (not hasattr(value, "dtype") or value.shape != ()):
        raise _refuse(parameter, value)
    number = float(value)
    try:
        if scalar.kind == "B":
            return _bfloat16(number)
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[scalar.size], number)
    except OverflowError:
        raise ValueError(f"{parameter.name}: {number} does not fit into {_with_article(parameter.type)}") from None


def _bfloat16(number: float) -> bytes:
    """The upper half of a float, rounded to the nearest, ties to even."""
    bits = int.from_bytes(struct.pack("<f", number), "little")
    if math.isnan(number):
        return (bits >> 16 | 0x40).to_bytes(2, "little")
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    if rounded & 0x7FFF == 0x7F80 and not math.isinf(number):
        raise OverflowError
    return rounded.to_bytes(2, "little")


def _truth(parameter: Parameter, value: Any) -> bytes:
    if not isinstance(value, bool) and str(getattr(value, "dtype", "")) != "bool":
        raise _refuse(parameter, value)
    return bytes([bool(value)])


def _pack_number(parameter: Parameter, scalar: Scalar, value: Any, array: Optional[Array]) -> Packed:
    if array is not None:
        raise _refuse(parameter, value)
    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if scalar.kind == "b":
        return _truth(parameter, value)
    if scalar.kind in "iu":
        return _integer(parameter, scalar, value)
    return _real(parameter, scalar, value)


def pack(parameter: Parameter, value: Any, array: Optional[Array]) -> Packed:
    """The bytes of an argument, or an object of ctypes that has them; array is what it is, if it is one."""
    if parameter.is_pointer:
        return _pack_pointer(parameter, value, array)
    if parameter.scalar is not None:
        return _pack_number(parameter, parameter.scalar, value, array)
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return value
    raise TypeError(f"{parameter.name}: its type {parameter.type} is not known here; hand it over as a ctypes object, "
                    f"not {_what(value)}")
