"""Matrix times dense vector, as a pull along rows: w(o) = ⊕ₖ A(o, k) ⊗ u(k)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.folding import MANY, flag_run_starts, fold_runs
from graphla.backends.cpu.layout import ranges
from graphla.backends.cpu.masks import presence
from graphla.backends.cpu.operands import (
    UNREAD,
    allowed_by,
    even_parts,
    row_parts,
    spread,
    values_of,
)
from graphla.backends.cpu.terms import (
    chunk_size,
    chunks,
    concatenate,
    concatenate_values,
    constant_term,
    multiply_side,
)
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
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
from graphla.settings import config
from semirings.semiring import any_pair
from semirings.structures import TypedSemiring

if TYPE_CHECKING:
    from graphla.backends import Side

PRESENCE = any_pair["BOOL"]
"""The semiring that replaces another one if all values of the result are known to be equal. Then
only the pattern of the result has to be computed."""


@dataclass(frozen=True, slots=True)
class SpmvTuning:
    """Parameters for a pull with NumPy that needs only the first term of each row.

    The pull works in rounds. Each round reads some entries of every row in which no term has been
    found yet.
    """

    few: int = 256  # if fewer rows than this remain, the next round reads all their other entries
    # If at least `few` rows remain, a round reads `wider` times as many entries of each row as the
    # previous round.
    wider: int = 4


TUNING = SpmvTuning()


def pull(
    rows: Csr, u: DenseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), for the outputs that the mask allows."""
    if compiles(rows.nvals, semiring, size=rows.nrows):
        return _pull_numba(rows, u, semiring, side, mask, config.threads)
    return _pull_numpy(rows, u, semiring, side, mask)


def _pull_numpy(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    mask: VectorMask | None,
) -> SparseVector | BitmapVector:
    """Implement `pull` with NumPy."""
    outputs, starts, counts = _rows_to_gather(rows, mask)
    monoid = semiring.monoid
    one_will_do = monoid.is_any or _settles(semiring, rows, u, side)
    gather_rows = _gather_first if one_will_do else _gather_all
    if rows.nvals <= chunk_size():
        o, w = gather_rows(rows, u, semiring, side, outputs, starts, counts)
        return _dense_if_many(rows.nrows, o, w, not one_will_do)
    found, values = [], []
    for part in chunks(counts):
        o, w = gather_rows(rows, u, semiring, side, outputs[part], starts[part], counts[part])
        found.append(o)
        values.append(w)
    indices = concatenate(found, np.int32)
    folded = concatenate_values(values, indices.size)
    return _dense_if_many(rows.nrows, indices, folded, not one_will_do)


def _dense_if_many(
    size: int, indices: Array, values: Array, is_sorted: bool
) -> SparseVector | BitmapVector:
    """Return a vector with the given entries: a bitmap if there are many entries, otherwise a
    sparse vector."""
    v = SparseVector(size, indices, values, is_sorted)
    return to_bitmap(v) if indices.size * MANY >= size > current(TUNING).few else v


def _rows_to_gather(rows: Csr, mask: VectorMask | None) -> tuple[Array, Array, Array]:
    """Return three arrays that describe the rows that the mask allows, in ascending order.

    They contain the index of each row, the position of its first entry, and its number of entries.
    The result may contain or omit empty rows.
    """
    indptr = rows.indptr
    if mask is not None and mask.indices is not None and not mask.complement:
        outputs = mask.indices if mask.is_sorted else np.sort(mask.indices)
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
        wanted &= ~presence(mask) if mask.complement else presence(mask)
    outputs = wanted.nonzero()[0]
    if outputs.size < rows.nrows:
        starts, counts = starts[outputs], counts[outputs]
    return outputs.astype(np.int32), starts, counts


