"""Counting sorts on the host, by SciPy's compiled routines: COO to CSR, and CSR to its transpose.

Linear in the entries, and sparing with memory: building holds two copies of the result at a time
beyond its inputs, transposing nothing but the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.arrays import building
from graphla.backends.cpu.arrays.layout import repeat_value
from graphla.formats import Array, Csr, is_iso
from semirings.operators import TypedBinaryOp

INT32_END = 1 << 31


def transpose(a: Csr) -> Csr:
    """The same entries by columns."""
    from scipy.sparse import csr_array

    rows = csr_array((_carried(a.values), a.indices, a.indptr), shape=(a.nrows, a.ncols))
    columns = rows.tocsc()
    values = _returned(a.values, columns.data)
    return Csr(a.ncols, a.nrows, columns.indptr, columns.indices, values)


def build_matrix(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Entries in any order, equal places folded by dup_op from the left.

    Sorted by column, then by row, each time keeping the order of equals: so rows come out sorted,
    and equal places in the order in which they were given. Where all values are one, sorting the
    places alone is quicker.
    """
    if is_iso(values):
        return building.build_matrix(np, nrows, ncols, rows, columns, values, dup_op)
    from scipy.sparse import coo_array

    rows, columns = rows.astype(np.int32, copy=False), columns.astype(np.int32, copy=False)
    given = coo_array((values, (rows, columns)), shape=(nrows, ncols))
    del rows, columns
    given.has_canonical_format = True  # or SciPy would add equal places up
    by_column = given.tocsc()
    del given
    by_row: Any = by_column.tocsr()
    del by_column
    a = Csr(nrows, ncols, by_row.indptr, by_row.indices, by_row.data)
    return building.fold_duplicates(np, a, dup_op)


def fits(nrows: int, ncols: int, nvals: int) -> bool:
    """Whether SciPy's 32-bit routines serve: they would widen the indices otherwise."""
    return max(nrows, ncols) < INT32_END - 1 and nvals < INT32_END - 1


def _carried(values: Array) -> Array:
    """What SciPy moves along with the indices: the values, or a byte each where all are one."""
    return np.zeros(values.size, np.int8) if is_iso(values) else values


def _returned(values: Array, moved: Array) -> Array:
    return repeat_value(np, values[:1], moved.size) if is_iso(values) else moved
