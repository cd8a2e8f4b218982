"""Breadth-first searches, and the plans they read: the host side of `loops/bfs`.

The loop goes through all levels; the host comes in between for the few that are pulled, which may
be spread over threads, or to take the time of each if a recorder listens. A search of a large
matrix is run by another thread, so that Ctrl-C reaches the one that waits for it: it sets a flag
that the loops read at each level, and every few thousand edges.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphla.backends.cpu.arrays.traversals import (
    BYTE_LEVELS,
    allowed_vertices,
    check_level,
    of_idle,
)
from graphla.backends.cpu.loops import bfs as constants
from graphla.backends.cpu.operands import between, row_parts, spread
from graphla.backends.cpu.spmv import first_of_rows
from graphla.backends.requests import BfsResult, Level, Towards
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr, Plan, VectorMask

APART = 1 << 20
"""Entries and vertices of a matrix from which a search is run apart: fewer are done in 20 ms."""
WIDE = 1 << 17
"""Vertices left from which a pull is worth waking another thread for."""
EDGES = 2 * int(constants.ROOM)
"""Targets and sources of the edges that a push lists at a time."""
FEW = 64
"""Starts that are marked one by one."""
FOREVER = 2**62

_word = np.dtype(np.uint64)
_int32 = np.dtype(np.int32)
_directions = {"auto": 0, "push": constants.PUSH, "pull": constants.PULL}


ready: set[tuple] = set()
"""Kinds of traversals, and the dtypes they met, whose loops are at hand."""


def is_ready(*key: Any) -> bool:
    """Whether a traversal of this kind, on these dtypes, has run here before.

    Then its loop is at hand, and quicker than NumPy on the smallest matrix.
    """
    return key in ready


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
) -> BfsResult:
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
    found = (level, parent, *maps, queue, listed, state, stop)
    arrays = (out.indptr, out.indices, pulled.indptr, *found)
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
    ready.add(("bfs", out.indptr.dtype, pulled.indptr.dtype, levels, parents))
    if levels is not None:
        check_level(int(state[constants.DEPTH]), levels)
    return BfsResult(
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
        self.spec = (numba_ops.searching, least)
        self.traced, self.threads = traced, threads
        self.loop = load("bfs.search", self.spec, arrays)
        self.trace: list[Level] = []

    def __call__(self) -> None:
        state = self.arrays[-2]
        steps = 1 if self.traced else FOREVER
        status = constants.PAUSED
        while status == constants.PAUSED:
            begin = perf_counter()
            before = state.copy() if self.traced else state
            status = self.loop(*self.arrays, *self.flags, *self.rule, steps)
            while status == constants.TO_PULL:
                state[constants.FOUND] = self.pull(state)
                status = self.loop(*self.arrays, *self.flags, *self.rule, steps)
            if self.traced and status != constants.STOPPED:
                self.record(before, state, perf_counter() - begin)

    def pull(self, state: Array) -> int:
        """How many vertices one pull finds, spread over threads if many are left to look at."""
        words, threads = self.rows[-2].size, self.threads
        loop = load("bfs.pull_words", self.spec, self.rows)
        rule = (int(state[constants.DEPTH]), *self.flags)
        if threads == 1 or state[constants.LEFT] <= WIDE:
            return loop(*self.rows, *rule, 0, words)
        parts = between([words * part // PULLS for part in range(PULLS + 1)])
        stop = self.rows[-1]
        return sum(run(lambda *part: loop(*self.rows, *rule, *part), parts, threads, stop))

    def record(self, before: Array, after: Array, seconds: float) -> None:
        """One level, unless there was none left to run."""
        if not before[constants.FRONTIER] or not before[constants.LEFT]:
            return
        pulled = bool(after[constants.PULLED])
        edges = before[constants.UNSEEN] if pulled else after[constants.EDGES]
        frontier = int(before[constants.FRONTIER])
        self.trace.append(Level("pull" if pulled else "push", frontier, int(edges), seconds))


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
        loop = load("bfs.find_hubs", (numba_ops.searching, False), arrays)
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
