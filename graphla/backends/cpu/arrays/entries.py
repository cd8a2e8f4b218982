"""Operations that go entry by entry: union, intersection, apply, select, and the fold of rows."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from graphla.backends.cpu.arrays.folding import fold_runs
from graphla.backends.cpu.arrays.layout import (
    V,
    cast,
    compress,
    from_keys,
    gather,
    keys_of,
    offsets,
    repeat_value,
    row_of_entry,
    scalar,
    with_values,
)
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings.operators import (
    TypedBinaryOp,
    TypedIndexUnaryOp,
    TypedSelectOp,
    TypedUnaryOp,
)
from semirings.structures import TypedMonoid

# --- one operand --------------------------------------------------------------------------------


def apply(xp: ModuleType, a: Any, op: TypedUnaryOp) -> Any:
    """op(x) of every value; a bitmap or full vector will do as well, if op is not positional."""
    x = cast(a.values, op.type.np_type)
    if op.is_positional:
        return with_values(a, _of_size(xp, op.numpy(x, *_places(xp, a)), a.nvals))
    if is_iso(x):
        return with_values(a, repeat_value(xp, op.numpy(x[:1]), x.size))
    return with_values(a, op.numpy(x))


def apply_bound(xp: ModuleType, a: Any, op: TypedBinaryOp, value: Any, side: str) -> Any:
    """op(value, x) of every value x, or op(x, value), as the scalar is on the `side` left or right.

    A positional operator sees the scalar at the place of the entry.
    """
    x_type, y_type = op.type.np_type, op.type2.np_type
    if op.is_positional:
        i, j = _places(xp, a)
        if side == "left":
            x, y = repeat_value(xp, xp.asarray(value, x_type), a.nvals), cast(a.values, y_type)
        else:
            x, y = cast(a.values, x_type), repeat_value(xp, xp.asarray(value, y_type), a.nvals)
        return with_values(a, _of_size(xp, op.numpy(x, i, j, y, i, j), a.nvals))
    values = a.values[:1] if is_iso(a.values) else a.values
    if side == "left":
        result = op.numpy(scalar(value, x_type), cast(values, y_type))
    else:
        result = op.numpy(cast(values, x_type), scalar(value, y_type))
    return with_values(a, _of_size(xp, result, a.values.size))


def apply_index(xp: ModuleType, a: V, op: TypedIndexUnaryOp, thunk: Any) -> V:
    """op(x, i, j, thunk) of every entry; j is 0 in a vector."""
    return with_values(a, _of_size(xp, _at_places(xp, a, op, thunk), a.nvals))


def select(xp: ModuleType, a: V, op: TypedSelectOp, thunk: Any) -> V:
    """The entries where op(x, i, j, thunk) holds."""
    return keep(xp, a, _of_size(xp, _at_places(xp, a, op, thunk), a.nvals))


def keep(xp: ModuleType, a: V, flags: Array) -> V:
    """The entries that are flagged."""
    indices = a.indices.compress(flags)
    count = indices.size
    if count == flags.size:
        return a
    values = compress(a.values, flags, count)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, values, a.is_sorted)
    kept = offsets(xp, flags)[a.indptr].astype(a.indptr.dtype, copy=False)
    return Csr(a.nrows, a.ncols, kept, indices, values)


def reduce_rows(xp: ModuleType, a: Csr, monoid: TypedMonoid) -> SparseVector:
    """w(i) = the fold of row i; a row without entries has none."""
    starts = a.indptr[:-1]
    rows = (a.indptr[1:] > starts).nonzero()[0]
    starts = starts[rows] if rows.size < a.nrows else starts
    values = fold_runs(xp, a.values, starts, monoid)
    return SparseVector(a.nrows, rows.astype(xp.int32), values)


# --- two operands -------------------------------------------------------------------------------


def union(
    xp: ModuleType, a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None
) -> Any:
    """op(x, y) where both have an entry; one alone passes, or meets `right` or `left` if given."""
    return merge(xp, a, b, op, op.return_type.np_type, left, right)


def merge(
    xp: ModuleType,
    a: Any,
    b: Any,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
    left: Any = None,
    right: Any = None,
) -> Any:
    """The union as values of `dtype`; without op, y where both have an entry."""
    if _share_places(a, b):
        return with_values(a, _both(xp, a, b, None, None, op, dtype))
    if not b.nvals:
        return with_values(a, _alone(xp, a, None, op, dtype, right, False))
    if not a.nvals:
        return with_values(b, _alone(xp, b, None, op, dtype, left, True))
    a_keys, b_keys = _keys(xp, a), _keys(xp, b)
    flipped = a_keys.size < b_keys.size
    large, small = (b_keys, a_keys) if flipped else (a_keys, b_keys)
    # Where each key of the small side is, or would be, in the large one.
    spots = large.searchsorted(small)
    found = _found(large, small, spots)
    alone = ~found
    new = alone.nonzero()[0]
    # Places in the result: of keys that the large side lacks, and of all the large side's.
    places = spots[new] + xp.arange(new.size)
    is_large = xp.ones(large.size + new.size, bool)
    is_large[places] = False
    keys = xp.empty(large.size + new.size, large.dtype)
    keys[is_large] = large
    keys[places] = small[new]
    values = xp.empty(keys.size, dtype)
    big, little = (b, a) if flipped else (a, b)
    big_fill, little_fill = (left, right) if flipped else (right, left)
    values[is_large] = _alone(xp, big, None, op, dtype, big_fill, flipped)
    values[places] = _alone(xp, little, new, op, dtype, little_fill, not flipped)
    shared = found.nonzero()[0]
    if shared.size:
        in_large = spots[shared]
        in_result = in_large + alone.cumsum()[shared]
        pair = (shared, in_large) if flipped else (in_large, shared)
        values[in_result] = _both(xp, a, b, *pair, op, dtype)
    return _from_keys(xp, a, keys, values)


def intersection(xp: ModuleType, a: V, b: V, op: TypedBinaryOp) -> V:
    """op(x, y) where both have an entry."""
    dtype = op.return_type.np_type
    if _share_places(a, b):
        return with_values(a, _both(xp, a, b, None, None, op, dtype))
    a_keys, b_keys = _keys(xp, a), _keys(xp, b)
    if a_keys.size < b_keys.size:
        spots = b_keys.searchsorted(a_keys)
        in_a = _found(b_keys, a_keys, spots).nonzero()[0]
        in_b = spots[in_a]
    else:
        spots = a_keys.searchsorted(b_keys)
        in_b = _found(a_keys, b_keys, spots).nonzero()[0]
        in_a = spots[in_b]
    return _from_keys(xp, a, a_keys[in_a], _both(xp, a, b, in_a, in_b, op, dtype))


def _share_places(a: Any, b: Any) -> bool:
    """Whether the entries of both are known to be at the same places."""
    return a.indices is b.indices and (isinstance(a, SparseVector) or a.indptr is b.indptr)


def _keys(xp: ModuleType, a: Any) -> Array:
    """One number for each place, increasing."""
    return a.indices if isinstance(a, SparseVector) else keys_of(xp, a)


def _from_keys(xp: ModuleType, like: Any, keys: Array, values: Array) -> Any:
    if isinstance(like, SparseVector):
        return SparseVector(like.size, keys, values)
    return from_keys(xp, like.nrows, like.ncols, keys, values)


def _found(large: Array, small: Array, spots: Array) -> Array:
    """Whether each key of small is in large, where it would be at `spots`."""
    if not large.size:
        return spots < 0
    return large[spots.clip(max=large.size - 1)] == small


def _both(
    xp: ModuleType,
    a: Any,
    b: Any,
    in_a: Array | None,
    in_b: Array | None,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
) -> Array:
    """op(x, y) of the entries of a at in_a and of b at in_b, which are at the same places."""
    y = b.values if in_b is None else gather(xp, b.values, in_b)
    if op is None:
        return cast(y, dtype)
    x = a.values if in_a is None else gather(xp, a.values, in_a)
    if op.is_positional:
        x, y = cast(x, op.type.np_type), cast(y, op.type2.np_type)
        i, j = _places(xp, a, in_a)
        return cast(_of_size(xp, op.numpy(x, i, j, y, i, j), x.size), dtype)
    return cast(combine(xp, x, y, op), dtype)


def combine(xp: ModuleType, x: Array, y: Array, op: TypedBinaryOp) -> Array:
    """op of each two values, iso where both are; op is not positional."""
    x, y = cast(x, op.type.np_type), cast(y, op.type2.np_type)
    if x.size > 1 and is_iso(x) and is_iso(y):
        return repeat_value(xp, op.numpy(x[:1], y[:1]), x.size)
    return op.numpy(x, y)


def _alone(
    xp: ModuleType,
    a: Any,
    which: Array | None,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
    fill: Any,
    is_right: bool,
) -> Array:
    """What becomes of the entries that one side alone has."""
    values = a.values if which is None else gather(xp, a.values, which)
    if fill is None or op is None:
        return cast(values, dtype)
    fill_type, type_ = (op.type, op.type2) if is_right else (op.type2, op.type)
    fill = scalar(fill, fill_type.np_type)
    values = cast(values, type_.np_type)
    x, y = (fill, values) if is_right else (values, fill)
    if op.is_positional:
        i, j = _places(xp, a, which)
        return cast(_of_size(xp, op.numpy(x, i, j, y, i, j), values.size), dtype)
    return cast(op.numpy(x, y), dtype)


def _at_places(xp: ModuleType, a: Any, op: Any, thunk: Any) -> Array:
    i, j = _places(xp, a)
    x = cast(a.values, op.type.np_type)
    return op.numpy(x, i, j, scalar(thunk, op.thunk_type.np_type))


def _places(xp: ModuleType, a: Any, which: Array | None = None) -> tuple[Any, Any]:
    """The row and column of the entries, int64; the index and 0 in a vector."""
    if isinstance(a, Csr):
        i, j = row_of_entry(xp, a), a.indices
        if which is not None:
            i, j = i[which], j[which]
        return i.astype(xp.int64), j.astype(xp.int64)
    if isinstance(a, SparseVector):
        i = a.indices if which is None else a.indices[which]
        return i.astype(xp.int64), np.int64(0)
    return xp.arange(a.size, dtype=xp.int64), np.int64(0)


def _of_size(xp: ModuleType, values: Any, size: int) -> Array:
    """Values as an array of `size`, where one may stand for all."""
    if getattr(values, "ndim", 0) == 1 and values.size == size:
        return values
    return repeat_value(xp, xp.asarray(values), size)
