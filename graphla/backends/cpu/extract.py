"""Extract the entries at given rows, columns or indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.convert import sort, to_sparse
from graphla.backends.cpu.layout import is_increasing, offsets, ranges, sort_order
from graphla.backends.values import gather
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector


def extract_vector(v: AnyVector, indices: Array | None) -> SparseVector:
    """w(p) = v(indices[p]); an index may occur several times."""
    if indices is None:
        return sort(to_sparse(v))
    size = indices.size
    if isinstance(v, FullVector):
        values = gather(v.values, indices)
        return SparseVector(size, np.arange(size, dtype=np.int32), values)
    if isinstance(v, BitmapVector):
        found = v.present[indices].nonzero()[0]
        values = gather(v.values, indices[found])
        return SparseVector(size, found.astype(np.int32), values)
    v = sort(v)
    if not v.nvals or not size:
        return SparseVector(size, v.indices[:0], v.values[:0])
    spots = v.indices.searchsorted(indices.astype(np.int32))
    found = (v.indices[spots.clip(max=v.nvals - 1)] == indices).nonzero()[0]
    return SparseVector(size, found.astype(np.int32), gather(v.values, spots[found]))


def find(a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
    """Return the position of the entry at i (or (i, j)), and whether it exists.

    If it does not exist, the position is where it would be inserted.
    """
    begin, end, key = 0, a.nvals, i
    if isinstance(a, Csr):
        begin, end, key = int(a.indptr[i]), int(a.indptr[i + 1]), j
    k = begin + int(a.indices[begin:end].searchsorted(key))
    return k, k < end and int(a.indices[k]) == key


def element(a: AnyVector | Csr, i: int, j: int = 0) -> Any:
    """Return the value at i (or (i, j)) as a NumPy scalar, or None if there is no entry."""
    if isinstance(a, FullVector):
        return a.values[i]
    if isinstance(a, BitmapVector):
        return a.values[i] if a.present[i] else None
    k, there = find(a, i, j)
    return a.values[k] if there else None


def extract_matrix(a: Csr, rows: Array | None, columns: Array | None) -> Csr:
    """C(p, q) = A(rows[p], columns[q]); a row or column may occur several times."""
    if rows is not None:
        a = _extract_rows(a, rows)
    return a if columns is None else _extract_columns(a, columns)


def _extract_rows(a: Csr, rows: Array) -> Csr:
    starts = a.indptr[rows]
    counts = a.indptr[rows + 1] - starts
    indptr = offsets(counts)
    places = ranges(starts, counts, int(indptr[-1]))
    return Csr(rows.size, a.ncols, indptr, a.indices[places], gather(a.values, places))


def _extract_columns(a: Csr, columns: Array) -> Csr:
    """Compute C(i, q) = A(i, columns[q]).

    Each entry A(i, j) is copied to every column q with columns[q] = j. Then each row is sorted.
    """
    increasing = is_increasing(columns)
    ordered, order = (columns, None) if increasing else sort_order(columns, a.ncols)
    if a.nvals < a.ncols:
        starts = ordered.searchsorted(a.indices, side="left")
        counts = ordered.searchsorted(a.indices, side="right") - starts
    else:
        ends = ordered.searchsorted(np.arange(a.ncols + 1))
        starts, counts = ends[a.indices], (ends[1:] - ends[:-1])[a.indices]
    indptr = offsets(counts)
    total = int(indptr[-1])
    q = ranges(starts, counts, total)
    values = gather(a.values, np.arange(a.nvals).repeat(counts))
    indptr = indptr[a.indptr]
    if order is None:
        return Csr(a.nrows, columns.size, indptr, q.astype(np.int32), values)
    keys = np.arange(a.nrows, dtype=np.int64).repeat(indptr[1:] - indptr[:-1])
    keys *= columns.size
    keys += order[q]
    keys, by_key = sort_order(keys, a.nrows * columns.size)
    indices = (keys % columns.size).astype(np.int32) if total else keys.astype(np.int32)
    return Csr(a.nrows, columns.size, indptr, indices, gather(values, by_key))
