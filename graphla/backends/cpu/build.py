"""Build a vector or a matrix from entries in any order. An operator combines entries with the same
position. If no operator is given, such entries are an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphla import memory
from graphla.backends.cpu.dispatch import SIMPLE, compiles
from graphla.backends.cpu.folding import flag_run_starts, fold_from_left
from graphla.backends.cpu.layout import (
    from_keys,
    index_dtype,
    is_increasing,
    offsets,
    scipy_sorts,
    sort_in_place,
    sort_order,
)
from graphla.backends.cpu.operands import WORDS, cut, threads_worth
from graphla.backends.values import duplicate_entry, gather, repeat_value
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings.operators import TypedBinaryOp

SORT_PARTS = 32
"""Rows are sorted in at most this number of parts. The more parts, the less scratch memory is
needed."""
PARTS = 16
"""Duplicates are combined in this number of parts. The more parts, the less scratch memory is
needed."""


def build_vector(
    size: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
) -> SparseVector:
    """Build a vector; `dup_op` combines values with the same index from left to right.

    Without `dup_op`, an index that occurs twice raises an error.
    """
    if is_increasing(indices):
        return SparseVector(size, indices.astype(np.int32), values)
    keys, order = sort_order(indices, size)
    values = gather(values, order)
    first = first_of_equal(keys)
    if first is not None:
        values = fold_equal(values, first, dup_op, lambda k: int(keys[k]))
        keys = keys.compress(first)
    return SparseVector(size, keys.astype(np.int32), values)


def build_matrix(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Build a matrix; `dup_op` combines values with the same position from left to right.

    Without `dup_op`, a position that occurs twice raises an error.
    """
    memory.require_offsets(nrows, "rows", values.size)
    threads = compiles(values.size // SIMPLE, size=max(nrows, ncols))
    if threads and 0 < max(nrows, ncols) <= values.size and values.itemsize in WORDS:
        return _build_numba(nrows, ncols, rows, columns, values, dup_op, threads)
    # If a single value is shared by all entries, `_build_numpy` sorts only the positions. This is
    # faster than SciPy's sorts, which also move the values.
    if not is_iso(values) and scipy_sorts(nrows, ncols, values.size):
        return _build_scipy(nrows, ncols, rows, columns, values, dup_op)
    return _build_numpy(nrows, ncols, rows, columns, values, dup_op)


def _build_numpy(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Build a matrix by sorting the keys row * ncols + column."""
    keys = rows.astype(np.int64)
    keys *= ncols
    keys += columns
    is_sorted = is_increasing(keys)
    if is_sorted:
        pass
    elif is_iso(values):  # all entries share a single value, so sort only the keys
        sort_in_place(keys)
    else:
        order = None
        keys, order = sort_order(keys, nrows * ncols)
        values = gather(values, order)
        del order
    first = None if is_sorted else first_of_equal(keys)
    if first is not None:
        values = fold_equal(values, first, dup_op, lambda k: divmod(int(keys[k]), ncols))
        keys = keys.compress(first)
    return from_keys(nrows, ncols, keys, values)


def _build_numba(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
    threads: int,
) -> Csr:
    """Build a matrix with compiled loops.

    The loops need little memory in addition to the result. The distribution to rows and the sort of
    each row are stable, so entries with the same position keep the order in which they were given.
    """
    iso, word = is_iso(values), WORDS[values.itemsize]
    given = np.empty(0, np.uint8) if iso else np.ascontiguousarray(values).view(word)
    indptr, indices, new = _distribute(nrows, rows, columns, given, threads)
    are_distinct = _sort_rows(indptr, indices, new, ncols, threads)
    values = np.broadcast_to(values[:1], indices.size) if iso else new.view(values.dtype)
    a = Csr(nrows, ncols, indptr, indices, values)
    return a if are_distinct else _fold_duplicates(a, dup_op)


def _distribute(
    nrows: int, rows: Array, columns: Array, values: Array, threads: int
) -> tuple[Array, Array, Array]:
    """Return the indptr of the matrix, and the columns and values of its entries, row by row.

    `values` may be empty. The entries of a row keep their order.
    """
    rows, columns = (
        np.ascontiguousarray(each, None if each.dtype == np.int32 else np.int64)
        for each in (rows, columns)
    )
    size = rows.size
    count = threads_worth(size, threads)
    parts = [(k, size * k // count, size * (k + 1) // count) for k in range(count)]
    following = np.zeros((count, nrows), index_dtype(size))
    given = rows, following.reshape(-1)
    loop = load("build.count", (numba_ops.nothing,), given)
    run(lambda *part: loop(*given, nrows, *part), parts, threads)
    indptr = offsets(following.sum(0))
    before = indptr[:-1].copy()
    # Replace the number of entries that a part has in a row with the position of the first one of
    # these entries.
    for each in following:
        each[:], before = before, before + each
    indices, moved = np.empty(size, np.int32), np.empty(values.size, values.dtype)
    arrays = rows, columns, values, following.reshape(-1), indices, moved
    loop = load("build.place", (numba_ops.nothing,), arrays)
    run(lambda *part: loop(*arrays, int(values.size > 0), nrows, *part), parts, threads)
    return indptr, indices, moved


def _sort_rows(indptr: Array, indices: Array, values: Array, ncols: int, threads: int) -> bool:
    """Sort the entries of each row by column, in place. Return whether there are no duplicates.

    `values` may be empty.
    """
    parts = cut(np.diff(indptr), max(1, min(SORT_PARTS, indices.size // ncols)))
    scratch = np.empty(0, indptr.dtype), *np.empty((2, 0), np.int32), values[:0]
    loop = load("build.sort", (numba_ops.nothing,), (indptr, indices, values, *scratch))

    def sort(start: int, stop: int) -> bool:
        entries = int(indptr[stop] - indptr[start])
        ends = np.empty(max(ncols + 1, stop - start), indptr.dtype)
        places, moved = np.empty((2, entries), np.int32), np.empty(entries, values.dtype)
        return loop(
            indptr, indices, values, ends, *places, moved, int(values.size > 0), start, stop
        )

    return all(run(sort, parts, threads))


def _build_scipy(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Build a matrix with two of SciPy's counting sorts: by column, and then by row.

    Both sorts are stable. So the rows of the result are sorted, and entries with the same position
    keep the order in which they were given.
    """
    from scipy.sparse import coo_array

    rows, columns = rows.astype(np.int32, copy=False), columns.astype(np.int32, copy=False)
    given = coo_array((values, (rows, columns)), shape=(nrows, ncols))
    del rows, columns
    given.has_canonical_format = True  # otherwise SciPy would add up duplicates
    by_column = given.tocsc()
    del given
    by_row: Any = by_column.tocsr()
    del by_column
    a = Csr(nrows, ncols, by_row.indptr, by_row.indices, by_row.data)
    return _fold_duplicates(a, dup_op)


def _fold_duplicates(a: Csr, dup_op: TypedBinaryOp | None) -> Csr:
    """Combine duplicate entries of a matrix whose rows are sorted, or raise an error.

    Duplicates are combined in parts, so that little memory is needed in addition to the result. No
    part splits a run of duplicates.
    """
    size = a.indices.size
    if size < 2:
        return a
    first = flag_run_starts(a.indices)
    starts = a.indptr[:-1]
    # The first entry of a row is not a duplicate, even if the last entry of an earlier row has the
    # same column.
    first[starts[starts < size]] = True
    kept = int(first.sum())
    if kept == size:
        return a

    if dup_op is None:
        k = int(first.argmin())
        raise duplicate_entry((int(a.indptr.searchsorted(k, side="right")) - 1, int(a.indices[k])))
    indices, values = np.empty(kept, a.indices.dtype), None
    indptr = np.empty(a.nrows + 1, index_dtype(kept))
    begin = done = row = 0
    part = max(size // PARTS, 1 << 10)
    while begin < size:
        end = min(begin + part, size)
        if end < size:
            end += int(first[end:].argmax())
            end = end if first[end] else size
        flags = first[begin:end]
        folded = fold_from_left(a.values[begin:end], flags.nonzero()[0], dup_op)
        if is_iso(folded):
            values = repeat_value(folded[:1], kept)
        else:
            values = np.empty(kept, folded.dtype) if values is None else values
            values[done : done + folded.size] = folded
        indices[done : done + folded.size] = a.indices[begin:end].compress(flags)
        next_row = int(a.indptr.searchsorted(end))  # the first row that begins at `end` or later
        ends = flags.cumsum(dtype=np.int64)
        bounds = a.indptr[row:next_row] - begin
        indptr[row:next_row] = done + ends[bounds] - flags[bounds]
        begin, done, row = end, done + folded.size, next_row
    indptr[row:] = kept
    return Csr(a.nrows, a.ncols, indptr, indices, values)


def fold_equal(
    values: Array,
    first: Array,
    dup_op: TypedBinaryOp | None,
    place_of: Callable[[int], Any],
) -> Array:
    """Return the values, with each run of duplicates combined from left to right.

    `first` flags the first value of each run. Without `dup_op`, raise an error that names the first
    position that occurs twice.
    """
    if dup_op is None:
        raise duplicate_entry(place_of(int(first.argmin())))
    return fold_from_left(values, first.nonzero()[0], dup_op)


def first_of_equal(keys: Array) -> Array | None:
    """Return, for each key, whether it begins a run of equal keys; return None if no two keys are
    equal."""
    first = flag_run_starts(keys)
    return None if bool(first.all()) else first
