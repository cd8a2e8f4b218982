"""C⟨mask⟩ = A ⊕.⊗ B: matrix-matrix products over any semiring.

With a mask, `spgemm_masked` computes the entries of C at the mask's positions. Without a mask, or
with a complemented mask, this module computes C row by row.

Kernels: spgemm_hash.cu, spgemm_dense.cu, spgemm_expand_sort.cu, spgemm_plan.cu.

The number of terms in a row of C is an upper bound on the number of its entries. This number
decides to which of six lists the row belongs. Rows with at most 1,536 terms are computed in hash
tables. Longer rows are computed by tiles of columns, or by sorting if there are very many columns.

In general the kernels first count the entries of each row, then the host allocates C, and then the
kernels compute the values. Two kinds of rows are computed before C is allocated, in scratch memory
whose size has a known bound: rows with few terms, if all of them fit in `SpgemmTuning.scratch`
bytes, and rows that are computed by sorting. Sorting works in batches of at most
`SpgemmTuning.sorted` terms. The terms of C(i, j), which are A(i, k) ⊗ B(k, j), are always added in
the order of k.

The host waits for the number of rows in each list, and for the number of entries of C. If some rows
are computed by sorting, it also waits once for the positions at which the batches end, and once per
batch for the number of entries of C in the batch. The module `spgemm_masked` documents the waits of
a masked product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import cupy as xp
import numpy as np

from graphla.backends.cuda import spgemm_masked
from graphla.backends.cuda.launch import (
    BLOCK,
    CSR,
    INT32,
    NULL,
    WARP,
    blocks,
    csr,
    int32,
    next_answer,
    size,
    tiles,
)
from graphla.backends.cuda.select import add_up, scan_and_count, scan_offsets
from graphla.backends.cuda.spgemm_terms import Terms, terms_of
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, Csr, MatrixMask
from semirings.structures import TypedSemiring

MOVE_LANES = enumeration("spgemm_hash.cu", "MoveShape").MOVE_LANES
MOST = tuple(enumeration("spgemm.cuh", "FewTerms"))
"""For each bin of rows with few terms, the maximum number of terms in a row."""


@dataclass(frozen=True)
class SpgemmTuning:
    """How rows are grouped, and how much scratch memory they may use.

    The kernels read `places`, `tile_warps` and `span`.
    """

    few: tuple[tuple[int, int], ...] = ((5, 4), (7, 8), (9, 32), (11, 32))
    """A pair (bits, lanes) for each bin of rows with few terms. The hash table of a row has 2^bits
    slots, and `lanes` lanes fill it. With the limits in `FewTerms` (spgemm.cuh), tables are at most
    3/4 full."""
    places: int = 2048
    """Total number of slots in the hash tables of a block."""
    tile_warps: int = 4
    """Number of warps per block; each warp computes one tile."""
    span: int = 8
    """Number of consecutive column tiles whose entries a warp counts in one step."""
    scratch: int = 1 << 30
    """Maximum number of bytes of scratch memory for rows with few terms.

    If their results fit, these rows are computed before C is allocated.
    """
    few_rows: int = 1 << 12
    """If A has at most this many rows, one launch counts the terms and lists the rows: the block
    that finishes counting last then lists the rows."""
    sorted: int = 1 << 26
    """Maximum number of terms that are sorted in one batch.

    Sorting them takes at most 2.5 GB of scratch memory.
    """


TUNING = SpgemmTuning()
Bin = enumeration("spgemm_plan.cu", "Bin")
Drop = enumeration("spgemm.cuh", "Drop")
LISTS = Struct("spgemm_plan.cu", "Lists")
MADE, FEW_ROWS = Struct("spgemm.cuh", "Made"), Struct("spgemm_hash.cu", "FewRows")
WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""For each size of a value in bytes, the dtype with which a kernel copies the value."""
COUNTS_OF_FEW = tuple(f"count_{most}" for most in MOST)
"""The fields of `FewRows` that hold the number of rows of each bin."""
NO_MASK = CSR(indptr=None, indices=None, values=None, nrows=0, ncols=0)


