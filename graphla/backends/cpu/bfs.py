"""Breadth-first search, by a compiled loop or by matrix products in NumPy.

The compiled loop (`loops/bfs`) runs all levels. It returns to this module before a pull, and before
a large push, so that several threads can run that level together. While a recorder is active, it
also returns after each level.

The search of a large matrix runs in a second thread, so that the main thread can react to Ctrl-C.
On Ctrl-C, the main thread sets a flag, which the loops read at the start of each level and every
few thousand edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops import bfs as loops
from graphla.backends.cpu.loops.bfs import Graph, Rule, Work
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.masks import flag_allowed
from graphla.backends.cpu.spmspv import push
from graphla.backends.cpu.spmv import first_of_rows, pull
from graphla.backends.requests import FOREVER, BfsResult, Level, Search, Towards
from graphla.backends.tuning import current
from graphla.compilers import numba_ops, scratch
from graphla.compilers.crew import run_together
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, BitmapVector, Csr, Plan, SparseVector, VectorMask
from graphla.settings import config
from semirings.semiring import any_secondi, min_secondi

BYTE_LEVELS = 255
"""The number of levels that fit in a byte; the value 255 marks a vertex that is not reached."""
EDGES = 3 * int(loops.ROOM)
"""Length of a thread's part of the array that lists edges.

A part has room for ROOM targets, ROOM sources, and the indices of ROOM chosen edges.
"""
FEW = 64
"""Maximum number of vertices whose bits in a bit map are set one by one.

