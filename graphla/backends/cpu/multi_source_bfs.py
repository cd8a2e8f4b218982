"""Many searches: the host side of `loops/many`.

Up to 64 share each look at an edge, which pays where they meet. In a deep graph they seldom do:
there each goes alone, and the threads share them out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np

from graphla.backends.cpu import operands
from graphla.backends.cpu.arrays.traversals import UNREACHED
from graphla.backends.cpu.bfs import BYTE_LEVELS, FOREVER, bfs_numba, check_level, ready
from graphla.backends.cpu.loops.multi_source_bfs import TOO_DEEP
from graphla.backends.cpu.masks import allowed_vertices
from graphla.backends.requests import BfsResult, Search
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr, Plan, VectorMask

TOGETHER = 64
"""Searches that share a word."""
LEAST = 16
"""Searches that share one at least, where there is a thread for each word: two words of 32 on two
threads take three quarters of the time of one word of 64, if half as much more work."""
DEEP = 64
"""Levels of the first search beyond which others seldom meet, and each goes alone."""

_word = np.dtype(np.uint64)
_int32 = np.dtype(np.int32)


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
    table = _unreached(*many.shape(), levels)
    if not many.is_deep:
        many.together(table, None)
        return table.T

    def row(k: int) -> None:
        tree = many.alone(k, levels)
        np.copyto(table[k], tree.levels, where=tree.present)  # pyright: ignore

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
        total = np.sum(tree.levels, where=tree.present, dtype=np.int64)  # pyright: ignore
        found[:, k] = tree.reached, total, tree.depth

    many.one_by_one(row)
    return found


def _unreached(rows: int, columns: int, levels: np.dtype[Any]) -> Array:
    """Return a table of unreached levels, filled in parts so that Ctrl-C can interrupt."""
    table = np.empty((rows, columns), levels)
    step = max(1, current(operands.TUNING).grain // max(columns, 1))
    for first in range(0, rows, step):
        table[first : first + step] = UNREACHED[levels.itemsize]
    return table


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
        self.is_deep = starts.size > 0 and self._depth() > DEEP

    def _depth(self) -> int:
        """Of the first search."""
        return apart(lambda: self.alone(0, None).depth, self.stop, self.threads)

    def shape(self) -> tuple[int, int]:
        """Of the table of levels, which is by vertices where searches run together."""
        n, k = self.out.nrows, self.starts.size
        return (k, n) if self.is_deep else (n, k)

    def alone(self, k: int, levels: np.dtype[Any] | None) -> BfsResult:
        """The search from start k."""
        search = Search(
            self.out,
            self.into,
            self.starts[k : k + 1],
            mask=self.mask,
            limit=self.limit,
            levels=levels,
            plan=self.plan,
        )
        return bfs_numba(search, 1, self.stop)

    def one_by_one(self, row: Callable[[int], None]) -> None:
        """row(k) for each start, by all threads."""
        parts = [(k,) for k in range(self.starts.size)]
        apart(lambda: run(row, parts, self.threads, self.stop), self.stop, self.threads)

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
        loop = load(
            "multi_source_bfs.search", (numba_ops.nothing,), (*rows, *_words_of_many(1), self.stop)
        )

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

        size = min(TOGETHER, max(LEAST, ceil(k / self.threads)))
        parts = [(first, min(first + size, k)) for first in range(0, k, size)]
        ended = apart(lambda: run(search, parts, self.threads, self.stop), self.stop, self.threads)
        ready.add(("many", out.indptr.dtype, into.indptr.dtype, self.levels))
        if TOO_DEEP in ended:
            check_level(BYTE_LEVELS, table.dtype)


def _words_of_many(n: int) -> tuple[Array, ...]:
    """`seen`, `now`, `next` and the queue of `loops/many`, for n vertices."""
    seen, now, ahead = (np.zeros(n, _word) for _ in range(3))
    return seen, now, ahead, np.empty(2 * n, np.int32)
