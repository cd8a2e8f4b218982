"""Matrix-matrix products over any semiring: expand, sort, compress, in chunks of rows; kronecker.

Under a mask that lets few places through, a product is instead the dot of one row and one column
for each of them, the shorter of the two being looked up in the longer.
"""

from __future__ import annotations

from types import ModuleType

from graphla.backends.cpu.arrays.folding import fold_by_output, fold_runs
from graphla.backends.cpu.arrays.layout import (
    keys_of,
    offsets,
    ranges,
    row_of_entry,
    to_sparse,
    transpose,
)
from graphla.backends.cpu.arrays.products import chunks, concatenated, concatenated_values
from graphla.backends.cpu.arrays.terms import combine, multiply
from graphla.formats import Array, Csr, MatrixMask, SparseVector
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedSemiring

DOT = 4
"""How many terms of an expansion one term of a dot is worth."""
BOARD = 1 << 22
"""Places of a chunk that a mask may be spread out over."""
FEW = 1 << 18
"""Terms of a chunk that are sorted in no time."""


def mxm(
    xp: ModuleType,
    a: Csr,
    b: Csr,
    semiring: TypedSemiring,
    mask: MatrixMask | None,
    bt: Csr | None,
) -> Csr:
    """C(i, j) = (+) over k of mult(A(i, k), B(k, j)), where the mask lets through."""
    if mask is not None and mask.pattern.nvals == 0:
        mask = None if mask.complement else mask
    terms = _terms_of_entries(xp, a, b, mask)
    if mask is not None and not mask.complement:
        price = DOT * _terms_of_dots(xp, a, b, mask.pattern)
        if price + (0 if bt is not None else DOT * b.nvals) < int(terms.sum()):
            return _dots(xp, a, bt if bt is not None else transpose(xp, b), semiring, mask.pattern)
    ends = offsets(xp, terms)[a.indptr]
    rows = row_of_entry(xp, a)
    counts, indices, values = [], [], []
    for part in chunks(xp, ends[1:] - ends[:-1], limit=_rows_within(a.nrows, b.ncols, terms)):
        start, stop = part.start or 0, a.nrows if part.stop is None else part.stop
        entries = slice(int(a.indptr[start]), int(a.indptr[stop]))
        c = _rows_times(xp, a, b, semiring, mask, rows, terms[entries], entries, (start, stop))
        edges = xp.arange(stop - start + 1, dtype=xp.int64)
        edges *= b.ncols
        edges = c.indices.searchsorted(edges)
        counts.append(edges[1:] - edges[:-1])
        columns = xp.empty(c.nvals, xp.int32)
        if c.nvals:
            xp.remainder(c.indices, b.ncols, out=columns, casting="unsafe")
        indices.append(columns)
        values.append(c.values)
    columns = concatenated(xp, indices, xp.int32)
    indptr = offsets(xp, concatenated(xp, counts, xp.int64))
    return Csr(a.nrows, b.ncols, indptr, columns, concatenated_values(xp, values, columns.size))


def _rows_times(
    xp: ModuleType,
    a: Csr,
    b: Csr,
    semiring: TypedSemiring,
    mask: MatrixMask | None,
    rows: Array,
    counts: Array,
    entries: slice,
    span: tuple[int, int],
) -> SparseVector:
    """Some rows of the product, as a vector indexed by (row - first) * ncols + column."""
    start, stop = span
    size = (stop - start) * b.ncols
    a_columns = a.indices[entries]
    places = ranges(xp, b.indptr[a_columns], counts, int(counts.sum()))
    j = b.indices[places]
    keys = (rows[entries].astype(xp.int64) - start) * b.ncols
    keys = keys.repeat(counts)
    keys += j
    kept = None
    if mask is not None:
        kept = _lets_through(xp, mask, keys, span)
        keys, places, j = keys.compress(kept), places.compress(kept), j.compress(kept)

    def along(array: Array) -> Array:
        """What belongs to the entries of A, for each of the terms."""
        repeated = array[entries].repeat(counts)
        return repeated if kept is None else repeated.compress(kept)

    values = multiply(
        xp,
        semiring,
        keys.size,
        (a.values, lambda: along(a.values)),
        (b.values, lambda: b.values[places]),
        lambda: along(rows),
        lambda: along(a.indices),
        lambda: j,
    )
    return to_sparse(xp, fold_by_output(xp, keys, values, size, semiring.monoid))


def _lets_through(xp: ModuleType, mask: MatrixMask, keys: Array, span: tuple[int, int]) -> Array:
    """Whether the mask lets each place through; keys count from the first row of the span."""
    start, stop = span
    pattern = mask.pattern
    first, last = int(pattern.indptr[start]), int(pattern.indptr[stop])
    counts = pattern.indptr[start + 1 : stop + 1] - pattern.indptr[start:stop]
    listed = (xp.arange(stop - start, dtype=xp.int64) * pattern.ncols).repeat(counts)
    listed += pattern.indices[first:last]
    size = (stop - start) * pattern.ncols
    if size <= max(BOARD, keys.size):
        board = xp.zeros(size, bool)
        board[listed] = True
        inside = board[keys]
    elif listed.size:
        inside = listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys
    else:
        inside = xp.zeros(keys.size, bool)
    return ~inside if mask.complement else inside


def _terms_of_entries(xp: ModuleType, a: Csr, b: Csr, mask: MatrixMask | None) -> Array:
    """How many terms each entry of A makes: none in a row where the mask lets nothing through."""
    degrees = b.indptr[1:] - b.indptr[:-1]
    terms = degrees[a.indices]
    if mask is not None and not mask.complement:
        indptr = mask.pattern.indptr
        open_ = indptr[1:] > indptr[:-1]
        if not bool(open_.all()):
            terms *= open_.repeat(a.indptr[1:] - a.indptr[:-1])
    return terms


