"""The write rule: C⟨mask, replace⟩ = accum(C, T).

Z = T, or the union of C and T under accum; C becomes Z where the mask lets through; elsewhere it
keeps what it had, or loses it under replace. T may have entries that the mask forbids.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.apply import cast
from graphla.backends.cpu.convert import sort, to_bitmap, to_sparse
from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.ewise import merge
from graphla.backends.cpu.layout import cast_values
from graphla.backends.cpu.masks import allowed, allowed_entries, presence
from graphla.backends.cpu.operands import allowed_by, even_parts, spread, values_of
from graphla.backends.cpu.select import keep
from graphla.backends.values import gather
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    DenseVector,
    FullVector,
    MatrixMask,
    SparseVector,
    VectorMask,
    is_iso,
)
from graphla.settings import config
from semirings.dtypes import DataType, lookup_dtype
from semirings.operators import TypedBinaryOp

EVERYWHERE = np.ones(1, np.bool_)
EVERYWHERE.flags.writeable = False


def write_matrix(
    c: Csr,
    t: Csr,
    mask: MatrixMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
) -> Csr:
    """C⟨mask, replace⟩ = accum(C, T), of numpy dtype `dtype`."""
    dtype = np.dtype(dtype)
    if mask is not None and t.nvals:
        t = keep(t, allowed_entries(mask, t))
    c = _surviving(c, mask, accum, replace, allowed_entries)
    return _joined(c, t, accum, dtype)


def _surviving(c: Any, mask: Any, accum: TypedBinaryOp | None, replace: bool, allows: Any) -> Any:
    """The entries of C that do not go: without accum, T takes the place of those let through."""
    if not c.nvals or (accum is not None and not (replace and mask is not None)):
        return c
    if mask is None or (replace and accum is None):
        return keep(c, np.zeros(c.nvals, bool))
    inside = allows(mask, c if isinstance(c, Csr) else c.indices)
    return keep(c, inside if replace else ~inside)


def _joined(c: Any, t: Any, accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> Any:
    if not c.nvals:
        return cast(t, dtype)
    if not t.nvals:
        return cast(c, dtype)
    return merge(c, t, accum, dtype)


def write_vector(
    c: AnyVector,
    t: AnyVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    *,
    in_place: bool = False,
) -> AnyVector:
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`."""
    if c.nvals and not isinstance(c, FullVector) and compiles(c.size, accum):
        new = _write_numba(c, t, mask, accum, replace, dtype, in_place, config.threads)
        if new is not None:
            return new
    return _write_numpy(c, t, mask, accum, replace, dtype, in_place=in_place)


