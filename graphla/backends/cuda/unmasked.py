"""C = A ⊕.⊗ B row by row, or what a mask does not list of it. Kernels: mxm_few.cu, mxm_tiles.cu,
mxm_sort.cu, mxm_plan.cu.

The terms of each row bound its size and put it in one of six lists. Rows of up to 1,536 terms are
made in hash tables; of more, by tiles of columns, or by sorting where the columns are very many.
Sizes come first, so that C is allocated before a value is computed; what is made before lies in
scratch of a known bound: rows of few terms where all have room in SCRATCH, and sorted rows, in
batches of SORTED terms. Terms are added in the order of k always.

Waits: for the numbers of rows in the lists; for the entries of C; for each batch of sorted rows,
its runs, and once for where the batches end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as xp
import numpy as np

from graphla.backends.cuda.compaction import add_up
from graphla.backends.cuda.launching import (
    BLOCK,
    NULL,
    blocks,
    number,
    offset_dtype,
    size,
    tiles,
    to_numbers,
)
from graphla.backends.cuda.terms import Terms, terms_of
from graphla.kernels.cuda import NOTHING, load
from graphla.storage import Array, Csr
from semirings.structures import TypedSemiring

WARP = 32
BINS = 6  # as in mxm_plan.cu: four of few terms, then
BY_TILES, BY_SORTING = 4, 5
FEW = ((5, 4), (7, 8), (9, 32), (11, 32))
"""For each bin of few terms, the bits of a row's table and the lanes that fill it."""
PLACES = 2048  # FEW_PLACES of mxm_few.cu
MOST = (24, 96, 384, 1536)
"""Terms of a row of each of these bins, at most."""
SCRATCH = 1 << 30
"""Bytes in which rows of few terms may be made before their sizes are known, and moved then."""
TILE_WARPS = 4
SPAN = 8  # as in mxm_tiles.cu
SORTED = 1 << 26
"""Terms that are sorted at a time: 2.5 GB of scratch at most."""


class _Operands(NamedTuple):
    """A, B, the mask's pattern or None, and what is told of them to each kernel."""

    a: Csr
    b: Csr
    outside: Csr | None
    terms: Terms

    @property
    def pattern_types(self) -> tuple[Any, ...]:
        return (self.a.indptr.dtype, self.b.indptr.dtype, *self.mask_types)

    @property
    def patterns(self) -> tuple[Any, ...]:
        return (self.a.indptr, self.a.indices, self.b.indptr, self.b.indices, *self.mask)

    @property
    def types(self) -> tuple[Any, ...]:
        a, b = self.a.indptr.dtype, self.b.indptr.dtype
        return (a, *self.terms.x[1:], b, *self.terms.y[1:], *self.mask_types)

    @property
    def arrays(self) -> tuple[Any, ...]:
        a = (self.a.indptr, self.a.indices, self.terms.x[0])
        return (*a, self.b.indptr, self.b.indices, self.terms.y[0], *self.mask)

    @property
    def mask_types(self) -> tuple[Any, ...]:
        if self.outside is None:
            return np.dtype(np.int32), 0
        return self.outside.indptr.dtype, 1

    @property
    def mask(self) -> tuple[Any, ...]:
        return (NULL, NULL) if self.outside is None else (self.outside.indptr, self.outside.indices)


