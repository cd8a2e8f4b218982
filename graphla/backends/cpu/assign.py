"""What is done to dense vectors, index by index: the host side of `loops/write`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.arrays import layout
from graphla.backends.cpu.operands import allowed_by, even_parts, spread, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    DenseVector,
    FullVector,
    SparseVector,
    VectorMask,
    is_iso,
)
from semirings.dtypes import DataType, lookup_dtype
from semirings.operators import TypedBinaryOp

EVERYWHERE = np.ones(1, np.bool_)
EVERYWHERE.flags.writeable = False


def write(
    c: SparseVector | BitmapVector,
    t: AnyVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    in_place: bool,
    threads: int,
) -> BitmapVector | None:
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`.

    None where there is no loop for it: t replaces all of w, or is sparse and may take entries away;
    or w is sparse, and t is not a bitmap.
    """
    if isinstance(t, SparseVector):
        same = _is_structure_of(mask, t)
        adds = (same or accum is not None) and (mask is None or not replace)
        if not adds or (mask is not None and mask.present is None and not same):
            return None
        if isinstance(c, SparseVector):
            return None
        return _scatter(c, t, None if same else mask, accum, dtype, in_place)
    if accum is None and (mask is None or replace):
        return None
    if isinstance(c, SparseVector):
        if isinstance(t, FullVector):
            return None
        # The result has about as many entries as t, so it may as well be a bitmap from here on.
        in_place = not is_iso(c.values) and c.values.dtype == dtype
        c = layout.to_bitmap(np, c)
    if accum is None and isinstance(t, BitmapVector) and _is_structure_of(mask, t):
        return _fill(c, t, dtype, in_place, threads)
    return _write_dense(c, t, mask, accum, replace, dtype, in_place, threads)


def _is_structure_of(mask: VectorMask | None, t: SparseVector | BitmapVector) -> bool:
    """Whether the mask is known to let through just where t has entries."""
    if mask is None or mask.complement:
        return False
    return mask.indices is t.indices if isinstance(t, SparseVector) else mask.present is t.present


def _fill(
    c: BitmapVector, t: BitmapVector, dtype: Any, in_place: bool, threads: int
) -> BitmapVector:
    """The entries of t over those of w."""
    present, values = _own(c, dtype, in_place)
    t_values, step = values_of(t.values, wanted=lookup_dtype(dtype))
    whole = t.size // 8
    words = t.present[: whole * 8].view(np.uint64)
    arrays = (words, t.present, t_values, values)
    loop = load("assign.fill", (numba_ops.accumulating, None, lookup_dtype(dtype)), arrays)
    spread(loop, arrays, (step,), even_parts(whole, t.size, threads), threads)
    for i in range(whole * 8, t.size):
        if t.present[i]:
            values[i] = layout.cast(t.values[i : i + 1], values.dtype)[0]
    np.logical_or(present, t.present, out=present)
    return BitmapVector(c.size, present, values, int(np.count_nonzero(present)))


def _write_dense(
    c: BitmapVector,
    t: DenseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    in_place: bool,
    threads: int,
) -> BitmapVector:
    """The write rule index by index."""
    size = c.size
    present, values = _own(c, dtype, in_place)
    t_present, there = (EVERYWHERE, 0) if isinstance(t, FullVector) else (t.present, 1)
    t_values, step = values_of(t.values, wanted=_written_as(accum, dtype))
    allowed, mask_step, forbidden = allowed_by(mask)
    arrays = (t_present, t_values, allowed, present, values)
    loop = load("assign.write", (numba_ops.accumulating, accum, lookup_dtype(dtype)), arrays)
    steps = (there, step, mask_step, forbidden, int(replace))
    counts = spread(loop, arrays, steps, even_parts(size, size, threads), threads)
    return BitmapVector(size, present, values, sum(counts))


def _scatter(
    c: BitmapVector,
    t: SparseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    dtype: Any,
    in_place: bool,
) -> BitmapVector:
    """The write rule where no entry of w goes, at the cost of t's entries (if `in_place`)."""
    present, values = _own(c, dtype, in_place)
    t_values, step = values_of(t.values, wanted=_written_as(accum, dtype))
    allowed, mask_step, forbidden = allowed_by(mask)
    arrays = (t.indices, t_values, allowed, present, values)
    loop = load("assign.scatter", (numba_ops.accumulating, accum, lookup_dtype(dtype)), arrays)
    gained = loop(*arrays, step, mask_step, forbidden)
    return BitmapVector(c.size, present, values, c.nvals + gained)


def _written_as(accum: TypedBinaryOp | None, dtype: Any) -> DataType | None:
    """What every value of t is cast to; None where that depends on whether w has an entry there."""
    wanted = lookup_dtype(dtype)
    return wanted if accum is None or accum.type2 is wanted else None


def _own(c: BitmapVector, dtype: Any, in_place: bool) -> tuple[Array, Array]:
    """The arrays to write into: those of c, or copies."""
    if in_place:
        return c.present, c.values
    return c.present.copy(), c.values.astype(dtype, order="C")


def to_sparse(v: BitmapVector) -> SparseVector:
    """The entries alone, in order."""
    indices, values = np.empty(v.nvals, np.int32), np.empty(v.nvals, v.values.dtype)
    taken, step = values_of(v.values)
    arrays = (v.present, taken, indices, values)
    load("assign.to_list", (numba_ops.nothing,), arrays)(*arrays, step)
    return SparseVector(v.size, indices, values)