def _gather_all(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    outputs: Array,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """Return the outputs that have a term, and for each output the sum of all terms of its row."""
    total = int(counts.sum())
    run_starts = counts.cumsum() - counts
    if total == rows.nvals:  # all entries of the matrix are read, so they are already in order
        places, k = None, rows.indices
    else:
        places = ranges(starts, counts, total)
        k = rows.indices[places]
    if isinstance(u, BitmapVector):
        there = u.present[k]
        if not bool(there.all()):
            kept = there.nonzero()[0]
            places, k = kept if places is None else places[kept], k[kept]
            counts = np.add.reduceat(there, run_starts, dtype=counts.dtype) if total else counts
            nonempty = counts.nonzero()[0]
            outputs, counts = outputs[nonempty], counts[nonempty]
            run_starts = counts.cumsum() - counts
    terms = _terms(semiring, side, rows, u, places, k, lambda: outputs.repeat(counts))
    return outputs, fold_runs(terms, run_starts, semiring.monoid)


def _gather_first(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: str,
    outputs: Array,
    starts: Array,
    counts: Array,
) -> tuple[Array, Array]:
    """Return one term for each row that has a term.

    Each round reads more entries per row than the previous round. Early rounds read few entries,
    because in a breadth-first search most vertices find a parent among their first few neighbors.
    """
    found, places, width = [], [], 1
    tuning, chunk = current(TUNING), chunk_size()
    while outputs.size:
        if outputs.size < tuning.few:
            width = int(counts.max())
        width = max(1, min(width, chunk // outputs.size))
        at, hit = _first_hits(rows, u, starts, counts, width)
        found.append(outputs.compress(hit))
        places.append(at)
        left = (~hit & (counts > width)).nonzero()[0]
        outputs, starts, counts = outputs[left], starts[left] + width, counts[left] - width
        width *= tuning.wider
    o, p = concatenate(found, np.int32), concatenate(places, starts.dtype)
    return o, _terms(semiring, side, rows, u, p, rows.indices[p], lambda: o)


def _first_hits(
    rows: Csr, u: DenseVector, starts: Array, counts: Array, width: int
) -> tuple[Array, Array]:
    """Find, in each row, the first entry whose column is the index of an entry of u.

    The search in row r covers the `width` entries from position starts[r] on. The first result
    lists the positions of the entries found. The second result has one flag per row, which is true
    if an entry was found.
    """
    if isinstance(u, FullVector):
        return starts, np.ones(starts.size, bool)
    if width == 1:
        hit = u.present[rows.indices[starts]]
        return starts.compress(hit), hit
    looked = np.minimum(counts, width)
    places = ranges(starts, looked, int(looked.sum()))
    hits = u.present[rows.indices[places]].nonzero()[0]
    row = np.arange(starts.size).repeat(looked)[hits]
    hit = np.zeros(starts.size, bool)
    hit[row] = True
    return places[hits.compress(flag_run_starts(row))], hit


def _settles(semiring: TypedSemiring, a: Csr, u: DenseVector, side: str) -> bool:
    """Return whether the first term of an output determines its value.

    It does if all terms are equal to the terminal value of the monoid, because further terms do not
    change this value.
    """
    terminal = semiring.monoid.terminal
    if terminal is None:
        return False
    x, y = (a.values, u.values) if side == "mxv" else (u.values, a.values)
    term = constant_term(semiring, x, y)
    return term is not None and bool(term[0] == terminal)


def _terms(
    semiring: TypedSemiring,
    side: str,
    rows: Csr,
    u: DenseVector,
    places: Array | None,
    k: Array,
    outputs: Callable[[], Array],
) -> Array:
    """Return the product of each chosen entry of the matrix with the value of u at its column.

    `places` contains the positions of the entries in the matrix `rows`, or is None for all entries.
    `k` contains the columns of these entries. The function `outputs` returns their rows.
    """
    a_values = rows.values
    a = (a_values, (lambda: a_values) if places is None else (lambda: a_values[places]))
    v = (u.values, lambda: u.values[k])
    return multiply_side(semiring, side, k.size, a, v, lambda: k, outputs)


def _pull_numba(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    threads: int,
) -> SparseVector | BitmapVector:
    """Implement `pull` with loops that Numba compiles."""
    value = only_value(rows, u, semiring, side)
    if value is not None:
        return holding(value, _pull_numba(rows, u, PRESENCE, side, mask, threads))
    a_values, step, u_values, u_step = operands(rows.values, u.values, semiring, side)
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
    """Return, for each row, the column of its first entry, or -1 if the row is empty."""

    def find() -> Array:
        firsts = np.empty(rows.nrows, np.int32)
        arrays = (rows.indptr, rows.indices, firsts)
        loop = load("spmv.find_firsts", (numba_ops.nothing,), arrays)
        spread(loop, arrays, (), even_parts(rows.nrows, rows.nrows, threads), threads)
        return firsts

    return remember(rows, "firsts", find)


def only_value(a: Csr, u: AnyVector, semiring: TypedSemiring, side: Side) -> Array | None:
    """Return the only value that entries of the result of a product can have.

    All terms and all sums of terms are equal to this value. If they may differ, return None.
    """
    if not may_be_constant(semiring):
        return None
    x, y = (a.values, u.values) if side == "mxv" else (u.values, a.values)
    return constant_term(semiring, x, y)


@lru_cache(maxsize=4096)
def may_be_constant(semiring: TypedSemiring) -> bool:
    """Return whether all results are equal if each operand has only one distinct value."""
    monoid = semiring.monoid
    is_idempotent = monoid.is_any or monoid.is_idempotent
    return is_idempotent and semiring is not PRESENCE and not semiring.binaryop.is_positional


def holding(value: Array, result: SparseVector | BitmapVector) -> SparseVector | BitmapVector:
    """Return a vector with the same pattern as `result`, in which every entry is `value`."""
    if isinstance(result, SparseVector):
        values = np.broadcast_to(value, (result.nvals,))
        return SparseVector(result.size, result.indices, values, result.is_sorted)
    return BitmapVector(
        result.size, result.present, np.broadcast_to(value, (result.size,)), result.nvals
    )


def operands(
    a_values: Array, u_values: Array, semiring: TypedSemiring, side: Side
) -> tuple[Array, int, Array, int]:
    """Return the values of both operands as arrays for compiled loops, each followed by its step.

    A loop reads the value of entry k as array[k * step]. If all values of an operand are equal, or
    if the operator does not read them, the step is 0 and the array has one element. Otherwise the
    step is 1.
    """
    op = semiring.binaryop
    reads_a, reads_u = (op.reads_x, op.reads_y) if side == "mxv" else (op.reads_y, op.reads_x)
    a_type, u_type = (op.type, op.type2) if side == "mxv" else (op.type2, op.type)
    a, step = values_of(a_values, wanted=a_type) if reads_a else (UNREAD, 0)
    u, u_step = values_of(u_values, wanted=u_type) if reads_u else (UNREAD, 0)
    return a, step, u, u_step


def _short_list(mask: VectorMask | None) -> Array | None:
    """Return the outputs that the mask lists, or None if it is cheaper to test all outputs."""
    if mask is None or mask.complement or mask.indices is None:
        return None
    return mask.indices if mask.present is None or mask.indices.size * 8 < mask.size else None
