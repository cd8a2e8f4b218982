"""Element-wise operations: casts and the variants of apply. Kernels: apply.cu.

These functions only launch kernels; the host does not wait for the device.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import (
    BLOCK,
    FALSE,
    ISO,
    UNREAD,
    places,
    read,
    repeat_value,
    size,
    tiles,
)
from graphla.backends.values import scalar, with_values
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array
from semirings.operators import TypedBinaryOp, TypedIndexUnaryOp, TypedUnaryOp

NO_THUNK = FALSE


def cast(a: Any, dtype: Any) -> Any:
    """Return a copy of the storage with its values cast to a dtype. Casts to integers saturate, and
    map NaN to 0."""
    values = cast_values(a.values, np.dtype(dtype))
    return a if values is a.values else with_values(a, values)


def cast_values(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the values cast to a dtype. An iso-valued array remains iso-valued."""
    if values.dtype == dtype:
        return values
    x, stored, kept = read(values)
    count = 1 if kept == ISO else values.size
    result = xp.empty(count, dtype)
    if count:
        kernel = load("apply.cu", "cast_values", NOTHING, dtype, stored)
        kernel(tiles(count), BLOCK, x, result, size(count))
    return repeat_value(result, values.size) if kept == ISO else result


def apply(a: Any, op: TypedUnaryOp) -> Any:
    """Return a copy of the storage in which op(x) replaces every value x."""
    how = _map_entries if op.is_positional else _map_values
    return how(a, (cuda_ops.mapping, op), op.reads_x, op.return_type.np_type, NO_THUNK)


def apply_bound(a: Any, op: TypedBinaryOp, value: Any, side: str) -> Any:
    """Return op(value, x) for every value x if `side` is "left", otherwise op(x, value)."""
    on_left = side == "left"
    thunk = scalar(value, (op.type if on_left else op.type2).np_type)
    reads = op.reads_y if on_left else op.reads_x
    how = _map_entries if op.is_positional else _map_values
    return how(a, (cuda_ops.bound_operator, op, side), reads, op.return_type.np_type, thunk)


def apply_index(a: Any, op: TypedIndexUnaryOp, thunk: Any) -> Any:
    """Return a copy of the storage in which op(x, i, j, thunk) replaces every value x. In a vector,
    j is 0."""
    how = _map_entries if op.is_positional else _map_values
    value = scalar(thunk, op.thunk_type.np_type)
    return how(a, (cuda_ops.mapping, op), op.reads_x, op.return_type.np_type, value)


def _map_values(
    a: Any, spec: tuple[Any, ...], reads: bool, dtype: np.dtype[Any], thunk: Any
) -> Any:
    """Return a copy of the storage, with `Op::call` applied to every value.

    If all values are stored as one element, or if the operator does not read them, the values of
    the result are also stored as one element.
    """
    x, stored, kept = read(a.values, reads)
    repeats = kept in (ISO, UNREAD) and a.values.size > 0
    count = 1 if repeats else a.values.size
    result = xp.empty(count, dtype)
    if count:
        kernel = load("apply.cu", "map_values", spec, stored, kept)
        kernel(tiles(count), BLOCK, x, thunk, result, size(count))
    return with_values(a, repeat_value(result, a.values.size) if repeats else result)


def _map_entries(
    a: Any, spec: tuple[Any, ...], reads: bool, dtype: np.dtype[Any], thunk: Any
) -> Any:
    """Apply `Op::call` to every value and its position."""
    count = a.values.size
    result = xp.empty(count, dtype)
    if count:
        x, stored, kept = read(a.values, reads)
        indptr, nrows, indices, where, offset = places(a)
        kernel = load("apply.cu", "map_entries", spec, stored, kept, where, offset)
        kernel(tiles(count), BLOCK, indptr, nrows, indices, x, thunk, result, size(count))
    return with_values(a, result)
