"""The write rule: C⟨mask, replace⟩ = accum(C, T). Kernels: assign.cu.

Waits: none where C is a dense vector, whose new number of entries stays on the device. Sparse
vectors and matrices wait for the number of entries after a mask is applied and after a merge.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.apply import cast, cast_values
from graphla.backends.cuda.convert import sort, to_sparse
from graphla.backends.cuda.ewise import merge
from graphla.backends.cuda.launch import BLOCK, NULL, blocks, counter, size, tiles
from graphla.backends.cuda.select import keep
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct
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

NO_MASK, FLAGS, LIST = 0, 1, 2  # as MaskKind in assign.cu
ANYWHERE, INSIDE, OUTSIDE = np.int32(0), np.int32(1), np.int32(2)  # where C stays: write_indices
ZERO = np.int64(0)

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
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`.

    Where w is dense this is one launch (two where it loses entries to a sparse t), and no wait.
    """
    dtype = np.dtype(dtype)
    if not c.size:
        return cast(c, dtype)
    same = mask is not None and not replace and _says_the_same(mask, t)
    if same:
        mask = None  # what it lets through is what t has: nothing of w goes
    elif accum is None and (mask is None or replace):
        return cast(_restricted(t, mask), dtype)
    if _is_empty(c) and not in_place:
        return cast(_restricted(t, mask), dtype)
    if isinstance(c, SparseVector):
        t = sort(to_sparse(_restricted(t, mask)))
        c = sort(c) if same else _surviving(sort(c), mask, accum, replace)
        return _joined(c, t, accum, dtype)
    if isinstance(t, SparseVector):
        return _scatter_into(c, t, mask, accum, replace, dtype, in_place)
    return _write_indices(c, t, mask, accum, replace, dtype, in_place)


def write_matrix(
    c: Csr,
    t: Csr,
    mask: MatrixMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
) -> Csr:
    """C⟨mask, replace⟩ = accum(C, T), of numpy dtype `dtype`."""
    if mask is not None and t.nvals:
        t = keep(t, _allowed_entries(mask, t, True))
    return _joined(_surviving(c, mask, accum, replace), t, accum, np.dtype(dtype))


# --- sparse C -----------------------------------------------------------------------------------


def _surviving(c: Any, mask: Any, accum: TypedBinaryOp | None, replace: bool) -> Any:
    """The entries of C that do not go: without accum, T takes the place of those let through."""
    if not c.nvals or (accum is not None and not (replace and mask is not None)):
        return c
    if mask is None or (replace and accum is None):
        return _emptied(c)
    if isinstance(c, Csr):
        return keep(c, _allowed_entries(mask, c, replace))
    return keep(c, _allowed(mask, c, replace))


def _emptied(c: Any) -> Any:
    indices, values = xp.empty(0, xp.int32), c.values[:0]
    if isinstance(c, Csr):
        return Csr(c.nrows, c.ncols, xp.zeros(c.nrows + 1, xp.int32), indices, values)
    return SparseVector(c.size, indices, values)


def _joined(c: Any, t: Any, accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> Any:
    if not c.nvals:
        return cast(t, dtype)
    if not t.nvals:
        return cast(c, dtype)
    return merge(c, t, accum, dtype)


def _allowed(mask: VectorMask, v: SparseVector, want: bool) -> Array:
    """Whether the mask lets each entry of v through, == want."""
    flags = xp.empty(v.nvals, bool)
    if v.nvals:
        kind, *lookup = _lookup(mask)
        kernel = load("assign.cu", "look_up_mask", NOTHING, kind)
        complement = np.bool_(mask.complement == want)
        kernel(blocks(v.nvals), BLOCK, v.indices, size(v.nvals), *lookup, complement, flags)
    return flags


def _allowed_entries(mask: MatrixMask, a: Csr, want: bool) -> Array:
    """Whether the mask lets each entry of a through, == want."""
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
            *(pattern.indptr, pattern.indices, np.bool_(complement), flags),
        )
    return flags


