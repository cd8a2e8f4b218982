"""Spanning forests of minimum weight, with `loops/forest`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.forest import (
    ALL,
    FLATTEN,
    HEAVY,
    LIGHT,
    SCAN_ROWS,
    SCAN_WORDS,
    SELECT,
    Rows,
    Trees,
)
from graphla.backends.cpu.operands import Parts, even_parts, row_parts, threads_worth, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr
from semirings import monoid

LIGHT_EDGES = 2
"""Number of light edges, as a multiple of the number of vertices.

The forest of the light edges is computed first. Usually one of its trees contains most vertices,
and most heavy edges join two vertices of this tree, so these edges are read only once.
"""
SAMPLE = 4096  # number of weights that are sampled to find the light ones


@try_loops
def forest(upper: Csr, is_maximum: bool) -> Array | None:
    """Return which entries are edges of the forest (bool[nvals]), or None if no compiled loop is
    used."""
    n, m = upper.nrows, upper.nvals
    threads = compiles(m, size=n)
    if not threads:
        return None
    stop = np.zeros(1, np.int64)
    growth = _Growth(upper, is_maximum, threads_worth(n + m, threads), stop)
    apart(growth.run, stop, growth.threads, n + m)
    return growth.flags


class _Growth:
    """The arguments and the state of the loop."""

    def __init__(self, upper: Csr, is_maximum: bool, threads: int, stop: Array) -> None:
        n, m = upper.nrows, upper.nvals
        self.threads, self.stop, self.is_maximum = threads, stop, is_maximum
        self.values, step = values_of(upper.values)
        self.flags = np.zeros(m, np.bool_)
        self.last = (monoid.max if is_maximum else monoid.min)[self.values.dtype].identity
        self.most = self._last_light_weight(n, m) if step else None
        bounds = self.last, self.last if self.most is None else self.most
        weights = np.full(n, self.last, self.values.dtype)
        parents, best = np.arange(n, dtype=np.int32), np.full(n, -1, np.int64)
        rows = Rows(upper.indptr, upper.indices, self.values, step)
        trees = Trees(parents, best, weights, np.array(bounds, self.values.dtype))
        # Usually most of this array is never touched and takes no memory.
        words = np.empty(m, np.int64)
        operands = rows, trees, words, self.flags, stop
        self.loop = load("forest.grow", (numba_ops.sharing, True), operands)
        self.arguments = (*rows, *trees, words, self.flags, stop, int(is_maximum))
        self.indptr = upper.indptr
        self.rows, self.vertices = row_parts(upper.indptr, threads), even_parts(n, n + m, threads)

    def _last_light_weight(self, n: int, m: int) -> Any:
        """Return the weight at which the light edges end, or None if all edges are light."""
        light = LIGHT_EDGES * n
        if 2 * light >= m:
            return None
        sample = self.values[:: m // SAMPLE + 1]
        ordered = np.sort(sample)[::-1] if self.is_maximum else np.sort(sample)
        return ordered[int(ordered.size * light // m)]

    def run(self) -> None:
        """Run all rounds."""
        if self.most is None:
            self._join_trees(ALL)
        else:
            self._join_trees(LIGHT)
            self._join_trees(HEAVY)

    def _join_trees(self, which: int) -> None:
        """Run rounds with all edges, or only with the light or the heavy edges, until none of these
        edges leaves a tree.

        If `which` is ALL, the first round does not list the edges that leave a tree, and the second
        round scans all rows again. A list from the first round would be of little use, because few
        of its edges still leave a tree in the second round.
        """
        counts = self._run(SCAN_ROWS, self.rows, which, int(which != ALL))
        if which == ALL and any(counts):
            self._end_round()
            counts = self._run(SCAN_ROWS, self.rows, which, 1)
        begins = [int(self.indptr[start]) for start, _ in self.rows]
        while any(counts):
            self._end_round()
            pairs = zip(begins, counts, strict=True)
            parts = [(begin, begin + count) for begin, count in pairs if count]
            counts, begins = self._run(SCAN_WORDS, parts), [begin for begin, _ in parts]

    def _end_round(self) -> None:
        self._run(SELECT, self.vertices)
        self._run(FLATTEN, self.vertices)

    def _run(self, action: int, parts: Parts, which: int = ALL, lists: int = 0) -> list[int]:
        call = lambda *part: self.loop(*self.arguments, action, which, lists, *part)  # noqa: E731
        return run(call, parts, self.threads, self.stop)
