"""Apply unary, bound binary and index-unary operators to every value."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from graphla.backends.cpu.layout import cast_values, row_of_entry
from graphla.backends.values import repeat_value, scalar, with_values
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings.operators import TypedBinaryOp, TypedIndexUnaryOp, TypedUnaryOp

V = TypeVar("V", SparseVector, Csr)
NO_PLACE = (np.int64(0), np.int64(0))
"""The row and column that are passed to an operator that reads neither of them."""


def cast(a: Any, dtype: Any) -> Any:
    """Return the same entries with values of another dtype."""
    values = cast_values(a.values, np.dtype(dtype))
    return a if values is a.values else with_values(a, values)


def apply(a: Any, op: TypedUnaryOp) -> Any:
    """Return the vector or matrix whose values are op(x) for the values x of `a`.

    `a` may also be a dense vector, unless op is positional.
    """
    x = cast_values(a.values, op.type.np_type)
    if op.is_positional:
        return with_values(a, of_size(op.numpy(x, *places(a)), a.nvals))
    if is_iso(x):
        return with_values(a, repeat_value(op.numpy(x[:1]), x.size))
    return with_values(a, op.numpy(x))


def apply_bound(a: Any, op: TypedBinaryOp, value: Any, side: str) -> Any:
    """Return `a` with each entry x replaced by op(value, x) or op(x, value).

    The first form is used if `side` is "left", the second one if `side` is "right". A positional op
    gets the position of x for both operands.
    """
    x_type, y_type = op.type.np_type, op.type2.np_type
    if op.is_positional:
        i, j = places(a)
        if side == "left":
            x, y = repeat_value(np.asarray(value, x_type), a.nvals), cast_values(a.values, y_type)
        else:
            x, y = cast_values(a.values, x_type), repeat_value(np.asarray(value, y_type), a.nvals)
        return with_values(a, of_size(op.numpy(x, i, j, y, i, j), a.nvals))
    values = a.values[:1] if is_iso(a.values) else a.values
    if side == "left":
        result = op.numpy(scalar(value, x_type), cast_values(values, y_type))
    else:
        result = op.numpy(cast_values(values, x_type), scalar(value, y_type))
    return with_values(a, of_size(result, a.values.size))


def apply_index(a: V, op: TypedIndexUnaryOp, thunk: Any) -> V:
    """Return op(x, i, j, thunk) for every entry; j is 0 in a vector."""
    return with_values(a, of_size(at_places(a, op, thunk), a.nvals))


def at_places(a: Any, op: Any, thunk: Any) -> Array:
    """Return the array of op(x, i, j, thunk) for all entries, where x is the value at (i, j)."""
    i, j = places(a) if op.is_positional else NO_PLACE
    x = cast_values(a.values, op.type.np_type)
    return op.numpy(x, i, j, scalar(thunk, op.thunk_type.np_type))


def places(a: Any, which: Array | None = None) -> tuple[Any, Any]:
    """Return the row and column of each entry as int64; for a vector, the index and 0."""
    if isinstance(a, Csr):
        i, j = row_of_entry(a), a.indices
        if which is not None:
            i, j = i[which], j[which]
        return i.astype(np.int64), j.astype(np.int64)
    if isinstance(a, SparseVector):
        i = a.indices if which is None else a.indices[which]
        return i.astype(np.int64), np.int64(0)
    return np.arange(a.size, dtype=np.int64), np.int64(0)


def of_size(values: Any, size: int) -> Array:
    """Return `values` as an array of `size` elements. If `values` is a single value, repeat it."""
    if getattr(values, "ndim", 0) == 1 and values.size == size:
        return values
    return repeat_value(np.asarray(values), size)
