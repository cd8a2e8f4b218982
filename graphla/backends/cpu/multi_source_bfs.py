"""Breadth-first searches from many start vertices: one loop runs up to 64 searches, or one search.

Searches that run together read an edge only once if they reach it at the same level. In a graph
with many levels, searches rarely reach an edge at the same level. In such a graph each search runs
alone, and the searches are divided among the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from graphla.backends.cpu import operands
from graphla.backends.cpu.bfs import BYTE_LEVELS, bfs_numba, bfs_numpy, check_level
from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.multi_source_bfs import TOO_DEEP, Graph, Results, Words
from graphla.backends.cpu.masks import flag_allowed
from graphla.backends.requests import (
    FOREVER,
    BfsResult,
    MultiSearch,
    MultiSearchResult,
    Reach,
    Search,
)
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import NotReady, load, without_compiling
from graphla.compilers.threads import LARGE, apart, run
from graphla.formats import Array
from graphla.settings import config

UNREACHED = {1: 255, 4: -1}
"""The level that marks an unreached vertex, keyed by the number of bytes of a level's dtype."""

_word = np.dtype(np.uint64)
_int32 = np.dtype(np.int32)


@dataclass(frozen=True, slots=True)
class MultiSearchTuning:
    """Parameters of searches from many start vertices. The defaults were measured on two cores."""

    together: int = 64  # maximum number of searches that share a word, with one bit each
    # Minimum number of searches that share a word if they are divided among threads. Smaller groups
    # use more threads but share fewer reads: two threads with 32 searches each take 75 % of the
    # time, and 150 % of the total CPU time, of one thread with 64 searches.
    least: int = 16
    # If the first search has more levels than this, each search runs alone.
    deep: int = 64


TUNING = MultiSearchTuning()


@try_loops
def multi_source_bfs(request: MultiSearch) -> MultiSearchResult:
    """Search from each start vertex, and return the levels of each search.

    If `request.levels` is None, return instead three numbers for each search: the number of reached
    vertices, the sum of their levels, and the largest level.
    """
    out = request.out
    if not compiles(request.starts.size * out.nvals, size=out.nrows):
        return _multi_source_bfs_numpy(request)
    many = _Searches(request)
    if request.levels is None:
        return MultiSearchResult(None, many.reach(), [])
    return MultiSearchResult(many.levels(request.levels), None, [])


def _multi_source_bfs_numpy(request: MultiSearch) -> MultiSearchResult:
    """Run one search after another, in NumPy."""
    k, n = request.starts.size, request.out.nrows
    levels = _int32 if request.levels is None else request.levels
    table = None if request.levels is None else _fill_unreached(k, n, levels)
    reach = np.zeros((3, k), np.int64)
    for s, start in enumerate(request.starts.reshape(-1, 1)):
        tree = bfs_numpy(_search(request, start, levels))
        if table is None:
            reach[:, s] = _reach_of(tree)
        else:
            np.copyto(table[s], tree.levels, where=tree.present)  # pyright: ignore
    return MultiSearchResult(table, Reach(*reach) if table is None else None, [])


def _search(request: MultiSearch, start: Array, levels: np.dtype[Any] | None) -> Search:
    """Return the request for a search from one start vertex."""
    return Search(
        request.out,
        request.into,
        start,
        mask=request.mask,
        limit=request.limit,
        levels=levels,
        plan=request.plan,
    )


def _reach_of(tree: BfsResult) -> tuple[int, int, int]:
    total = np.sum(tree.levels, where=tree.present, dtype=np.int64)  # pyright: ignore
    return tree.reached, int(total), tree.depth


