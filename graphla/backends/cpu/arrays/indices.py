"""Extracting by index: which entries lie at the rows and columns asked for, and where they go."""

from __future__ import annotations

from types import ModuleType

from graphla.backends.cpu.arrays.layout import (
    gather,
    is_increasing,
    offsets,
    ranges,
    sort_order,
    to_sparse,
)
from graphla.backends.cpu.arrays.layout import sort as sort_vector
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector


def extract_vector(xp: ModuleType, v: AnyVector, indices: Array | None) -> SparseVector:
    """w(p) = v(indices[p]); an index may be repeated."""
    if indices is None:
        return sort_vector(xp, to_sparse(xp, v))
    size = indices.size
    if isinstance(v, FullVector):
        values = gather(xp, v.values, indices)
        return SparseVector(size, xp.arange(size, dtype=xp.int32), values)
    if isinstance(v, BitmapVector):
        found = v.present[indices].nonzero()[0]
        values = gather(xp, v.values, indices[found])
        return SparseVector(size, found.astype(xp.int32), values)
    v = sort_vector(xp, v)
    if not v.nvals or not size:
        return SparseVector(size, v.indices[:0], v.values[:0])
    spots = v.indices.searchsorted(indices.astype(xp.int32))
    found = (v.indices[spots.clip(max=v.nvals - 1)] == indices).nonzero()[0]
    return SparseVector(size, found.astype(xp.int32), gather(xp, v.values, spots[found]))


def find(a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
    """Which entry is at i (or at (i, j)), or would come after it, and whether it is there."""
    begin, end, key = 0, a.nvals, i
    if isinstance(a, Csr):
        begin, end, key = int(a.indptr[i]), int(a.indptr[i + 1]), j
    k = begin + int(a.indices[begin:end].searchsorted(key))
    return k, k < end and int(a.indices[k]) == key


def extract_matrix(xp: ModuleType, a: Csr, rows: Array | None, columns: Array | None) -> Csr:
    """C(p, q) = A(rows[p], columns[q]); a row or column may be repeated."""
    if rows is not None:
        a = _extract_rows(xp, a, rows)
    return a if columns is None else _extract_columns(xp, a, columns)


def _extract_rows(xp: ModuleType, a: Csr, rows: Array) -> Csr:
    starts = a.indptr[rows]
    counts = a.indptr[rows + 1] - starts
    indptr = offsets(xp, counts)
    places = ranges(xp, starts, counts, int(indptr[-1]))
    return Csr(rows.size, a.ncols, indptr, a.indices[places], gather(xp, a.values, places))


def _extract_columns(xp: ModuleType, a: Csr, columns: Array) -> Csr:
    """Each entry goes to every q with columns[q] its column; then each row is put in order of q."""
    increasing = is_increasing(columns)
    ordered, order = (columns, None) if increasing else sort_order(xp, columns, a.ncols)
    if a.nvals < a.ncols:
        starts = ordered.searchsorted(a.indices, side="left")
        counts = ordered.searchsorted(a.indices, side="right") - starts
    else:
        ends = ordered.searchsorted(xp.arange(a.ncols + 1))
        starts, counts = ends[a.indices], (ends[1:] - ends[:-1])[a.indices]
    indptr = offsets(xp, counts)
    total = int(indptr[-1])
    q = ranges(xp, starts, counts, total)
    values = gather(xp, a.values, xp.arange(a.nvals).repeat(counts))
    indptr = indptr[a.indptr]
    if order is None:
        return Csr(a.nrows, columns.size, indptr, q.astype(xp.int32), values)
    keys = xp.arange(a.nrows, dtype=xp.int64).repeat(indptr[1:] - indptr[:-1])
    keys *= columns.size
    keys += order[q]
    keys, by_key = sort_order(xp, keys, a.nrows * columns.size)
    indices = (keys % columns.size).astype(xp.int32) if total else keys.astype(xp.int32)
    return Csr(a.nrows, columns.size, indptr, indices, gather(xp, values, by_key))
