"""Matrix times matrix: C⟨M⟩ = A ⊕.⊗ B.

With NumPy, a product expands all terms, sorts them, and adds them, one chunk of rows at a time. If
the mask allows few positions, the product instead computes a dot product of a row of A and a column
of B for each of these positions.

With Numba, a product under a mask is computed at the positions that the mask lists. Without a mask,
or under a complemented mask, a first pass finds the pattern of the result, and a second pass
computes the values. Without a mask, a product with few terms needs only one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphla.backends.cpu.convert import to_sparse
from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.folding import flag_run_starts, fold_by_output, fold_runs
from graphla.backends.cpu.layout import keys_of, offsets, ranges, row_of_entry
from graphla.backends.cpu.operands import (
    Parts,
    count_parts,
    cut,
    even_parts,
    spread,
    threads_worth,
    values_of,
)
from graphla.backends.cpu.terms import chunks, concatenate, concatenate_values, multiply
from graphla.backends.cpu.transpose import transpose
from graphla.backends.tuning import current
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import Array, Csr, MatrixMask, SparseVector
from graphla.settings import config
from semirings import binary, monoid
from semirings.structures import TypedSemiring

_word = np.dtype(np.uint64)
_byte = np.dtype(np.uint8)
_index = np.dtype(np.int32)


@dataclass(frozen=True, slots=True)
class SpgemmTuning:
    """Limits for choosing dot products under a mask, and for cutting rows into chunks and parts."""

    # The cost of one term of a dot product, in units of the cost of one expanded term.
    dot: int = 4
    # If a chunk of rows has at most this many positions (rows times columns), the mask is expanded
    # to one flag per position.
    board: int = 1 << 22
    few: int = 1 << 18  # for at most this many terms, the time to sort them is negligible
    # The search for the pattern of a product divides the rows into parts with at most about this
    # many terms A(i, k) B(k, j). If a product has fewer terms in total, one thread computes it in
    # one pass.
    room: int = 1 << 20
    # If an upper bound on the number of terms is at most this, the product is computed in one pass
    # without counting its terms.
    few_terms: int = 1 << 12


TUNING = SpgemmTuning()


def mxm(
    a: Csr, b: Csr | None, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None
) -> Csr | None:
    """C⟨mask⟩ = A ⊕.⊗ B, where `b` is B in CSR form and `bt` is the transpose of B in CSR form.

    Return None if `b` is None, because this backend cannot compute a product from `bt` alone.
    """
    if b is None:
        return None
    if compiles(a.nvals + b.nvals, semiring, size=b.ncols):
        return _mxm_numba(a, b, semiring, mask, bt, config.threads)
    return _mxm_numpy(a, b, semiring, mask, bt)


def _mxm_numpy(
    a: Csr,
    b: Csr,
    semiring: TypedSemiring,
    mask: MatrixMask | None,
    bt: Csr | None,
) -> Csr:
    """C(i, j) = ⊕ over k of mult(A(i, k), B(k, j)) at positions that the mask allows."""
    if mask is not None and mask.pattern.nvals == 0:
        mask = None if mask.complement else mask
    terms = _terms_of_entries(a, b, mask)
    if mask is not None and not mask.complement:
        dots = _terms_of_dots(a, b, mask.pattern) + (0 if bt is not None else b.nvals)
        if current(TUNING).dot * dots < int(terms.sum()):
            return _dots(a, bt if bt is not None else transpose(b), semiring, mask.pattern)
    ends = offsets(terms)[a.indptr]
    rows = row_of_entry(a)
    counts, indices, values = [], [], []
    for part in chunks(ends[1:] - ends[:-1], limit=_rows_within(a.nrows, b.ncols, terms)):
        start, stop = part.start or 0, a.nrows if part.stop is None else part.stop
        entries = slice(int(a.indptr[start]), int(a.indptr[stop]))
        c = _rows_times(a, b, semiring, mask, rows, terms[entries], entries, (start, stop))
        edges = np.arange(stop - start + 1, dtype=np.int64)
        edges *= b.ncols
        edges = c.indices.searchsorted(edges)
        counts.append(edges[1:] - edges[:-1])
        columns = np.empty(c.nvals, np.int32)
        if c.nvals:
            np.remainder(c.indices, b.ncols, out=columns, casting="unsafe")
        indices.append(columns)
        values.append(c.values)
    columns = concatenate(indices, np.int32)
    indptr = offsets(concatenate(counts, np.int64))
    return Csr(a.nrows, b.ncols, indptr, columns, concatenate_values(values, columns.size))


def _rows_times(
    a: Csr,
    b: Csr,
    semiring: TypedSemiring,
    mask: MatrixMask | None,
    rows: Array,
    counts: Array,
    entries: slice,
    span: tuple[int, int],
) -> SparseVector:
    """Return rows start..stop - 1 of the product as a vector, where `span` is (start, stop).

    The entry C(i, j) has the index (i - start) * ncols + j.
    """
    start, stop = span
    size = (stop - start) * b.ncols
    a_columns = a.indices[entries]
    places = ranges(b.indptr[a_columns], counts, int(counts.sum()))
    j = b.indices[places]
    keys = (rows[entries].astype(np.int64) - start) * b.ncols
    keys = keys.repeat(counts)
    keys += j
    kept = None
    if mask is not None:
        kept = _look_up(mask, keys, span)
        keys, places, j = keys.compress(kept), places.compress(kept), j.compress(kept)

    def along(array: Array) -> Array:
        """Expand `array` from one element per entry of A to one element per term.

        Term A(i, k) B(k, j) receives the element of the entry A(i, k).
        """
        repeated = array[entries].repeat(counts)
        return repeated if kept is None else repeated.compress(kept)

    values = multiply(
        semiring,
        keys.size,
        (a.values, lambda: along(a.values)),
        (b.values, lambda: b.values[places]),
        lambda: along(rows),
        lambda: along(a.indices),
        lambda: j,
    )
    return to_sparse(fold_by_output(keys, values, size, semiring.monoid))


def _look_up(mask: MatrixMask, keys: Array, span: tuple[int, int]) -> Array:
    """Return, for each key, whether the mask allows the position that the key stands for.

    `span` is a range of rows (start, stop). The key of position (i, j) is (i - start) * ncols + j.
    """
    start, stop = span
    pattern = mask.pattern
    first, last = int(pattern.indptr[start]), int(pattern.indptr[stop])
    counts = pattern.indptr[start + 1 : stop + 1] - pattern.indptr[start:stop]
    listed = (np.arange(stop - start, dtype=np.int64) * pattern.ncols).repeat(counts)
    listed += pattern.indices[first:last]
    size = (stop - start) * pattern.ncols
    if size <= max(current(TUNING).board, keys.size):
        board = np.zeros(size, bool)
        board[listed] = True
        inside = board[keys]
    elif listed.size:
        inside = listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys
    else:
        inside = np.zeros(keys.size, bool)
    return ~inside if mask.complement else inside


def _terms_of_entries(a: Csr, b: Csr, mask: MatrixMask | None) -> Array:
    """Return, for each entry of A, the number of terms of the product that use it.

    The number is 0 if the mask allows no position in the entry's row.
    """
    degrees = b.indptr[1:] - b.indptr[:-1]
    terms = degrees[a.indices]
    if mask is not None and not mask.complement:
        indptr = mask.pattern.indptr
        open_ = indptr[1:] > indptr[:-1]
        if not bool(open_.all()):
            terms *= open_.repeat(a.indptr[1:] - a.indptr[:-1])
    return terms


def _rows_within(nrows: int, ncols: int, terms: Array) -> int:
    """Return the number of rows per chunk. The rows of a chunk are processed together.

    Usually a chunk has at most `tuning.board` positions (rows times columns). A chunk whose rows
    have few terms may have more positions, because otherwise a wide matrix would be cut into chunks
    of very few rows.
    """
    tuning, total = current(TUNING), int(terms.sum())
    return max(1, tuning.board // max(ncols, 1), nrows * tuning.few // max(total, 1))


def _terms_of_dots(a: Csr, b: Csr, pattern: Csr) -> int:
    in_rows = (a.indptr[1:] - a.indptr[:-1])[row_of_entry(pattern)]
    in_columns = np.bincount(b.indices, minlength=b.ncols)[pattern.indices]
    return int(np.minimum(in_rows, in_columns).sum())


def _dots(a: Csr, bt: Csr, semiring: TypedSemiring, pattern: Csr) -> Csr:
    """C(i, j) = the dot product of row i of A and row j of Bt, for each entry of the pattern."""
    i, j = row_of_entry(pattern), pattern.indices
    in_rows = (a.indptr[1:] - a.indptr[:-1])[i]
    in_columns = (bt.indptr[1:] - bt.indptr[:-1])[j]
    present = np.zeros(pattern.nvals, bool)
    values = np.zeros(pattern.nvals, semiring.monoid.type.np_type)
    a_is_shorter = in_rows <= in_columns
    a_keys, b_keys = keys_of(a), keys_of(bt)
    for a_first in (True, False):
        chosen = (a_is_shorter if a_first else ~a_is_shorter).nonzero()[0]
        short, long_keys = (a, b_keys) if a_first else (bt, a_keys)
        here, there = (i, j) if a_first else (j, i)
        counts = (in_rows if a_first else in_columns)[chosen]
        for part in chunks(counts):
            which, lengths = chosen[part], counts[part]
            starts = short.indptr[here[which]]
            in_short = ranges(starts, lengths, int(lengths.sum()))
            wanted = (there[which].astype(np.int64) * a.ncols).repeat(lengths)
            wanted += short.indices[in_short]
            if not long_keys.size or not wanted.size:
                continue
            in_long = long_keys.searchsorted(wanted)
            hits = (long_keys[in_long.clip(max=long_keys.size - 1)] == wanted).nonzero()[0]
            owner = which.repeat(lengths)[hits]
            in_short, in_long = in_short[hits], in_long[hits]
            in_a, in_b = (in_short, in_long) if a_first else (in_long, in_short)
            _fold_dots(a, bt, semiring, (i, j), owner, (in_a, in_b), present, values)
    found = present.nonzero()[0]
    indptr = offsets(present)[pattern.indptr]
    return Csr(a.nrows, bt.nrows, indptr, j[found], values[found])


def _fold_dots(
    a: Csr,
    bt: Csr,
    semiring: TypedSemiring,
    ij: tuple[Array, Array],
    owner: Array,
    at: tuple[Array, Array],
    present: Array,
    values: Array,
) -> None:
    """Combine the terms of each entry of the pattern by ⊕, and store the results in `values`.

    owner[t] is the entry of the pattern to which term t belongs. The terms of one entry are
    consecutive. Set the flag in `present` of each entry that has terms.
    """
    if not owner.size:
        return
    (i, j), (in_a, in_b) = ij, at
    terms = multiply(
        semiring,
        owner.size,
        (a.values, lambda: a.values[in_a]),
        (bt.values, lambda: bt.values[in_b]),
        lambda: i[owner],
        lambda: a.indices[in_a],
        lambda: j[owner],
    )
    starts = flag_run_starts(owner).nonzero()[0]
    owners = owner[starts]
    present[owners] = True
    values[owners] = fold_runs(terms, starts, semiring.monoid)


def _mxm_numba(
    a: Csr, b: Csr, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None, threads: int
) -> Csr:
    """C⟨mask⟩ = A ⊕.⊗ B."""
    tuning, most = current(TUNING), min(a.nvals * b.ncols, a.nrows * b.nvals)
    if mask is None and most <= tuning.few_terms:
        return _multiply(a, b, semiring, most)
    terms = _count_terms(a, b.indptr, threads)
    if mask is None and terms.worth(threads) == 1 and terms.total <= tuning.room:
        return _multiply(a, b, semiring, terms.total)
    if mask is None or mask.complement:
        excluded = None if mask is None else mask.pattern
        pattern = _find_pattern(a, b, excluded, terms, threads)
        return _saxpy(a, b, semiring, pattern, terms, threads)
    pattern = mask.pattern
    terms = terms.without(pattern.indptr[:-1] == pattern.indptr[1:])
    if bt is not None:
        along_mask = _count_terms(pattern, bt.indptr, threads)
        if along_mask.total + a.nvals < terms.total + pattern.nvals:
            return _dot(a, bt, semiring, pattern, along_mask, threads)
    return _saxpy(a, b, semiring, pattern, terms, threads)


class _Terms(NamedTuple):
    """The numbers of terms A(i, k) B(k, j) of a product C = A B."""

    in_row: Array
    """in_row[i] is the number of terms A(i, k) B(k, j) in row i of C."""
    total: int

    def without(self, rows: Array) -> _Terms:
        """Set in_row[i] to 0 wherever rows[i] is True, and return the new numbers of terms."""
        self.in_row[rows] = 0
        return _Terms(self.in_row, int(self.in_row.sum()))

    def worth(self, threads: int) -> int:
        """Return the number of threads that should compute the product: `threads`, or 1 if there is
        little work."""
        return threads_worth(self.total + self.in_row.size, threads)


def _multiply(a: Csr, b: Csr, semiring: TypedSemiring, most: int) -> Csr:
    """Compute C = A ⊕.⊗ B in one pass and one thread. The product has at most `most` terms."""
    op, room = semiring.binaryop, min(most, a.nrows * b.ncols)
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(b.values, op.reads_y, wanted=op.type2)
    dtype = semiring.return_type.np_type
    indptr, indices = np.empty(a.nrows + 1, np.int32), np.empty(room, np.int32)
    values = np.empty(room, dtype)
    entries = (a.indptr, a.indices, a_values, b.indptr, b.indices, b_values)
    columns = scratch.take_bits(b.ncols, dtype)
    arrays = (*entries, *columns, indptr, indices, values)
    loop = load("spgemm.multiply_rows", (numba_ops.matrix_matrix, semiring), arrays)
    count = loop(*arrays, a_step, b_step, a.nrows, b.ncols)
    scratch.give_bits(columns)
    indices, values = indices[:count], values[:count]
    if count < room - room // 8:  # copy: slices would keep the unused ends of the arrays in memory
        indices, values = indices.copy(), values.copy()
    return Csr(a.nrows, b.ncols, indptr, indices, values)


def _count_terms(a: Csr, b_indptr: Array, threads: int) -> _Terms:
    """Return, for each row i of C = A B, the number of terms A(i, k) B(k, j)."""
    in_row = np.empty(a.nrows, np.int64)
    arrays = (a.indptr, a.indices, b_indptr, in_row)
    loop = load("marks.weigh", (numba_ops.nothing,), arrays)
    totals = spread(loop, arrays, (), even_parts(a.nrows, a.nvals, threads), threads)
    return _Terms(in_row, sum(totals))


def _find_pattern(a: Csr, b: Csr, excluded: Csr | None, terms: _Terms, threads: int) -> Csr:
    """Return the pattern of A B as a matrix that stores no values. The positions of the entries of
    `excluded` are left out."""
    size = b.ncols
    words = (size + 63) >> 6
    counts = np.empty(a.nrows, np.int64)
    mask = excluded or a
    entries = (a.indptr, a.indices, b.indptr, b.indices, mask.indptr, mask.indices)

    def find(start: int, stop: int) -> Array:
        most = min(int(terms.in_row[start:stop].sum()), (stop - start) * size)
        columns = scratch.take("columns", most, _index)
        bits = scratch.take("bits", words, _word)
        summary = scratch.take("summary", (words + 63) >> 6, _word)
        arrays = (*entries, bits, summary, columns, counts)
        loop = load("marks.reach", (numba_ops.nothing,), arrays)
        found = columns[: loop(*arrays, excluded is not None, size, start, stop)].copy()
        scratch.give("summary", summary)
        scratch.give("bits", bits)
        scratch.give("columns", columns)
        return found

    threads = terms.worth(threads)
    count = max(terms.total // current(TUNING).room, count_parts(terms.total, threads))
    found = run(find, cut(terms.in_row, count), threads)
    indices = concatenate(found, np.int32)
    return Csr(a.nrows, size, offsets(counts), indices, indices[:0])


def _saxpy(
    a: Csr, b: Csr, semiring: TypedSemiring, pattern: Csr, terms: _Terms, threads: int
) -> Csr:
    """Return the entries of C = A ⊕.⊗ B at the positions of a pattern.

    Row i of C is the sum, over the entries A(i, k), of A(i, k) times row k of B.
    """
    dtype, op = semiring.return_type.np_type, semiring.binaryop
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(b.values, op.reads_y, wanted=op.type2)
    present, values = np.empty(pattern.nvals, np.bool_), np.empty(pattern.nvals, dtype)
    entries = (a.indptr, a.indices, a_values, b.indptr, b.indices, b_values)
    entries = (*entries, pattern.indptr, pattern.indices)

    def compute(start: int, stop: int) -> int:
        states = scratch.take("states", pattern.ncols, _byte)
        sums = scratch.take("values", pattern.ncols, dtype)
        arrays = (*entries, states, sums, present, values)
        loop = load("spgemm.saxpy", (numba_ops.matrix_matrix, semiring), arrays)
        count = loop(*arrays, a_step, b_step, start, stop)
        scratch.give("values", sums)
        scratch.give("states", states)
        return count

    return _compress(pattern, present, values, compute, terms, threads)


def _dot(
    a: Csr, bt: Csr, semiring: TypedSemiring, pattern: Csr, terms: _Terms, threads: int
) -> Csr:
    """Return the entries of C = A ⊕.⊗ B at the positions of a pattern.

    C(i, j) is computed as the dot product of row i of A and column j of B, which is row j of `bt`.
    """
    dtype, op = semiring.return_type.np_type, semiring.binaryop
    present, values = np.empty(pattern.nvals, np.bool_), np.empty(pattern.nvals, dtype)
    is_plus = semiring.monoid is monoid.plus[semiring.return_type]
    if is_plus and op.op is binary.pair and dtype.kind != "b":
        rows = (a.indptr, a.indices, bt.indptr, bt.indices, pattern.indptr, pattern.indices)

        def count(start: int, stop: int) -> int:
            marks = scratch.take("marks", a.ncols, np.uint8)
            arrays = (*rows, marks, present, values)
            loop = load("spgemm.count_pairs", (numba_ops.matrix_matrix, semiring), arrays)
            found = loop(*arrays, start, stop)
            scratch.give("marks", marks)
            return found

        return _compress(pattern, present, values, count, terms, threads)
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(bt.values, op.reads_y, wanted=op.type2)
    entries = (a.indptr, a.indices, a_values, bt.indptr, bt.indices, b_values)
    entries = (*entries, pattern.indptr, pattern.indices)

    def compute(start: int, stop: int) -> int:
        places = scratch.take("places", a.ncols, _index)
        arrays = (*entries, places, present, values)
        loop = load("spgemm.dot", (numba_ops.matrix_matrix, semiring), arrays)
        count = loop(*arrays, a_step, b_step, start, stop)
        scratch.give("places", places)
        return count

    return _compress(pattern, present, values, compute, terms, threads)


def _compress(
    pattern: Csr,
    present: Array,
    values: Array,
    compute: Callable[[int, int], int],
    terms: _Terms,
    threads: int,
) -> Csr:
    """Return the entries of a pattern for which `compute` finds a value."""
    threads = terms.worth(threads)
    parts = [(0, pattern.nrows)]
    # Even a single thread computes a product with many terms in parts, because Ctrl-C takes effect
    # only between parts.
    count = count_parts(terms.total + pattern.nvals, threads)
    if count > 1:
        parts = cut(terms.in_row + np.diff(pattern.indptr), count)
    found = run(compute, parts, threads)
    indptr, indices = pattern.indptr, pattern.indices
    if sum(found) < indices.size:
        indptr, indices, values = _keep_present(pattern, present, values, parts, found, threads)
    return Csr(pattern.nrows, pattern.ncols, indptr, indices, values)


def _keep_present(
    pattern: Csr, present: Array, values: Array, parts: Parts, found: list[int], threads: int
) -> tuple[Array, Array, Array]:
    """Return the indptr, indices and values of the entries of a pattern whose flags are set.

    `found` is the number of these entries in each part of the rows.
    """
    starts = offsets(np.array(found, np.int64)).tolist()
    indptr = np.empty(pattern.nrows + 1, pattern.indptr.dtype)
    indices = np.empty(starts[-1], pattern.indices.dtype)
    kept = np.empty(starts[-1], values.dtype)
    indptr[0] = 0

    def keep(k: int) -> None:
        (first, last), to = parts[k], slice(starts[k], starts[k + 1])
        ends = pattern.indptr[first : last + 1]
        here = slice(int(ends[0]), int(ends[-1]))
        chosen = np.flatnonzero(present[here])
        indptr[first + 1 : last + 1] = chosen.searchsorted(ends[1:] - ends[0]) + starts[k]
        pattern.indices[here].take(chosen, out=indices[to], mode="clip")
        values[here].take(chosen, out=kept[to], mode="clip")

    run(keep, [(k,) for k in range(len(parts))], threads)
    return indptr, indices, kept
