"""One entry at a time: apply, apply with a scalar bound, apply by place. Kernels: map.cu."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.arrays.layout import repeat_value, with_values
from graphla.backends.cuda.launching import BLOCK, blocks, read, size
from graphla.kernels import structs
from graphla.kernels.cuda import load
from graphla.storage import Array, is_iso
from semirings.operators import TypedBinaryOp, TypedUnaryOp

NO_THUNK = np.bool_(False)


def apply(a: Any, op: TypedUnaryOp) -> Any:
    """op(x) of every value."""
    return with_values(a, map_values(a.values, (structs.mapping, op), op.return_type.np_type))


def apply_bound(a: Any, op: TypedBinaryOp, value: Any, side: str) -> Any:
    """op(value, x) of every value x, or op(x, value), as the `side` of the scalar is."""
    dtype = (op.type if side == "left" else op.type2).np_type
    thunk = np.asarray(value).astype(dtype)[()]
    spec = (structs.bound, op, side)
    return with_values(a, map_values(a.values, spec, op.return_type.np_type, thunk))


def map_values(
    values: Array, spec: tuple[Any, ...], dtype: np.dtype[Any], thunk: Any = NO_THUNK
) -> Array:
    """`Op::call` of every value; iso where they are."""
    count = 1 if is_iso(values) else values.size
    result = xp.empty(count, dtype)
    if count:
        x, stored, kept = read(values)
        kernel = load("map.cu", "map_values", spec, stored, kept)
        kernel(blocks(count), BLOCK, x, thunk, result, size(count))
    return repeat_value(xp, result, values.size) if is_iso(values) else result