def _write_numpy(
    c: AnyVector,
    t: AnyVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    *,
    in_place: bool = False,
) -> AnyVector:
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`.

    Where w is dense, a sparse t costs what it and the mask's list hold, and no more.
    """
    dtype = np.dtype(dtype)
    replaces = mask is None or replace
    if accum is None and (replaces or not c.nvals):
        return cast(_restricted(t, mask), dtype)
    if accum is not None and not c.nvals:
        return cast(_restricted(t, mask), dtype)
    if isinstance(c, SparseVector):
        t = sort(to_sparse(_restricted(t, mask)))
        c = sort(c)
        return _joined(_surviving(c, mask, accum, replace, allowed), t, accum, dtype)
    if isinstance(t, SparseVector):
        return _scatter_into(c, t, mask, accum, replace, dtype, in_place)
    return _copy_into(c, t, mask, accum, replace, dtype, in_place)


def one_entry(size: int, i: int, value: Any) -> SparseVector:
    """The vector whose one entry is v(i) = value."""
    return SparseVector(size, np.full(1, i, np.int32), np.full(1, value, value.dtype))


def set_element(v: DenseVector, i: int, value: Any) -> DenseVector:
    """v(i) = value, in v's own arrays; None deletes."""
    there = value is not None
    if there:
        v.values[i] = value
    if isinstance(v, FullVector):
        if there:
            return v
        v = BitmapVector(v.size, np.ones(v.size, bool), v.values, v.size)
    nvals = v.nvals - bool(v.present[i]) + there
    v.present[i] = there
    return BitmapVector(v.size, v.present, v.values, nvals)


def _restricted(t: AnyVector, mask: VectorMask | None) -> AnyVector:
    """The entries of t that the mask lets through."""
    if mask is None or not t.nvals or _says_the_same(mask, t):
        return t
    if isinstance(t, SparseVector):
        return keep(t, allowed(mask, t.indices))
    if mask.indices is not None and not mask.complement and mask.present is None:
        indices, values = mask.indices, gather(t.values, mask.indices)
        listed = SparseVector(t.size, indices, values, mask.is_sorted)
        return listed if isinstance(t, FullVector) else keep(listed, t.present[indices])
    inside = presence(mask)
    inside = ~inside if mask.complement else inside
    present = inside & t.present if isinstance(t, BitmapVector) else inside
    return BitmapVector(t.size, present, t.values, int(present.sum()))


def _says_the_same(mask: VectorMask, t: AnyVector) -> bool:
    """Whether the mask is known to be the structure of t."""
    if mask.complement:
        return False
    if isinstance(t, SparseVector):
        return mask.indices is t.indices
    return isinstance(t, BitmapVector) and mask.present is t.present


def _scatter_into(
    c: DenseVector,
    t: SparseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """The write rule for a sparse t. All that may fail is computed before anything is written."""
    same = mask is not None and _says_the_same(mask, t)
    t = t if mask is None or same else keep(t, allowed(mask, t.indices))
    places, new = t.indices, cast_values(t.values, dtype)
    present = None if isinstance(c, FullVector) else c.present
    was = None if present is None else present[places]
    if accum is not None:
        both = slice(None) if was is None or was.all() else was
        new = _accumulated(c.values, places, t.values, new, accum, both)
    loses = mask is not None and (replace or accum is None) and not (same and not replace)
    if not loses:
        values, present = _own_array(c.values, in_place), _own_array(present, in_place)
        values[places] = new
        if present is None:
            return FullVector(c.size, values)
        present[places] = True
        nvals = c.nvals + places.size - int(was.sum())  # pyright: ignore[reportOptionalMemberAccess]
        return BitmapVector(c.size, present, values, nvals)
    return _scatter_and_delete(c, places, new, mask, accum, replace, in_place)


def _scatter_and_delete(
    c: DenseVector,
    places: Array,
    new: Array,
    mask: Any,
    accum: TypedBinaryOp | None,
    replace: bool,
    in_place: bool,
) -> DenseVector:
    """The same, where entries of C go as well: let through but not in T, or replaced."""
    listed = mask.indices
    if not replace and listed is not None and not mask.complement:
        if isinstance(c, FullVector) and listed.size == places.size:
            values = _own_array(c.values, in_place)
            values[places] = new
            return FullVector(c.size, values)
        values = _own_array(c.values, in_place)
        if isinstance(c, FullVector):
            present, gone = np.ones(c.size, bool), listed.size
        else:
            present, gone = _own_array(c.present, in_place), int(c.present[listed].sum())
        values[places] = new
        present[listed] = False
        present[places] = True
        return BitmapVector(c.size, present, values, c.nvals - gone + places.size)
    inside = presence(mask)
    stays = inside if mask.complement != replace else ~inside
    if isinstance(c, BitmapVector):
        stays = stays & c.present
    elif stays is mask.present:
        stays = stays.copy()
    stays[places] = True
    values = _own_array(c.values, in_place)
    values[places] = new
    return BitmapVector(c.size, stays, values, int(stays.sum()))


def _copy_into(
    c: DenseVector,
    t: DenseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """The write rule for a dense t, by index. Without accum there is a mask, and no replace."""
    inside = None
    if mask is not None:
        inside = presence(mask)
        inside = ~inside if mask.complement else inside
    t_there = t.present if isinstance(t, BitmapVector) else None
    c_there = c.present if isinstance(c, BitmapVector) else None
    writes, stays = _and(t_there, inside), c_there
    new = cast_values(t.values, dtype)
    if accum is None:
        stays = _and(c_there, ~inside)  # pyright: ignore[reportOptionalOperand]
    else:
        both = _and(writes, c_there)
        places = np.arange(c.size) if both is None else both.nonzero()[0]
        x = cast_values(c.values[places], accum.type.np_type)
        y = cast_values(t.values[places], accum.type2.np_type)
        new = new.copy()
        new[places] = cast_values(_at(accum, x, y, places), dtype)
        if replace and mask is not None:
            stays = _and(c_there, inside)
    values = _own_array(c.values, in_place)
    if writes is None:
        values[...] = new
        return FullVector(c.size, values)
    np.copyto(values, new, where=writes)
    if stays is None:
        return FullVector(c.size, values)
    present = stays | writes
    return BitmapVector(c.size, present, values, int(present.sum()))


def _accumulated(
    old: Array,
    places: Array,
    t_values: Array,
    new: Array,
    accum: TypedBinaryOp,
    both: Any,
) -> Array:
    """The new values at places: accum(old, t) where `both` had one."""
    x = cast_values(old[places[both]], accum.type.np_type)
    y = cast_values(t_values[both], accum.type2.np_type)
    joined = cast_values(_at(accum, x, y, places[both]), new.dtype)
    if isinstance(both, slice):
        return joined
    new = new.copy()
    new[both] = joined
    return new


def _at(op: TypedBinaryOp, x: Array, y: Array, places: Array) -> Array:
    """op(x, y), which are at these indices."""
    if not op.is_positional:
        return op.numpy(x, y)
    i, j = places.astype(np.int64), np.zeros(places.size, np.int64)
    return op.numpy(x, i, j, y, i, j)


def _and(a: Array | None, b: Array | None) -> Array | None:
    """Both flags, where None is all."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _own_array(array: Any, in_place: bool) -> Any:
    return array if in_place or array is None else array.copy()


def _write_numba(
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
        c = to_bitmap(c)
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
            values[i] = cast_values(t.values[i : i + 1], values.dtype)[0]
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
    """Apply the write rule index by index."""
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
    """Write where no entry of w goes, at the cost of t's entries (if `in_place`)."""
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
    """Return the arrays to write into: those of c, or copies."""
    if in_place:
        return c.present, c.values
    return c.present.copy(), c.values.astype(dtype, order="C")
