"""The write rule: C⟨mask, replace⟩ = accum(C, T).

Z = T, or the union of C and T under accum; C becomes Z where the mask lets through; elsewhere it
keeps what it had, or loses it under replace. T may have entries that the mask forbids.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from graphla.backends.cpu.arrays.entries import keep, merge
from graphla.backends.cpu.arrays.layout import cast, cast_storage, gather, keys_of, to_sparse
from graphla.backends.cpu.arrays.layout import sort as sort_vector
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
)
from semirings.operators import TypedBinaryOp

LOOKUPS = 8
"""A mask's list is spread out to all indices where at least size / LOOKUPS are asked about."""


# --- masks --------------------------------------------------------------------------------------


def presence(xp: ModuleType, mask: VectorMask) -> Array:
    """The mask as one flag for each index, before its complement is taken."""
    if mask.present is not None:
        return mask.present
    present = xp.zeros(mask.size, bool)
    present[mask.indices] = True
    return present


def allowed(xp: ModuleType, mask: VectorMask, indices: Array) -> Array:
    """Whether the mask lets each index through."""
    listed = mask.indices
    if mask.present is None and mask.is_sorted and indices.size * LOOKUPS < mask.size:
        inside = _is_among(xp, listed, indices)
    else:
        inside = presence(xp, mask)[indices]
    return ~inside if mask.complement else inside


def allowed_entries(xp: ModuleType, mask: MatrixMask, a: Csr) -> Array:
    """Whether the mask lets each entry of a through."""
    pattern = mask.pattern
    if pattern.indices is a.indices and pattern.indptr is a.indptr:
        return xp.full(a.nvals, not mask.complement)
    if not a.nvals or not pattern.nvals:
        return xp.full(a.nvals, mask.complement)
    inside = _is_among(xp, keys_of(xp, pattern), keys_of(xp, a))
    return ~inside if mask.complement else inside


def _is_among(xp: ModuleType, listed: Any, keys: Array) -> Array:
    """Whether each key is in the increasing list."""
    if not listed.size:
        return xp.zeros(keys.size, bool)
    return listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys


# --- matrices -----------------------------------------------------------------------------------


