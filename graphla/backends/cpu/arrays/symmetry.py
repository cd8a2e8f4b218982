"""Compare a matrix with its transpose, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.layout import row_of_entry, sort_order
from graphla.backends.traversals import Symmetry, nan_bits
from graphla.formats import Csr, is_iso


def find_symmetry(a: Csr) -> Symmetry:
    """Return whether a square matrix has the pattern, and the values, of its transpose.

    The entries below the diagonal, sorted by column and mirrored, must equal the entries above the
    diagonal. Before sorting, their numbers and the sums of their row and column indices are
    compared.
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
