"""Matrix times sparse vector, as a push along columns: w(o) = ⊕ₖ A(o, k) ⊗ u(k)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends.cpu import terms
from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.folding import fold_by_output, fold_parts
from graphla.backends.cpu.layout import ranges
from graphla.backends.cpu.masks import look_up_indices, presence
from graphla.backends.cpu.operands import Parts, allowed_by, between, spread
from graphla.backends.cpu.spmv import PRESENCE, holding, may_be_constant, only_value, operands
from graphla.backends.cpu.terms import chunks, multiply_side
from graphla.backends.tuning import current
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.formats import Array, BitmapVector, Csr, SparseVector, VectorMask
from semirings.structures import TypedSemiring

if TYPE_CHECKING:
    from graphla.backends import Side

_flag = np.dtype(np.bool_)


@dataclass(frozen=True, slots=True)
class SpmspvTuning:
    """Limits that decide how a push is computed, and in which form it returns its result."""

    # If a mask of size n is a list and there are at least n / lookups terms, the list is expanded
    # to one flag per index.
    lookups: int = 16
    # A compiled push returns a bitmap if it reads more than `size / sparse` edges.
    sparse: float = 4
    parallel: int = 1 << 17  # a push with at least this many edges is divided among threads
    small: int = 1 << 11  # maximum number of outputs for `_push_small`


TUNING = SpmspvTuning()


def push(
    columns: Csr, u: SparseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), along the columns k at which u has an entry."""
    threads = compiles(columns.indices.size, semiring, columns.ncols)
    if threads:
        return _push_numba(columns, u, semiring, side, mask, threads)
    return _push_numpy(columns, u, semiring, side, mask)


def _push_numpy(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
) -> SparseVector | BitmapVector:
    """Push with NumPy."""
    size, monoid = columns.ncols, semiring.monoid
    starts = columns.indptr[u.indices]
    counts = columns.indptr[u.indices + 1] - starts
    total = int(np.add.reduce(counts, dtype=np.int64))
    if mask is not None and mask.present is None and total * current(TUNING).lookups >= size:
        mask = VectorMask(size, presence(mask), None, mask.complement)
    if total <= current(terms.TUNING).chunk:
        whole = slice(None)
        made = _scatter_terms(columns, u, semiring, side, mask, whole, starts, counts)
        return fold_by_output(*made, size, monoid)
    made = [
        _scatter_terms(columns, u, semiring, side, mask, part, starts[part], counts[part])
        for part in chunks(counts)
    ]
    return fold_parts(made, size, monoid)