def _rows_within(nrows: int, ncols: int, terms: Array) -> int:
    """How many rows make BOARD places; but where they make few terms, those that make FEW.

    More would not fit a chunk's board; of fewer, a wide matrix would have a chunk every few rows.
    """
    return max(1, BOARD // max(ncols, 1), nrows * FEW // max(int(terms.sum()), 1))


# --- dots ---------------------------------------------------------------------------------------


def _terms_of_dots(xp: ModuleType, a: Csr, b: Csr, pattern: Csr) -> int:
    in_rows = (a.indptr[1:] - a.indptr[:-1])[row_of_entry(xp, pattern)]
    in_columns = xp.bincount(b.indices, minlength=b.ncols)[pattern.indices]
    return int(xp.minimum(in_rows, in_columns).sum())


def _dots(xp: ModuleType, a: Csr, bt: Csr, semiring: TypedSemiring, pattern: Csr) -> Csr:
    """C(i, j) = row i of A times row j of Bt, at the entries of the pattern."""
    i, j = row_of_entry(xp, pattern), pattern.indices
    in_rows = (a.indptr[1:] - a.indptr[:-1])[i]
    in_columns = (bt.indptr[1:] - bt.indptr[:-1])[j]
    present = xp.zeros(pattern.nvals, bool)
    values = xp.zeros(pattern.nvals, semiring.monoid.type.np_type)
    a_is_shorter = in_rows <= in_columns
    a_keys, b_keys = keys_of(xp, a), keys_of(xp, bt)
    for a_first in (True, False):
        chosen = (a_is_shorter if a_first else ~a_is_shorter).nonzero()[0]
        short, long_keys = (a, b_keys) if a_first else (bt, a_keys)
        here, there = (i, j) if a_first else (j, i)
        counts = (in_rows if a_first else in_columns)[chosen]
        for part in chunks(xp, counts):
            which, lengths = chosen[part], counts[part]
            starts = short.indptr[here[which]]
            in_short = ranges(xp, starts, lengths, int(lengths.sum()))
            wanted = (there[which].astype(xp.int64) * a.ncols).repeat(lengths)
            wanted += short.indices[in_short]
            if not long_keys.size or not wanted.size:
                continue
            in_long = long_keys.searchsorted(wanted)
            hits = (long_keys[in_long.clip(max=long_keys.size - 1)] == wanted).nonzero()[0]
            owner = which.repeat(lengths)[hits]
            in_short, in_long = in_short[hits], in_long[hits]
            in_a, in_b = (in_short, in_long) if a_first else (in_long, in_short)
            _fold_dots(xp, a, bt, semiring, (i, j), owner, (in_a, in_b), present, values)
    found = present.nonzero()[0]
    indptr = offsets(xp, present)[pattern.indptr]
    return Csr(a.nrows, bt.nrows, indptr, j[found], values[found])


def _fold_dots(
    xp: ModuleType,
    a: Csr,
    bt: Csr,
    semiring: TypedSemiring,
    ij: tuple[Array, Array],
    owner: Array,
    at: tuple[Array, Array],
    present: Array,
    values: Array,
) -> None:
    """Folds the terms of each owner, which come together, into its place of the pattern."""
    if not owner.size:
        return
    (i, j), (in_a, in_b) = ij, at
    terms = multiply(
        xp,
        semiring,
        owner.size,
        (a.values, lambda: a.values[in_a]),
        (bt.values, lambda: bt.values[in_b]),
        lambda: i[owner],
        lambda: a.indices[in_a],
        lambda: j[owner],
    )
    first = xp.ones(owner.size, bool)
    xp.not_equal(owner[1:], owner[:-1], out=first[1:])
    starts = first.nonzero()[0]
    owners = owner[starts]
    present[owners] = True
    values[owners] = fold_runs(xp, terms, starts, semiring.monoid)


# --- kronecker ----------------------------------------------------------------------------------


def kronecker(xp: ModuleType, a: Csr, b: Csr, op: TypedBinaryOp) -> Csr:
    """C(i * m + k, j * n + l) = op(A(i, j), B(k, l)), where B is m by n."""
    a_degrees, b_degrees = a.indptr[1:] - a.indptr[:-1], b.indptr[1:] - b.indptr[:-1]
    # Each row (i, k) of C holds, for each entry of row i of A, the whole row k of B.
    rows_i = xp.arange(a.nrows).repeat(b.nrows)
    rows_k = xp.tile(xp.arange(b.nrows), a.nrows)
    counts = a_degrees.astype(xp.int64)[rows_i] * b_degrees[rows_k]
    indptr = offsets(xp, counts)
    total = int(indptr[-1])
    rows = xp.arange(counts.size).repeat(counts)
    nth = xp.arange(total) - indptr[:-1].astype(xp.int64).repeat(counts)
    i, k = rows_i[rows], rows_k[rows]
    width = b_degrees[k] if total else b_degrees[:0]
    in_a = a.indptr[i] + nth // width
    in_b = b.indptr[k] + nth % width
    j, l_ = a.indices[in_a], b.indices[in_b]
    values = combine(xp, op, (a.values, in_a), (b.values, in_b), (i, j), (k, l_))
    indices = (j.astype(xp.int64) * b.ncols + l_).astype(xp.int32)
    return Csr(a.nrows * b.nrows, a.ncols * b.ncols, indptr, indices, values)