def product(a: Csr, b: Csr, semiring: TypedSemiring, outside: Csr | None) -> Csr:
    """C = A ⊕.⊗ B, without the places that `outside` lists."""
    terms = terms_of(a, b, semiring)
    operands = _Operands(a, b, outside, terms)
    tile_bits = 11 if terms.dtype.itemsize <= 4 else 10
    tile_count = -(-b.ncols // (1 << tile_bits))
    lists, counts, of_rows = _list_rows(a, b, tile_count)
    sizes = xp.zeros(a.nrows + 1, xp.int64)
    made = _few_at_once(operands, lists, sizes[1:])
    ends = runs = None
    if counts[BY_TILES]:
        ends = _count_tiles(operands, lists[BY_TILES], tile_count, tile_bits, sizes[1:])
    if counts[BY_SORTING]:
        runs = _sorted_runs(operands, lists[BY_SORTING], of_rows, sizes[1:])
    add_up(sizes)
    nvals = number(sizes[-1])
    indptr = sizes.astype(offset_dtype(nvals), copy=False)
    indices, sums = xp.empty(nvals, xp.int32), terms.room(nvals)
    c = (indptr, indices, sums)
    if nvals:
        for few, rows in enumerate(lists[: len(FEW)]):
            if counts[few] and made:
                _move_few(terms, few, rows, made[few], c)
            elif counts[few]:
                _make_few(operands, few, rows, c, 0, sizes)
        if ends is not None:
            _make_tiles(operands, lists[BY_TILES], tile_count, tile_bits, ends, c)
        if runs is not None:
            _place_runs(operands, runs, c)
    return Csr(a.nrows, b.ncols, indptr, indices, terms.values(sums, nvals))


def _list_rows(a: Csr, b: Csr, tile_count: int) -> tuple[list[Array], list[int], Array]:
    """The rows of each bin, how many they are, and the terms of each row."""
    terms = xp.zeros(a.nrows, xp.uint64)
    kernel = load("mxm_plan.cu", "count_terms", NOTHING, a.indptr.dtype, b.indptr.dtype)
    kernel(
        tiles(a.nvals),
        BLOCK,
        *(a.indptr, size(a.nrows), a.indices, size(a.nvals), b.indptr, terms),
    )
    room = min(a.nrows, a.nvals)
    lists, counts = xp.empty((BINS, room), xp.int32), xp.zeros(2 * BINS, xp.uint64)
    kernel = load("mxm_plan.cu", "list_rows", NOTHING, a.indptr.dtype)
    kernel(
        blocks(a.nrows),
        BLOCK,
        *(a.indptr, size(a.nrows), terms, size(tile_count), size(SORTED), size(room)),
        *(lists, counts),
    )
    sizes = to_numbers(counts)[:BINS]
    return [lists[k, :count] for k, count in enumerate(sizes)], sizes, terms


# --- rows of few terms --------------------------------------------------------------------------


def _few_at_once(operands: _Operands, lists: list[Array], sizes: Array) -> list[Any]:
    """The rows of few terms and their sizes, or, where they may be too large, their sizes alone."""
    terms, lists = operands.terms, lists[: len(FEW)]
    each = 4 + (terms.dtype.itemsize if terms.has_values else 0)
    needed = sum(rows.size * most for rows, most in zip(lists, MOST, strict=True)) * each
    made: list[Any] = []
    for few, rows in enumerate(lists):
        if needed > SCRATCH:
            if rows.size:
                _count_few(operands, few, rows, sizes)
            continue
        places = rows.size * MOST[few]
        scratch = (NULL, xp.empty(places, xp.int32), terms.room(places))
        if rows.size:
            _make_few(operands, few, rows, scratch, MOST[few], sizes)
        made.append(scratch)
    return made


def _few_shape(few: int, rows: Array) -> tuple[int, int]:
    """The grid and the block of a group for each row."""
    bits, group = FEW[few]
    block = (PLACES >> bits) * group
    return blocks(rows.size * group, block), block


def _count_few(operands: _Operands, few: int, rows: Array, sizes: Array) -> None:
    kernel = load("mxm_few.cu", "count_few", NOTHING, *operands.pattern_types, *FEW[few])
    kernel(*_few_shape(few, rows), rows, size(rows.size), *operands.patterns, sizes)


def _make_few(
    operands: _Operands, few: int, rows: Array, c: tuple[Any, ...], room: int, sizes: Array
) -> None:
    """The rows into `c`: where its indptr says, or `room` places for each, and their sizes."""
    terms, offset = operands.terms, np.dtype(np.int32) if c[0] is NULL else c[0].dtype
    parts = (*operands.types, offset, *FEW[few], terms.has_values)
    kernel = load("mxm_few.cu", "make_few", terms.spec, *parts)
    shape = _few_shape(few, rows)
    kernel(*shape, rows, size(rows.size), *operands.arrays, size(room), sizes, *c)


def _move_few(
    terms: Terms, few: int, rows: Array, made: tuple[Any, ...], c: tuple[Any, ...]
) -> None:
    group, word = FEW[few][1], np.dtype(f"u{terms.dtype.itemsize}")
    parts = (word, c[0].dtype, group, terms.has_values)
    kernel = load("mxm_few.cu", "move_few", NOTHING, *parts)
    kernel(
        blocks(rows.size * group),
        BLOCK,
        *(rows, size(rows.size), size(MOST[few]), *made[1:], *c),
    )


# --- rows of many terms, by tiles ---------------------------------------------------------------


def _count_tiles(
    operands: _Operands, rows: Array, tile_count: int, tile_bits: int, sizes: Array
) -> Array:
    """The sums of the entries in each tile of each row."""
    ends = xp.empty(rows.size * tile_count, xp.int64)
    units = rows.size * -(-tile_count // SPAN)
    kernel = load("mxm_tiles.cu", "count_tiles", NOTHING, *operands.pattern_types, tile_bits)
    kernel(
        blocks(units * WARP, TILE_WARPS * WARP),
        TILE_WARPS * WARP,
        *(rows, size(rows.size), size(tile_count), size(operands.b.ncols)),
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
    terms = operands.terms
    parts = (*operands.types, c[0].dtype, tile_bits, terms.has_values)
    kernel = load("mxm_tiles.cu", "make_tiles", terms.spec, *parts)
    kernel(
        blocks(ends.size * WARP, TILE_WARPS * WARP),
        TILE_WARPS * WARP,
        *(rows, size(rows.size), size(tile_count), size(operands.b.ncols)),
        *(*operands.arrays, ends, *c),
    )


# --- rows of many terms, by sorting -------------------------------------------------------------


class _Runs(NamedTuple):
    """Entries of some rows of C: row in the list * 2^bits + column, increasing, and values."""

    rows: Array
    column_bits: int
    keys: Array
    sums: Array


def _sorted_runs(operands: _Operands, rows: Array, of_rows: Array, sizes: Array) -> list[_Runs]:
    """The rows, in batches of SORTED terms."""
    ends = xp.zeros(rows.size + 1, xp.int64)
    xp.cumsum(of_rows[rows].astype(xp.int64), out=ends[1:])
    known = xp.asnumpy(ends)
    runs, start = [], 0
    while start < rows.size:
        stop = int(np.searchsorted(known, known[start] + SORTED, side="right")) - 1
        stop = max(stop, start + 1)
        total = int(known[stop] - known[start])
        part = ends[start : stop + 1]
        runs.append(_sort_batch(operands, rows[start:stop], part, total, sizes))
        start = stop
    return runs


def _sort_batch(operands: _Operands, rows: Array, starts: Array, total: int, sizes: Array) -> _Runs:
    terms = operands.terms
    bits = max(operands.b.ncols - 1, 1).bit_length()
    keys, values = xp.empty(total, xp.int64), terms.room(total)
    kernel = load("mxm_sort.cu", "expand_rows", terms.spec, *operands.types, terms.has_values)
    kernel(
        blocks(rows.size * BLOCK),
        BLOCK,
        *(rows, size(rows.size), starts, np.int32(bits), *operands.arrays, keys, values),
    )
    order: Any = NULL
    if terms.has_values:
        order = keys.argsort()
        keys = keys[order]
    else:
        keys.sort()
    ends = xp.empty(total, xp.int64)
    kernel = load("mxm_sort.cu", "find_runs", NOTHING)
    kernel(blocks(total), BLOCK, keys, size(total), ends)
    add_up(ends)
    count = number(ends[-1])
    found = _Runs(rows, bits, xp.empty(count, xp.int64), terms.room(count))
    kernel = load("mxm_sort.cu", "add_runs", terms.spec, terms.has_values)
    kernel(
        blocks(total),
        BLOCK,
        *(keys, order, values, size(total), ends, rows, np.int32(bits)),
        *(found.keys, found.sums, sizes),
    )
    return found


def _place_runs(operands: _Operands, runs: list[_Runs], c: tuple[Any, ...]) -> None:
    terms = operands.terms
    kernel = load("mxm_sort.cu", "place_runs", NOTHING, terms.dtype, c[0].dtype, terms.has_values)
    for each in runs:
        count = each.keys.size
        if count:
            kernel(
                blocks(count),
                BLOCK,
                *(each.keys, each.sums, size(count), each.rows, np.int32(each.column_bits), *c),
            )
