"""Whole traversals: the host side of `loops/bfs`, `loops/closure` and `loops/many`.

A loop runs from the first level to the last; the host comes in between only to spread a wide pull
over threads, or to take the time of each level where a recorder listens. A traversal of a large
matrix is run by another thread, so that Ctrl-C reaches the one that waits for it: it sets a flag
that the loops read at each level, or each few thousand edges.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphla.backends.arrays.layout import to_bitmap
from graphla.backends.arrays.traversals import (
    BYTE_LEVELS,
    CYCLE_CHECK,
    UNREACHED,
    allowed_vertices,
    check_level,
    has_cycle,
    mean_of,
    of_idle,
)
from graphla.backends.compiled.parts import (
    allowed_by,
    between,
    row_parts,
    spread,
    values_of,
)
from graphla.backends.compiled.products import first_of_rows
from graphla.backends.traversals import Closed, How, Level, Towards, Tree
from graphla.kernels import scratch, specialise
from graphla.kernels.compiled import load
from graphla.kernels.loops import bfs as constants
from graphla.kernels.loops import closure as far
from graphla.kernels.loops.many import TOO_DEEP as TOO_DEEP_OF_MANY
from graphla.kernels.threads import apart, run
from graphla.storage import AnyVector, Array, BitmapVector, Csr, Plan, VectorMask
from semirings.structures import TypedSemiring

APART = 1 << 20
"""Entries and vertices of a matrix from which a search is run apart: fewer are done in 20 ms."""
WIDE = 1 << 17
"""Vertices left from which a pull is worth waking another thread for."""
EDGES = 2 * int(constants.ROOM)
"""Targets and sources of the edges that a push lists at a time."""
FEW = 64
"""Starts that are marked one by one."""
FOREVER = 2**62
SMALL = 1 << 14
"""Entries and vertices of a matrix from which a closure is run apart: its rounds are many."""
EDGES_AHEAD, LEAST_AHEAD = 8.0, 0.25
"""A delta in mean weights: EDGES_AHEAD over the mean degree, and LEAST_AHEAD at least."""

_word = np.dtype(np.uint64)
_int32 = np.dtype(np.int32)
_directions = {"auto": 0, "push": constants.PUSH, "pull": constants.PULL}


_ready: set[tuple] = set()


def is_ready(*key: Any) -> bool:
    """Whether a traversal of this kind, on these dtypes, has run here before.

    Then its loop is at hand, and quicker than NumPy on the smallest matrix.
    """
    return key in _ready


# --- breadth first ------------------------------------------------------------------------------


def bfs(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any] | None,
    parents: Literal["any", "least"] | None,
    direction: Towards,
    plan: Plan | None,
    traced: bool,
    threads: int,
    stop: Array | None = None,
) -> Tree:
    """How many edges away from the nearest start each vertex is, and by which edge.

    With `stop`, a flag of the caller's, it is the caller who waits apart.
    """
    n = out.nrows
    level = np.empty(n if levels is not None else 1, levels or _int32)
    parent = np.empty(n if parents else 1, np.int32)
    marked = marks(n, starts)
    barred = barred_words(n, plan, mask)
    barred &= ~marked
    done = barred | marked
    seen = done if mask is None else marked
    queue = scratch.take("queue", n + 2, _int32)  # two past its end may be written
    queue[: starts.size] = starts
    if levels is not None:
        level[starts] = 0
    if parents:
        parent[starts] = starts
    pulled = out if into is None else into
    if plan is not None:
        firsts = plan.first
    elif into is not None:
        firsts = first_of_rows(into, threads)
    else:
        firsts = parent
    state = np.zeros(11, np.int64)
    left = n - (count_bits(barred) - (-n & 63)) - starts.size
    unseen = out.nvals if mask is None else _entries_into(pulled, ~unpacked(done, n))
    state[:] = 0, 0, starts.size, starts.size, left, unseen, 0, starts.size, 0, 0, -1
    is_apart = stop is None and n + out.nvals >= APART
    stop = np.zeros(1, np.int64) if stop is None else stop
    maps = (done, seen, np.zeros(done.size, _word))
    rows = (pulled.indptr, pulled.indices, firsts, level, parent, *maps)
    listed = np.empty(EDGES, np.int32)
    arrays = (out.indptr, out.indices, *rows, queue, listed, state, stop)
    rows = (*rows, stop)
    depth = BYTE_LEVELS - 1 if level.itemsize == 1 else FOREVER
    flags = (int(levels is not None), int(parents is not None))
    towards = _directions["push" if into is None else direction]
    rule = (int(mask is not None), int(pulled.indices is out.indices), towards, limit, depth)
    call = _Search(parents == "least", arrays, rows, flags, rule, traced, threads)
    if is_apart:
        apart(call, stop, threads)
    else:
        call()
    scratch.give("queue", queue)
    _ready.add(("bfs", out.indptr.dtype, pulled.indptr.dtype, levels, parents))
    if levels is not None:
        check_level(int(state[constants.DEPTH]), levels)
    return Tree(
        level if levels is not None else None,
        parent if parents else None,
        unpacked(seen if mask is not None else done ^ barred, n),
        int(state[constants.REACHED]),
        int(state[constants.DEPTH]),
        call.trace,
    )


PULLS = 32
"""Parts of a pull, taken by whoever is free."""


class _Search:
    """The loop, called until it is finished: for all levels at once, or one by one if traced."""

    def __init__(
        self,
        least: bool,
        arrays: tuple,
        rows: tuple,
        flags: tuple[int, int],
        rule: tuple[int, ...],
        traced: bool,
        threads: int,
    ) -> None:
        self.arrays, self.rows, self.flags, self.rule = arrays, rows, flags, rule
        self.spec = (specialise.searching, least)
        self.traced, self.threads = traced, threads
        self.loop = load("bfs.search", self.spec, arrays)
        self.trace: list[Level] = []

    def __call__(self) -> None:
        state = self.arrays[-2]
        wide = WIDE if self.threads > 1 else FOREVER
        steps = 1 if self.traced else FOREVER
        status = constants.PAUSED
        while status in (constants.PAUSED, constants.TO_PULL):
            begin = perf_counter()
            before = state.copy() if self.traced else state
            status = self.loop(*self.arrays, *self.flags, *self.rule, steps, wide)
            if status == constants.TO_PULL:
                state[constants.FOUND] = self.pull(int(state[constants.DEPTH]))
                status = self.loop(*self.arrays, *self.flags, *self.rule, 1, FOREVER)
            if self.traced and status != constants.STOPPED:
                self.record(before, state, perf_counter() - begin)

    def pull(self, depth: int) -> int:
        """One pull, its vertices spread over threads."""
        words = self.rows[-2].size
        # Words are split like the vertices still open, of which no part has many more than another.
        parts = between([words * part // PULLS // 64 * 64 for part in range(PULLS)] + [words])
        loop = load("bfs.pull_words", self.spec, self.rows)
        return sum(
            run(lambda *part: loop(*self.rows, depth, *self.flags, *part), parts, self.threads)
        )

    def record(self, before: Array, after: Array, seconds: float) -> None:
        """One level, unless there was none left to run."""
        if not before[constants.FRONTIER] or not before[constants.LEFT]:
            return
        pulled = bool(after[constants.PULLED])
        edges = before[constants.UNSEEN] if pulled else after[constants.EDGES]
        frontier = int(before[constants.FRONTIER])
        self.trace.append(Level("pull" if pulled else "push", frontier, int(edges), seconds))


def levels_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any],
    plan: Plan | None,
    threads: int,
) -> Array:
    """(k, n) levels of a search from each start, perhaps a transposed view."""
    many = _Many(out, into, starts, mask, limit, levels, plan, threads)
    table = np.full(many.shape(), UNREACHED[levels.itemsize], levels)
    if not many.is_deep:
        many.together(table, None)
        return table.T

    def row(k: int) -> None:
        tree = many.alone(k, levels)
        np.copyto(table[k], tree.levels, where=tree.present)

    many.one_by_one(row)
    return table


def reach_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    plan: Plan | None,
    threads: int,
) -> Array:
    """(3, k): how many vertices each start reaches, the sum of their levels, and the greatest."""
    many = _Many(out, into, starts, mask, limit, None, plan, threads)
    found = np.zeros((3, starts.size), np.int64)
    if not many.is_deep:
        found[0] = 1
        many.together(None, found)
        return found

    def row(k: int) -> None:
        tree = many.alone(k, _int32)
        total = tree.levels.sum(where=tree.present, dtype=np.int64)
        found[:, k] = tree.reached, total, tree.depth

    many.one_by_one(row)
    return found


TOGETHER = 64
"""Searches that share a word."""
DEEP = 64
"""Levels of the first search beyond which others seldom meet, and each goes alone."""


class _Many:
    """A search from each of many starts: a word of them together, or, in deep graphs, alone."""

    def __init__(
        self,
        out: Csr,
        into: Csr | None,
        starts: Array,
        mask: VectorMask | None,
        limit: int,
        levels: np.dtype[Any] | None,
        plan: Plan | None,
        threads: int,
    ) -> None:
        self.out, self.into, self.starts, self.mask = out, into, starts, mask
        self.limit, self.levels, self.plan, self.threads = limit, levels, plan, threads
        self.stop = np.zeros(1, np.int64)
        self.is_deep = starts.size > 0 and self.alone(0, None).depth > DEEP

    def shape(self) -> tuple[int, int]:
        """Of the table of levels, which is by vertices where searches run together."""
        n, k = self.out.nrows, self.starts.size
        return (k, n) if self.is_deep else (n, k)

    def alone(self, k: int, levels: np.dtype[Any] | None) -> Tree:
        """The search from start k."""
        return bfs(
            self.out,
            self.into,
            self.starts[k : k + 1],
            mask=self.mask,
            limit=self.limit,
            levels=levels,
            parents=None,
            direction="auto",
            plan=self.plan,
            traced=False,
            threads=1,
            stop=self.stop,
        )

    def one_by_one(self, row: Callable[[int], None]) -> None:
        """row(k) for each start, by all threads."""
        parts = [(k,) for k in range(self.starts.size)]
        apart(lambda: run(row, parts, self.threads), self.stop, self.threads)

    def together(self, levels: Array | None, reach: Array | None) -> None:
        """64 searches at a time into the table of levels, or into their reach."""
        n, k = self.out.nrows, self.starts.size
        out, into = self.out, self.out if self.into is None else self.into
        table = np.empty((1, 1), np.int32) if levels is None else levels
        sums = np.empty((1, 1), np.int64) if reach is None else reach
        rows = (out.indptr, out.indices, into.indptr, into.indices, table, sums)
        deepest = BYTE_LEVELS - 1 if table.itemsize == 1 else FOREVER
        rule = (int(self.into is not None), int(levels is not None), self.limit, deepest)
        barred = None if self.mask is None else ~allowed_vertices(self.mask)
        loop = load("many.search", (specialise.nothing,), (*rows, *_words_of_many(1), self.stop))

        def search(first: int, last: int) -> int:
            starts = self.starts[first:last]
            seen, now, _, queue = words = _words_of_many(n)
            everyone = (1 << starts.size) - 1
            if barred is not None:
                seen[barred] = everyone
            for bit, start in enumerate(starts.tolist()):
                seen[start] |= np.uint64(1 << bit)
                now[start] |= np.uint64(1 << bit)
                if levels is not None:
                    levels[start, first + bit] = 0
            at = np.unique(starts)
            queue[: at.size] = at
            signed = everyone - (1 << 64) if everyone >> 63 else everyone
            return loop(*rows, *words, self.stop, first, signed, at.size, *rule)

        parts = [(first, min(first + TOGETHER, k)) for first in range(0, k, TOGETHER)]
        ended = apart(lambda: run(search, parts, self.threads), self.stop, self.threads)
        _ready.add(("many", out.indptr.dtype, into.indptr.dtype, self.levels))
        if TOO_DEEP_OF_MANY in ended:
            check_level(BYTE_LEVELS, table.dtype)


def _words_of_many(n: int) -> tuple[Array, ...]:
    """`seen`, `now`, `next` and the queue of `loops/many`, for n vertices."""
    seen, now, ahead = (np.zeros(n, _word) for _ in range(3))
    return seen, now, ahead, np.empty(2 * n, np.int32)


# --- closure ------------------------------------------------------------------------------------


def closure(
    out: Csr,
    x: AnyVector,
    semiring: TypedSemiring,
    *,
    how: How,
    mask: VectorMask | None,
    limit: int,
    parents: bool,
    delta: float | None,
    turns: int,
    traced: bool,
    threads: int,
) -> Closed:
    """x = x ⊕ x.A until nothing improves, or `limit` products have run."""
    n, op, dtype = out.nrows, semiring.binaryop, semiring.return_type.np_type
    given = to_bitmap(np, x)
    present, values = given.present.copy(), np.array(given.values, dtype)
    starts = present.nonzero()[0]
    a, step = values_of(out.values, op.reads_y, wanted=op.type2)
    allowed, mask_step, forbidden = allowed_by(mask)
    is_near_far = how == "near_far"
    parent = np.empty(n, np.int32) if is_near_far else np.arange(n, dtype=np.int32)
    parent[starts] = starts
    found = (out.indptr, out.indices, a, allowed, present, values, parent)
    state, stop = np.zeros(8, np.int64), np.zeros(1, np.int64)
    steps = 1 if traced else FOREVER
    if is_near_far:
        ring, pile, codes = np.empty(n + 1, np.int32), np.empty(n, np.int32), np.zeros(n, np.uint8)
        pile[: starts.size] = starts
        codes[starts] = far.AWAY
        state[far.FAR] = starts.size
        width = np.array([_finite(_delta(out, a) if delta is None else delta, dtype)], dtype)
        arrays = (*found, ring, pile, codes, width, state, stop)
        rule = (step, mask_step, forbidden, int(delta is None), steps)
        loop = load("closure.near_far", (specialise.near_far, semiring), arrays)
    else:
        queue, marked = np.empty(2 * n, np.int32), np.zeros(n, bool)
        queue[: starts.size] = starts
        state[far.SIZE] = starts.size
        most = CYCLE_CHECK * (n + out.nvals) if limit >= n else FOREVER
        arrays = (*found, queue, np.empty(n, dtype), marked, state, stop)
        rule = (step, mask_step, forbidden, limit, turns, most, steps)
        loop = load("closure.rounds", (specialise.closing, semiring), arrays)
    trace: list[Level] = []

    def run_all() -> bool:
        """Whether it settled."""
        while True:
            begin = perf_counter()
            before = int(state[far.DEPTH])
            status = loop(*arrays, *rule)
            if traced and state[far.DEPTH] > before:
                seen = int(state[far.FRONTIER]), int(state[far.EDGES])
                trace.append(Level("push", *seen, perf_counter() - begin))
            if status == far.SUSPECT and not has_cycle(parent):
                state[far.MADE] = 0
            elif status != far.PAUSED:
                return status == far.FINISHED

    settled = apart(run_all, stop, threads) if n + out.nvals >= SMALL else run_all()
    _ready.add(("closure", out.indptr.dtype, out.values.dtype, semiring, is_near_far))
    result = BitmapVector(n, present, values, int(np.count_nonzero(present)))
    by = parent if parents or not settled else None
    return Closed(result, by, int(state[far.DEPTH]), trace, bool(state[far.OVERFLOWED]), settled)


def _delta(a: Csr, values: Array) -> float:
    """A delta to begin with: the weight of a few edges, fewer where rows are long.

    On roads 4 to 8 mean weights are best; the loop finds by itself what suits a graph.
    """
    mean = mean_of(values)
    return mean * max(EDGES_AHEAD * a.nrows / max(a.nvals, 1), LEAST_AHEAD)


def _finite(delta: float, dtype: np.dtype[Any]) -> Any:
    """A delta that the dtype holds."""
    if dtype.kind == "b":
        return False
    if dtype.kind == "f":
        return min(delta, 1e30)
    return int(min(max(delta, 0), float(np.iinfo(dtype).max // 2)))


# --- plans --------------------------------------------------------------------------------------


def plan(out: Csr, into: Csr, full: bool, threads: int) -> Plan:
    """Which vertices have no edge, and a neighbour of each: in a full plan the one of most edges.

    Most searches reach a vertex of many edges early, so that a pull seldom looks any further.
    """
    begin = perf_counter()
    n = out.nrows
    if full:
        first = np.empty(n, np.int32)
        arrays = (into.indptr, into.indices, first)
        loop = load("bfs.find_hubs", (specialise.searching, False), arrays)
        spread(loop, arrays, (), row_parts(into.indptr, threads), threads)
    else:
        first = first_of_rows(into, threads)
    idle = first < 0
    if into is not out:
        idle &= out.indptr[1:] == out.indptr[:-1]
    return of_idle(idle, first, begin)


# --- bit maps -----------------------------------------------------------------------------------


def marks(n: int, vertices: Array) -> Array:
    """A bit map of n vertices with some of them set."""
    if vertices.size > FEW:
        flags = np.zeros((n + 63) >> 6 << 6, bool)
        flags[vertices] = True
        return np.packbits(flags, bitorder="little").view(np.uint64)
    words = np.zeros((n + 63) >> 6, _word)
    for v in vertices.tolist():
        words[v >> 6] |= np.uint64(1 << (v & 63))
    return words


def barred_words(n: int, plan: Plan | None, mask: VectorMask | None) -> Array:
    """A bit map of what need not be reached, or must not be; the bits past n are set."""
    words = np.zeros((n + 63) >> 6, _word)
    if plan is not None:
        halves = words.view(np.uint32)
        halves[plan.idle.size :] = 0xFFFFFFFF
        halves[: plan.idle.size] = plan.idle
    elif n & 63:
        words[-1] = (1 << 64) - (1 << (n & 63))
    if mask is not None:
        flags = np.zeros(words.size * 64, bool)
        np.logical_not(allowed_vertices(mask), out=flags[:n])
        words |= np.packbits(flags, bitorder="little").view(np.uint64)
    return words


def unpacked(words: Array, n: int) -> Array:
    """A bit map as truth values."""
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").view(bool)


def count_bits(words: Array) -> int:
    """How many bits are set."""
    return int.from_bytes(words.tobytes(), "little").bit_count()


def _entries_into(a: Csr, flags: Array) -> int:
    """How many entries the flagged rows hold."""
    return int((a.indptr[1:] - a.indptr[:-1])[flags].sum())