def mxm(
    a: Csr, b: Csr | None, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None
) -> Csr | None:
    """C⟨mask⟩ = A ⊕.⊗ B.

    `b` stores B by rows, and `bt` stores B by columns; one of them may be None. Return None if `b`
    is None but the product must be computed from the rows of B.
    """
    ncols = bt.nrows if b is None else b.ncols  # pyright: ignore[reportOptionalMemberAccess]
    dtype = semiring.monoid.type.np_type
    is_empty = not a.nvals or not (b or bt).nvals  # pyright: ignore[reportOptionalMemberAccess]
    if is_empty or (mask is not None and not mask.complement and not mask.pattern.nvals):
        indptr = xp.zeros(a.nrows + 1, xp.int32)
        return Csr(a.nrows, ncols, indptr, xp.empty(0, xp.int32), xp.empty(0, dtype))
    if mask is not None and not mask.complement:
        return spgemm_masked.product(a, b, semiring, mask.pattern, bt)
    if b is None:
        return None
    outside = mask.pattern if mask is not None and mask.pattern.nvals else None
    return _by_rows(a, b, semiring, outside)


class _Operands:
    """The operands of a product: A, B and, if there is a complemented mask, its pattern `outside`.

    The other attributes are the kernel arguments for the operands and the types of these arguments.
    They are created once, because several kernels use them.
    """

    __slots__ = ("a", "arrays", "b", "outside", "terms", "types")

    def __init__(self, a: Csr, b: Csr, outside: Csr | None, semiring: TypedSemiring) -> None:
        self.a, self.b, self.outside = a, b, outside
        self.terms = terms = terms_of(a, b, semiring)
        x, y = terms.x, terms.y
        self.types = (a.indptr.dtype, *x[1:], b.indptr.dtype, *y[1:], *self.mask_types)
        self.arrays = (csr(a, x[0]), csr(b, y[0]), self.mask)

    @property
    def pattern_types(self) -> tuple[Any, ...]:
        return (self.a.indptr.dtype, self.b.indptr.dtype, *self.mask_types)

    @property
    def patterns(self) -> tuple[Any, ...]:
        return (csr(self.a), csr(self.b), self.mask)

    @property
    def mask_types(self) -> tuple[Any, ...]:
        if self.outside is None:
            return INT32, Drop.NO_MASK
        return self.outside.indptr.dtype, Drop.OUTSIDE

    @property
    def mask(self) -> Packed:
        return NO_MASK if self.outside is None else csr(self.outside)


def _made(c: tuple[Any, ...]) -> Packed:
    """Pack the arrays into which kernels write rows of C (the struct `Made`)."""
    return MADE(indptr=c[0], indices=c[1], values=c[2])


