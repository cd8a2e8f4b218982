"""Compute closures on dictionaries, by rounds over all edges and with exact integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from algorithms.graphs import Edges

from semirings import dtypes


class Model:
    """The result of a closure, which repeats x = x ⊕ xA.

    `values` is the last x. `rests` says whether x stopped changing. `lost` contains the vertices
    for which a term overflowed.
    """

    def __init__(self, values: dict[int, Any], rests: bool, lost: set[int]):
        self.values = values
        self.rests = rests
        self.lost = lost


def closure(
    graph: Edges,
    x: Mapping[int, Any],
    op: Any,
    *,
    mask: Collection[int] | None = None,
    limit: int = 500,
) -> Model:
    """Return the closure of the vector x over the semiring `op`, after at most `limit` rounds.

    A vertex outside the mask keeps the value that it has in x.
    """
    cast = op.return_type.np_type.type
    values, lost = {v: cast(value) for v, value in x.items()}, set()
    for _ in range(limit):
        following = dict(values)
        for u, v, weight in graph:
            if u not in values or (mask is not None and v not in mask):
                continue
            term = _term(op, values[u], weight)
            if term is None:
                lost.add(v)
            else:
                following[v] = op.monoid(following[v], term) if v in following else cast(term)
        if all(v in values and same(values[v], value) for v, value in following.items()):
            return Model(values, True, lost)
        values = following
    return Model(values, False, lost)


def _term(op: Any, x: Any, weight: Any) -> Any:
    """Return x ⊗ weight, or None if it exceeds the range of its integer dtype."""
    dtype = op.return_type
    exact = _EXACT.get(op.binaryop.name)
    if exact is not None and dtype.is_integer:
        least, greatest = np.iinfo(dtype.np_type).min, np.iinfo(dtype.np_type).max
        if not least <= exact(int(x), int(weight)) <= greatest:
            return None
    weight = dtypes.lookup_dtype(op.type2).np_type.type(weight)
    return op.binaryop(op.type.np_type.type(x), weight)


_EXACT = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "times": lambda x, y: x * y,
}


def same(x: Any, y: Any) -> bool:
    """Return whether two values are equal; NaN equals NaN."""
    return bool(x == y or (x != x and y != y))


def agree(got: Mapping[int, Any], expected: Mapping[int, Any]) -> bool:
    """Return whether two vectors have the same entries."""
    return got.keys() == expected.keys() and all(same(got[v], expected[v]) for v in got)
