"""The write rule, C⟨mask, replace⟩ = accum(C, T). Kernels: assign.cu, matvec.cu.

T may have entries that the mask forbids. `graphla.backends.write_rule` lists which old entries of C
remain in each case.

If C is a dense vector, the host does not wait, because the new number of entries stays on the
device. If C is a sparse vector or a matrix, the host waits for the number of entries after a mask
is applied and after a merge.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.apply import cast, cast_values
from graphla.backends.cuda.convert import sort, to_sparse
from graphla.backends.cuda.ewise import merge
from graphla.backends.cuda.launch import BLOCK, NULL, blocks, counter, flag, int32, size, tiles
from graphla.backends.cuda.matvec import presence
from graphla.backends.cuda.select import keep
from graphla.backends.write_rule import REMAINS, Remains, is_structure_of
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Constant, Struct, enumeration
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Counted,
    Csr,
    DenseVector,
    FullVector,
    MatrixMask,
    SparseVector,
    VectorMask,
    is_iso,
    known,
)
from semirings.operators import TypedBinaryOp

MASK_NONE, MASK_FLAGS, MASK_LIST = enumeration("device.cuh", "MaskKind")

STAYS = {name: Constant(np.int32(n)) for name, n in vars(enumeration("assign.cu", "Stays")).items()}
"""Maps each value of `Remains` except NOWHERE to the constant that represents it in the kernels."""

ZERO = Constant(np.int64(0))

DENSE, LISTED = Struct("assign.cu", "Dense"), Struct("assign.cu", "Listed")


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
    """w⟨mask, replace⟩ = accum(w, t), with values of the NumPy dtype `dtype`.

    If `in_place` is set, the arrays of w may be overwritten. If w is dense, the write needs one
    kernel launch, or two if t is sparse and entries are deleted. The host does not wait.
    """
    remains = REMAINS[mask is not None, accum is not None, replace]
    if mask is not None and not replace and is_structure_of(mask, t):
        mask, remains = None, "ANYWHERE"
    dtype = np.dtype(dtype)
    if not c.size:
        return cast(c, dtype)
    if remains == "NOWHERE" or (not in_place and _is_empty(c)):
        return cast(_restrict(t, mask), dtype)
    if isinstance(c, SparseVector):
        t = sort(to_sparse(_restrict(t, mask)))
        return _unite(_remove_lost(sort(c), mask, remains), t, accum, dtype)
    if isinstance(t, SparseVector):
        return _scatter_into(c, t, mask, accum, remains, dtype, in_place)
    return _write_indices(c, t, mask, accum, remains, dtype, in_place)


def write_matrix(
    c: Csr,
    t: Csr,
    mask: MatrixMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
) -> Csr:
    """C⟨mask, replace⟩ = accum(C, T), with values of the NumPy dtype `dtype`."""
    if mask is not None and t.nvals:
        t = keep(t, _look_up_entries(mask, t, True))
    c = _remove_lost(c, mask, REMAINS[mask is not None, accum is not None, replace])
    return _unite(c, t, accum, np.dtype(dtype))


# --- sparse C -----------------------------------------------------------------------------------


def _remove_lost(c: Any, mask: Any, remains: Remains) -> Any:
    """Remove the entries of C that the write rule does not keep, and return the remaining ones."""
    if remains == "ANYWHERE" or not c.nvals:
        return c
    if remains == "NOWHERE":
        return _without_entries(c)
    if isinstance(c, Csr):
        return keep(c, _look_up_entries(mask, c, remains == "INSIDE"))
    return keep(c, _look_up_indices(mask, c, remains == "INSIDE"))


def _without_entries(c: Any) -> Any:
    """Return an empty container with the shape and dtype of C."""
    indices, values = xp.empty(0, xp.int32), c.values[:0]
    if isinstance(c, Csr):
        return Csr(c.nrows, c.ncols, xp.zeros(c.nrows + 1, xp.int32), indices, values)
    return SparseVector(c.size, indices, values)


def _unite(c: Any, t: Any, accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> Any:
    """Return the sparse union of C and T. Where both C and T have an entry, combine the entries
    with accum; without accum, take T's entry."""
    if not c.nvals:
        return cast(t, dtype)
    if not t.nvals:
        return cast(c, dtype)
    return merge(c, t, accum, dtype)


def _look_up_indices(mask: VectorMask, v: SparseVector, want: bool) -> Array:
    """Return a Boolean array that selects entries of v according to the mask.

    The array has one element per entry. If `want` is True, the element is True if the mask allows
    the entry's index. If `want` is False, it is True if the mask forbids the index.
    """
    flags = xp.empty(v.nvals, bool)
    if v.nvals:
        kind, *lookup = _as_arguments(mask)
        kernel = load("assign.cu", "look_up_mask", NOTHING, kind)
        complement = flag(mask.complement == want)
        kernel(blocks(v.nvals), BLOCK, v.indices, size(v.nvals), *lookup, complement, flags)
    return flags