def write_matrix(
    xp: ModuleType,
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
        t = keep(xp, t, allowed_entries(xp, mask, t))
    c = _surviving(xp, c, mask, accum, replace, allowed_entries)
    return _joined(xp, c, t, accum, dtype)


def _surviving(
    xp: ModuleType, c: Any, mask: Any, accum: TypedBinaryOp | None, replace: bool, allows: Any
) -> Any:
    """The entries of C that do not go: without accum, T takes the place of those let through."""
    if not c.nvals or (accum is not None and not (replace and mask is not None)):
        return c
    if mask is None or (replace and accum is None):
        return keep(xp, c, xp.zeros(c.nvals, bool))
    inside = allows(xp, mask, c if isinstance(c, Csr) else c.indices)
    return keep(xp, c, inside if replace else ~inside)


def _joined(
    xp: ModuleType, c: Any, t: Any, accum: TypedBinaryOp | None, dtype: np.dtype[Any]
) -> Any:
    if not c.nvals:
        return cast_storage(t, dtype)
    if not t.nvals:
        return cast_storage(c, dtype)
    return merge(xp, c, t, accum, dtype)


# --- vectors ------------------------------------------------------------------------------------


def write_vector(
    xp: ModuleType,
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
        return cast_storage(_restricted(xp, t, mask), dtype)
    if accum is not None and not c.nvals:
        return cast_storage(_restricted(xp, t, mask), dtype)
    if isinstance(c, SparseVector):
        t = sort_vector(xp, to_sparse(xp, _restricted(xp, t, mask)))
        c = sort_vector(xp, c)
        return _joined(xp, _surviving(xp, c, mask, accum, replace, allowed), t, accum, dtype)
    if isinstance(t, SparseVector):
        return _scatter_into(xp, c, t, mask, accum, replace, dtype, in_place)
    return _copy_into(xp, c, t, mask, accum, replace, dtype, in_place)


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


def _restricted(xp: ModuleType, t: AnyVector, mask: VectorMask | None) -> AnyVector:
    """The entries of t that the mask lets through."""
    if mask is None or not t.nvals or _says_the_same(mask, t):
        return t
    if isinstance(t, SparseVector):
        return keep(xp, t, allowed(xp, mask, t.indices))
    if mask.indices is not None and not mask.complement and mask.present is None:
        indices, values = mask.indices, gather(xp, t.values, mask.indices)
        listed = SparseVector(t.size, indices, values, mask.is_sorted)
        return listed if isinstance(t, FullVector) else keep(xp, listed, t.present[indices])
    inside = presence(xp, mask)
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
    xp: ModuleType,
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
    t = t if mask is None or same else keep(xp, t, allowed(xp, mask, t.indices))
    places, new = t.indices, cast(t.values, dtype)
    present = None if isinstance(c, FullVector) else c.present
    was = None if present is None else present[places]
    if accum is not None:
        both = slice(None) if was is None or was.all() else was
        new = _accumulated(xp, c.values, places, t.values, new, accum, both)
    loses = mask is not None and (replace or accum is None) and not (same and not replace)
    if not loses:
        values, present = _own(c.values, in_place), _own(present, in_place)
        values[places] = new
        if present is None:
            return FullVector(c.size, values)
        present[places] = True
        nvals = c.nvals + places.size - int(was.sum())  # pyright: ignore[reportOptionalMemberAccess]
        return BitmapVector(c.size, present, values, nvals)
    return _scatter_and_delete(xp, c, places, new, mask, accum, replace, in_place)


def _scatter_and_delete(
    xp: ModuleType,
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
            values = _own(c.values, in_place)
            values[places] = new
            return FullVector(c.size, values)
        values = _own(c.values, in_place)
        if isinstance(c, FullVector):
            present, gone = xp.ones(c.size, bool), listed.size
        else:
            present, gone = _own(c.present, in_place), int(c.present[listed].sum())
        values[places] = new
        present[listed] = False
        present[places] = True
        return BitmapVector(c.size, present, values, c.nvals - gone + places.size)
    inside = presence(xp, mask)
    stays = inside if mask.complement != replace else ~inside
    if isinstance(c, BitmapVector):
        stays = stays & c.present
    elif stays is mask.present:
        stays = stays.copy()
    stays[places] = True
    values = _own(c.values, in_place)
    values[places] = new
    return BitmapVector(c.size, stays, values, int(stays.sum()))


def _copy_into(
    xp: ModuleType,
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
        inside = presence(xp, mask)
        inside = ~inside if mask.complement else inside
    t_there = t.present if isinstance(t, BitmapVector) else None
    c_there = c.present if isinstance(c, BitmapVector) else None
    writes, stays = _and(t_there, inside), c_there
    new = cast(t.values, dtype)
    if accum is None:
        stays = _and(c_there, ~inside)  # pyright: ignore[reportOptionalOperand]
    else:
        both = _and(writes, c_there)
        places = xp.arange(c.size) if both is None else both.nonzero()[0]
        x = cast(c.values[places], accum.type.np_type)
        y = cast(t.values[places], accum.type2.np_type)
        new = new.copy()
        new[places] = cast(_at(xp, accum, x, y, places), dtype)
        if replace and mask is not None:
            stays = _and(c_there, inside)
    values = _own(c.values, in_place)
    if writes is None:
        values[...] = new
        return FullVector(c.size, values)
    xp.copyto(values, new, where=writes)
    if stays is None:
        return FullVector(c.size, values)
    present = stays | writes
    return BitmapVector(c.size, present, values, int(present.sum()))


def _accumulated(
    xp: ModuleType,
    old: Array,
    places: Array,
    t_values: Array,
    new: Array,
    accum: TypedBinaryOp,
    both: Any,
) -> Array:
    """The new values at places: accum(old, t) where `both` had one."""
    x = cast(old[places[both]], accum.type.np_type)
    y = cast(t_values[both], accum.type2.np_type)
    joined = cast(_at(xp, accum, x, y, places[both]), new.dtype)
    if isinstance(both, slice):
        return joined
    new = new.copy()
    new[both] = joined
    return new


def _at(xp: ModuleType, op: TypedBinaryOp, x: Array, y: Array, places: Array) -> Array:
    """op(x, y), which are at these indices."""
    if not op.is_positional:
        return op.numpy(x, y)
    i, j = places.astype(xp.int64), xp.zeros(places.size, xp.int64)
    return op.numpy(x, i, j, y, i, j)


def _and(a: Array | None, b: Array | None) -> Array | None:
    """Both flags, where None is all."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _own(array: Any, in_place: bool) -> Any:
    return array if in_place or array is None else array.copy()
