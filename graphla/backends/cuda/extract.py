"""Extract the entries at given rows and columns. Kernels: extract.cu.

For a vector, the host waits for the number of entries found, unless the vector is full. For a
matrix, it waits for the number of entries in the given rows. If columns are given, it also waits to
learn whether they are increasing, whether a column occurs twice, and how many entries were found.
In `find`, the host waits for the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.build import build_matrix, is_increasing
from graphla.backends.cuda.convert import move, repeat_iso, sort, to_sparse
from graphla.backends.cuda.launch import (
    BLOCK,
    NULL,
    blocks,
    counter,
    next_answer,
    number,
    offset_dtype,
    rows_of,
    size,
    tiles,
)
from graphla.backends.cuda.select import keep, scan_and_count, scan_offsets
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector, is_iso


@dataclass(frozen=True)
class ExtractTuning:
    """Tuning parameter that decides how the extracted columns are looked up."""

    few_columns: int = 16
    """Normally a binary search in the sorted list of extracted columns finds the column of each
    entry. But a table with one element per column of the matrix is faster if the extracted columns
    are distinct, not in ascending order, and at least 1 / few_columns of all columns."""


TUNING = ExtractTuning()


def extract_vector(v: AnyVector, indices: Array | None) -> SparseVector:
    """Return w(p) = v(indices[p]); an index may be repeated."""
    if indices is None:
        return sort(to_sparse(v))
    asked = indices.size
    if not asked or (isinstance(v, SparseVector) and not v.nvals):
        return SparseVector(asked, xp.empty(0, xp.int32), v.values[:0])
    places = xp.arange(asked, dtype=xp.int32)
    if not isinstance(v, SparseVector):
        w = SparseVector(asked, places, move(v.values, indices))
        return w if isinstance(v, FullVector) else keep(w, v.present[indices])
    v = sort(v)
    found, sources = xp.empty(asked, bool), xp.empty(asked, xp.int64)
    wanted = indices.astype(xp.int64, copy=False)
    kernel = load("extract.cu", "find_entries", NOTHING)
    kernel(blocks(asked), BLOCK, v.indices, size(v.nvals), wanted, size(asked), found, sources)
    return keep(SparseVector(asked, places, move(v.values, sources)), found)


def find(a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
    """Search for the entry at index i of a vector or at row i and column j of a matrix. Return its
    position in the arrays, and whether the entry exists.

    If the entry does not exist, the position is the one at which it would be inserted.
    """
    result, is_matrix = counter(), isinstance(a, Csr)
    indptr, offset = (a.indptr, a.indptr.dtype) if is_matrix else (NULL, np.dtype(np.int32))  # pyright: ignore
    kernel = load("extract.cu", "find_place", NOTHING, offset)
    key = np.int32(j if is_matrix else i)
    kernel(1, 1, indptr, size(i), a.indices, size(a.nvals), key, result)
    k, there = divmod(number(result), 2)
    return k, bool(there)


def element(a: AnyVector | Csr, i: int, j: int = 0) -> Any:
    """Return the value at index i, or at (i, j), as a NumPy scalar; None if there is no entry."""
    indptr, indices, present, offset = NULL, NULL, NULL, np.dtype(np.int32)
    if isinstance(a, Csr):
        indptr, indices, offset = a.indptr, a.indices, a.indptr.dtype
    elif isinstance(a, SparseVector):
        indices = a.indices
    elif isinstance(a, BitmapVector):
        present = a.present
    if not a.values.size:
        return None
    dtype, step = a.values.dtype, np.int64(0 if is_iso(a.values) else 1)
    kernel = load("extract.cu", "read_element", NOTHING, offset, np.dtype(f"u{dtype.itemsize}"))
    answer, key = next_answer(), np.int32(j if isinstance(a, Csr) else i)
    entries = (indptr, size(i), indices, size(a.values.size), key)
    kernel(1, 1, *entries, present, a.values, step, answer.pointer)
    return answer.value(1, dtype) if answer.wait() else None


def extract_matrix(a: Csr, rows: Array | None, columns: Array | None) -> Csr:
    """Return C(p, q) = A(rows[p], columns[q]); a row or column may be repeated."""
    if rows is not None:
        a = _extract_rows(a, rows.astype(xp.int64, copy=False))
    return a if columns is None else _extract_columns(a, columns.astype(xp.int64, copy=False))


def _extract_rows(a: Csr, rows: Array) -> Csr:
    ends = xp.zeros(rows.size + 1, xp.int64)
    if not rows.size:
        return Csr(0, a.ncols, ends.astype(xp.int32), xp.empty(0, xp.int32), a.values[:0])
    kernel = load("extract.cu", "sizes_of_rows", NOTHING, a.indptr.dtype)
    kernel(blocks(rows.size), BLOCK, a.indptr, rows, size(rows.size), ends)
    indptr, count = scan_offsets(ends)
    indices = xp.empty(count, xp.int32)
    has_values = not is_iso(a.values)
    values = xp.empty(count, a.values.dtype) if has_values else repeat_iso(a.values, count)
    if count:
        types = (a.indptr.dtype, indptr.dtype, a.values.dtype, has_values)
        kernel = load("extract.cu", "gather_rows", NOTHING, *types)
        kernel(
            tiles(count),
            BLOCK,
            *(a.indptr, a.indices, a.values, rows, size(rows.size), indptr, size(count)),
            *(indices, values if has_values else NULL),
        )
    return Csr(rows.size, a.ncols, indptr, indices, values)


def _extract_columns(a: Csr, columns: Array) -> Csr:
    """Return C(i, q) = A(i, columns[q]).

    The entries of A are copied in their order in A. Unless `columns` is strictly increasing, each
    row of C is then sorted by q.
    """
    asked = columns.size
    if not a.nvals or not asked:
        none = xp.zeros(a.nrows + 1, xp.int32)
        return Csr(a.nrows, asked, none, xp.empty(0, xp.int32), a.values[:0])
    order = None
    if not is_increasing(columns):
        order = columns.argsort()
        columns, asked_for = columns[order], columns
        if asked * current(TUNING).few_columns >= a.ncols and is_increasing(columns):
            return _renumber(a, asked_for)
    grid, entries = blocks(a.nvals), size(a.nvals)
    ends = xp.empty(a.nvals, xp.int64)
    kernel = load("extract.cu", "count_matches", NOTHING)
    kernel(grid, BLOCK, a.indices, entries, columns, size(asked), ends)
    count = scan_and_count(ends)
    indices, sources = xp.empty(count, xp.int32), xp.empty(count, xp.int64)
    if count:
        kernel = load("extract.cu", "list_matches", NOTHING)
        kernel(
            blocks(count),
            BLOCK,
            *(a.indices, entries, columns, size(asked), NULL if order is None else order),
            *(ends, size(count), indices, sources),
        )
    indptr = xp.empty(a.nrows + 1, offset_dtype(count))
    kernel = load("extract.cu", "offsets_of_matches", NOTHING, a.indptr.dtype, indptr.dtype)
    kernel(blocks(indptr.size), BLOCK, a.indptr, size(a.nrows), ends, indptr)
    c = Csr(a.nrows, asked, indptr, indices, move(a.values, sources))
    if order is None:
        return c
    return build_matrix(c.nrows, c.ncols, rows_of(c), c.indices, c.values, None)


def _renumber(a: Csr, columns: Array) -> Csr:
    """Extract distinct columns, using a table that maps each column `columns[q]` to q."""
    numbers = xp.full(a.ncols, -1, xp.int32)
    numbers[columns] = xp.arange(columns.size, dtype=xp.int32)
    c = Csr(a.nrows, columns.size, a.indptr, numbers[a.indices], a.values)
    if columns.size < a.ncols:
        c = keep(c, c.indices >= 0)
    return build_matrix(c.nrows, c.ncols, rows_of(c), c.indices, c.values, None)