def _look_up_entries(mask: MatrixMask, a: Csr, want: bool) -> Array:
    """Return a Boolean array that selects entries of a according to the mask.

    The array has one element per entry. If `want` is True, the element is True if the mask allows
    the entry's position. If `want` is False, it is True if the mask forbids the position.
    """
    pattern, complement = mask.pattern, mask.complement == want
    if (pattern.indices is a.indices and pattern.indptr is a.indptr) or not pattern.nvals:
        return xp.full(a.nvals, complement == (not pattern.nvals))
    flags = xp.empty(a.nvals, bool)
    if a.nvals:
        offsets = (a.indptr.dtype, pattern.indptr.dtype)
        kernel = load("assign.cu", "look_up_pattern", NOTHING, *offsets)
        kernel(
            tiles(a.nvals),
            BLOCK,
            *(a.indptr, a.indices, size(a.nrows), size(a.nvals)),
            *(pattern.indptr, pattern.indices, flag(complement), flags),
        )
    return flags


# --- vector masks --------------------------------------------------------------------------------


def _as_arguments(mask: VectorMask) -> tuple[int, Any, Any, Any]:
    """Return a mask as kernel arguments.

    The arguments are the kind of the mask, an array of flags, a list of indices, and the length of
    the list. A mask of the kind MASK_LIST has only the list; any other mask has only the flags.
    """
    if mask.present is None and mask.is_sorted:
        listed: Any = mask.indices
        return MASK_LIST, NULL, listed, size(listed.size)
    return MASK_FLAGS, presence(mask), NULL, ZERO


def _restrict(t: AnyVector, mask: VectorMask | None) -> AnyVector:
    """Return the entries of t that the mask allows."""
    if mask is None or not t.size or _is_empty(t) or is_structure_of(mask, t):
        return t
    if isinstance(t, SparseVector):
        return keep(t, _look_up_indices(mask, t, True))
    listed = mask.indices
    if isinstance(t, FullVector) and listed is not None and not mask.complement:
        values = t.values[: listed.size] if is_iso(t.values) else t.values[listed]
        return SparseVector(t.size, listed, values, mask.is_sorted)
    present, count = xp.empty(t.size, bool), counter()
    _intersect_flags(t, mask, mask.complement, present, count)
    return BitmapVector(t.size, present, t.values, Counted(count))


def _intersect_flags(
    v: DenseVector, mask: VectorMask, complement: bool, to: Array, count: Array
) -> None:
    """Set to[i] to true if v has an entry at index i and the mask contains i, otherwise to false.

    If `complement` is true, the complement of the mask is used instead. `count` receives the number
    of true flags. `to` may be v's own array of flags.
    """
    there = v.present if isinstance(v, BitmapVector) else NULL
    kernel = load("assign.cu", "restrict_flags", NOTHING)
    flags = (presence(mask), flag(complement))
    kernel(_flag_blocks(v.size), BLOCK, there, *flags, to, size(v.size), count)


def _is_empty(v: AnyVector) -> bool:
    """Return whether the host already knows that v has no entries."""
    if isinstance(v, BitmapVector):
        return known(v.count) == 0
    return not v.nvals


# --- dense C ------------------------------------------------------------------------------------


def one_entry(length: int, i: int, value: Any) -> SparseVector:
    """Return a vector whose only entry is v(i) = value."""
    indices, values = xp.empty(1, xp.int32), xp.empty(1, value.dtype)
    kernel = load("assign.cu", "put_entry", NOTHING, value.dtype)
    kernel(1, 1, indices, values, int32(i), value)
    return SparseVector(length, indices, values)


def set_element(v: DenseVector, i: int, value: Any) -> DenseVector:
    """Set v(i) = value in v's own arrays; None deletes the entry. This takes one kernel launch, and
    the host does not wait."""
    there = value is not None
    stored = value if there else v.values.dtype.type(0)
    present, sums, count = NULL, (NULL, NULL, ZERO), None
    if isinstance(v, BitmapVector) or not there:
        count = counter()
        present = v.present if isinstance(v, BitmapVector) else xp.ones(v.size, bool)
        sums = (count, *_before(v.count if isinstance(v, BitmapVector) else v.size))
    kernel = load("assign.cu", "put_element", NOTHING, v.values.dtype)
    kernel(1, 1, v.values, present, size(i), stored, flag(there), *sums)
    return v if count is None else BitmapVector(v.size, present, v.values, Counted(count))


