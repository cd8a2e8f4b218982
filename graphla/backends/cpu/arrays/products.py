"""Matrix-vector products over any semiring: pull gathers along rows, push scatters along columns.

Both take what the mask leaves before they multiply, and go in chunks so that what they make on the
way stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from graphla.backends.cpu.arrays.folding import MANY, fold_by_output, fold_parts, fold_runs
from graphla.backends.cpu.arrays.layout import ranges, repeat_value, to_bitmap
from graphla.backends.cpu.arrays.terms import constant_term, multiply
from graphla.backends.cpu.arrays.writing import allowed, presence
from graphla.formats import (
    Array,
    BitmapVector,
    Csr,
    DenseVector,
    FullVector,
    SparseVector,
    VectorMask,
    is_iso,
)
from semirings.structures import TypedSemiring

CHUNK = 1 << 18
"""Terms made at a time: some 8 MB of temporaries, which a cache holds."""
FEW = 256
"""Rows from which it pays to look at a few neighbours before the others."""
WIDER = 4
"""How many times as many neighbours the next round looks at."""
LOOKUPS = 16
"""A mask is spread out to flags from size / LOOKUPS terms."""


# --- pull ---------------------------------------------------------------------------------------


def pull(
    xp: ModuleType,
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
) -> SparseVector | BitmapVector:
    """w(o) = (+) over k of mult(A(o, k), u(k)), for the outputs that the mask lets through."""
    outputs, starts, counts = _rows_to_gather(xp, rows, mask)
    monoid = semiring.monoid
    one_will_do = monoid.is_any or _settles(semiring, rows, u, side)
    gather_rows = _gather_first if one_will_do else _gather_all
    if rows.nvals <= CHUNK:
        o, w = gather_rows(xp, rows, u, semiring, side, outputs, starts, counts)
        return _dense_if_many(xp, rows.nrows, o, w, not one_will_do)
    found, values = [], []
    for part in chunks(xp, counts):
        o, w = gather_rows(xp, rows, u, semiring, side, outputs[part], starts[part], counts[part])
        found.append(o)
        values.append(w)
    indices = concatenated(xp, found, xp.int32)
    folded = concatenated_values(xp, values, indices.size)
    return _dense_if_many(xp, rows.nrows, indices, folded, not one_will_do)


def _dense_if_many(
    xp: ModuleType, size: int, indices: Array, values: Array, is_sorted: bool
) -> SparseVector | BitmapVector:
    """A bitmap where there are many entries; else the entries."""
    v = SparseVector(size, indices, values, is_sorted)
    return to_bitmap(xp, v) if indices.size * MANY >= size > FEW else v


def concatenated_values(xp: ModuleType, parts: list[Array], size: int) -> Array:
    """The parts one after the other; iso if they are, since one product has one constant term."""
    filled = [part for part in parts if part.size] or parts[:1]
    if len(filled) > 1 and all(is_iso(part) for part in filled):
        return repeat_value(xp, filled[0][:1], size)
    return filled[0] if len(filled) == 1 else xp.concatenate(filled)


def _rows_to_gather(
    xp: ModuleType, rows: Csr, mask: VectorMask | None
) -> tuple[Array, Array, Array]:
    """The outputs let through whose row has entries, in order; the start and length of each row."""
    indptr = rows.indptr
    if mask is not None and mask.indices is not None and not mask.complement:
        outputs = mask.indices if mask.is_sorted else xp.sort(mask.indices)
        starts = indptr[outputs]
        counts = indptr[outputs + 1] - starts
        if bool(counts.all()):
            return outputs, starts, counts
        nonempty = counts.nonzero()[0]
        return outputs[nonempty], starts[nonempty], counts[nonempty]
    starts = indptr[:-1]
    counts = indptr[1:] - starts
    wanted = counts
    if mask is not None:
        wanted = counts > 0
        wanted &= ~presence(xp, mask) if mask.complement else presence(xp, mask)
    outputs = wanted.nonzero()[0]
    if outputs.size < rows.nrows:
        starts, counts = starts[outputs], counts[outputs]
    return outputs.astype(xp.int32), starts, counts


def _gather_all(
    xp: ModuleType,
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    outputs: Array,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """The fold of whole rows."""
    total = int(counts.sum())
    run_starts = counts.cumsum() - counts
    if total == rows.nvals:  # all rows, in order
        places, k = None, rows.indices
    else:
        places = ranges(xp, starts, counts, total)
        k = rows.indices[places]
    if isinstance(u, BitmapVector):
        there = u.present[k]
        if not bool(there.all()):
            kept = there.nonzero()[0]
            places, k = kept if places is None else places[kept], k[kept]
            counts = xp.add.reduceat(there, run_starts, dtype=counts.dtype) if total else counts
            nonempty = counts.nonzero()[0]
            outputs, counts = outputs[nonempty], counts[nonempty]
            run_starts = counts.cumsum() - counts
    terms = _terms(xp, semiring, side, rows, u, places, k, lambda: outputs.repeat(counts))
    return outputs, fold_runs(xp, terms, run_starts, semiring.monoid)


def _gather_first(
    xp: ModuleType,
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    outputs: Array,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """One term of each row that has any: look at more neighbours each round, until one is there.

    In a breadth-first search most vertices find a parent among the first few.
    """
    found, places, width = [], [], 1
    while outputs.size:
        if outputs.size < FEW:
            width = int(counts.max())
        width = max(1, min(width, CHUNK // outputs.size))
        at, hit = _first_hits(xp, rows, u, starts, counts, width)
        found.append(outputs.compress(hit))
        places.append(at)
        left = (~hit & (counts > width)).nonzero()[0]
        outputs, starts, counts = outputs[left], starts[left] + width, counts[left] - width
        width *= WIDER
    o, p = concatenated(xp, found, xp.int32), concatenated(xp, places, starts.dtype)
    return o, _terms(xp, semiring, side, rows, u, p, rows.indices[p], lambda: o)


def _first_hits(
    xp: ModuleType, rows: Csr, u: DenseVector, starts: Array, counts: Array, width: int
) -> tuple[Array, Array]:
    """Where each row first meets an entry of u among its next `width`, and which rows do."""
    if isinstance(u, FullVector):
        return starts, xp.ones(starts.size, bool)
    if width == 1:
        hit = u.present[rows.indices[starts]]
        return starts.compress(hit), hit
    looked = xp.minimum(counts, width)
    places = ranges(xp, starts, looked, int(looked.sum()))
    hits = u.present[rows.indices[places]].nonzero()[0]
    row = xp.arange(starts.size).repeat(looked)[hits]
    first = xp.ones(hits.size, bool)
    xp.not_equal(row[1:], row[:-1], out=first[1:])
    hit = xp.zeros(starts.size, bool)
    hit[row] = True
    return places[hits.compress(first)], hit


def _settles(semiring: TypedSemiring, a: Csr, u: DenseVector, side: str) -> bool:
    """Whether one term settles its output: all terms are one value, the monoid's terminal."""
    terminal = semiring.monoid.terminal
    if terminal is None:
        return False
    x, y = (a.values, u.values) if side == "mxv" else (u.values, a.values)
    term = constant_term(semiring, x, y)
    return term is not None and bool(term[0] == terminal)