def _fill_unreached(rows: int, columns: int, levels: np.dtype[Any]) -> Array:
    """Return a table of levels that is filled with the value for unreached vertices.

    The table is filled a few rows at a time, so that Ctrl-C can interrupt the filling.
    """
    table = np.empty((rows, columns), levels)
    step = max(1, current(operands.TUNING).grain // max(columns, 1))
    for first in range(0, rows, step):
        table[first : first + step] = UNREACHED[levels.itemsize]
    return table


class _Searches:
    """The searches of a request: up to 64 per loop, or one per loop in a deep graph."""

    def __init__(self, request: MultiSearch) -> None:
        self.request = request
        self.stop = np.zeros(1, np.int64)
        deep = current(TUNING).deep
        self.work = request.starts.size * (request.out.nrows + request.out.nvals)
        # If the graph has at most `deep` vertices, no search is deeper than `deep`: skip the search
        # that `_depth` runs.
        self.is_deep = request.starts.size > 0 and request.out.nrows > deep < self._depth()

    def levels(self, dtype: np.dtype[Any]) -> Array:
        """Return the levels: one row per start vertex, and one column per vertex.

        The array may be a transposed view.
        """
        n, k = self.request.out.nrows, self.request.starts.size
        if not self.is_deep:
            table = _fill_unreached(n, k, dtype)
            self._run_together(table, None)
            return table.T
        table = _fill_unreached(k, n, dtype)

        def row(k: int) -> None:
            tree = self._search(k, dtype)
            np.copyto(table[k], tree.levels, where=tree.present)  # pyright: ignore

        self._run_alone(row)
        return table

    def reach(self) -> Reach:
        """Return, for each search, the number of reached vertices, and the sum and the maximum of
        their levels."""
        found = np.zeros((3, self.request.starts.size), np.int64)
        if not self.is_deep:
            found[0] = 1
            self._run_together(None, found)
            return Reach(*found)

        def row(k: int) -> None:
            found[:, k] = _reach_of(self._search(k, _int32))

        self._run_alone(row)
        return Reach(*found)

    def _depth(self) -> int:
        """Return the number of levels of the first search if it is at most `deep`. Otherwise return
        any number that exceeds `deep`."""
        request, deep = self.request, current(TUNING).deep
        work = self.work // request.starts.size
        if work < LARGE:
            with suppress(NotReady), without_compiling():
                return self._search(0, None).depth
            # The loops of a single search are not compiled yet. Use NumPy, because compiling these
            # loops only to find the depth would take too long.
            limit = min(request.limit, deep + 1)
            first = replace(_search(request, request.starts[:1], None), limit=limit)
            with config.set(compiled=False):
                return bfs_numpy(first).depth
        return apart(lambda: self._search(0, None).depth, self.stop, config.threads, work)

    def _search(self, k: int, levels: np.dtype[Any] | None) -> BfsResult:
        """Run the search from the start vertex with index k in the calling thread."""
        start = self.request.starts[k : k + 1]
        return bfs_numba(_search(self.request, start, levels), 1, self.stop)

    def _run_alone(self, row: Callable[[int], None]) -> None:
        """Call the function `row` with the index of each start vertex, using all threads."""
        parts = [(k,) for k in range(self.request.starts.size)]
        threads = config.threads
        apart(lambda: run(row, parts, threads, self.stop), self.stop, threads, self.work)

    def _run_together(self, levels: Array | None, reach: Array | None) -> None:
        """Run all searches, up to 64 per loop, and write their results to `levels` or `reach`.

        One of the two arrays is None. `levels` receives the level of each vertex in each search.
        `reach` receives, for each search, the number of reached vertices, and the sum and the
        maximum of their levels.
        """
        request, tuning, threads = self.request, current(TUNING), config.threads
        out = request.out
        into = out if request.into is None else request.into
        n, k = out.nrows, request.starts.size
        graph = Graph(out.indptr, out.indices, into.indptr, into.indices)
        results = Results(
            np.empty((1, 1), np.int32) if levels is None else levels,
            np.empty((1, 1), np.int64) if reach is None else reach,
        )
        deepest = BYTE_LEVELS - 1 if results.levels.itemsize == 1 else FOREVER
        rule = (int(request.into is not None), int(levels is not None), request.limit, deepest)
        barred = None if request.mask is None else ~flag_allowed(request.mask)
        sample = (graph, results, _allocate_words(1, self.stop))
        loop = load("multi_source_bfs.search", (numba_ops.nothing,), sample)

        def search(first: int, last: int) -> int:
            starts = request.starts[first:last]
            words = _allocate_words(n, self.stop)
            everyone = (1 << starts.size) - 1
            if barred is not None:
                words.seen[barred] = everyone
            for bit, start in enumerate(starts.tolist()):
                words.seen[start] |= np.uint64(1 << bit)
                words.now[start] |= np.uint64(1 << bit)
                if levels is not None:
                    levels[start, first + bit] = 0
            at = np.unique(starts)
            words.queue[: at.size] = at
            signed = everyone - (1 << 64) if everyone >> 63 else everyone
            return loop(*graph, *results, *words, first, signed, at.size, *rule)

        size = min(tuning.together, max(tuning.least, ceil(k / threads)))
        parts = [(first, min(first + size, k)) for first in range(0, k, size)]
        ended = apart(lambda: run(search, parts, threads, self.stop), self.stop, threads, self.work)
        if TOO_DEEP in ended:
            check_level(BYTE_LEVELS, results.levels.dtype)


def _allocate_words(n: int, stop: Array) -> Words:
    seen, now, ahead = (np.zeros(n, _word) for _ in range(3))
    return Words(seen, now, ahead, np.empty(2 * n, np.int32), stop)