# --- masks over vectors -------------------------------------------------------------------------


def _says_the_same(mask: VectorMask, t: AnyVector) -> bool:
    """Whether the mask is known to be the structure of t."""
    if mask.complement:
        return False
    if isinstance(t, SparseVector):
        return mask.indices is t.indices
    return isinstance(t, BitmapVector) and mask.present is t.present


def _lookup(mask: VectorMask) -> tuple[int, Any, Any, np.int64]:
    """How a kernel asks the mask: its kind, flags, list and the list's length."""
    if mask.present is None and mask.is_sorted:
        listed: Any = mask.indices
        return LIST, NULL, listed, size(listed.size)
    return FLAGS, presence(mask), NULL, ZERO


def presence(mask: VectorMask) -> Array:
    """The mask as one flag for each index, before its complement is taken."""
    if mask.present is not None:
        return mask.present
    flags, listed = xp.zeros(mask.size, bool), mask.indices
    if listed.size:  # pyright: ignore[reportOptionalMemberAccess]
        kernel = load("assign.cu", "flag_listed", NOTHING)
        kernel(blocks(listed.size), BLOCK, listed, size(listed.size), flags)  # pyright: ignore
    return flags


def _restricted(t: AnyVector, mask: VectorMask | None) -> AnyVector:
    """The entries of t that the mask lets through."""
    if mask is None or not t.size or _is_empty(t) or _says_the_same(mask, t):
        return t
    if isinstance(t, SparseVector):
        return keep(t, _allowed(mask, t, True))
    listed = mask.indices
    if isinstance(t, FullVector) and listed is not None and not mask.complement:
        values = t.values[: listed.size] if is_iso(t.values) else t.values[listed]
        return SparseVector(t.size, listed, values, mask.is_sorted)
    present, count = xp.empty(t.size, bool), counter()
    _restrict(t, mask, mask.complement, present, count)
    return BitmapVector(t.size, present, t.values, Counted(count))


def _restrict(v: DenseVector, mask: VectorMask, complement: bool, to: Array, count: Array) -> None:
    """to = where v has entries and the mask (or its complement) is, which may be v's own flags."""
    there = v.present if isinstance(v, BitmapVector) else NULL
    kernel = load("assign.cu", "restrict_flags", NOTHING)
    flags = (presence(mask), np.bool_(complement))
    kernel(_words(v.size), BLOCK, there, *flags, to, size(v.size), count)


def _is_empty(v: AnyVector) -> bool:
    """Whether v is seen to have no entry, at no wait."""
    if isinstance(v, BitmapVector):
        return known(v.count) == 0
    return not v.nvals


# --- dense C ------------------------------------------------------------------------------------


def one_entry(length: int, i: int, value: Any) -> SparseVector:
    """The vector whose one entry is v(i) = value."""
    indices, values = xp.empty(1, xp.int32), xp.empty(1, value.dtype)
    kernel = load("assign.cu", "put_entry", NOTHING, value.dtype)
    kernel(1, 1, indices, values, np.int32(i), value)
    return SparseVector(length, indices, values)


def set_element(v: DenseVector, i: int, value: Any) -> DenseVector:
    """v(i) = value, in v's own arrays; None deletes. One launch, no wait."""
    there = value is not None
    stored = value if there else v.values.dtype.type(0)
    present, sums, count = NULL, (NULL, NULL, ZERO), None
    if isinstance(v, BitmapVector) or not there:
        count = counter()
        present = v.present if isinstance(v, BitmapVector) else xp.ones(v.size, bool)
        sums = (count, *_before(v.count if isinstance(v, BitmapVector) else v.size))
    kernel = load("assign.cu", "put_element", NOTHING, v.values.dtype)
    kernel(1, 1, v.values, present, size(i), stored, np.bool_(there), *sums)
    return v if count is None else BitmapVector(v.size, present, v.values, Counted(count))


