"""Element-wise operations on two vectors, at least one of which is dense. Kernels: ewise_dense.cu.

The host waits only if a sparse vector and a bitmap are intersected: once, for the number of indices
at which both have an entry.
"""

from __future__ import annotations

from typing import Any

import cupy as xp

from graphla.backends.cuda.convert import to_bitmap
from graphla.backends.cuda.ewise import fill_value, pair_values
from graphla.backends.cuda.launch import BLOCK, NULL, blocks, counter, read, size
from graphla.backends.cuda.select import keep
from graphla.backends.values import with_values
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import AnyVector, BitmapVector, Counted, DenseVector, FullVector, SparseVector
from semirings.operators import TypedBinaryOp

INTERSECTION, UNION, FILLED_UNION = enumeration("ewise_dense.cu", "How")


def combine(
    v: AnyVector, w: AnyVector, op: TypedBinaryOp, how: str, left: Any = None, right: Any = None
) -> AnyVector:
    """Return the union or the intersection of two vectors, at least one of which is dense.

    `how` is "union" or "intersection". Where both operands have an entry, op combines them. In a
    union, an entry x that only v has becomes op(x, right), and an entry y that only w has becomes
    op(left, y). Without fill values, x and y remain unchanged. The caller gives both fill values or
    neither.
    """
    if how == "intersection":
        if isinstance(v, SparseVector):
            return _meet(v, w, op, flipped=False)
        if isinstance(w, SparseVector):
            return _meet(w, v, op, flipped=True)
        return _intersection(v, w, op)
    v = to_bitmap(v) if isinstance(v, SparseVector) else v
    w = to_bitmap(w) if isinstance(w, SparseVector) else w
    return _combine(v, w, op, UNION if left is None else FILLED_UNION, left, right)


def _intersection(v: DenseVector, w: DenseVector, op: TypedBinaryOp) -> DenseVector:
    """Return the vector with the value op(x, y) at each index where both operands have an entry."""
    if isinstance(v, FullVector) or isinstance(w, FullVector):
        with_places = w if isinstance(v, FullVector) else v
        return with_values(with_places, pair_values(v, w.values, op, op.return_type.np_type))
    return _combine(v, w, op, INTERSECTION)


def _combine(
    v: DenseVector,
    w: DenseVector,
    op: TypedBinaryOp,
    kind: int,
    left: Any = None,
    right: Any = None,
) -> DenseVector:
    dtype, n = op.return_type.np_type, v.size
    v_present = v.present if isinstance(v, BitmapVector) else None
    w_present = w.present if isinstance(w, BitmapVector) else None
    if v_present is w_present:
        return with_values(v, pair_values(v, w.values, op, dtype))
    x, x_stored, x_kept = read(v.values, kind != INTERSECTION or op.reads_x)
    y, y_stored, y_kept = read(w.values, kind != INTERSECTION or op.reads_y)
    lacks = v_present is not None and w_present is not None
    z = xp.empty(n, dtype)
    present, found = (xp.empty(n, bool), counter()) if lacks else (NULL, NULL)
    if n:
        flags = (v_present is not None, w_present is not None)
        how = (x_stored, x_kept, y_stored, y_kept, *flags, kind)
        load("ewise_dense.cu", "combine_dense", (cuda_ops.accumulation, op, dtype), *how)(
            blocks(n),
            BLOCK,
            *(NULL if v_present is None else v_present, x),
            *(NULL if w_present is None else w_present, y),
            *(fill_value(left, op.type.np_type), fill_value(right, op.type2.np_type)),
            *(size(n), present, z, found),
        )
    return BitmapVector(n, present, z, Counted(found)) if lacks else FullVector(n, z)


def _meet(v: SparseVector, w: Any, op: TypedBinaryOp, flipped: bool) -> SparseVector:
    """Combine the entries of v with the values of w at the same indices.

    An entry of v is dropped if w has no entry at its index. If `flipped` is true, the value of w is
    the left operand of op; otherwise it is the right operand.
    """
    if isinstance(w, BitmapVector) and v.nvals:
        flags = xp.empty(v.nvals, bool)
        kernel = load("ewise_dense.cu", "look_up", NOTHING)
        kernel(blocks(v.nvals), BLOCK, v.indices, w.present, flags, size(v.nvals))
        v = keep(v, flags)
    dtype, count = op.return_type.np_type, v.nvals
    z = xp.empty(count, dtype)
    if count:
        reads = (op.reads_y, op.reads_x) if flipped else (op.reads_x, op.reads_y)
        x, x_stored, x_kept = read(v.values, reads[0])
        y, y_stored, y_kept = read(w.values, reads[1])
        how = (x_stored, x_kept, y_stored, y_kept, flipped)
        kernel = load("ewise_dense.cu", "meet_dense", (cuda_ops.accumulation, op, dtype), *how)
        kernel(blocks(count), BLOCK, v.indices, x, y, z, size(count))
    return with_values(v, z)
