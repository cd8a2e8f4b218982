"""Transpose a matrix by sorting. Kernels: convert.cu.

If all entries share one stored value, only their positions are sorted, as keys. This takes 16 bytes
per entry in addition to the result, or 8 bytes if keys fit in 32 bits. Otherwise a stable sort of
the column indices determines the order of rows and values. This takes about 28 bytes per entry.

The host does not wait.
"""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.backends.cuda.build import bits_of, from_keys, key_dtype
from graphla.backends.cuda.convert import add_up_sizes
from graphla.backends.cuda.launch import BLOCK, blocks, rows_of, size, tiles
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Csr, is_iso


def transpose(a: Csr) -> Csr:
    """Return the transpose of a matrix."""
    if not a.nvals:
        return Csr(a.ncols, a.nrows, xp.zeros(a.ncols + 1, xp.int32), a.indices, a.values)
    return _by_keys(a) if is_iso(a.values) else _by_order(a)


def _by_keys(a: Csr) -> Csr:
    keys = xp.empty(a.nvals, key_dtype(a.ncols, a.nrows))
    kernel = load("convert.cu", "pack_transposed", NOTHING, a.indptr.dtype, keys.dtype)
    bits = np.int32(bits_of(a.nrows))
    kernel(tiles(a.nvals), BLOCK, a.indptr, a.indices, size(a.nrows), bits, keys, size(a.nvals))
    keys.sort()
    return from_keys(a.ncols, a.nrows, keys, a.values)


def _by_order(a: Csr) -> Csr:
    sizes, grid = xp.zeros(a.ncols + 1, a.indptr.dtype), blocks(a.nvals)
    kernel = load("convert.cu", "count_columns", NOTHING, a.indptr.dtype)
    kernel(grid, BLOCK, a.indices, size(a.nvals), sizes)
    add_up_sizes(sizes)
    order, rows = a.indices.argsort(), rows_of(a)
    indices, values = xp.empty(a.nvals, xp.int32), xp.empty(a.nvals, a.values.dtype)
    kernel = load("convert.cu", "move_entries", NOTHING, a.values.dtype)
    kernel(grid, BLOCK, order, rows, a.values, size(a.nvals), indices, values)
    return Csr(a.ncols, a.nrows, sizes, indices, values)