For more vertices, an array of flags is packed into bits.
"""
_word = np.dtype(np.uint64)
_int32 = np.dtype(np.int32)
_directions = {"auto": 0, "push": loops.PUSH, "pull": loops.PULL}


@dataclass(frozen=True, slots=True)
class BfsTuning:
    """Parameters of a search, measured on two cores (docs/performance/findings.md)."""

    # If a matrix has at least this many vertices plus entries, the search runs in a second thread.
    apart: int = 1 << 20
    wide: int = 1 << 14  # a pull uses several threads if more vertices than this are unreached
    shared: int = 1 << 14  # a push with at least this many edges uses several threads
    # The values of `wide` and `shared` for later levels of a search, when its threads are already
    # running.
    wide_together: int = 1 << 13
    shared_together: int = 1 << 13
    # Costs of the search in NumPy, in units of the cost of one entry that a pull reads. The
    # estimated number of entries that a pull reads is multiplied by `stopping`, because a pull
    # often stops reading a row early.
    stopping: float = 0.6
    pushed: float = 2.0  # cost of one entry that a push reads


TUNING = BfsTuning()


@try_loops
def bfs(request: Search) -> BfsResult:
    """Return the level of each vertex, and its parent on a shortest path from the nearest start
    vertex."""
    out = request.out
    if not compiles(out.nvals, size=out.nrows):
        return bfs_numpy(request)
    return bfs_numba(request, config.threads)


# --- NumPy ----------------------------------------------------------------------------------------


def bfs_numpy(request: Search) -> BfsResult:
    """f⟨¬p, replace⟩ = f any.secondi A, for one level after another, until f is empty.

    Here f is the frontier, and p is the set of the vertices that are reached or that the mask
    forbids. The values of f are the parents of its vertices.
    """
    out, into, n = request.out, request.into, request.out.nrows
    frontier = np.sort(request.starts).astype(np.int32)
    present = np.zeros(n, bool)
    present[frontier] = True
    closed = present.copy()
    if request.mask is not None:
        closed |= ~flag_allowed(request.mask)
    level = None if request.levels is None else np.empty(n, request.levels)
    parent = np.empty(n, np.int32) if request.parents else None
    if parent is not None:
        parent[frontier] = frontier
    semiring = (min_secondi if request.parents == "least" else any_secondi)["INT64"]
    left = n - int(np.count_nonzero(closed))
    reached, depth, trace = frontier.size, 0, []
    while frontier.size:
        if level is not None:
            check_level(depth, level.dtype)
            level[frontier] = depth
        if depth == request.limit or not left:
            break
        begin = perf_counter()
        expanded = frontier.size
        edges = int((out.indptr[frontier + 1] - out.indptr[frontier]).sum())
        towards = choose_direction(request.direction, edges, left, out.nvals, into)
        hidden = VectorMask(n, closed, None, True)
        if towards == "pull" and into is not None:
            at = np.zeros(n, bool)
            at[frontier] = True
            found = pull(into, BitmapVector(n, at, closed, expanded), semiring, "vxm", hidden)
        else:
            found = push(out, SparseVector(n, frontier, frontier), semiring, "vxm", hidden)
        frontier, values = _sorted_entries(found)
        closed[frontier] = present[frontier] = True
        if parent is not None:
            parent[frontier] = values
        reached += frontier.size
        left -= frontier.size
        depth += frontier.size > 0
        if request.traced:
            trace.append(Level(towards, expanded, edges, perf_counter() - begin))
    return BfsResult(level, parent, present, reached, depth, trace)


def choose_direction(
    wanted: Towards, edges: int, left: int, nvals: int, into: Csr | None
) -> Towards:
    """Return the direction of the next level: "push" or "pull".

    If the matrix is not available in CSC (`into` is None), the direction is "push". Otherwise the
    direction is `wanted` or, if `wanted` is "auto", the cheaper one. A push reads `edges` edges. A
    pull looks for a neighbor in the frontier for each of the `left` vertices that are not reached
    yet.
    """
    if into is None or wanted == "push":
        return "push"
    if wanted == "pull":
        return "pull"
    tuning = current(TUNING)
    degree = nvals / max(into.nrows, 1)
    pulled = left + tuning.stopping * left * min(degree, nvals / max(edges, 1)) + into.nrows / 8
    return "push" if tuning.pushed * edges <= pulled else "pull"


def check_level(level: int, dtype: np.dtype[Any]) -> None:
    """Raise OverflowError if levels are stored in one byte and `level` is too large for a byte."""
    if dtype.itemsize == 1 and level >= BYTE_LEVELS:
        raise OverflowError(
            f"there is a vertex {level} edges away from the start, but levels of one byte "
            f"({dtype}) hold at most {BYTE_LEVELS - 1}; ask for int32"
        )


def _sorted_entries(v: SparseVector | BitmapVector) -> tuple[Array, Array]:
    """Return the indices of the entries in ascending order, and their values."""
    if isinstance(v, BitmapVector):
        indices = v.present.nonzero()[0].astype(np.int32)
        return indices, v.values[indices]
    if v.is_sorted:
        return v.indices, v.values
    order = v.indices.argsort(kind="stable")
    return v.indices[order], v.values[order]


# --- the compiled loop ----------------------------------------------------------------------------


def bfs_numba(request: Search, threads: int, stop: Array | None = None) -> BfsResult:
    """Return the result of the compiled loop.

    If the caller passes its own flag as `stop`, the loop runs in the current thread.
    """
    out, n = request.out, request.out.nrows
    search = _Search(request, threads, np.zeros(1, np.int64) if stop is None else stop)
    if stop is None and n + out.nvals >= current(TUNING).apart:
        apart(search, search.work.stop, threads)
    else:
        search()
    return search.result()


class _Search:
    """The arguments and the state of a search by the compiled loop.

    One call of the loop runs as many levels as possible. If the request is traced, each call runs
    one level, so that this class can time each level.
    """

    def __init__(self, request: Search, threads: int, stop: Array) -> None:
        self.request, self.threads = request, threads
        self.spec = (numba_ops.search, request.parents == "least")
        out, into, starts, mask = request.out, request.into, request.starts, request.mask
        n, pulled = out.nrows, out if into is None else into
        has_levels, has_parents = request.levels is not None, request.parents is not None
        levels = np.empty(n if has_levels else 1, request.levels or _int32)
        parents = np.empty(n if has_parents else 1, np.int32)
        marked = mark(n, starts)
        self.barred = barred_words(n, request.plan, mask) & ~marked
        done = self.barred | marked
        seen = done if mask is None else marked
        queue = scratch.take("queue", n + 2, _int32)  # the loop may write two elements more than n
        queue[: starts.size] = starts
        if has_levels:
            levels[starts] = 0
        if has_parents:
            parents[starts] = starts
        firsts = parents  # a placeholder that the loop does not read
        if request.plan is not None:
            firsts = request.plan.first
        elif into is not None:
            firsts = first_of_rows(into, threads)
        state = np.zeros(12, np.int64)
        left = n - (_count_bits(self.barred) - (-n & 63)) - starts.size
        unseen = out.nvals if mask is None else _entries_into(pulled, ~unpack(done, n))
        state[:11] = 0, 0, starts.size, starts.size, left, unseen, 0, starts.size, 0, 0, -1
        self.graph = Graph(out.indptr, out.indices, pulled.indptr, pulled.indices, firsts)
        following, listed = np.zeros(done.size, _word), np.empty(threads * EDGES, np.int32)
        self.work = Work(levels, parents, done, seen, following, queue, listed, state, stop)
        self.rule = Rule(
            has_levels=int(has_levels),
            has_parents=int(has_parents),
            has_two_maps=int(mask is not None),
            is_symmetric=int(pulled.indices is out.indices),
            direction=_directions["push" if into is None else request.direction],
            limit=request.limit,
            deepest=BYTE_LEVELS - 1 if levels.itemsize == 1 else FOREVER,
        )
        # Every other array has the same dtype in all searches.
        self.types = out.indptr.dtype, pulled.indptr.dtype, levels.dtype
        operands = (self.graph, self.work, self.rule)
        self.loop = load("bfs.search", self.spec, operands, self.types)
        self.trace: list[Level] = []

    def __call__(self) -> None:
        state, traced = self.work.state, self.request.traced
        shared = current(TUNING).shared if self.threads > 1 else FOREVER
        arguments = (*self.graph, *self.work, *self.rule, shared, 1 if traced else FOREVER)
        status = loops.PAUSED
        while status == loops.PAUSED:
            begin = perf_counter()
            before = state.copy() if traced else state
            status = self.loop(*arguments)
            while status in (loops.TO_PULL, loops.TO_SHARE):
                if self.is_large():
                    status = self.search_together()
                else:
                    state[loops.FOUND] = self.pull()
                    status = self.loop(*arguments)
            if traced and status != loops.STOPPED:
                self.record(before, state, perf_counter() - begin)

    def is_large(self) -> bool:
        """Return whether several threads should run the next level."""
        state = self.work.state
        is_wide = not state[loops.PULLED] or state[loops.LEFT] > current(TUNING).wide
        return self.threads > 1 and is_wide

    def pull(self) -> int:
        """Run one level as a pull, and return the number of vertices that it finds."""
        operands = self.graph, self.work, self.rule
        loop = load("bfs.pull_words", self.spec, operands, self.types)
        depth, words = int(self.work.state[loops.DEPTH]), self.work.next.size
        return loop(*self.graph, *self.work, *self.rule, depth, 0, words)

    def search_together(self) -> int:
        """Run levels on all threads, until the next level is small. Return why the loop ended."""
        work, threads, tuning = self.work, self.threads, current(TUNING)
        team = np.zeros(TEAM_WORDS, np.int64)
        operands = self.graph, work, self.rule, team
        loop = load("bfs.search_together", (*self.spec, True), operands, (*self.types, team.dtype))
        steps = 1 if self.request.traced else FOREVER
        limits = tuning.shared_together, tuning.wide_together
        arguments = *self.graph, *work, *self.rule, team, *limits, steps
        return run_together(loop, arguments, threads, work.stop)

    def record(self, before: Array, after: Array, seconds: float) -> None:
        """Append the level that has just run to the trace. Do nothing if no level has run."""
        if not before[loops.FRONTIER] or not before[loops.LEFT]:
            return
        pulled = bool(after[loops.PULLED])
        edges = before[loops.UNSEEN] if pulled else after[loops.EDGES]
        frontier = int(before[loops.FRONTIER])
        self.trace.append(Level("pull" if pulled else "push", frontier, int(edges), seconds))

    def result(self) -> BfsResult:
        work, request, n = self.work, self.request, self.request.out.nrows
        scratch.give("queue", work.queue)
        reached, depth = int(work.state[loops.REACHED]), int(work.state[loops.DEPTH])
        if request.levels is not None:
            check_level(depth, request.levels)
        present = unpack(work.done ^ self.barred if request.mask is None else work.seen, n)
        levels = None if request.levels is None else work.levels
        parents = None if request.parents is None else work.parents
        return BfsResult(levels, parents, present, reached, depth, self.trace)


# --- bit maps -------------------------------------------------------------------------------------


def mark(n: int, vertices: Array) -> Array:
    """Return a bit map of n vertices in which the bits of `vertices` are set."""
    if vertices.size > FEW:
        flags = np.zeros((n + 63) >> 6 << 6, bool)
        flags[vertices] = True
        return np.packbits(flags, bitorder="little").view(np.uint64)
    words = np.zeros((n + 63) >> 6, _word)
    for v in vertices.tolist():
        words[v >> 6] |= np.uint64(1 << (v & 63))
    return words


def barred_words(n: int, plan: Plan | None, mask: VectorMask | None) -> Array:
    """Return a bit map of the vertices that a search cannot reach.

    The bit of a vertex is set if the mask forbids the vertex, or if a plan is given and says that
    the vertex has no edges. The unused bits at the end of the last word are set as well.
    """
    words = np.zeros((n + 63) >> 6, _word)
    if plan is not None:
        halves = words.view(np.uint32)
        halves[plan.idle.size :] = 0xFFFFFFFF
        halves[: plan.idle.size] = plan.idle
    elif n & 63:
        words[-1] = (1 << 64) - (1 << (n & 63))
    if mask is not None:
        flags = np.zeros(words.size * 64, bool)
        np.logical_not(flag_allowed(mask), out=flags[:n])
        words |= np.packbits(flags, bitorder="little").view(np.uint64)
    return words


def unpack(words: Array, n: int) -> Array:
    """Return the first n bits of a bit map as booleans."""
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").view(bool)


def _count_bits(words: Array) -> int:
    if words.size > FEW and hasattr(np, "bitwise_count"):  # NumPy 2
        return int(np.bitwise_count(words).sum())
    return int.from_bytes(words.tobytes(), "little").bit_count()


def _entries_into(a: Csr, flags: Array) -> int:
    """Return the number of entries in the flagged rows."""
    return int((a.indptr[1:] - a.indptr[:-1])[flags].sum())
