"""Structs and enumerations that host and kernels share, declared once, in C++.

A kernel that needs more than a dozen arguments takes them in structs. Their declaration in the CUDA
source is the only one; the host reads the names and types of the fields from it::

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

A field is a pointer, a number, or another struct. Its type is one of the names in `NUMBERS`, or a
parameter of the template: then the host passes a NumPy scalar, whose dtype is the type. Array
members and bit fields are not supported. A packed struct can be passed to any number of launches;
it keeps its arrays alive. The simulator of the tests compares its fields with those that the
compiler sees: number, sizes and what pointers point to.

`enumeration("rows.cuh", "Where")` is the C++ enumeration as an `IntEnum`, such as `Where.DENSE`.
Numbers that a kernel is tuned by go the other way (`constants` of `graphla.compilers.cuda.load`).
"""

from __future__ import annotations

import re
import struct
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np

from graphla.compilers import nvrtc

NUMBERS = {
    **{"bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I"},
    **{"i64": "q", "u64": "Q", "int": "i", "unsigned": "I", "float": "f", "double": "d"},
}
"""The types of numbers in C++, as the module `struct` calls them."""

POINTER = "P"
OPEN = ""
"""The kind of a field whose type is a parameter of the template, or another struct."""


class Packed(np.ndarray):
    """The bytes of a struct: CuPy passes a NumPy array of one element by value."""

    values: tuple[Any, ...]  # of the fields, in order
    kinds: tuple[str, ...]  # of the fields, as the module `struct` calls them
    numbers: tuple[Any, ...]  # that were packed
    format: str  # of the whole


class Struct:
    """The struct `name` of a CUDA source: call it with a value for each field, by name."""

    __slots__ = ("_kinds", "file", "name")

    def __init__(self, file: str, name: str):
        self.file = file
        self.name = name
        self._kinds: dict[str, str] = {}

    def __call__(self, **values: Any) -> Packed:
        kinds = self._kinds or self._read()
        if values.keys() != kinds.keys():
            lacks, extra = kinds.keys() - values.keys(), values.keys() - kinds.keys()
            wrong = [f"lacks {name}" for name in lacks] + [f"has no {name}" for name in extra]
            raise TypeError(f"struct {self.name} of {self.file} {', '.join(sorted(wrong))}")
        ordered = tuple([values[name] for name in kinds])
        numbers: list[Any] = []
        found = []
        for kind, value in zip(kinds.values(), ordered, strict=True):
            if kind == POINTER:
                numbers.append(_address(value))
            elif kind != OPEN:
                numbers.append(value)
            elif isinstance(value, Packed):
                numbers += value.numbers
                kind = value.format
            else:
                numbers.append(value)
                kind = value.dtype.char
            found.append(kind)
        packer, dtype, written = _layout("".join(found))
        packed = np.ndarray.__new__(Packed, (), dtype)
        packer.pack_into(packed, 0, *numbers)  # pyright: ignore[reportArgumentType]
        packed.values, packed.kinds = ordered, tuple(found)
        packed.numbers, packed.format = tuple(numbers), written
        return packed

    def _read(self) -> dict[str, str]:
        self._kinds = fields(nvrtc.sources()[self.file], self.name)
        return self._kinds

    def __repr__(self) -> str:
        return f"<struct {self.name} of {self.file}>"


def enumeration(file: str, name: str) -> Any:
    """Return the enumeration `name` of a CUDA source as an `IntEnum`."""
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
    return IntEnum(name, members)


def _address(value: Any) -> int:
    """Return the address in a card's memory: of an array, or the number itself; 0 for None."""
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        raise TypeError(f"a kernel cannot read this array of the host: {value!r}")
    pointer = getattr(getattr(value, "data", None), "ptr", None)
    return int(value) if pointer is None else pointer


@cache
def _layout(formats: str) -> tuple[struct.Struct, np.dtype[Any], str]:
    """Return the packer of fields as a C++ compiler lays them out, its dtype and its format."""
    widest = max(re.sub(r"\d+\w", "", formats), key=struct.calcsize)
    written = f"0{widest}{formats}0{widest}"  # begins and ends at a multiple of its widest field
    packer = struct.Struct(f"@{written}")
    return packer, np.dtype(f"V{packer.size}"), written


def fields(text: str, name: str) -> dict[str, str]:
    """Return the kind of each field of a struct in a CUDA source: `NUMBERS`, POINTER or OPEN."""
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
    """Return what ends at a semicolon or a block, up to the brace that closes the struct."""
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