def _terms(
    xp: ModuleType,
    semiring: TypedSemiring,
    side: str,
    rows: Csr,
    u: DenseVector,
    places: Array | None,
    k: Array,
    outputs: Callable[[], Array],
) -> Array:
    """The terms of the entries of `rows` at places, whose columns are k."""
    a_values = rows.values
    a = (a_values, (lambda: a_values) if places is None else (lambda: a_values[places]))
    v = (u.values, lambda: u.values[k])
    return _ordered(xp, semiring, side, k.size, a, v, lambda: k, outputs)


def _ordered(
    xp: ModuleType,
    semiring: TypedSemiring,
    side: str,
    size: int,
    a: Any,
    u: Any,
    k: Callable[[], Array],
    outputs: Callable[[], Array],
) -> Array:
    """mult(a, u) or mult(u, a): A is o by k in A u, and k by o in u A."""
    if side == "mxv":
        return multiply(xp, semiring, size, a, u, outputs, k, _zero)
    return multiply(xp, semiring, size, u, a, _zero, k, outputs)


def _zero() -> Any:
    return np.int64(0)


# --- push ---------------------------------------------------------------------------------------


def push(
    xp: ModuleType,
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
) -> SparseVector | BitmapVector:
    """w(o) = (+) over k of mult(A(o, k), u(k)), along the columns of u's entries."""
    size, monoid = columns.ncols, semiring.monoid
    starts = columns.indptr[u.indices]
    counts = columns.indptr[u.indices + 1] - starts
    total = int(counts.sum())
    if mask is not None and total * LOOKUPS >= size:
        mask = VectorMask(size, presence(xp, mask), None, mask.complement)
    if total <= CHUNK:
        whole = slice(None)
        terms = _scatter_terms(xp, columns, u, semiring, side, mask, whole, starts, counts)
        return fold_by_output(xp, *terms, size, monoid)
    made = [
        _scatter_terms(xp, columns, u, semiring, side, mask, part, starts[part], counts[part])
        for part in chunks(xp, counts)
    ]
    return fold_parts(xp, made, size, monoid)


def _scatter_terms(
    xp: ModuleType,
    columns: Csr,
    u: SparseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
    part: slice,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """The outputs that a part of u's entries reaches, as the mask lets them, and their terms."""
    places = ranges(xp, starts, counts, int(counts.sum()))
    outputs = columns.indices[places]
    kept = None
    if mask is not None:
        kept = allowed(xp, mask, outputs)
        outputs, places = outputs.compress(kept), places.compress(kept)

    def along(array: Array) -> Array:
        """What belongs to u's entries, for each of the terms."""
        repeated = array[part].repeat(counts)
        return repeated if kept is None else repeated.compress(kept)

    a = (columns.values, lambda: columns.values[places])
    v = (u.values, lambda: along(u.values))
    size = outputs.size
    return outputs, _ordered(
        xp, semiring, side, size, a, v, lambda: along(u.indices), lambda: outputs
    )


# --- chunks -------------------------------------------------------------------------------------


def chunks(xp: ModuleType, counts: Array, limit: int | None = None) -> list[slice]:
    """Slices of rows with about CHUNK terms and at most `limit` rows each; one slice at least."""
    few = limit is None or counts.size <= limit
    if few and counts.size < 2:
        return _whole
    ends = counts.cumsum(dtype=xp.int64)
    total = int(ends[-1])
    if few and total <= CHUNK:
        return _whole
    cuts = {0, counts.size, *ends.searchsorted(xp.arange(CHUNK, total, CHUNK)).tolist()}
    if limit is not None and total > CHUNK:
        cuts.update(range(0, counts.size, limit))
    ordered = sorted(cuts)
    return [slice(start, stop) for start, stop in pairwise(ordered)]


_whole = [slice(None)]


def concatenated(xp: ModuleType, arrays: list[Array], dtype: Any) -> Array:
    """The arrays one after the other."""
    if len(arrays) == 1:
        return arrays[0]
    return xp.concatenate(arrays) if arrays else xp.empty(0, dtype)
