"""Matrix times vector: the host side of `loops/pull` and `loops/push`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends.cpu.arrays.terms import constant_term
from graphla.backends.cpu.operands import (
    UNREAD,
    Parts,
    allowed_by,
    between,
    even_parts,
    row_parts,
    spread,
    values_of,
)
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    DenseVector,
    FullVector,
    SparseVector,
    VectorMask,
    remember,
)
from semirings.semiring import any_pair

if TYPE_CHECKING:
    from graphla.backends import Side
    from semirings.structures import TypedSemiring

SPARSE = 4
"""A push over more than size / SPARSE edges makes a bitmap."""

PARALLEL_PUSH = 1 << 17
"""Edges from which a push is split: each part looks for its own outputs in every row."""

_presence = any_pair["BOOL"]
"""The semiring of products whose value is known: only where they have entries is left to find."""
_word = np.dtype(np.uint64)
_flag = np.dtype(np.bool_)


def pull(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    threads: int,
) -> SparseVector | BitmapVector:
    """w(o) = (+)_k term(A(o, k), u(k)), over what the mask allows."""
    value = _only_value(rows, u, semiring, side)
    if value is not None:
        return _holding(value, pull(rows, u, _presence, side, mask, threads))
    a_values, step, u_values, u_step = _operands(rows.values, u.values, semiring, side)
    u_is_full = isinstance(u, FullVector)
    u_present = UNREAD if isinstance(u, FullVector) else u.present
    spec = (numba_ops.matrix_vector, semiring, side, u_is_full)
    dtype = semiring.return_type.np_type
    entries = (rows.indptr, rows.indices, a_values, u_present, u_values)
    outputs = _short_list(mask)
    if outputs is not None:
        present, values = np.empty(outputs.size, np.bool_), np.empty(outputs.size, dtype)
        arrays = (*entries, outputs, present, values)
        loop = load("spmv.pull_listed", spec, arrays)
        parts = even_parts(outputs.size, outputs.size * 16, threads)
        counts = spread(loop, arrays, (step, u_step), parts, threads)
        if sum(counts) < outputs.size:
            outputs, values = outputs[present], values[present]
        return SparseVector(rows.nrows, outputs, values, mask is None or mask.is_sorted)
    allowed, mask_step, forbidden = allowed_by(mask)
    present, values = np.empty(rows.nrows, np.bool_), np.empty(rows.nrows, dtype)
    if semiring.monoid.is_any:
        entries = (rows.indptr, rows.indices, first_of_rows(rows, threads), *entries[2:])
    arrays = (*entries, allowed, present, values)
    loop = load("spmv.pull_any" if semiring.monoid.is_any else "spmv.pull", spec, arrays)
    parts = row_parts(rows.indptr, threads)
    counts = spread(loop, arrays, (step, u_step, mask_step, forbidden), parts, threads)
    return BitmapVector(rows.nrows, present, values, sum(counts))


def first_of_rows(rows: Csr, threads: int) -> Array:
    """The column of each row's first entry, or -1."""

    def find() -> Array:
        firsts = np.empty(rows.nrows, np.int32)
        arrays = (rows.indptr, rows.indices, firsts)
        loop = load("spmv.find_firsts", (numba_ops.nothing,), arrays)
        spread(loop, arrays, (), even_parts(rows.nrows, rows.nrows, threads), threads)
        return firsts

    return remember(rows, "firsts", find)


def push(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    threads: int,
) -> SparseVector | BitmapVector:
    """w(o) = (+)_k term(A(k, o), u(k)), at the cost of u's edges."""
    value = _only_value(columns, u, semiring, side)
    if value is not None:
        return _holding(value, push(columns, u, _presence, side, mask, threads))
    if mask is not None and mask.present is None:
        return _push_under_list(columns, u, semiring, side, mask, threads)
    a_values, step, u_values, u_step = _operands(columns.values, u.values, semiring, side)
    allowed, mask_step, forbidden = allowed_by(mask)
    spec = (numba_ops.matrix_vector, semiring, side, False)
    entries = (columns.indptr, columns.indices, a_values, u.indices, u_values, allowed)
    steps = (step, u_step, mask_step, forbidden, columns.ncols)
    dtype = semiring.return_type.np_type
    result = _push_sparse(columns, u, spec, entries, steps, dtype, threads)
    if isinstance(result, SparseVector):
        return result
    present, values = np.zeros(columns.ncols, np.bool_), np.empty(columns.ncols, dtype)
    arrays = (*entries, present, values)
    loop = load("spmspv.push_bitmap", spec, arrays)
    parts = _output_parts(columns, u.indices, threads if result > PARALLEL_PUSH else 1)
    counts = spread(loop, arrays, steps, parts, threads)
    return BitmapVector(columns.ncols, present, values, sum(counts))


