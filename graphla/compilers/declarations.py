"""Read the C++ declarations of the structs and enumerations that the host and the kernels share.

A kernel that needs more than a dozen arguments takes them in structs. These are declared only in
the CUDA source, from which the host reads the names and types of the fields::

    // bfs.cuh
    template <class Offset> struct Graph {
      const Offset *indptr;  // n + 1
      const i32 *indices;
      i64 n;
      DEVICE Offset degree(i64 v) const { return indptr[v + 1] - indptr[v]; }
    };

    # bfs.py
    GRAPH = Struct("bfs.cuh", "Graph")
    graph = GRAPH(indptr=a.indptr, indices=a.indices, n=a.nrows)
    kernel(blocks, BLOCK, graph, source)

A field is a pointer, a number, or another struct. The type of a number is one of the names in
`NUMBERS`, or a parameter of the template. In the latter case the host passes a NumPy scalar, whose
dtype determines the type. Array members and bit fields are not supported. A packed struct keeps its
arrays alive, and can be passed to any number of launches. The test simulator compares the fields of
packed structs with those of the compiler: their number, their sizes, and the types of pointers.

`enumeration("rows.cuh", "Where")` returns the members of the C++ enumeration, such as
`Where.DENSE`. Tuning constants, in contrast, are declared in Python (`constants` of
`graphla.compilers.cuda.load`).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from ctypes import addressof, c_char
from functools import cache, partial
from threading import local
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np
from cupy.cuda.function import CPointer

from graphla.compilers import nvrtc

NUMBERS = {
    **{"bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I"},
    **{"i64": "q", "u64": "Q", "int": "i", "unsigned": "I", "float": "f", "double": "d"},
}
"""The format character in the module `struct` for each C++ number type."""

POINTER = "P"
OPEN = ""
"""The kind of a field whose type is known only when a value is packed. The declared type of such a
field is a template parameter or another struct."""


class Packed(CPointer):
    """The bytes of a struct, in a form that can be passed to a kernel.

    The base class CPointer of CuPy holds an address on the host. A launch reads the struct directly
    from this address, without another copy.
    """

    __slots__ = ("parts",)

    parts: tuple[Layout, tuple[Any, ...], Any, int]
    """The layout of the struct, the values of its fields, the memory that contains its bytes, and
    the offset of the struct in this memory. The values are stored to keep arrays alive."""

    @property
    def layout(self) -> Layout:
        """The layout of the fields."""
        return self.parts[0]

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of the fields, in order."""
        return self.parts[1]

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.layout.size

    def tobytes(self) -> bytes:
        """Return a copy of the bytes."""
        layout, _, memory, begin = self.parts
        return bytes(memory[begin : begin + layout.size])


class Constant(CPointer):
    """A number or a null pointer that is passed to many launches.

    A launch reads its bytes directly from memory on the host. In contrast, a launch converts each
    NumPy scalar among its arguments, which takes about half a microsecond.
    """

    __slots__ = ("_bytes", "dtype", "size", "value")

    def __init__(self, value: np.generic) -> None:
        self.value, self.dtype, self.size = value, value.dtype, value.itemsize
        self._bytes = (c_char * self.size).from_buffer_copy(value.data)
        super().__init__(addressof(self._bytes))

    def __index__(self) -> int:
        return int(self.value)


class Layout:
    """The layout of a struct's fields in memory, as a C++ compiler arranges them."""

    __slots__ = ("as_field", "kinds", "packer", "size")

    def __init__(self, kinds: tuple[str, ...]):
        self.kinds = kinds
        widest = max(re.sub(r"\d+s|0", "", "".join(kinds)), key=struct.calcsize)
        # The format ends with a zero-length item, which pads the struct to its alignment.
        self.packer = struct.Struct(f"@{''.join(kinds)}0{widest}")
        self.size = self.packer.size
        self.as_field = f"0{widest}{self.size}s"


class _Room(local):
    """Thread-local memory into which structs are packed one after another."""

    def __init__(self) -> None:
        self.used = SIZE

    def renew(self) -> int:
        """Allocate new memory, because there is none yet or the previous memory is full.

        Return the offset of its first free byte, which is 0.
        """
        array = np.empty(SIZE, np.uint8)
        self.memory, self.address = array.data, array.ctypes.data
        return 0


SIZE = 1 << 16
_room = _Room()


def Struct(file: str, name: str) -> Callable[..., Packed]:
    """Return a function that packs a struct declared in a CUDA source.

    The function takes a keyword argument for each field.
    """
    kinds = fields(nvrtc.sources()[file], name)
    names, declared = tuple(kinds), tuple(kinds.values())
    if OPEN not in declared:
        return _packer(name, names, declared)
    scope: dict[str, Any] = {"_pack": partial(_pack_open, name, names, declared)}
    exec(f"def {name}(*, {', '.join(names)}): return _pack({', '.join(names)})", scope)
    return scope[name]


