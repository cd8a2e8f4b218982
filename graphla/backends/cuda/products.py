"""Matrix-vector products over any semiring: pull gathers along rows, push scatters along columns.

Kernels: pull.cu, pull_tiles.cu, push.cu, frontier.cu. A fold is made in an order that the operands
alone decide; where push folds by atomics instead and that could show in the bits, and
`config.deterministic` asks, edges are sorted by output and folded in order.

Waits: the longest row of a matrix, once for each matrix of more than SMALL entries; `push`, for the
number of entries of a sparse result (where edges are sorted, also for their number); `reached`, for
the number of edges; `pull` under a short list of outputs of a huge vector, for its entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from threading import local
from typing import Any
from weakref import WeakKeyDictionary

import cupy as xp
import numpy as np

from graphla.backends import Costs, Side
from graphla.backends.cuda.compaction import add_up
from graphla.backends.cuda.launching import (
    BLOCK,
    INT32_END,
    ISO,
    NULL,
    UNREAD,
    blocks,
    counter,
    number,
    read,
    size,
)
from graphla.backends.cuda.layout import to_bitmap
from graphla.backends.cuda.transposing import transpose
from graphla.kernels import structs
from graphla.kernels.cuda import NOTHING, load
from graphla.settings import config
from graphla.storage import (
    Array,
    BitmapVector,
    Counted,
    Csr,
    DenseVector,
    FullVector,
    SparseVector,
    VectorMask,
)
from semirings import binary
from semirings.structures import Semiring, TypedMonoid, TypedSemiring

costs = Costs(
    push_entry=2.4,
    push_first=1.2,
    push_ordered=10.0,
    pull_row=0.6,
    stopping=0.45,
    transpose_entry=12.0,
    push_start=10e6,
    pull_start=6e6,
    transpose_start=2e7,
    small=1 << 14,
)
"""Measured by benchmarks/direction_gpu.py: an entry gathered takes some 8 ps on an H200."""

SMALL = 1 << 12
"""A matrix of so few entries is not asked for its longest row."""
TILES_FROM = 1 << 16
"""Entries from which rows that are read to their ends go by tiles: three launches for one."""
BRIEF = 16
"""Rows of no more entries a thread each reads as fast as a tile does."""
EACH_THREAD = 11
"""Rows' ends and entries of a tile of pull_tiles.cu for each of its 256 threads: an odd number, as
threads that walk side by side then read from different banks of shared memory."""
PUSHED = 256 * 8
"""Edges of a tile of push.cu."""
LONGEST = 128 + 512
"""A row of more entries may be cut into chunks, as in pull.cu: STRIP + CHUNK."""
CHUNK = 512
SHORT, MODEST = 64, 1 << 17
"""Columns of no more entries than SHORT, and no more than MODEST edges, are pushed by a few threads
each: cutting edges evenly takes more launches, and so do single claims of many outputs."""
DENSE = 8
"""Terms from size / DENSE are folded into an array of all outputs, which becomes the result."""
HUGE = 1 << 27
"""A size from which nothing as long is made for the sake of a short list of outputs."""

MASK_NONE, MASK_FLAGS, MASK_LIST = 0, 1, 2  # as MaskKind in gathering.cuh
AT_LAST, AT_FIRST, AT_PRESENCE = 0, 1, 2  # as Ends in gathering.cuh
CLAIM, CLAIM_ALONE, CLAIM_IDENTITY, FOLD, FOLD_DENSE, EXPAND = range(6)  # as Way in push.cu


@dataclass(frozen=True, slots=True)
class _Plan:
    """What pull and push ask about a semiring."""

    spec: tuple[Any, ...]
    dtype: np.dtype[Any]
    reads_a: bool
    reads_u: bool
    is_positional: bool
    is_any: bool
    is_idempotent: bool
    may_stop: bool  # before the end of a row
    is_exact: bool  # whatever the order of a fold, it gives the same bits


@lru_cache(maxsize=4096)
def _plan(semiring: TypedSemiring, side: Side) -> _Plan:
    op, monoid = semiring.binaryop, semiring.monoid
    a, u = (op.reads_x, op.reads_y) if side == "mxv" else (op.reads_y, op.reads_x)
    return _Plan(
        (structs.matrix_vector, semiring, side),
        monoid.type.np_type,
        a,
        u,
        op.is_positional,
        monoid.is_any,
        monoid.is_idempotent or monoid.is_any,
        monoid.terminal is not None and not monoid.type.is_float,
        not monoid.is_any and not monoid.type.is_float,
    )


def _constant(plan: _Plan, a: Array, u: Array) -> Array | None:
    """The fold of any terms, where all terms are one value that folds to itself; else None."""
    if not plan.is_idempotent or plan.is_positional:
        return None
    (at, a_type, a_kept), (ut, u_type, u_kept) = read(a, plan.reads_a), read(u, plan.reads_u)
    if a_kept not in (UNREAD, ISO) or u_kept not in (UNREAD, ISO):
        return None
    z = xp.empty(1, plan.dtype)
    kernel = load("pull.cu", "constant_term", plan.spec, a_type, a_kept, u_type, u_kept)
    kernel(1, 1, at, ut, z)
    return z


def _none(n: int, dtype: np.dtype[Any]) -> SparseVector:
    return SparseVector(n, xp.empty(0, xp.int32), xp.empty(0, dtype))


# --- facts about matrices and frontiers -----------------------------------------------------------

_facts: WeakKeyDictionary[Csr, tuple[int, int]] = WeakKeyDictionary()


def _facts_of(a: Csr) -> tuple[int, int]:
    """The entries of the longest row, and how many rows have any: once for each matrix."""
    known = _facts.get(a)
    if known is None:
        facts = xp.zeros(2, xp.int64)
        if a.nrows:
            kernel = load("frontier.cu", "row_facts", NOTHING, a.indptr.dtype)
            kernel(_grid(a.nrows), BLOCK, a.indptr, size(a.nrows), facts)
        longest, filled = xp.asnumpy(facts).tolist()
        known = _facts[a] = longest, filled
    return known


def longest(a: Csr) -> int:
    """The entries of the row with the most of them."""
    return _facts_of(a)[0]


def filled(a: Csr) -> int:
    """How many rows have entries."""
    return _facts_of(a)[1]


class _Measured(local):
    """The frontier whose edges this thread has counted, until its product is made."""

    last: tuple[Csr, Array, Array, int] | None = None

    def take(self, a: Csr, rows: Array) -> tuple[Array | None, int]:
        """What `_ends` gave for these rows, and their entries, if they are what was counted."""
        last, self.last = self.last, None
        if last is None or last[0] is not a or last[1] is not rows:
            return None, 0
        return last[2:]


_measured = _Measured()


def reached(a: Csr, rows: Array) -> int:
    """How many entries the given rows hold."""
    if not rows.size:
        return 0
    ends = _ends(a, rows)
    total = number(ends[-1])
    _measured.last = a, rows, ends, total
    return total


def _ends(a: Csr, rows: Array) -> Array:
    """How many entries the given rows hold up to each of them."""
    ends = xp.empty(rows.size, xp.int64)
    kernel = load("frontier.cu", "row_sizes", NOTHING, a.indptr.dtype)
    kernel(blocks(ends.size), BLOCK, a.indptr, rows, size(ends.size), ends)
    add_up(ends)
    return ends


def _grid(items: int) -> int:
    """Few enough blocks that a number each adds at its end costs nothing."""
    return min(blocks(items), _resident(xp.cuda.runtime.getDevice()))


@cache
def _resident(device: int) -> int:
    return 16 * xp.cuda.Device(device).attributes["MultiProcessorCount"]


def _flags(mask: VectorMask) -> Array:
    """The mask as one flag for each index, before its complement is taken."""
    if mask.present is not None:
        return mask.present
    flags = xp.zeros(mask.size, bool)
    listed = mask.indices
    if listed.size:
        kernel = load("frontier.cu", "flag_listed", NOTHING)
        kernel(blocks(listed.size), BLOCK, listed, size(listed.size), flags)
    return flags


# --- pull -----------------------------------------------------------------------------------------


def pull(
    rows: Csr, u: DenseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), for the outputs that the mask lets through."""
    plan = _plan(semiring, side)
    n, _measured.last = rows.nrows, None
    if not n or not rows.nvals or not u.size or (mask is not None and _lets_none(mask)):
        return _none(n, plan.dtype)
    constant = _constant(plan, rows.values, u.values)
    ends = AT_PRESENCE if constant is not None else AT_FIRST if plan.is_any else AT_LAST
    a = read(rows.values, plan.reads_a and constant is None)
    v = read(u.values, plan.reads_u and constant is None)
    if (
        mask is None
        and ends == AT_LAST
        and rows.nvals >= TILES_FROM
        and not (plan.may_stop or plan.is_positional)
        and longest(rows) > BRIEF
    ):
        return _pull_tiles(rows, u, plan, a, v)
    return _pull_rows(rows, u, plan, a, v, mask, ends, constant)