def _scatter_into(
    c: DenseVector,
    t: SparseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """The write rule for a sparse t: what goes is taken away, then t's entries are put in."""
    loses = mask is not None and (replace or accum is None)
    if not t.nvals and not loses:
        return cast(c, dtype)
    present, count, total = None, c.nvals if isinstance(c, FullVector) else c.count, None
    if loses:
        present, count, total = _bereft(c, mask, replace, in_place)  # pyright: ignore[reportArgumentType]
    elif isinstance(c, BitmapVector):
        present = c.present if in_place else c.present.copy()
    values = c.values if in_place else _own(c.values, dtype)
    if t.nvals:
        kind, *lookup = (NO_MASK, NULL, NULL, ZERO) if mask is None else _lookup(mask)
        sums = (NULL, NULL, ZERO)
        if total is not None:  # what is put in counts on from what was left
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
            *(np.bool_(mask is not None and mask.complement), *sums),
        )
    if present is None:
        return FullVector(c.size, values)
    return BitmapVector(c.size, present, values, count)


def _bereft(
    c: DenseVector, mask: VectorMask, replace: bool, in_place: bool
) -> tuple[Array, Any, Array | None]:
    """C's flags without the entries that go (those let through; under replace, the others), how
    many are left, and where that lies if it is counted anew."""
    total, listed = counter(), mask.indices
    own = c.present if in_place and isinstance(c, BitmapVector) else None
    if replace or mask.complement or listed is None:
        present = xp.empty(c.size, bool) if own is None else own
        _restrict(c, mask, mask.complement == replace, present, total)
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
    replace: bool,
    dtype: np.dtype[Any],
    in_place: bool,
) -> DenseVector:
    """The write rule for a dense t, by index."""
    stays = ANYWHERE
    if mask is not None:
        stays = OUTSIDE if accum is None else INSIDE if replace else ANYWHERE
    is_full = isinstance(t, FullVector) and mask is None
    is_full = is_full or (isinstance(c, FullVector) and stays is ANYWHERE)
    there = c.present if isinstance(c, BitmapVector) else NULL
    values = c.values if in_place else xp.empty(c.size, dtype)
    present, count = NULL, NULL
    if not is_full:
        count = counter()
        present = there if in_place and there is not NULL else xp.empty(c.size, bool)
    types = (c.values.dtype, t.values.dtype)
    kernel = load("assign.cu", "write_indices", _accumulating(accum, dtype), *types)
    kernel(
        _words(c.size),
        BLOCK,
        _dense(c),
        _dense(t),
        NULL if mask is None else presence(mask),
        *(np.bool_(mask is not None and mask.complement), stays),
        *(values, present, size(c.size), count),
    )
    if is_full:
        return FullVector(c.size, values)
    return BitmapVector(c.size, present, values, Counted(count))


def _dense(v: DenseVector) -> Any:
    present = v.present if isinstance(v, BitmapVector) else None
    return DENSE(values=v.values, step=_step(v.values), present=present)


def _words(indices: int) -> int:
    """A grid of a thread for each eight indices."""
    return blocks(-(-indices // 8))


def _accumulating(accum: TypedBinaryOp | None, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    return (cuda_ops.accumulating, accum, dtype)


def _before(count: Any) -> tuple[Any, np.int64]:
    """A count as kernels take it: where the device has it, else the number."""
    array = count.array if isinstance(count, Counted) else None
    return (NULL, np.int64(int(count))) if array is None else (array, ZERO)


def _step(values: Array) -> int:
    """From one value to the next: 0 where one stands for all."""
    return 0 if is_iso(values) else 1


def _own(values: Array, dtype: np.dtype[Any]) -> Array:
    """A copy of the values, one for each index."""
    new = cast_values(values, dtype)
    return new.copy() if new is values or is_iso(new) else new