def _pack_open(
    name: str, names: tuple[str, ...], declared: tuple[str, ...], *values: Any
) -> Packed:
    """Pack a struct. The type of a field of kind OPEN is the type of the value given for it."""

    def kind_of(value: Any) -> str:
        return value.layout.as_field if isinstance(value, Packed) else value.dtype.char

    pairs = zip(declared, values, strict=True)
    kinds = tuple([kind_of(value) if kind == OPEN else kind for kind, value in pairs])
    return _packer(name, names, kinds)(**dict(zip(names, values, strict=True)))


PACK = """
def {name}(*, {names}):
    _state = _room.__dict__
    _begin = _state["used"]
    if _begin > {last}:
        _begin = _room.renew()
    _state["used"] = _begin + {taken}
    _memory = _state["memory"]
    _pack_into(_memory, _begin, {numbers})
    _packed = _Packed(_state["address"] + _begin)
    _packed.parts = _layout, ({names},), _memory, _begin
    return _packed
"""
"""The text of the function that packs a struct. The function is compiled from text, as dataclass
methods are, because a loop over the fields would take longer than the launch. No field name begins
with "_".
"""


@cache
def _packer(name: str, names: tuple[str, ...], kinds: tuple[str, ...]) -> Callable[..., Packed]:
    """Return a function that packs a struct whose fields have the given names and kinds."""
    layout = Layout(kinds)
    taken = (layout.size + 15) & ~15
    scope: dict[str, Any] = {
        **{"_layout": layout, "_pack_into": layout.packer.pack_into, "_Packed": Packed},
        **{
            "_room": _room,
            "_ndarray": cupy.ndarray,
            "_address": _address,
            "_type": type,
            "_int": int,
        },
    }
    numbers = ", ".join(map(_number, names, kinds))
    words = {"names": ", ".join(names), "numbers": numbers, "taken": taken, "last": SIZE - taken}
    exec(PACK.format(name=name, **words), scope)
    return scope[name]


def _number(name: str, kind: str) -> str:
    """Return the Python source of an expression for the value that `pack_into` stores for a field.

    A pointer field stores the address of the array, and a nested struct stores its bytes.
    """
    if kind == POINTER:
        quick = f"{name}.data.ptr if _type({name}) is _ndarray else 0 if {name} is None"
        return f"{quick} else {name} if _type({name}) is _int else _address({name})"
    return f"{name}.tobytes()" if kind.endswith("s") else name


class Enumeration(SimpleNamespace):
    """The members of a C++ enumeration, as plain ints, because CuPy rejects subclasses of int."""

    def __iter__(self) -> Iterator[int]:
        return iter(vars(self).values())

    def __getitem__(self, name: str) -> int:
        return vars(self)[name]


def enumeration(file: str, name: str) -> Enumeration:
    """Return the members of the enumeration `name` of a CUDA source, in the order of
    declaration."""
    text = _without_comments(nvrtc.sources()[file])
    body = re.search(rf"\benum (?:class )?{name}\b[^{{;]*\{{([^}}]*)\}}", text)
    if body is None:
        raise LookupError(f"{file} has no enum {name}")
    members: dict[str, int] = {}
    following = 0
    for each in filter(str.strip, body[1].split(",")):
        member, _, value = (part.strip() for part in each.partition("="))
        number = members.get(value)
        following = (
            number if number is not None else int(value.rstrip("u"), 0) if value else following
        )
        members[member] = following
        following += 1
    return Enumeration(**members)


def _address(value: Any) -> int:
    """Return the device address of an array, the number itself for an int, and 0 for None."""
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        raise TypeError(f"a kernel cannot read this array of the host: {value!r}")
    pointer = getattr(getattr(value, "data", None), "ptr", None)
    return int(value) if pointer is None else pointer


def fields(text: str, name: str) -> dict[str, str]:
    """Return the kind of each field of a struct in a CUDA source: a value of `NUMBERS`, POINTER or
    OPEN."""
    text = _without_comments(text)
    start = re.search(rf"\bstruct {name}\s*\{{", text)
    if start is None:
        raise LookupError(f"no struct {name}")
    found: dict[str, str] = {}
    for statement in _statements(text[start.end() :]):
        words = re.sub(r"\b(const|volatile|typename|__restrict__)\b|=[^,]*", " ", statement)
        if "(" in words or re.match(r"\s*(static|typedef|using|enum|template)\b", words):
            continue
        declaration = re.fullmatch(r"\s*([\w:]+(?:<.*>)?)((?:[\s*]+\w+\s*,?)+)", words)
        if declaration is None:
            raise ValueError(
                f"struct {name} has a field that the host cannot read: {statement.strip()}"
            )
        kind, declared = declaration.groups()
        for each in declared.split(","):
            field = each.strip(" *\n")
            found[field] = POINTER if "*" in each else NUMBERS.get(kind, OPEN)
    return found


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _statements(text: str) -> list[str]:
    """Return the statements of a struct, up to its closing brace. A statement ends with a semicolon
    or a block."""
    found, depth, begin = [], 0, 0
    for k, character in enumerate(text):
        if character == "}":
            depth -= 1
            if depth < 0:
                return [each for each in found if each.strip()]
        if character == "{":
            depth += 1
        if depth == 0 and character in ";}":
            found.append(text[begin:k].split("{")[0])
            begin = k + 1
    raise ValueError("a struct without an end")
