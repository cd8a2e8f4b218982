"""Sorts by a comparison: the host side of `loops/sort`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.arrays.layout import index_dtype
from graphla.backends.cpu.operands import PARALLEL, Parts, row_parts
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array
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
    spec, stop = (numba_ops.comparing, op), np.zeros(1, np.int64)

    def spread(name: str, parts: Parts, *arrays: Array) -> None:
        loop = load(name, spec, (*arrays, stop))
        apart(
            lambda: run(lambda *part: loop(*arrays, stop, *part), parts, threads, stop),
            stop,
            threads,
            size,
        )

    spread("sort.segments", row_parts(bounds, threads), bounds, values, *found, *spare)
    while indptr is None and bounds.size > 2:
        pairs = [(s, s + 1) for s in range(bounds.size // 2)]
        spread("sort.pairs", pairs, bounds, *found, *spare)
        bounds, found, spare = bounds[::2].copy(), spare, found
    return found


def _stretches(size: int, threads: int) -> Array:
    """Where to cut all values so that each thread sorts a part: a power of two of them."""
    count = 1 << (threads - 1).bit_length() if size > PARALLEL else 1
    return np.array([size * k // count for k in range(count + 1)], index_dtype(np, size))
