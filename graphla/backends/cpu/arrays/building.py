"""Entries in any order, made into a vector or a matrix; equal places are folded or refused."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from graphla.backends.cpu.arrays.folding import fold_from_left
from graphla.backends.cpu.arrays.layout import (
    from_keys,
    gather,
    index_dtype,
    is_increasing,
    sort_in_place,
    sort_order,
)
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings.exceptions import DuplicateEntry
from semirings.operators import TypedBinaryOp

PARTS = 16
"""In how many parts entries are folded, so that what a part needs is small beside the result."""


def build_vector(
    xp: ModuleType, size: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
) -> SparseVector:
    """Entries in any order, equal indices folded by dup_op from the left."""
    if is_increasing(indices):
        return SparseVector(size, indices.astype(xp.int32), values)
    keys, order = sort_order(xp, indices, size)
    values = gather(xp, values, order)
    first = first_of_equal(xp, keys)
    if first is not None:
        values = fold_equal(xp, values, first, dup_op, lambda k: int(keys[k]))
        keys = keys.compress(first)
    return SparseVector(size, keys.astype(xp.int32), values)


def build_matrix(
    xp: ModuleType,
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Entries in any order, equal places folded by dup_op from the left."""
    keys = rows.astype(xp.int64)
    keys *= ncols
    keys += columns
    is_sorted = is_increasing(keys)
    if is_sorted:
        pass
    elif is_iso(values):  # equal values need not follow their keys
        sort_in_place(xp, keys)
    else:
        order = None
        keys, order = sort_order(xp, keys, nrows * ncols)
        values = gather(xp, values, order)
        del order
    first = None if is_sorted else first_of_equal(xp, keys)
    if first is not None:
        values = fold_equal(xp, values, first, dup_op, lambda k: divmod(int(keys[k]), ncols))
        keys = keys.compress(first)
    return from_keys(xp, nrows, ncols, keys, values)


def fold_duplicates(xp: ModuleType, a: Csr, dup_op: TypedBinaryOp | None) -> Csr:
    """A matrix whose rows are sorted but may hold a column twice, with those folded or refused.

    Part by part, each ending where a run of equal places does: what is made beside the result
    stays small.
    """
    size = a.indices.size
    if size < 2:
        return a
    first = xp.empty(size, bool)
    first[0] = True
    xp.not_equal(a.indices[1:], a.indices[:-1], out=first[1:])
    starts = a.indptr[:-1]
    first[starts[starts < size]] = True  # the same column in the next row is another place
    kept = int(first.sum())
    if kept == size:
        return a

    if dup_op is None:
        k = int(first.argmin())
        raise _given_twice((int(a.indptr.searchsorted(k, side="right")) - 1, int(a.indices[k])))
    indices, values = xp.empty(kept, a.indices.dtype), None
    indptr = xp.empty(a.nrows + 1, index_dtype(xp, kept))
    begin = done = row = 0
    part = max(size // PARTS, 1 << 10)
    while begin < size:
        end = min(begin + part, size)
        if end < size:
            end += int(first[end:].argmax())
            end = end if first[end] else size
        flags = first[begin:end]
        folded = fold_from_left(xp, a.values[begin:end], flags.nonzero()[0], dup_op)
        if values is None:
            values = xp.empty(kept, folded.dtype)
        values[done : done + folded.size] = folded
        indices[done : done + folded.size] = a.indices[begin:end].compress(flags)
        next_row = int(a.indptr.searchsorted(end))  # the first row that begins at `end` or later
        ends = flags.cumsum(dtype=xp.int64)
        bounds = a.indptr[row:next_row] - begin
        indptr[row:next_row] = done + ends[bounds] - flags[bounds]
        begin, done, row = end, done + folded.size, next_row
    indptr[row:] = kept
    return Csr(a.nrows, a.ncols, indptr, indices, values)


def fold_equal(
    xp: ModuleType,
    values: Array,
    first: Array,
    dup_op: TypedBinaryOp | None,
    place_of: Callable[[int], Any],
) -> Array:
    """The values of equal places folded by dup_op from the left; `first` flags the first of each.

    Without a dup_op, the first place that occurs twice is refused.
    """
    if dup_op is None:
        raise _given_twice(place_of(int(first.argmin())))
    return fold_from_left(xp, values, first.nonzero()[0], dup_op)


def first_of_equal(xp: ModuleType, keys: Array) -> Array | None:
    """Flags the first of each run of equal keys; None where no two are equal."""
    if keys.size < 2:
        return None
    first = xp.empty(keys.size, bool)
    first[0] = True
    xp.not_equal(keys[1:], keys[:-1], out=first[1:])
    return None if bool(first.all()) else first


def _given_twice(place: Any) -> DuplicateEntry:
    return DuplicateEntry(
        f"entry {place} is given more than once, so dup_op must say how to combine its values"
    )
