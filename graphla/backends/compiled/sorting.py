"""Sorts by a comparison: the host side of `loops/sort`."""

from __future__ import annotations

import numpy as np

from graphla.backends.arrays.layout import index_dtype
from graphla.backends.compiled.parts import PARALLEL, row_parts, spread
from graphla.kernels import specialise
from graphla.kernels.compiled import load
from graphla.storage import Array
from semirings.operators import TypedBinaryOp


def merge_sort(
    values: Array, indptr: Array | None, op: TypedBinaryOp, threads: int
) -> tuple[Array, Array]:
    """The values in the order of op, of all or of each segment, and where each was."""
    size = values.size
    bounds = _stretches(size, threads) if indptr is None else indptr
    dtype = index_dtype(np, size)
    found = np.empty_like(values), np.empty(size, dtype)
    spare = np.empty_like(values), np.empty(size, dtype)
    spec, arrays = (specialise.comparing, op), (bounds, values, *found, *spare)
    loop = load("sort.segments", spec, arrays)
    spread(loop, arrays, (), row_parts(bounds, threads), threads)
    while indptr is None and bounds.size > 2:
        arrays = (bounds, *found, *spare)
        loop = load("sort.pairs", spec, arrays)
        spread(loop, arrays, (), [(s, s + 1) for s in range(bounds.size // 2)], threads)
        bounds, found, spare = bounds[::2].copy(), spare, found
    return found


def _stretches(size: int, threads: int) -> Array:
    """Where to cut all values so that each thread sorts a part: a power of two of them."""
    count = 1 << (threads - 1).bit_length() if size > PARALLEL else 1
    return np.array([size * k // count for k in range(count + 1)], index_dtype(np, size))
