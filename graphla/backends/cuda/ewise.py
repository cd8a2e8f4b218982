"""Element-wise operations on two sorted operands: union, intersection and merge.

Kernels: ewise_union.cu, ewise_intersect.cu.

The host waits once, for the number of positions at which both operands have an entry. The host does
not wait if both operands use the same index arrays, or if one operand is empty.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import cupy as xp
import numpy as np

from graphla.backends.cuda.apply import cast_values
from graphla.backends.cuda.launch import (
    BLOCK,
    EACH,
    NO_PLACES,
    NULL,
    WARP,
    blocks,
    offset_dtype,
    places,
    read,
    repeat_value,
    size,
    tiles,
)
from graphla.backends.cuda.select import room_for_flags, scan_and_count
from graphla.backends.values import scalar, with_values
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct, enumeration
from graphla.formats import Array, Csr, FullVector, SparseVector
from semirings.operators import TypedBinaryOp

V = TypeVar("V", SparseVector, Csr)

Fill = enumeration("ewise_union.cu", "Fill")
SHAPE = enumeration("ewise_union.cu", "MergeShape")
BOTH, NOTES = Struct("ewise_union.cu", "Both"), Struct("ewise_union.cu", "Notes")

PATTERN = (cuda_ops.accumulation, None, np.dtype(bool))
"""The template arguments of a kernel that moves indices but no values."""


def union(a: V, b: V, op: TypedBinaryOp, left: Any = None, right: Any = None) -> V:
    """Return the union of a and b.

    Where a has an entry x and b has an entry y, the value is op(x, y). Where only one operand has
    an entry, the value is that entry. The optional fill values replace missing entries: where only
    b has an entry y, the value is op(left, y), and where only a has an entry x, the value is op(x,
    right).
    """
    return merge(a, b, op, op.return_type.np_type, left, right)


def merge(
    a: V,
    b: V,
    op: TypedBinaryOp | None,
    dtype: np.dtype[Any],
    left: Any = None,
    right: Any = None,
) -> V:
    """Return the union of a and b, with values of type `dtype`.

    The parameters are as in `union`. But if op is None, the value is y where both operands have an
    entry, and the fill values are ignored.
    """
    if _share_places(a, b):
        return with_values(a, pair_values(a, b.values, op, dtype))
    if op is None:
        left = right = None
    if not b.nvals:
        return with_values(a, _values_of_one(a, op, dtype, right, Fill.FILL_RIGHT))
    if not a.nvals:
        return with_values(b, _values_of_one(b, op, dtype, left, Fill.FILL_LEFT))
    like_a, like_b = a, b
    a, b = _match_offsets(a, b)
    pair, notes, ends = _walk(a, b)
    both = scan_and_count(ends)
    count = a.nvals + b.nvals - both
    known = like_a if both == b.nvals else like_b if both == a.nvals else None
    rows, indices = (NULL, NULL) if known is not None else _allocate(a, count)
    z = xp.empty(count, dtype)
    x_type, y_type = (dtype, dtype) if op is None else (op.type.np_type, op.type2.np_type)
    fill = (0 if right is None else Fill.FILL_RIGHT) | (0 if left is None else Fill.FILL_LEFT)
    x, x_stored, x_kept = read(a.values)
    y, y_stored, y_kept = read(b.values)
    _, nrows, _, where, offset = places(a)
    spec = (cuda_ops.accumulation, op, dtype)
    new_offset = offset if rows is NULL else rows.dtype
    how = (x_stored, x_kept, y_stored, y_kept, fill, where, offset, new_offset)
    load("ewise_union.cu", "merge_entries", spec, *how)(
        blocks(max(-(-(a.nvals + b.nvals) // SHAPE.MOVES), int(nrows) + 1)),
        BLOCK,
        *(pair, notes, x, y),
        *(fill_value(left, x_type), fill_value(right, y_type)),
        *(rows, indices, z),
    )
    return with_values(known, z) if known is not None else _new_result(a, rows, indices, z)


def intersection(a: V, b: V, op: TypedBinaryOp) -> V:
    """Return the intersection of a and b: op(x, y) where a has an entry x and b has an entry y."""
    dtype = op.return_type.np_type
    if _share_places(a, b):
        return with_values(a, pair_values(a, b.values, op, dtype))
    if not a.nvals or not b.nvals:
        return _empty_result(a, dtype)
    flipped = b.nvals < a.nvals
    like_few = b if flipped else a
    a, b = _match_offsets(a, b)
    few, many = (b, a) if flipped else (a, b)
    spots, bits, ends = _find_spots(few, many)
    both = scan_and_count(ends)
    if not both:
        return _empty_result(a, dtype)
    known = like_few if both == few.nvals else None
    rows, indices = (NULL, NULL) if known is not None else _allocate(a, both)
    x, x_stored, x_kept = read(a.values, op.reads_x)
    y, y_stored, y_kept = read(b.values, op.reads_y)
    spec = (cuda_ops.accumulation, op, dtype)
    if op.is_positional or EACH in (x_kept, y_kept):
        values = z = xp.empty(both, dtype)
    else:
        values, z = repeat_value(_pair_first(a.values, b.values, op, dtype), both), NULL
        x, x_stored, x_kept = y, y_stored, y_kept = read(a.values, False)
        spec = PATTERN
    if known is None or z is not NULL:
        indptr, nrows, columns, where, offset = places(few)
        new_offset = offset if rows is NULL else rows.dtype
        how = (x_stored, x_kept, y_stored, y_kept, flipped, where, offset, new_offset)
        load("ewise_intersect.cu", "meet_entries", spec, *how)(
            tiles(max(few.nvals, int(nrows) + 1)),
            BLOCK,
            *(indptr, columns, size(few.nvals), nrows, x, y, spots, bits, ends),
            *(rows, indices, z),
        )
    return (
        with_values(known, values) if known is not None else _new_result(a, rows, indices, values)
    )


# --- parts --------------------------------------------------------------------------------------


def _walk(a: Any, b: Any) -> tuple[Any, ...]:
    """Merge the indices of a and b on the GPU, without moving values.

    The merge is divided into tiles. Where both operands have an entry at a position, b's index is
    dropped. Return the struct with the arrays of both operands, the struct that describes the merge
    (`Notes` in ewise_union.cu), and the number of dropped indices per tile.
    """
    words = (a.nvals + b.nvals) // WARP + 1
    of_a = xp.empty(3 * words, np.uint32)
    cut = -(-words * WARP // SHAPE.MERGE_TILE)
    starts, ends = xp.empty(cut, np.int64), xp.empty(cut, np.int64)
    a_indptr, nrows, a_indices, where, offset = places(a)
    b_indptr, _, b_indices, _, _ = places(b)
    pair = BOTH(
        **{"a_indptr": a_indptr, "a_indices": a_indices, "a_count": a.nvals},
        **{"b_indptr": b_indptr, "b_indices": b_indices, "b_count": b.nvals},
        nrows=int(nrows),
    )
    notes = NOTES(of_a=of_a, words=words, starts=starts, ends=ends)
    kernel = load("ewise_union.cu", "walk_path", NOTHING, where, offset)
    kernel(blocks(cut * BLOCK), BLOCK, pair, notes)
    return pair, notes, ends


def _find_spots(a: Any, b: Any) -> tuple[Array, Array, Array]:
    """For each entry of a, search b for an entry at the same position.

    Return three arrays. The first contains, for each entry of a, the position of the match in b.
    The second contains one bit per entry of a, which is set if there is a match. The third contains
    the number of set bits in each word of the second array.
    """
    bits, ends = room_for_flags(a.nvals)
    a_indptr, nrows, a_indices, where, offset = places(a)
    b_indptr, _, b_indices, _, _ = places(b)
    spots = xp.empty(a.nvals, offset)
    load("ewise_intersect.cu", "find_spots", NOTHING, where, offset)(
        tiles(bits.size * WARP),
        BLOCK,
        *(a_indptr, a_indices, size(a.nvals), b_indptr, b_indices, size(b.nvals)),
        *(nrows, bits, ends, size(bits.size), spots),
    )
    return spots, bits, ends


def pair_values(a: Any, y_values: Array, op: TypedBinaryOp | None, dtype: np.dtype[Any]) -> Array:
    """Return op(x, y) for each value x of `a` and the value y of `y_values` at the same position.

    If `op` is None, return `y_values` cast to `dtype`.
    """
    if op is None:
        return cast_values(y_values, dtype)
    x, x_stored, x_kept = read(a.values, op.reads_x)
    y, y_stored, y_kept = read(y_values, op.reads_y)
    count = a.values.size
    repeats = count > 0 and not op.is_positional and EACH not in (x_kept, y_kept)
    z = xp.empty(1 if repeats else count, dtype)
    if z.size:
        indptr, nrows, indices, where, offset = places(a) if op.is_positional else NO_PLACES
        spec = (cuda_ops.accumulation, op, dtype)
        how = (x_stored, x_kept, y_stored, y_kept, where, offset)
        kernel = load("ewise_intersect.cu", "pair_entries", spec, *how)
        kernel(tiles(z.size), BLOCK, indptr, nrows, indices, x, y, z, size(z.size))
    return repeat_value(z, count) if repeats else z


def _pair_first(x: Array, y: Array, op: TypedBinaryOp, dtype: np.dtype[Any]) -> Array:
    """Apply op to the first values of x and y, and return the result as a one-element array."""
    return pair_values(FullVector(1, x[:1]), y[:1], op, dtype)


def _values_of_one(
    a: Any, op: TypedBinaryOp | None, dtype: np.dtype[Any], fill: Any, side: int
) -> Array:
    """Return the values of the union of a and an operand without entries.

    If `op` and `fill` are given, op combines each value of a with `fill`. Otherwise the values of a
    are cast to `dtype`.
    """
    if fill is None or op is None:
        return cast_values(a.values, dtype)
    x_type, y_type = op.type.np_type, op.type2.np_type
    left, right = (fill, 0) if side == Fill.FILL_LEFT else (0, fill)
    values, stored, kept = read(a.values)
    count = a.values.size
    repeats = count > 0 and not op.is_positional and kept != EACH
    z = xp.empty(1 if repeats else count, dtype)
    if z.size:
        indptr, nrows, indices, where, offset = places(a) if op.is_positional else NO_PLACES
        spec = (cuda_ops.accumulation, op, dtype)
        load("ewise_union.cu", "fill_entries", spec, stored, kept, side, where, offset)(
            tiles(z.size),
            BLOCK,
            *(indptr, nrows, indices, values, scalar(left, x_type), scalar(right, y_type)),
            *(z, size(z.size)),
        )
    return repeat_value(z, count) if repeats else z


def fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the fill value `value` cast to `dtype`. If it is None, return an arbitrary value."""
    return dtype.type(0) if value is None else scalar(value, dtype)


