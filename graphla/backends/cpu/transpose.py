"""Transpose a matrix by sorting its entries by column.

A matrix with at least `SortTuning.scipy` entries (see layout.py) is transposed by SciPy's counting
sort, which takes linear time and needs no temporary arrays.
"""

from __future__ import annotations

import numpy as np

from graphla import memory
from graphla.backends.cpu.layout import offsets_of_few, row_of_entry, scipy_sorts, sort_order
from graphla.backends.values import gather, repeat_value
from graphla.formats import Array, Csr, is_iso


def transpose(a: Csr) -> Csr:
    """Return the transpose of a matrix, with its entries sorted by row."""
    memory.require_offsets(a.ncols, "columns", a.nvals)
    if scipy_sorts(a.nrows, a.ncols, a.nvals):
        return _transpose_scipy(a)
    return _transpose_numpy(a)


def _transpose_numpy(a: Csr) -> Csr:
    """Return the transpose, using a stable sort of the column indices in NumPy."""
    columns, order = sort_order(a.indices, a.ncols)
    if columns.size < a.ncols:
        indptr = offsets_of_few(columns, a.ncols).astype(a.indptr.dtype, copy=False)
    else:
        indptr = columns.searchsorted(np.arange(a.ncols + 1)).astype(a.indptr.dtype)
    indices = row_of_entry(a)[order]
    return Csr(a.ncols, a.nrows, indptr, indices, gather(a.values, order))


def _transpose_scipy(a: Csr) -> Csr:
    """Return the transpose, using SciPy's conversion from CSR to CSC."""
    from scipy.sparse import csr_array

    rows = csr_array((_to_scipy_values(a.values), a.indices, a.indptr), shape=(a.nrows, a.ncols))
    columns = rows.tocsc()
    values = _from_scipy_values(a.values, columns.data)
    return Csr(a.ncols, a.nrows, columns.indptr, columns.indices, values)


def _to_scipy_values(values: Array) -> Array:
    """Return the array that SciPy sorts together with the indices.

    SciPy needs an array with one element per entry. If all entries share one stored value, the
    function returns an array of zeros with one byte per entry, which the caller ignores. Otherwise
    it returns the values.
    """
    return np.zeros(values.size, np.int8) if is_iso(values) else values


def _from_scipy_values(values: Array, moved: Array) -> Array:
    return repeat_value(values[:1], moved.size) if is_iso(values) else moved