def _push_sparse(
    columns: Csr,
    u: SparseVector,
    spec: tuple,
    entries: tuple,
    steps: tuple,
    dtype: Any,
    threads: int,
) -> SparseVector | int:
    """The push into scratch and out of it again, or how many edges u has if those are too many."""
    size = columns.ncols
    words = (size + 63) >> 6
    bits = scratch.take("bits", words, _word)
    summary = scratch.take("summary", (words + 63) >> 6, _word)
    sums = scratch.take("values", size, dtype)
    arrays = (*entries, bits, summary, sums)
    loop = load("spmspv.push_sparse", spec, arrays)
    most = max(1, size // SPARSE)
    count = loop(*arrays, *steps, min(most, PARALLEL_PUSH) if threads > 1 else most, 0, size)
    if -most <= count < 0:
        parts = _output_parts(columns, u.indices, threads)
        count = sum(spread(loop, arrays, (*steps, -1), parts, threads))
    indices, values = np.empty(max(count, 0), np.int32), np.empty(max(count, 0), dtype)
    if count > 0:
        kept = (bits, summary, sums, indices, values)
        load("marks.drain", (numba_ops.nothing,), kept)(*kept, size)
    scratch.give("bits", bits)
    scratch.give("summary", summary)
    scratch.give("values", sums)
    return -count if count < 0 else SparseVector(size, indices, values)


def _push_under_list(
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask,
    threads: int,
) -> SparseVector | BitmapVector:
    """A push whose mask is a list: marked in a bit map kept for that, and unmarked after."""
    present = scratch.take("mask", mask.size, _flag)
    present[mask.indices] = True
    marked = replace(mask, present=present)
    result = push(columns, u, semiring, side, marked, threads)
    present[mask.indices] = False
    scratch.give("mask", present)
    return result


def _only_value(a: Csr, u: AnyVector, semiring: TypedSemiring, side: Side) -> Array | None:
    """The one value that the result can hold: that of all terms, if ⊕ of it and itself is it."""
    monoid = semiring.monoid
    if semiring is _presence or not (monoid.is_any or monoid.is_idempotent):
        return None
    x, y = (a.values, u.values) if side == "mxv" else (u.values, a.values)
    return constant_term(semiring, x, y)


def _holding(value: Array, result: SparseVector | BitmapVector) -> SparseVector | BitmapVector:
    """The same entries, each of that value."""
    if isinstance(result, SparseVector):
        values = np.broadcast_to(value, (result.nvals,))
        return SparseVector(result.size, result.indices, values, result.is_sorted)
    return BitmapVector(
        result.size, result.present, np.broadcast_to(value, (result.size,)), result.nvals
    )


def _operands(
    a_values: Array, u_values: Array, semiring: TypedSemiring, side: Side
) -> tuple[Array, int, Array, int]:
    """The values of both as loops take them, each with its step."""
    op = semiring.binaryop
    reads_a, reads_u = (op.reads_x, op.reads_y) if side == "mxv" else (op.reads_y, op.reads_x)
    a_type, u_type = (op.type, op.type2) if side == "mxv" else (op.type2, op.type)
    a = values_of(a_values, reads_a, wanted=a_type)
    return (*a, *values_of(u_values, reads_u, wanted=u_type))


def _short_list(mask: VectorMask | None) -> Array | None:
    """The list of allowed outputs, if it is better gone along than all outputs tested."""
    if mask is None or mask.complement or mask.indices is None:
        return None
    return mask.indices if mask.present is None or mask.indices.size * 8 < mask.size else None


def _output_parts(columns: Csr, indices: Array, threads: int) -> Parts:
    """Outputs cut so that about as many of the edges from `indices` lead into each part.

    Judged from a sample of the edges. Cuts are multiples of 4096, so that no two parts share a
    word of a two-level bit map.
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
