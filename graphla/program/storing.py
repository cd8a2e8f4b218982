"""Convert records of a program to plain values, which the cache on disk can store, and back.

A record or a dataclass becomes a tuple of the name of its class and its fields. A codec restores
only objects of its own classes, so loading a cached value cannot create other objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from graphla.program import ir
from graphla.program.fingerprints import NoContent, is_of_library
from graphla.program.records import FIELDS
from semirings.dtypes import DataType, lookup_dtype
from semirings.operators import Operator, Typed, named

_PLAIN = (type(None), bool, int, float, str, bytes)


class Codec:
    """Converts objects of the given classes, and of some classes of `ir`, such as `LoopExit`."""

    def __init__(self, *classes: type) -> None:
        known = (
            *(ir.Dim, ir.Slot, ir.Var, ir.MatrixArgument, ir.ArrayArgument, ir.Stack),
            *(ir.LoopExit, ir.Same, *classes),
        )
        self.classes = {
            each.__name__: (each, FIELDS.get(each) or tuple(x.name for x in fields(each)))
            for each in known
        }

    def pack(self, x: Any) -> Any:
        """Return a plain value that `unpack` converts to an equal object.

        Raise NoContent if the object contains something that is not stored, such as a user-defined
        operator.
        """
        kind, pack = type(x), self.pack
        if kind in _PLAIN:
            return x
        if kind is tuple or kind is list:
            return kind.__name__, *map(pack, x)
        if kind is set or kind is frozenset:
            return kind.__name__, *sorted(map(pack, x), key=repr)
        if kind is dict:
            return "dict", *[(pack(key), pack(value)) for key, value in x.items()]
        if kind is ir.Same and x.path is not None:
            return "Same", None, pack(x.path)  # each call finds the value at the path
        cls, names = self.classes.get(kind.__name__, (None, ()))
        if cls is kind:
            return kind.__name__, *[pack(getattr(x, name)) for name in names]
        if isinstance(x, DataType):
            return "dtype", x.name
        if isinstance(x, np.dtype):
            return "numpy dtype", x.str
        if isinstance(x, np.ndarray) and x.ndim == 1:
            return "array", x.dtype.str, x.tobytes()
        if isinstance(x, Typed):
            return "typed", pack(x.op), x._key
        if isinstance(x, Operator) and is_of_library(x):
            return "operator", x.kind, x.name
        raise NoContent

    def unpack(self, x: Any) -> Any:
        """Return the object that `pack` has converted to a plain value."""
        if type(x) is not tuple:
            return x
        kind, unpack = x[0], self.unpack
        known = self.classes.get(kind)
        if known is not None:
            return known[0](*map(unpack, x[1:]))
        if kind == "tuple":
            return tuple(map(unpack, x[1:]))
        if kind == "dict":
            return {unpack(key): unpack(value) for key, value in x[1:]}
        if kind == "typed":
            return unpack(x[1])[x[2]]
        return _MAKERS[kind](*x[1:]) if kind in _MAKERS else _SEQUENCES[kind](map(unpack, x[1:]))


_SEQUENCES: dict[str, type] = {"list": list, "set": set, "frozenset": frozenset}

_MAKERS: dict[str, Callable[..., Any]] = {
    "dtype": lookup_dtype,
    "numpy dtype": np.dtype,
    "array": lambda dtype, data: np.frombuffer(data, dtype).copy(),
    "operator": named,
}
