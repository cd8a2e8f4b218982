"""Sorts by a comparison: the host side of `loops/sort`."""

from __future__ import annotations

import numpy as np

from graphla.backends.arrays.layout import index_dtype
from graphla.backends.compiled.parts import row_parts, spread
from graphla.kernels import specialise
from graphla.kernels.compiled import load
from graphla.storage import Array
from semirings.operators import TypedBinaryOp


def merge_sort(
    values: Array, indptr: Array | None, op: TypedBinaryOp, threads: int
) -> tuple[Array, Array]:
    """The values in the order of op, of all or of each segment, and where each was."""
    size = values.size
    bounds = np.array([0, size], index_dtype(np, size)) if indptr is None else indptr
    found, scratch = np.empty_like(values), np.empty_like(values)
    places = np.empty(size, index_dtype(np, size))
    arrays = (bounds, values, found, places, scratch, np.empty_like(places))
    loop = load("sort.segments", (specialise.comparing, op), arrays)
    spread(loop, arrays, (), row_parts(bounds, threads), threads)
    return found, places