def _scatter_into(
    c: DenseVector,
    t: SparseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    remains: Remains,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """Write the sparse vector t into the dense vector c.

    First, the entries of c that the write rule does not keep are deleted. Then the entries of t are
    written.
    """
    loses = remains != "ANYWHERE"
    if not t.nvals and not loses:
        return cast(c, dtype)
    present, count, total = None, c.nvals if isinstance(c, FullVector) else c.count, None
    if loses:
        replace = remains == "INSIDE"
        present, count, total = _remove_flags(c, mask, replace, in_place)  # pyright: ignore[reportArgumentType]
    elif isinstance(c, BitmapVector):
        present = c.present if in_place else c.present.copy()
    values = c.values if in_place else _own(c.values, dtype)
    if t.nvals:
        kind, *lookup = (MASK_NONE, NULL, NULL, ZERO) if mask is None else _as_arguments(mask)
        sums = (NULL, NULL, ZERO)
        if total is not None:  # the kernel adds the new entries to the number of remaining entries
            sums = (total, NULL, ZERO)
        elif present is not None:
            total = counter()
            sums, count = (total, *_before(count)), Counted(total)
        spec = _accumulating(accum, dtype)
        kernel = load("assign.cu", "scatter_entries", spec, t.values.dtype, kind)
        kernel(
            blocks(t.nvals),
            BLOCK,
            *(values, NULL if present is None else present),
            LISTED(places=t.indices, values=t.values, step=_step(t.values), count=t.nvals),
            *lookup,
            *(flag(mask is not None and mask.complement), *sums),
        )
    if present is None:
        return FullVector(c.size, values)
    return BitmapVector(c.size, present, values, count)


def _remove_flags(
    c: DenseVector, mask: VectorMask, replace: bool, in_place: bool
) -> tuple[Array, Any, Array | None]:
    """Clear presence flags of c: at the indices that the mask allows if `replace` is False, or at
    the indices that the mask forbids if `replace` is True.

    Return three values: the flags, the number of remaining entries, and the device array in which a
    kernel counts these entries. The third value is None if no kernel needs to count them.
    """
    total, listed = counter(), mask.indices
    own = c.present if in_place and isinstance(c, BitmapVector) else None
    if replace or mask.complement or listed is None:
        present = xp.empty(c.size, bool) if own is None else own
        _intersect_flags(c, mask, mask.complement == replace, present, total)
        return present, Counted(total), total
    is_full = isinstance(c, FullVector)
    if own is None:
        own = xp.ones(c.size, bool) if is_full else c.present.copy()
    had = c.size if is_full else c.count
    if not listed.size:
        return own, had, None
    kernel = load("assign.cu", "unflag_listed", NOTHING)
    kernel(blocks(listed.size), BLOCK, listed, size(listed.size), own, total, *_before(had))
    return own, Counted(total), total


def _write_indices(
    c: DenseVector,
    t: DenseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    remains: Remains,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """Write the dense vector t into the dense vector c. The kernel visits every index."""
    is_full = isinstance(t, FullVector) and mask is None
    is_full = is_full or (isinstance(c, FullVector) and remains == "ANYWHERE")
    there = c.present if isinstance(c, BitmapVector) else NULL
    values = c.values if in_place else xp.empty(c.size, dtype)
    present, count = NULL, NULL
    if not is_full:
        count = counter()
        present = there if in_place and there is not NULL else xp.empty(c.size, bool)
    types = (c.values.dtype, t.values.dtype)
    kernel = load("assign.cu", "write_indices", _accumulating(accum, dtype), *types)
    kernel(
        _flag_blocks(c.size),
        BLOCK,
        _dense(c),
        _dense(t),
        NULL if mask is None else presence(mask),
        *(flag(mask is not None and mask.complement), STAYS[remains]),
        *(values, present, size(c.size), count),
    )
    if is_full:
        return FullVector(c.size, values)
    return BitmapVector(c.size, present, values, Counted(count))


def _dense(v: DenseVector) -> Any:
    present = v.present if isinstance(v, BitmapVector) else None
    return DENSE(values=v.values, step=_step(v.values), present=present)


def _flag_blocks(indices: int) -> int:
    """Return the number of blocks of a launch whose threads each handle one word of eight flags."""
    return blocks(-(-indices // 8))


def _accumulating(accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    return (cuda_ops.accumulation, accum, dtype)


def _before(count: Any) -> tuple[Any, Any]:
    """Return two kernel arguments, an array and a value, that pass a count to a kernel.

    If the count is in device memory, the kernel reads it from the array and ignores the value.
    Otherwise the array is null, and the kernel uses the value.
    """
    array = count.array if isinstance(count, Counted) else None
    return (NULL, size(int(count))) if array is None else (array, ZERO)


def _step(values: Array) -> int:
    """Return the stride between stored values: 0 for an iso-valued array, otherwise 1."""
    return 0 if is_iso(values) else 1


def _own(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return a copy of the values that stores one value per index, even if all values are equal."""
    new = cast_values(values, dtype)
    return new.copy() if new is values or is_iso(new) else new