def _by_rows(a: Csr, b: Csr, semiring: TypedSemiring, outside: Csr | None) -> Csr:
    """Return A ⊕.⊗ B, computed row by row.

    If `outside` is not None, it is the pattern of a complemented mask, and the result has no
    entries at the positions of this pattern.
    """
    tile_bits = 11 if semiring.monoid.type.np_type.itemsize <= 4 else 10
    tile_count = -(-b.ncols // (1 << tile_bits))
    zeros = xp.zeros(2 * a.nrows + 2 + 2 * Bin.BINS, xp.int64)
    # the number of terms of each row of C, followed by the counts of `Lists`
    of_rows = zeros[a.nrows + 1 :]
    wait_for_lists = _list_rows(a, b, tile_count, of_rows)
    # The host prepares the next steps until `wait_for_lists` is called. Meanwhile the GPU lists the
    # rows.
    ends_of_rows, sizes = zeros[: a.nrows + 1], np.uint64(zeros.data.ptr + 8)
    operands = _Operands(a, b, outside, semiring)
    terms, lists = operands.terms, wait_for_lists()
    made = _few_at_once(operands, lists, sizes)
    if made is None:
        for few in lists.few:
            _count_few(operands, few, lists.rows(few), sizes)
    ends = runs = None
    if lists.counts[Bin.BY_TILES]:
        ends = _count_tiles(operands, lists.rows(Bin.BY_TILES), tile_count, tile_bits, sizes)
    if lists.counts[Bin.BY_SORTING]:
        runs = _sorted_runs(operands, lists.rows(Bin.BY_SORTING), of_rows, sizes)
    indptr, nvals = scan_offsets(ends_of_rows)
    c = (indptr, xp.ndarray(nvals, INT32), terms.room(nvals))
    if made is not None:
        _move_few(terms, lists, made, c)
    else:
        for few in lists.few:
            _make_few(operands, few, lists.rows(few), c, 0, sizes)
    if ends is not None:
        _make_tiles(operands, lists.rows(Bin.BY_TILES), tile_count, tile_bits, ends, c)
    if runs is not None:
        _place_runs(operands, runs, c)
    return Csr(a.nrows, b.ncols, c[0], c[1], terms.values(c[2], nvals))


class _Lists(NamedTuple):
    """The list of rows of each bin, and the number of rows in each list."""

    all_rows: Array
    counts: list[int]
    few: list[int]  # the nonempty bins for rows with few terms

    def rows(self, which: int) -> Array:
        # Creating the array from a pointer is faster than slicing.
        begin = self.all_rows.data + which * self.all_rows.strides[0]
        return xp.ndarray(self.counts[which], INT32, begin)


def _list_rows(a: Csr, b: Csr, tile_count: int, of_rows: Array) -> Callable[[], _Lists]:
    """Assign each row of C to a bin by its number of terms, and list the rows of each bin. Return a
    function that waits for the lists and returns them.

    The first elements of the array `of_rows` receive the number of terms of each row. The kernel
    uses the 13 elements after them for 12 counts and a ticket counter (see `Lists` in
    spgemm_plan.cu). All elements must be zero before the call.
    """
    tuning, nrows = current(TUNING), a.nrows
    room, answer = min(nrows, a.nvals), next_answer()
    rows, counts = xp.ndarray((Bin.BINS, room), INT32), of_rows.data.ptr + 8 * nrows
    lists = LISTS(
        rows=rows,
        counts=counts,
        tickets=counts + 16 * Bin.BINS,
        host_counts=answer.address,
        room=room,
        tiles=tile_count,
        most_sorted=tuning.sorted,
    )
    is_at_once = nrows <= tuning.few_rows
    types = (a.indptr.dtype, b.indptr.dtype, is_at_once)
    kernel = load("spgemm_plan.cu", "count_terms", NOTHING, *types)
    pattern = (a.indptr, size(nrows), a.indices, size(a.nvals), b.indptr)
    kernel(tiles(a.nvals), BLOCK, *pattern, of_rows, lists)
    if not is_at_once:
        kernel = load("spgemm_plan.cu", "list_rows", NOTHING, a.indptr.dtype)
        kernel(blocks(nrows), BLOCK, a.indptr, size(nrows), of_rows, lists)

    def wait() -> _Lists:
        found = answer.numbers(Bin.BINS)
        return _Lists(rows, found, [few for few in range(len(MOST)) if found[few]])

    return wait


# --- functions for rows with few terms ----------------------------------------------------------


class _Scratch(NamedTuple):
    """Scratch memory that holds rows of C. `indices` is the address of the columns in this memory,
    and `sums` the address of the values."""

    memory: Any
    indices: int
    sums: int


def _few_at_once(operands: _Operands, lists: _Lists, sizes: Any) -> _Scratch | None:
    """Compute all rows with few terms, and store them in scratch memory.

    The memory has room for the maximum number of entries that these rows can have. Also store the
    actual sizes of the rows in `sizes`. Return None if there are no such rows, or if they would
    need too much memory.
    """
    terms = operands.terms
    places = [count * most for count, most in zip(lists.counts, MOST, strict=False)]
    total = sum(places)
    itemsize = terms.dtype.itemsize if terms.has_values else 0
    if not total or total * (itemsize + 4) > current(TUNING).scratch:
        return None
    # columns are aligned after the values, because `total` is a multiple of 8
    memory = xp.cuda.alloc(total * (itemsize + 4))
    made = _Scratch(memory, memory.ptr + total * itemsize, memory.ptr)
    for few in lists.few:
        begin = sum(places[:few])
        scratch = (NULL, made.indices + 4 * begin, made.sums + itemsize * begin)
        _make_few(operands, few, lists.rows(few), scratch, MOST[few], sizes)
    return made


def _few_shape(few: int, rows: Array) -> tuple[int, int]:
    """Return the number of blocks, and the number of threads per block, for a launch in which one
    group of lanes computes each row."""
    tuning = current(TUNING)
    bits, group = tuning.few[few]
    block = (tuning.places >> bits) * group
    return blocks(rows.size * group, block), block


def _count_few(operands: _Operands, few: int, rows: Array, sizes: Any) -> None:
    tuning = current(TUNING)
    types = (*operands.pattern_types, *tuning.few[few])
    kernel = load("spgemm_hash.cu", "count_few", NOTHING, *types, constants=tuning)
    kernel(*_few_shape(few, rows), rows, size(rows.size), *operands.patterns, sizes)


def _make_few(
    operands: _Operands, few: int, rows: Array, c: tuple[Any, ...], room: int, sizes: Any
) -> None:
    """Compute the rows of C that `rows` lists, and write them to `c` = (indptr, indices, values).

    If `indptr` is NULL, the row at position k of the list begins at position k * room of the other
    arrays, which have space for `room` entries per row. In this case the kernel also stores the
    number of entries of each row in `sizes`. Otherwise `indptr` contains the position at which each
    row begins.
    """
    terms, offset = operands.terms, INT32 if c[0] is NULL else c[0].dtype
    tuning = current(TUNING)
    parts = (*operands.types, offset, *tuning.few[few], terms.has_values)
    kernel = load("spgemm_hash.cu", "make_few", terms.spec, *parts, constants=tuning)
    shape = _few_shape(few, rows)
    kernel(*shape, rows, size(rows.size), *operands.arrays, size(room), sizes, _made(c))


def _move_few(terms: Terms, lists: _Lists, made: _Scratch, c: tuple[Any, ...]) -> None:
    counts = lists.counts[: len(MOST)]
    types = WORDS[terms.dtype.itemsize], c[0].dtype, terms.has_values
    kernel = load("spgemm_hash.cu", "move_few", NOTHING, *types, constants=current(TUNING))
    rows = FEW_ROWS(
        lists=lists.all_rows,
        room=lists.all_rows.shape[1],
        **dict(zip(COUNTS_OF_FEW, counts, strict=True)),
    )
    scratch = np.uint64(made.indices), np.uint64(made.sums)
    kernel(blocks(sum(counts) * MOVE_LANES), BLOCK, rows, *scratch, _made(c))


# --- rows with many terms, computed by tiles ----------------------------------------------------


def _count_tiles(
    operands: _Operands, rows: Array, tile_count: int, tile_bits: int, sizes: Any
) -> Array:
    """Count the entries in each tile of each listed row, and return the running sums of the
    counts."""
    tuning = current(TUNING)
    ends = xp.empty(rows.size * tile_count, xp.int64)
    units = rows.size * -(-tile_count // tuning.span)
    kernel = load(
        "spgemm_dense.cu",
        "count_tiles",
        NOTHING,
        *operands.pattern_types,
        tile_bits,
        constants=tuning,
    )
    kernel(
        blocks(units * WARP, tuning.tile_warps * WARP),
        tuning.tile_warps * WARP,
        *(rows, size(rows.size), size(tile_count)),
        *(*operands.patterns, sizes, ends),
    )
    add_up(ends)
    return ends


def _make_tiles(
    operands: _Operands,
    rows: Array,
    tile_count: int,
    tile_bits: int,
    ends: Array,
    c: tuple[Any, ...],
) -> None:
    tuning, terms = current(TUNING), operands.terms
    parts = (*operands.types, c[0].dtype, tile_bits, terms.has_values)
    kernel = load("spgemm_dense.cu", "make_tiles", terms.spec, *parts, constants=tuning)
    kernel(
        blocks(ends.size * WARP, tuning.tile_warps * WARP),
        tuning.tile_warps * WARP,
        *(rows, size(rows.size), size(tile_count)),
        *(*operands.arrays, ends, _made(c)),
    )


# --- rows with many terms, computed by sorting --------------------------------------------------


class _Runs(NamedTuple):
    """The entries of the rows of C that `rows` lists, sorted by key.

    The key of an entry is k * 2^column_bits + column, where k is the position of the entry's row in
    the list. `sums` holds the values of the entries.
    """

    rows: Array
    column_bits: int
    keys: Array
    sums: Array


def _sorted_runs(operands: _Operands, rows: Array, of_rows: Array, sizes: Any) -> list[_Runs]:
    """Compute the listed rows by sorting their terms, in batches of at most `sorted` terms.

    A row with more terms than this forms a batch by itself.
    """
    ends = xp.zeros(rows.size + 1, xp.int64)
    xp.cumsum(of_rows[rows], out=ends[1:])
    known = xp.asnumpy(ends)
    runs, start = [], 0
    while start < rows.size:
        stop = int(np.searchsorted(known, known[start] + current(TUNING).sorted, side="right")) - 1
        stop = max(stop, start + 1)
        total = int(known[stop] - known[start])
        part = ends[start : stop + 1]
        runs.append(_sort_batch(operands, rows[start:stop], part, total, sizes))
        start = stop
    return runs


def _sort_batch(operands: _Operands, rows: Array, starts: Array, total: int, sizes: Any) -> _Runs:
    terms = operands.terms
    bits = max(operands.b.ncols - 1, 1).bit_length()
    keys, values = xp.empty(total, xp.int64), terms.room(total)
    kernel = load(
        "spgemm_expand_sort.cu", "expand_rows", terms.spec, *operands.types, terms.has_values
    )
    kernel(
        blocks(rows.size * BLOCK),
        BLOCK,
        *(rows, size(rows.size), starts, int32(bits), *operands.arrays, keys, values),
    )
    order: Any = NULL
    if terms.has_values:
        order = keys.argsort()
        keys = keys[order]
    else:
        keys.sort()
    ends = xp.empty(total, xp.int64)
    kernel = load("spgemm_expand_sort.cu", "find_runs", NOTHING)
    kernel(blocks(total), BLOCK, keys, size(total), ends)
    count = scan_and_count(ends)
    found = _Runs(rows, bits, xp.empty(count, xp.int64), terms.room(count))
    kernel = load("spgemm_expand_sort.cu", "add_runs", terms.spec, terms.has_values)
    kernel(
        blocks(total),
        BLOCK,
        *(keys, order, values, size(total), ends, rows, int32(bits)),
        *(found.keys, found.sums, sizes),
    )
    return found


def _place_runs(operands: _Operands, runs: list[_Runs], c: tuple[Any, ...]) -> None:
    terms = operands.terms
    kernel = load(
        "spgemm_expand_sort.cu", "place_runs", NOTHING, terms.dtype, c[0].dtype, terms.has_values
    )
    for each in runs:
        count = each.keys.size
        if count:
            kernel(
                blocks(count),
                BLOCK,
                *(each.keys, each.sums, size(count), each.rows, int32(each.column_bits)),
                _made(c),
            )