def _share_places(a: Any, b: Any) -> bool:
    """Return whether a and b share index arrays, so that their entries have equal positions."""
    return a.indices is b.indices and (isinstance(a, SparseVector) or a.indptr is b.indptr)


def _match_offsets(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both operands with offsets of the same dtype."""
    if isinstance(a, SparseVector) or a.indptr.dtype == b.indptr.dtype:
        return a, b
    return _widen_offsets(a), _widen_offsets(b)


def _widen_offsets(a: Any) -> Any:
    return replace(a, indptr=a.indptr.astype(np.int64, copy=False))


def _allocate(like: Any, count: int) -> tuple[Any, Array]:
    """Return memory for indptr (NULL for a vector) and for the indices of `count` entries."""
    indices = xp.empty(count, np.int32)
    if isinstance(like, SparseVector):
        return NULL, indices
    return xp.empty(like.nrows + 1, offset_dtype(count)), indices


def _new_result(like: Any, rows: Any, indices: Array, values: Array) -> Any:
    if isinstance(like, SparseVector):
        return SparseVector(like.size, indices, values)
    return Csr(like.nrows, like.ncols, rows, indices, values)


def _empty_result(like: Any, dtype: np.dtype[Any]) -> Any:
    """Return an empty result with the shape of `like`."""
    indices, values = xp.empty(0, np.int32), xp.empty(0, dtype)
    if isinstance(like, SparseVector):
        return SparseVector(like.size, indices, values)
    return Csr(like.nrows, like.ncols, xp.zeros(like.nrows + 1, np.int32), indices, values)