def _lets_none(mask: VectorMask) -> bool:
    return mask.indices is not None and not mask.complement and not mask.indices.size


def _is_list(mask: VectorMask) -> bool:
    """Whether rows come from the mask's list: unless its flags are there, and the list is long."""
    if mask.indices is None or mask.complement:
        return False
    return mask.present is None or mask.indices.size * 4 < mask.size


def _pull_rows(
    rows: Csr,
    u: DenseVector,
    plan: _Plan,
    a: Any,
    v: Any,
    mask: VectorMask | None,
    ends: int,
    constant: Array | None,
) -> SparseVector | BitmapVector:
    """Each output by a thread, then a warp, then in chunks; any mask, any end of a row."""
    n, outputs, kind = rows.nrows, rows.nrows, MASK_NONE
    flags, listed, complement = NULL, NULL, False
    if mask is not None:
        if _is_list(mask):
            kind, listed, outputs = MASK_LIST, mask.indices, mask.indices.size
        else:
            kind, flags, complement = MASK_FLAGS, _flags(mask), mask.complement
    by_place = kind == MASK_LIST and n > HUGE and outputs * 16 < n
    length = outputs if by_place else n
    make = xp.zeros if kind == MASK_LIST and not by_place else xp.empty
    present, w, count = make(length, bool), NULL, counter()
    if constant is None:
        w = xp.empty(length, plan.dtype)
    u_full = isinstance(u, FullVector)
    u_present = NULL if u_full else u.present
    (at, a_type, a_kept), (ut, u_type, u_kept) = a, v
    types = (rows.indptr.dtype, a_type, a_kept, u_type, u_kept, u_full)
    long = _room_for_chunks(rows, plan) if rows.nvals > LONGEST else None
    queue = (NULL, NULL, NULL, NULL) if long is None else long[:4]
    load("pull.cu", "pull_rows", plan.spec, *types, kind, ends)(
        _grid(outputs),
        BLOCK,
        size(outputs),
        rows.indptr,
        rows.indices,
        at,
        u_present,
        ut,
        flags,
        np.bool_(complement),
        listed,
        np.bool_(by_place),
        present,
        w,
        count,
        *queue,
    )
    if long is not None:
        tickets, longs, _, chunk_rows, has, sums = long
        grid = _grid(chunk_rows.size * 32)
        load("pull.cu", "pull_chunks", plan.spec, *types, ends)(
            grid, BLOCK, rows.indices, at, u_present, ut, *queue, has, sums
        )
        load("pull.cu", "join_chunks", plan.spec, ends)(
            grid, BLOCK, tickets, longs, has, sums, present, w, count
        )
    if constant is not None:
        w = xp.broadcast_to(constant, (length,))
    if by_place:
        found = xp.flatnonzero(present)
        values = xp.broadcast_to(constant, (found.size,)) if constant is not None else w[found]
        return SparseVector(n, listed[found], values, mask.is_sorted)  # pyright: ignore
    return BitmapVector(n, present, w, Counted(count))


