"""Extract the entries at given rows, columns or indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.convert import sort, to_sparse
from graphla.backends.cpu.dispatch import SIMPLE, compiles
from graphla.backends.cpu.layout import is_increasing, offsets, ranges, sort_order
from graphla.backends.cpu.loops.extract import Rows
from graphla.backends.cpu.operands import WORDS, count_parts, cut, join_parts
from graphla.backends.values import gather
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    FullVector,
    SparseVector,
    is_iso,
)


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
    """Return the position of the entry at i (or at (i, j)), and whether the entry exists.

    If the entry does not exist, the position is the one at which it would be inserted.
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
    lengths = np.diff(a.indptr) if rows is None else a.indptr[rows + 1] - a.indptr[rows]
    entries = int(lengths.sum(dtype=np.int64))
    threads = compiles(entries // SIMPLE) if a.values.itemsize in WORDS else 0
    # The loop needs an array with one element per column of A, so it must extract enough entries.
    is_fast = columns is None or (entries >= a.ncols // 8 and is_increasing(columns))
    if threads and is_fast:
        return _extract_numba(a, rows, columns, lengths, threads)
    if rows is not None:
        a = _extract_rows(a, rows)
    return a if columns is None else _extract_columns(a, columns)


def _extract_numba(
    a: Csr, rows: Array | None, columns: Array | None, lengths: Array, threads: int
) -> Csr:
    """Extract rows, and columns in increasing order, with compiled loops.

    `lengths` holds the number of entries of each row to extract.
    """
    nrows, ncols = lengths.size, a.ncols if columns is None else columns.size
    iso, word = is_iso(a.values), WORDS[a.values.itemsize]
    old = np.empty(0, np.uint8) if iso else np.ascontiguousarray(a.values).view(word)
    chosen = np.ascontiguousarray([] if rows is None else rows, np.int64)
    places = np.full(0 if columns is None else a.ncols, -1, np.int32)
    if columns is not None:
        places[columns] = np.arange(ncols, dtype=np.int32)
    has = int(not iso), int(rows is not None), int(columns is not None)
    given = Rows(a.indptr, a.indices, old, chosen, places, *has)
    ends = offsets(lengths)
    parts = cut(lengths + 1, count_parts(int(ends[-1]) + nrows, threads))
    begins = [int(ends[start]) for start, _ in parts]
    indptr = np.empty(nrows + 1, ends.dtype)
    indices = np.empty(int(ends[-1]), np.int32)
    values = np.empty(0 if iso else indices.size, a.values.dtype)
    arrays = (indptr, indices, values if iso else values.view(word))
    loop = load("extract.copy", (numba_ops.nothing,), (given, *arrays))
    stops = run(
        lambda *part: loop(*given, *arrays, *part),
        [(begin, *part) for begin, part in zip(begins, parts, strict=True)],
        threads,
    )
    indptr = join_parts(indptr, (indices,) if iso else (indices, values), parts, begins, stops)
    if iso:
        values = np.broadcast_to(a.values[:1], indices.size)
    return Csr(nrows, ncols, indptr, indices, values)


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
