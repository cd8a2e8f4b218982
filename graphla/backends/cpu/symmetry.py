"""Compare a matrix with its transpose, with a compiled loop (`loops/symmetry`) or NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.layout import row_of_entry, sort_order
from graphla.backends.cpu.loops.symmetry import DIFFERENT, SAME
from graphla.backends.cpu.operands import UNREAD, between, spread, threads_worth
from graphla.backends.requests import Symmetry
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Csr, is_iso, nan_bits
from graphla.settings import config


def find_symmetry(a: Csr) -> Symmetry:
    """Return whether a square matrix has the same pattern as its transpose, and whether it also has
    the same values."""
    if compiles(a.nvals, size=a.nrows):
        return _find_symmetry_numba(a, config.threads)
    return _find_symmetry_numpy(a)


def _find_symmetry_numba(a: Csr, threads: int) -> Symmetry:
    n, values = a.nrows, a.values
    reads = a.nvals > 0 and not is_iso(values)
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}") if reads else UNREAD
    cursor, stop = np.empty(n, a.indptr.dtype), np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, bits, cursor, stop)
    loop = load("symmetry.compare", (numba_ops.nothing,), arrays)
    # Each part of the loop reads all rows from its first row to the last row of the matrix. More
    # parts than threads would therefore read more rows in total.
    count = threads_worth(a.nvals, threads)
    shares = [a.nvals * part // count for part in range(1, count)]
    cuts = [0, *np.searchsorted(a.indptr, np.array(shares, a.indptr.dtype)).tolist(), n]
    integers = (int(reads), *nan_bits(values.dtype))
    parts = between(cuts) or [(0, 0)]

    def compare() -> int:
        return min(spread(loop, arrays, integers, parts, threads))

    found = apart(compare, stop, threads, n + a.nvals)
    return Symmetry(found != DIFFERENT, found == SAME)


def _find_symmetry_numpy(a: Csr) -> Symmetry:
    """Sort one triangle and compare it with the other.

    The entries below the diagonal, sorted by column and mirrored, must equal the entries above the
    diagonal. Their counts and the sums of their row and column indices are compared before sorting.
    """
    rows, columns = row_of_entry(a), a.indices
    is_below, is_above = columns < rows, columns > rows
    below_rows, below_columns = rows[is_below], columns[is_below]
    above_rows, above_columns = rows[is_above], columns[is_above]
    if (
        below_rows.size != above_rows.size
        or below_columns.sum(dtype=np.int64) != above_rows.sum(dtype=np.int64)
        or below_rows.sum(dtype=np.int64) != above_columns.sum(dtype=np.int64)
    ):
        return Symmetry(False, False)
    by_column, order = sort_order(below_columns, a.ncols)
    if not (
        np.array_equal(by_column, above_rows) and np.array_equal(below_rows[order], above_columns)
    ):
        return Symmetry(False, False)
    if not a.nvals or is_iso(a.values):
        return Symmetry(True, True)
    x, y = a.values[is_below][order], a.values[is_above]
    return Symmetry(True, bool(_are_same(x, y).all()))


def _are_same(x: Any, y: Any) -> Any:
    """Return, for each pair of values, whether their bits are equal or both are NaN."""
    mask, infinity = nan_bits(x.dtype)
    x, y = (np.ascontiguousarray(each).view(f"u{each.itemsize}") for each in (x, y))
    return (x == y) | (((x & mask) > infinity) & ((y & mask) > infinity))
