"""Union and intersection of vectors or of matrices."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from graphla.backends.cpu.apply import of_size, places
from graphla.backends.cpu.dispatch import SIMPLE, compiles
from graphla.backends.cpu.layout import cast_values, from_keys, index_dtype, keys_of, offsets
from graphla.backends.cpu.operands import (
    UNREAD,
    Parts,
    join_parts,
    parts_for_threads,
    row_parts,
    spread,
    values_of,
)
from graphla.backends.values import gather, repeat_value, scalar, with_values
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import AnyVector, Array, Csr, FullVector, SparseVector, is_iso
from graphla.settings import config
from semirings.operators import TypedBinaryOp

SHORT = 1 << 15
"""If two vectors have at most this many entries in total, their union is computed without counting
its entries first.

The arrays for the result then have space for all entries of both vectors. Counting would take
longer than computing the union.
"""
FROM_ZERO = np.zeros(1, np.int32)
"""The array of row starts for a vector, which counts as a single row that starts at 0."""
V = TypeVar("V", SparseVector, Csr)


def union(a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None) -> Any:
    """Return op(x, y) where both operands have an entry, and the existing entry where only one
    operand has one.

    If `left` and `right` are given, they replace missing entries: an entry that only a has becomes
    op(x, right), and an entry that only b has becomes op(left, y).
    """
    if a.indices is not b.indices and compiles((a.nvals + b.nvals) // SIMPLE, op):
        return _union_numba(a, b, op, left, right, config.threads)
    return merge(a, b, op, op.return_type.np_type, left, right)


def intersection(a: V, b: V, op: TypedBinaryOp) -> V:
    """Return op(x, y) wherever a has an entry x and b has an entry y."""
    if a.indices is not b.indices and compiles((a.nvals + b.nvals) // SIMPLE, op):
        return _intersection_numba(a, b, op, config.threads)
    return _intersection_numpy(a, b, op)


def combine(
    v: AnyVector,
    w: AnyVector,
    op: TypedBinaryOp,
    how: str,
    left: Any = None,
    right: Any = None,
) -> AnyVector | None:
    """Return op(v, w) if v and w are full and op is not positional, otherwise None."""
    if op.is_positional or not isinstance(v, FullVector) or not isinstance(w, FullVector):
        return None
    return FullVector(v.size, combine_values(v.values, w.values, op))


def merge(
    a: Any,
    b: Any,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
    left: Any = None,
    right: Any = None,
) -> Any:
    """Return the union of a and b, with values of the dtype `dtype`.

    Where both operands have an entry, the result is op(x, y), or the entry of b if op is None. The
    fill values `left` and `right` are used as in `union`.
    """
    if _share_places(a, b):
        return with_values(a, _both(a, b, None, None, op, dtype))
    if not b.nvals:
        return with_values(a, _alone(a, None, op, dtype, right, False))
    if not a.nvals:
        return with_values(b, _alone(b, None, op, dtype, left, True))
    a_keys, b_keys = _keys_of(a), _keys_of(b)
    flipped = a_keys.size < b_keys.size
    large, small = (b_keys, a_keys) if flipped else (a_keys, b_keys)
    # For each key of the small operand, its position in the large operand. If the large operand
    # lacks the key, this is the position at which the key would be inserted.
    spots = large.searchsorted(small)
    found = _found(large, small, spots)
    alone = ~found
    new = alone.nonzero()[0]
    # Positions in the result of the keys that only the small operand has. All other positions get
    # the keys of the large operand.
    places = spots[new] + np.arange(new.size)
    is_large = np.ones(large.size + new.size, bool)
    is_large[places] = False
    keys = np.empty(large.size + new.size, large.dtype)
    keys[is_large] = large
    keys[places] = small[new]
    values = np.empty(keys.size, dtype)
    big, little = (b, a) if flipped else (a, b)
    big_fill, little_fill = (left, right) if flipped else (right, left)
    values[is_large] = _alone(big, None, op, dtype, big_fill, flipped)
    values[places] = _alone(little, new, op, dtype, little_fill, not flipped)
    shared = found.nonzero()[0]
    if shared.size:
        in_large = spots[shared]
        in_result = in_large + alone.cumsum()[shared]
        pair = (shared, in_large) if flipped else (in_large, shared)
        values[in_result] = _both(a, b, *pair, op, dtype)
    return _from_keys(a, keys, values)


def _intersection_numpy(a: V, b: V, op: TypedBinaryOp) -> V:
    """Return op(x, y) wherever a has an entry x and b has an entry y."""
    dtype = op.return_type.np_type
    if _share_places(a, b):
        return with_values(a, _both(a, b, None, None, op, dtype))
    a_keys, b_keys = _keys_of(a), _keys_of(b)
    if a_keys.size < b_keys.size:
        spots = b_keys.searchsorted(a_keys)
        in_a = _found(b_keys, a_keys, spots).nonzero()[0]
        in_b = spots[in_a]
    else:
        spots = a_keys.searchsorted(b_keys)
        in_b = _found(a_keys, b_keys, spots).nonzero()[0]
        in_a = spots[in_b]
    return _from_keys(a, a_keys[in_a], _both(a, b, in_a, in_b, op, dtype))


def _share_places(a: Any, b: Any) -> bool:
    """Return whether a and b are known to have entries at the same positions."""
    return a.indices is b.indices and (isinstance(a, SparseVector) or a.indptr is b.indptr)


def _keys_of(a: Any) -> Array:
    """Return an integer key for each entry, which increases with the position of the entry."""
    return a.indices if isinstance(a, SparseVector) else keys_of(a)


def _from_keys(like: Any, keys: Array, values: Array) -> Any:
    if isinstance(like, SparseVector):
        return SparseVector(like.size, keys, values)
    return from_keys(like.nrows, like.ncols, keys, values)


def _found(large: Array, small: Array, spots: Array) -> Array:
    """Return, for each key of `small`, whether `large` contains it.

    `spots` holds the position of each key in `large`. If `large` does not contain the key, this is
    the position at which the key would be inserted.
    """
    if not large.size:
        return spots < 0
    return large[spots.clip(max=large.size - 1)] == small


def _both(
    a: Any,
    b: Any,
    in_a: Array | None,
    in_b: Array | None,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
) -> Array:
    """Return op(x, y) for each pair of entries of a and b at the same position.

    The array `in_a` holds the positions of these entries in the arrays of a, and `in_b` their
    positions in the arrays of b; None stands for all entries. If op is None, return the values of
    b.
    """
    y = b.values if in_b is None else gather(b.values, in_b)
    if op is None:
        return cast_values(y, dtype)
    x = a.values if in_a is None else gather(a.values, in_a)
    if op.is_positional:
        x, y = cast_values(x, op.type.np_type), cast_values(y, op.type2.np_type)
        i, j = places(a, in_a)
        return cast_values(of_size(op.numpy(x, i, j, y, i, j), x.size), dtype)
    return cast_values(combine_values(x, y, op), dtype)


def combine_values(x: Array, y: Array, op: TypedBinaryOp) -> Array:
    """Return op(x, y) for each pair of values, where op must not be positional.

    If x and y each store a single value for all elements, so does the result.
    """
    x, y = cast_values(x, op.type.np_type), cast_values(y, op.type2.np_type)
    if x.size > 1 and is_iso(x) and is_iso(y):
        return repeat_value(op.numpy(x[:1], y[:1]), x.size)
    return op.numpy(x, y)


def _alone(
    a: Any,
    which: Array | None,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
    fill: Any,
    is_right: bool,
) -> Array:
    """Return the result values of entries that only one operand has.

    If op and a fill value are given, op combines each value with the fill value. Otherwise the
    values are only cast to `dtype`.
    """
    values = a.values if which is None else gather(a.values, which)
    if fill is None or op is None:
        return cast_values(values, dtype)
    fill_type, type_ = (op.type, op.type2) if is_right else (op.type2, op.type)
    fill = scalar(fill, fill_type.np_type)
    values = cast_values(values, type_.np_type)
    x, y = (fill, values) if is_right else (values, fill)
    if op.is_positional:
        i, j = places(a, which)
        return cast_values(of_size(op.numpy(x, i, j, y, i, j), values.size), dtype)
    return cast_values(op.numpy(x, y), dtype)


def _intersection_numba(a: Any, b: Any, op: TypedBinaryOp, threads: int) -> Any:
    """Return op(x, y) wherever a has an entry x and b has an entry y, with a compiled loop.

    Each part of the loop writes to its own range of the result arrays, which has room for the
    largest possible intersection. At the end, `join_parts` closes the gaps between the ranges.
    """
    a_indptr, b_indptr, parts = _rows(a, b, threads)
    rooms = [
        min(int(indptr[stop]) - int(indptr[start]) for indptr in (a_indptr, b_indptr))
        for start, stop in parts
    ]
    *begins, room = accumulate(rooms, initial=0)
    indptr = np.empty(a_indptr.size, index_dtype(room))
    indices, values = np.empty(room, np.int32), np.empty(room, op.return_type.np_type)
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(b.values, op.reads_y, wanted=op.type2)
    arrays = (a_indptr, a.indices, a_values, b_indptr, b.indices, b_values, indptr, indices, values)
    spec = (numba_ops.entry_by_entry, op, isinstance(a, SparseVector), False, False)
    loop = load("ewise.intersect", spec, arrays)
    ends = run(
        lambda *part: loop(*arrays, a_step, b_step, *part),
        [(begin, *part) for begin, part in zip(begins, parts, strict=True)],
        threads,
    )
    indptr = join_parts(indptr, (indices, values), parts, begins, ends)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, values)
    return Csr(a.nrows, a.ncols, indptr, indices, values)


def _union_numba(a: Any, b: Any, op: TypedBinaryOp, left: Any, right: Any, threads: int) -> Any:
    """Return the union as `union` does, with compiled loops."""
    a_indptr, b_indptr, parts = _rows(a, b, threads)
    indptr, room = FROM_ZERO, a.nvals + b.nvals
    if not _is_short(a, b, parts):
        counts = _count_both(a_indptr, a.indices, b_indptr, b.indices, parts, threads)
        sizes = a_indptr[1:] - a_indptr[:-1] + (b_indptr[1:] - b_indptr[:-1])
        indptr = offsets(sizes - counts)
        room = int(indptr[-1])
    indices, values = np.empty(room, np.int32), np.empty(room, op.return_type.np_type)
    # The loop casts an entry to this dtype if the other operand has no entry at its position.
    lone = op.return_type
    a_values, a_step = values_of(a.values, wanted=lone if op.type is lone else None)
    b_values, b_step = values_of(b.values, wanted=lone if op.type2 is lone else None)
    fills = (_fill(left, op.type.np_type), _fill(right, op.type2.np_type))
    entries = (a_indptr, a.indices, a_values, b_indptr, b.indices, b_values, *fills)
    arrays = (*entries, indptr, indices, values)
    is_vector = isinstance(a, SparseVector)
    spec = (numba_ops.entry_by_entry, op, is_vector, left is not None, right is not None)
    loop = load("ewise.unite", spec, arrays)
    ends = spread(loop, arrays, (a_step, b_step), parts, threads)
    if is_vector:  # the last element of the row pointers is the number of entries
        return SparseVector(a.size, indices[: ends[-1]], values[: ends[-1]])
    return Csr(a.nrows, a.ncols, indptr, indices, values)


def _rows(a: Any, b: Any, threads: int) -> tuple[Array, Array, Parts]:
    """Return the row pointers of a and of b, and the range of rows that each thread processes.

    Vectors are first cut into ranges, at the same indices in a and b. Each range counts as a row.
    """
    if isinstance(a, Csr):
        return a.indptr, b.indptr, row_parts((a if a.nvals > b.nvals else b).indptr, threads)
    count = parts_for_threads(a.nvals + b.nvals, threads)
    if count == 1:
        ends = np.array([[0, a.nvals], [0, b.nvals]], np.int32)
        return ends[0], ends[1], [(0, 1)]
    longer = a.indices if a.nvals > b.nvals else b.indices
    ends = longer[np.arange(1, count) * longer.size // count]
    a_indptr, b_indptr = (
        np.array([0, *np.searchsorted(v.indices, ends).tolist(), v.nvals], np.int32) for v in (a, b)
    )
    return a_indptr, b_indptr, [(part, part + 1) for part in range(count)]


def _is_short(a: Any, b: Any, parts: Parts) -> bool:
    """Return whether to allocate space for all entries of a and b without counting.

    If not, the entries of the result are counted first.
    """
    return isinstance(a, SparseVector) and len(parts) == 1 and a.nvals + b.nvals <= SHORT


def _count_both(
    a_indptr: Array, a_indices: Array, b_indptr: Array, b_indices: Array, parts: Parts, threads: int
) -> Array:
    counts = np.empty(a_indptr.size - 1, np.int64)
    arrays = (a_indptr, a_indices, b_indptr, b_indices, counts)
    loop = load("ewise.count_both", (numba_ops.nothing,), arrays)
    spread(loop, arrays, (), parts, threads)
    return counts


def _fill(value: Any, dtype: Any) -> Array:
    return UNREAD if value is None else np.array([value], dtype)