def _room_for_chunks(rows: Csr, plan: _Plan) -> tuple[Array, ...] | None:
    """Where long rows and their chunks are queued; None if no row is long."""
    if longest(rows) <= LONGEST:
        return None
    long, chunks = rows.nvals // CHUNK + 1, rows.nvals // (CHUNK // 2) + 1
    return (
        counter(),
        xp.empty(40 * long, xp.uint8),
        xp.empty(long, xp.int32),
        xp.empty(chunks, xp.int32),
        xp.empty(chunks, bool),
        xp.empty(chunks, plan.dtype),
    )


def _pull_tiles(rows: Csr, u: DenseVector, plan: _Plan, a: Any, v: Any) -> BitmapVector:
    """All rows to their ends, in tiles of rows and entries."""
    n, nvals = rows.nrows, rows.nvals
    tile = BLOCK * EACH_THREAD
    tiles = -(-(n + nvals) // tile)
    cuts = xp.empty(tiles + 1, xp.int64)
    load("pull_tiles.cu", "cut_tiles", NOTHING, rows.indptr.dtype)(
        *(blocks((tiles + 1) * 32), BLOCK, rows.indptr, size(n), size(nvals)),
        *(size(tile), size(tiles), cuts),
    )
    present, w, count = xp.empty(n, bool), xp.empty(n, plan.dtype), counter()
    carry_has, carries = xp.empty(tiles, bool), xp.empty(tiles, plan.dtype)
    u_full = isinstance(u, FullVector)
    (at, a_type, a_kept), (ut, u_type, u_kept) = a, v
    types = (rows.indptr.dtype, a_type, a_kept, u_type, u_kept, u_full, EACH_THREAD)
    load("pull_tiles.cu", "pull_tiles", plan.spec, *types)(
        tiles,
        BLOCK,
        size(n),
        size(nvals),
        rows.indptr,
        rows.indices,
        at,
        NULL if u_full else u.present,
        ut,
        cuts,
        present,
        w,
        count,
        carry_has,
        carries,
    )
    load("pull_tiles.cu", "join_tiles", plan.spec)(
        blocks(tiles), BLOCK, size(tiles), cuts, carry_has, carries, present, w, count
    )
    return BitmapVector(n, present, w, Counted(count))


# --- push -----------------------------------------------------------------------------------------


def push(
    columns: Csr, u: SparseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), along the columns of u's entries."""
    plan = _plan(semiring, side)
    n = columns.ncols
    if not n or not columns.nvals or not u.nvals or (mask is not None and _lets_none(mask)):
        return _none(n, plan.dtype)
    constant = _constant(plan, columns.values, u.values)
    edges = _Edges(columns, u, plan, mask)
    if not edges.most:
        return _none(n, plan.dtype)
    if constant is not None:
        indices, count = edges.claim(CLAIM_ALONE, NULL)
        return SparseVector(n, indices, xp.broadcast_to(constant, (count,)), False)
    if config.deterministic and not plan.is_exact:
        return _push_in_order(edges, semiring)
    if plan.is_any:
        values = xp.empty(edges.room, plan.dtype)
        indices, count = edges.claim(CLAIM, values)
        return SparseVector(n, indices, _cut(values, count), False)
    if edges.expected * DENSE >= n:
        return _push_dense(edges, semiring.monoid)
    if n > HUGE and edges.most * 16 < n:
        return _push_in_order(edges, semiring)
    whole, w = _cells(n, plan.dtype)
    indices, count = edges.claim(CLAIM_IDENTITY, whole)
    edges.run(FOLD, w=whole)
    values = xp.empty(count, plan.dtype)
    if count:
        kernel = load("frontier.cu", "look_up", NOTHING, plan.dtype)
        kernel(blocks(count), BLOCK, w, indices, size(count), values)
    return SparseVector(n, indices, values, False)


def _push_dense(edges: _Edges, monoid: TypedMonoid) -> BitmapVector:
    """Terms folded into all outputs, present or not: nothing is listed, nobody waits."""
    n, count = edges.n, counter()
    whole, w = _cells(n, edges.plan.dtype)
    whole.fill(monoid.identity)
    present = xp.zeros(n, bool)
    edges.bits = xp.zeros(-(-n // 32), xp.uint32)
    edges.run(FOLD_DENSE, w=whole, present=present, count=count)
    return BitmapVector(n, present, w, Counted(count))


def _push_in_order(edges: _Edges, semiring: TypedSemiring) -> SparseVector | BitmapVector:
    """Edges sorted by output, those of one output in the order of u; then pulled, run by run."""
    total = edges.in_order()
    if total >= INT32_END:  # places of terms are int32
        rows, u = transpose(edges.columns), to_bitmap(edges.u)
        return pull(rows, u, semiring, edges.plan.spec[2], edges.mask)
    keys, terms = xp.empty(total, xp.int32), xp.empty(total, edges.plan.dtype)
    if not total:
        return _none(edges.n, edges.plan.dtype)
    edges.run(EXPAND, w=terms, indices=keys)
    order = xp.argsort(keys)
    keys = keys[order]
    grid, last = blocks(total), np.int32(edges.n)
    runs = xp.empty(total, xp.int64)
    load("frontier.cu", "run_heads", NOTHING)(grid, BLOCK, keys, size(total), last, runs)
    add_up(runs)
    count = number(runs[-1])
    if not count:
        return _none(edges.n, edges.plan.dtype)
    indptr, outputs = xp.empty(count + 1, xp.int32), xp.empty(count, xp.int32)
    load("frontier.cu", "run_rows", NOTHING)(
        grid, BLOCK, keys, runs, size(total), last, indptr, outputs
    )
    by_run = Csr(count, total, indptr, order.astype(xp.int32), terms)
    w = pull(by_run, FullVector(total, terms), _seconds(semiring.monoid), "mxv", None)
    return SparseVector(edges.n, outputs, w.values)


@lru_cache(maxsize=4096)
def _seconds(monoid: TypedMonoid) -> TypedSemiring:
    """⊕.second: what folds terms that are made already."""
    return Semiring(f"{monoid.name}_second", monoid.monoid, binary.second)[monoid.type]


class _Edges:
    """The edges of a frontier: how many at most, how they are cut, and what runs over them."""

    def __init__(self, columns: Csr, u: SparseVector, plan: _Plan, mask: VectorMask | None) -> None:
        self.columns, self.u, self.plan, self.mask = columns, u, plan, mask
        self.n = columns.ncols
        nvals, entries = columns.nvals, u.nvals
        self.longest = longest(columns) if nvals > SMALL else nvals
        self.most = min(entries * self.longest, nvals)
        self.expected = min(self.most, -(-entries * nvals // columns.nrows))
        self.room = min(self.most, self.n)
        self.flags, self.complement = NULL, np.bool_(False)
        self.is_masked = mask is not None
        if mask is not None:
            self.flags, self.complement = _flags(mask), np.bool_(mask.complement)
        self.bits: Any = NULL
        self.ends, total = _measured.take(columns, u.indices)
        if self.ends is not None:
            self.most, self.expected, self.room = total, total, min(total, self.n)
        elif self.most > (MODEST if self.longest <= SHORT else SMALL):
            self.ends = _ends(columns, u.indices)

    def in_order(self) -> int:
        """Take u's entries in order, and count their edges."""
        if not self.u.is_sorted:
            order = self.u.indices.argsort()
            values = self.u.values
            values = values if values.strides[0] == 0 else values[order]
            self.u = SparseVector(self.u.size, self.u.indices[order], values)
        self.ends = _ends(self.columns, self.u.indices)
        return number(self.ends[-1])

    def claim(self, way: int, w: Any) -> tuple[Array, int]:
        """The outputs that the edges reach, each once, in no order; and how many."""
        self.bits = xp.zeros(-(-self.n // 32), xp.uint32)
        indices, count = xp.empty(self.room, xp.int32), counter()
        self.run(way, w=w, indices=indices, count=count)
        found = number(count)
        return _cut(indices, found), found

    def run(
        self, way: int, *, w: Any, indices: Any = NULL, present: Any = NULL, count: Any = NULL
    ) -> None:
        columns, u, plan = self.columns, self.u, self.plan
        is_alone = way in (CLAIM_ALONE, CLAIM_IDENTITY)
        a, a_type, a_kept = read(columns.values, plan.reads_a and not is_alone)
        v, u_type, u_kept = read(u.values, plan.reads_u and not is_alone)
        types = (columns.indptr.dtype, a_type, a_kept, u_type, u_kept, self.is_masked, way)
        out = (size(self.n), self.flags, self.complement, self.bits, present, indices, w, count)
        matrix = (columns.indptr, columns.indices, a)
        entries = size(u.nvals)
        if self.ends is None:
            threads = min(32, 1 << max(0, self.longest // 2).bit_length())
            kernel = load("push.cu", "push_columns", plan.spec, *types)
            grid = blocks(u.nvals * threads)
            kernel(grid, BLOCK, entries, u.indices, v, np.int32(threads), *matrix, *out)
        else:
            grid = min(-(-self.most // PUSHED), _resident(xp.cuda.runtime.getDevice()))
            kernel = load("push.cu", "push_tiles", plan.spec, *types)
            kernel(grid, BLOCK, entries, u.indices, v, self.ends, *matrix, *out)


def _cells(n: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """n cells to fold into, and as many as fill whole words, which atomics on small ones change."""
    words = -(-n * dtype.itemsize // 4) * 4
    whole = xp.empty(words // dtype.itemsize, dtype)
    return whole, whole if whole.size == n else whole[:n]


def _cut(array: Array, count: int) -> Array:
    """The first `count`; in memory of their own where they are few."""
    if count == array.size:
        return array
    return (
        array[:count] if count * 8 >= array.size or array.size < HUGE >> 7 else array[:count].copy()
    )
