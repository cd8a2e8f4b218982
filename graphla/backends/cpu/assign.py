"""The write rule, C⟨mask, replace⟩ = accum(C, T), with NumPy and with Numba.

T may have entries that the mask forbids; they are ignored. The module `graphla.backends.write_rule`
lists where old entries of C remain in each case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.apply import cast
from graphla.backends.cpu.convert import full, sort, to_bitmap, to_sparse
from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.ewise import merge
from graphla.backends.cpu.layout import cast_values
from graphla.backends.cpu.masks import flag_allowed, look_up_indices, presence
from graphla.backends.cpu.operands import allowed_by, even_parts, spread, values_of
from graphla.backends.cpu.select import keep, look_up_entries
from graphla.backends.values import gather
from graphla.backends.write_rule import REMAINS, Remains, is_structure_of
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
    """C⟨mask, replace⟩ = accum(C, T); the result has the NumPy dtype `dtype`."""
    if mask is not None and t.nvals:
        t = keep(t, look_up_entries(mask, t))
    c = _remove_lost(c, mask, REMAINS[mask is not None, accum is not None, replace])
    return _unite(c, t, accum, np.dtype(dtype))


def _remove_lost(c: Any, mask: Any, remains: Remains) -> Any:
    """Return the old entries of C that the write rule keeps.

    `remains` says where old entries of C are kept: everywhere ("ANYWHERE"), "NOWHERE", only where
    the mask allows writing ("INSIDE"), or only where the mask does not ("OUTSIDE").
    """
    if remains == "ANYWHERE" or not c.nvals:
        return c
    if remains == "NOWHERE":
        return keep(c, np.zeros(c.nvals, bool))
    inside = look_up_entries(mask, c) if isinstance(c, Csr) else look_up_indices(mask, c.indices)
    return keep(c, inside if remains == "INSIDE" else ~inside)


def _unite(c: Any, t: Any, accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> Any:
    """Return the sparse union of C and T under accum; without accum, an entry of T replaces the
    entry of C at the same position."""
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
    """w⟨mask, replace⟩ = accum(w, t); the result has the NumPy dtype `dtype`.

    If `in_place` is set, the result is written into the arrays of w. If w is then dense and t is
    sparse, the cost depends only on the entries of t and on the indices that the mask lists.
    """
    remains = REMAINS[mask is not None, accum is not None, replace]
    if mask is not None and not replace and is_structure_of(mask, t):
        mask, remains = None, "ANYWHERE"
    dtype = np.dtype(dtype)
    if remains == "NOWHERE" or not c.nvals:
        return cast(_restrict(t, mask), dtype)
    if not isinstance(c, FullVector) and compiles(c.size, accum):
        new = _write_numba(c, t, mask, accum, remains, dtype, in_place, config.threads)
        if new is not None:
            return new
    if isinstance(c, SparseVector):
        t = sort(to_sparse(_restrict(t, mask)))
        return _unite(_remove_lost(sort(c), mask, remains), t, accum, dtype)
    if isinstance(t, SparseVector):
        return _scatter_into(c, _restrict(t, mask), mask, accum, remains, dtype, in_place)
    return _copy_into(c, t, mask, accum, remains, dtype, in_place)


def one_entry(size: int, i: int, value: Any) -> SparseVector:
    """Return the vector whose only entry is v(i) = value."""
    return SparseVector(size, full(1, i, np.int32), full(1, value, value.dtype))


def set_element(v: DenseVector, i: int, value: Any) -> DenseVector:
    """v(i) = value, written into the arrays of v. If value is None, delete the entry at i."""
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


def _restrict(t: Any, mask: VectorMask | None) -> Any:
    """Return the entries of t that the mask allows. If t is sparse, so is the result."""
    if mask is None or not t.nvals or is_structure_of(mask, t):
        return t
    if isinstance(t, SparseVector):
        return keep(t, look_up_indices(mask, t.indices))
    if mask.indices is not None and not mask.complement and mask.present is None:
        indices, values = mask.indices, gather(t.values, mask.indices)
        listed = SparseVector(t.size, indices, values, mask.is_sorted)
        return listed if isinstance(t, FullVector) else keep(listed, t.present[indices])
    present = flag_allowed(mask)
    present = present & t.present if isinstance(t, BitmapVector) else present
    return BitmapVector(t.size, present, t.values, int(present.sum()))


def _scatter_into(
    c: DenseVector,
    t: SparseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    remains: Remains,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """Write a sparse t into a dense w. The mask must allow all entries of t.

    All new values are computed before the first one is written, so that an error leaves w
    unchanged.
    """
    places, new = t.indices, cast_values(t.values, dtype)
    present = None if isinstance(c, FullVector) else c.present
    was = None if present is None else present[places]
    if accum is not None:
        both = slice(None) if was is None or was.all() else was
        new = _accumulate(accum, c.values, places[both], t.values, new, both)
    if remains != "ANYWHERE":
        return _scatter_and_delete(c, places, new, mask, remains, in_place)
    values, present = _own_array(c.values, in_place), _own_array(present, in_place)
    values[places] = new
    if present is None:
        return FullVector(c.size, values)
    present[places] = True
    nvals = c.nvals + places.size - int(was.sum())  # pyright: ignore[reportOptionalMemberAccess]
    return BitmapVector(c.size, present, values, nvals)


def _scatter_and_delete(
    c: DenseVector, places: Array, new: Array, mask: Any, remains: Remains, in_place: bool
) -> DenseVector:
    """Write the values `new` at the positions `places` of w, and delete the other entries of w that
    the write rule does not keep.

    `remains` says where other entries of w are kept: only where the mask allows writing ("INSIDE"),
    or only where the mask does not ("OUTSIDE").
    """
    listed, values = mask.indices, _own_array(c.values, in_place)
    if remains == "OUTSIDE" and listed is not None and not mask.complement:
        if not isinstance(c, FullVector):
            present, gone = _own_array(c.present, in_place), int(c.present[listed].sum())
        elif listed.size > places.size:
            present, gone = np.ones(c.size, bool), listed.size
        else:  # t then has an entry at every index that the mask allows
            values[places] = new
            return FullVector(c.size, values)
        values[places] = new
        present[listed] = False
        present[places] = True
        return BitmapVector(c.size, present, values, c.nvals - gone + places.size)
    inside = presence(mask)
    stays = inside if mask.complement == (remains == "OUTSIDE") else ~inside
    if isinstance(c, BitmapVector):
        stays = stays & c.present
    elif stays is mask.present:
        stays = stays.copy()
    stays[places] = True
    values[places] = new
    return BitmapVector(c.size, stays, values, int(stays.sum()))


def _copy_into(
    c: DenseVector,
    t: DenseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    remains: Remains,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """Write a dense t into a dense w with NumPy operations on whole arrays."""
    inside = None if mask is None else flag_allowed(mask)
    t_there = t.present if isinstance(t, BitmapVector) else None
    c_there = c.present if isinstance(c, BitmapVector) else None
    writes, stays = _and(t_there, inside), c_there
    if inside is not None and remains != "ANYWHERE":
        stays = _and(c_there, inside if remains == "INSIDE" else ~inside)
    new = cast_values(t.values, dtype)
    if accum is not None:
        both = _and(writes, c_there)
        places = np.arange(c.size) if both is None else both.nonzero()[0]
        new = _accumulate(accum, c.values, places, t.values, new, places)
    values = _own_array(c.values, in_place)
    if writes is None:
        values[...] = new
        return FullVector(c.size, values)
    np.copyto(values, new, where=writes)
    if stays is None:
        return FullVector(c.size, values)
    present = stays | writes
    return BitmapVector(c.size, present, values, int(present.sum()))


def _accumulate(
    accum: TypedBinaryOp, old: Array, places: Array, t_values: Array, new: Array, both: Any
) -> Array:
    """Return the new values of the entries of t that are written.

    If w has an entry at the same index, the new value is accum(old value, value of t). Otherwise it
    is the value in `new`, which is the value of t cast to the dtype of w. `both` (flags, positions
    or a slice) selects the entries of t at whose index w also has an entry, and `places` holds the
    indices of these entries.
    """
    x = cast_values(old[places], accum.type.np_type)
    y = cast_values(t_values[both], accum.type2.np_type)
    values = cast_values(_apply_at(accum, x, y, places), new.dtype)
    if isinstance(both, slice):
        return values
    new = new.copy()
    new[both] = values
    return new


def _apply_at(op: TypedBinaryOp, x: Array, y: Array, places: Array) -> Array:
    """Return op(x, y) for pairs of values; `places` holds the index of each pair."""
    if not op.is_positional:
        return op.numpy(x, y)
    i, j = places.astype(np.int64), np.zeros(places.size, np.int64)
    return op.numpy(x, i, j, y, i, j)


def _and(a: Array | None, b: Array | None) -> Array | None:
    """Return a & b, where None stands for an array whose elements are all true."""
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
    remains: Remains,
    dtype: np.dtype[Any],
    in_place: bool,
    threads: int,
) -> BitmapVector | None:
    """Write t into w with a compiled loop; return None if no loop handles the case.

    If t is full, w must not be sparse. If t is sparse, there is a loop only if w is not sparse, the
    write removes no entries of w, and the mask is not a list of indices.
    """
    if isinstance(t, SparseVector):
        if remains != "ANYWHERE" or isinstance(c, SparseVector):
            return None
        if mask is not None and mask.present is None:
            return None
        return _scatter(c, t, mask, accum, dtype, in_place)
    if isinstance(c, SparseVector):
        if isinstance(t, FullVector):
            return None
        # The result has about as many entries as the bitmap t. So convert w, which is sparse, to a
        # new bitmap. This bitmap is overwritten if its values have the right dtype and are not
        # shared.
        in_place = not is_iso(c.values) and c.values.dtype == dtype
        c = to_bitmap(c)
    if accum is None and mask is None and isinstance(t, BitmapVector):
        return _fill(c, t, dtype, in_place, threads)
    return _write_dense(c, t, mask, accum, remains, dtype, in_place, threads)


def _fill(
    c: BitmapVector, t: BitmapVector, dtype: Any, in_place: bool, threads: int
) -> BitmapVector:
    """Write all entries of t into w. Do not change the entries of w at other indices."""
    present, values = _own(c, dtype, in_place)
    t_values, step = values_of(t.values, wanted=lookup_dtype(dtype))
    whole = t.size // 8
    words = t.present[: whole * 8].view(np.uint64)
    arrays = (words, t.present, t_values, values)
    loop = load("assign.fill", (numba_ops.accumulation, None, lookup_dtype(dtype)), arrays)
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
    remains: Remains,
    dtype: Any,
    in_place: bool,
    threads: int,
) -> BitmapVector:
    """Write a dense t into w with a loop over all indices."""
    size = c.size
    present, values = _own(c, dtype, in_place)
    t_present, there = (EVERYWHERE, 0) if isinstance(t, FullVector) else (t.present, 1)
    t_values, step = values_of(t.values, wanted=_dtype_of_reads(accum, dtype))
    allowed, mask_step, forbidden = allowed_by(mask)
    arrays = (t_present, t_values, allowed, present, values)
    loop = load("assign.write", (numba_ops.accumulation, accum, lookup_dtype(dtype)), arrays)
    steps = (there, step, mask_step, forbidden, int(remains == "INSIDE"))
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
    """Write a sparse t into w without removing entries.

    With `in_place`, this takes time proportional to the number of entries of t.
    """
    present, values = _own(c, dtype, in_place)
    t_values, step = values_of(t.values, wanted=_dtype_of_reads(accum, dtype))
    allowed, mask_step, forbidden = allowed_by(mask)
    arrays = (t.indices, t_values, allowed, present, values)
    loop = load("assign.scatter", (numba_ops.accumulation, accum, lookup_dtype(dtype)), arrays)
    gained = loop(*arrays, step, mask_step, forbidden)
    return BitmapVector(c.size, present, values, c.nvals + gained)


def _dtype_of_reads(accum: TypedBinaryOp | None, dtype: Any) -> DataType | None:
    """Return the dtype to which all values of t are cast.

    Return None if the dtype depends on whether w has an entry at the same index.
    """
    wanted = lookup_dtype(dtype)
    return wanted if accum is None or accum.type2 is wanted else None


def _own(c: BitmapVector, dtype: Any, in_place: bool) -> tuple[Array, Array]:
    """Return the presence flags and the values into which the result is written.

    If `in_place`, these are the arrays of `c` itself. Otherwise they are copies, with values of the
    given dtype.
    """
    if in_place:
        return c.present, c.values
    return c.present.copy(), c.values.astype(dtype, order="C")