def _scatter_terms(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
    part: slice,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """Return two arrays: the output and the value of each term of some entries of u.

    `part` selects the entries of u. Each entry u(k) has one term for each edge out of vertex k.
    The arrays `starts` and `counts` hold, for each entry, the position of its first edge and the
    number of its edges. Terms for outputs that the mask forbids are left out.
    """
    places = ranges(starts, counts, int(np.add.reduce(counts, dtype=np.int64)))
    outputs = columns.indices[places]
    kept = None
    if mask is not None:
        present = mask.present
        if present is None:
            kept = look_up_indices(mask, outputs)
        else:
            kept = ~present[outputs] if mask.complement else present[outputs]
        outputs, places = outputs.compress(kept), places.compress(kept)

    def along(array: Array) -> Array:
        """Return, for each term, the element of `array` that belongs to the term's entry of u.

        The argument `array` has one element per entry of u.
        """
        repeated = array[part].repeat(counts)
        return repeated if kept is None else repeated.compress(kept)

    a = (columns.values, lambda: columns.values[places])
    v = (u.values, lambda: along(u.values))
    size = outputs.size
    return outputs, multiply_side(
        semiring, side, size, a, v, lambda: along(u.indices), lambda: outputs
    )


def _push_numba(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    threads: int,
) -> SparseVector | BitmapVector:
    """Push with compiled loops, in time proportional to the number of edges that are read."""
    if may_be_constant(semiring):
        value = only_value(columns, u, semiring, side)
        if value is not None:
            return holding(value, _push_numba(columns, u, PRESENCE, side, mask, threads))
    tuning = current(TUNING)
    is_small = columns.ncols <= tuning.small and columns.indices.size <= tuning.parallel
    if mask is not None and mask.present is None and not is_small:
        return _push_under_list(columns, u, semiring, side, mask, threads)
    a_values, step, u_values, u_step = operands(columns.values, u.values, semiring, side)
    allowed, mask_step, forbidden = allowed_by(mask)
    spec = (numba_ops.matrix_vector, semiring, side, False)
    entries = (columns.indptr, columns.indices, a_values, u.indices, u_values, allowed)
    steps = (step, u_step, mask_step, forbidden, columns.ncols)
    dtype = semiring.return_type.np_type
    if is_small:
        return _push_small(columns.ncols, spec, entries, steps, dtype, tuning)
    result = _push_sparse(columns, u, spec, entries, steps, dtype, threads, tuning)
    if isinstance(result, SparseVector):
        return result
    size = columns.ncols
    present, values = np.zeros(size, np.bool_), np.empty(size, dtype)
    arrays = (*entries, present, values)
    loop = load("spmspv.push_bitmap", spec, arrays)
    if threads == 1 or result <= tuning.parallel:
        return BitmapVector(size, present, values, loop(*arrays, *steps, 0, size))
    parts = output_parts(columns, u.indices, threads)
    return BitmapVector(size, present, values, sum(spread(loop, arrays, steps, parts, threads)))


def _push_small(
    size: int, spec: tuple, entries: tuple, steps: tuple, dtype: Any, tuning: SpmspvTuning
) -> SparseVector | BitmapVector:
    """Push with one loop. It uses scratch arrays that have one element per output.

    The result is a bitmap if the push reads more than size / `tuning.sparse` edges. Otherwise it is
    a sparse vector.
    """
    indices, present = np.empty(size, np.int32), np.empty(size, np.bool_)
    values = np.empty(size, dtype)
    arrays = (*entries, indices, present, values)
    most = max(1, int(size // tuning.sparse))
    count = load("spmspv.push_small", spec, arrays)(*arrays, *steps, most)
    if count < 0:
        return BitmapVector(size, present, values, -count - 1)
    return SparseVector(size, indices[:count], values[:count])


def _push_sparse(
    columns: Csr,
    u: SparseVector,
    spec: tuple,
    entries: tuple,
    steps: tuple,
    dtype: Any,
    threads: int,
    tuning: SpmspvTuning,
) -> SparseVector | int:
    """Push into temporary arrays that are reused, and copy the result to a new vector.

    If u has more than size / `tuning.sparse` edges, return the number of edges instead of a vector.
    """
    size = columns.ncols
    marks = scratch.take_bits(size, dtype)
    arrays = (*entries, *marks)
    loop = load("spmspv.push_sparse", spec, arrays)
    most = max(1, int(size // tuning.sparse))
    count = loop(*arrays, *steps, min(most, tuning.parallel) if threads > 1 else most, 0, size)
    if -most <= count < 0:
        parts = output_parts(columns, u.indices, threads)
        count = sum(spread(loop, arrays, (*steps, -1), parts, threads))
    indices, values = np.empty(max(count, 0), np.int32), np.empty(max(count, 0), dtype)
    if count > 0:
        kept = (*marks, indices, values)
        load("marks.drain", (numba_ops.nothing,), kept)(*kept, size)
    scratch.give_bits(marks)
    return -count if count < 0 else SparseVector(size, indices, values)


def _push_under_list(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask,
    threads: int,
) -> SparseVector | BitmapVector:
    """Push under a mask that is a list of indices.

    Set a flag for each listed index, in an array that is kept as scratch memory. Clear the flags
    afterwards.
    """
    present = scratch.take("mask", mask.size, _flag)
    present[mask.indices] = True
    marked = replace(mask, present=present)
    result = _push_numba(columns, u, semiring, side, marked, threads)
    present[mask.indices] = False
    scratch.give("mask", present)
    return result


def output_parts(columns: Csr, indices: Array, threads: int) -> Parts:
    """Cut the outputs into ranges, each of which receives about the same number of edges from
    `indices`.

    The cuts are estimated from a sample of the edges. They are multiples of 4096, so that no two
    ranges share a word of a two-level bit map.
    """
    size = columns.ncols
    if threads == 1 or not indices.size:
        return [(0, size)]
    sources = indices[:: indices.size // 1024 + 1]
    starts = columns.indptr[sources].astype(np.int64)
    degrees = columns.indptr[sources + 1] - starts
    ends = np.cumsum(degrees)
    if not ends[-1]:
        return [(0, size)]
    edges = np.linspace(0, ends[-1] - 1, 2048).astype(np.int64)
    owner = np.searchsorted(ends, edges, side="right")
    sample = np.sort(columns.indices[starts[owner] + edges - (ends - degrees)[owner]])
    middle = sample[np.arange(1, threads) * sample.size // threads].astype(np.int64)
    cuts = [0, *np.unique((middle + 2048) >> 12 << 12).tolist(), size]
    return between(cuts)
