"""Betweenness centrality on the CPU, computed by loops that Numba compiles.

The algorithm is due to U. Brandes (2001). For each source, the loop adds up the dependencies of
vertices and edges along the shortest paths from this source. If there are at least as many sources
as threads, the threads divide the sources among themselves. Otherwise all threads work together on
one source after another, unless the levels of the search from the first source are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.betweenness import LEVELS, STATE_SIZE, Graph, Paths, Sums
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.operands import between, even_parts, threads_worth
from graphla.backends.requests import Dependencies, DependenciesResult
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import Loop, load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, is_iso
from graphla.settings import config


@dataclass(frozen=True, slots=True)
class BetweennessTuning:
    """Parameters of betweenness centrality."""

    parts: int = 8  # the list of sources is divided into this number of parts per thread
    # Several threads share a source only if the searches from all sources read more vertices and
    # entries than this. At this size, a second thread saves only a few milliseconds, but compiling
    # the loop for several threads takes about 2 s.
    alone: int = 1 << 20
    shared: int = 1 << 12  # all threads share a level with at least this many edges plus vertices
    # If the levels of the search from the first source have fewer vertices than this on average,
    # each of the other sources is processed by a single thread.
    level: int = 1 << 12


TUNING = BetweennessTuning()


@try_loops
def dependencies(request: Dependencies) -> DependenciesResult | None:
    """Return the dependencies of vertices and edges, summed over all sources.

    Return None if no compiled loop is used.
    """
    if not compiles(request.sources.size * request.out.nvals, size=request.out.nrows):
        return None
    job = _Job(request)
    apart(job.run, job.stop, job.threads, job.work)
    totals, edges, reached = (_add_up(each) for each in zip(*job.sums, strict=True))
    return DependenciesResult(
        totals,
        edges if request.of_edges else None,
        reached if request.reach else None,
        job.counts,
    )


class _Job:
    """The arguments of the loops, and the sums that the loops have computed."""

    def __init__(self, request: Dependencies) -> None:
        out, count = request.out, request.sources.size
        n = out.nrows
        weights, step = np.zeros(1), 0
        if request.is_weighted:
            one = is_iso(out.values)
            weights = np.ascontiguousarray(out.values[:1] if one else out.values, np.float64)
            step = int(not one)
        self.graph = Graph(out.indptr, out.indices, weights, step)
        self.sources = request.sources.astype(np.int32)
        self.is_weighted = int(request.is_weighted)
        self.wanted = int(request.of_edges), int(bool(request.reach))
        self.sizes = n, out.nvals if request.of_edges else 1, n if request.reach else 1
        self.counts, self.stop = np.zeros(count, np.int64), np.zeros(1, np.int64)
        self.work = count * (n + out.nvals)
        # Read the settings now, because another thread may run the loop.
        self.threads = threads_worth(self.work, config.threads)
        self.is_fixed = config.deterministic
        self.sums: list[tuple[Array, Array, Array]] = []
        is_large = self.work > current(TUNING).alone
        self.is_shared = is_large and not self.is_weighted and 0 < count < self.threads
        if self.is_shared:
            self.loop = self.load_shared()
        if count > 1 or not self.is_shared:
            self.separate = self.load_separate()

    def load_separate(self) -> Loop:
        """Return the loop that processes each source in one thread."""
        sample = self.graph, self.sources, *self.arrays(sample=True)
        return load("betweenness.dependencies", (numba_ops.nothing,), sample)

    def load_shared(self) -> Loop:
        """Return the loop in which several threads process one source together."""
        sample = self.graph, self.sources, *self.arrays(sample=True), self.counts, self.counts
        return load("betweenness.share_sources", (numba_ops.nothing,), sample)

    def arrays(self, *, sample: bool = False) -> tuple[Sums, Paths]:
        """Return new arrays for the sums, and for the search from one source."""
        n, edges, reached = (1, 1, 1) if sample else self.sizes
        sums = Sums(np.zeros(n), np.zeros(edges), np.zeros(reached, np.int64), self.counts)
        far, near = (n, 1) if self.is_weighted else (1, n)
        paths = Paths(
            np.zeros(n, np.int32),
            np.zeros(n),
            np.zeros(n),
            np.empty(n, np.int32),
            np.empty(n + 2, np.int32),
            np.empty(far),
            np.empty(near),
            self.stop,
        )
        return sums, paths

    def run(self) -> None:
        """Add the dependencies for all sources to new sums."""
        done = 0
        if self.is_shared:
            done = self.run_together()
        if done < self.sources.size or not self.sums:
            self.run_separately(done)

    def run_together(self) -> int:
        """Process the first source and, unless the levels of its search are small, all other
        sources. All threads work together on one source after another.

        Return the number of sources that have been processed.
        """
        count, large = self.sources.size, current(TUNING).shared
        sums, paths = self.arrays()
        self.sums.append(sums[:3])
        for first, last in between([0, 1, count]):
            state, team = np.zeros(STATE_SIZE, np.int64), np.zeros(TEAM_WORDS, np.int64)
            arguments = *self.graph, self.sources, *sums, *paths, state, team, *self.wanted, large
            run_together(self.loop, (*arguments, first, last), self.threads, self.stop)
            if self.counts[0] < current(TUNING).level * state[LEVELS]:
                return last
        return count

    def run_separately(self, first: int) -> None:
        """Process the sources from `first` on, each one in a single thread.

        If `config.deterministic` is set, only the numbers of sources and threads decide which
        sources each partial sum includes.
        """
        count = self.sources.size
        threads = max(1, min(self.threads, count - first))
        pieces = threads if self.is_fixed else threads * current(TUNING).parts
        pieces = max(1, min(pieces, count - first))
        cuts = [first + (count - first) * piece // pieces for piece in range(pieces + 1)]
        each = [self.arrays() for _ in range(threads)]
        self.sums += [own[:3] for own, _ in each]
        idle: SimpleQueue[int] = SimpleQueue()
        for k in range(threads):
            idle.put(k)

        def process(piece: int) -> None:
            k = piece if self.is_fixed else idle.get()
            own, paths = each[k]
            part = cuts[piece], cuts[piece + 1]
            try:
                self.separate(
                    *self.graph, self.sources, *own, *paths, self.is_weighted, *self.wanted, *part
                )
            finally:
                idle.put(k)

        run(process, [(piece,) for piece in range(pieces)], threads, self.stop)


def _add_up(arrays: tuple[Array, ...]) -> Array:
    """Add the other arrays to the first one, and return it."""
    total, *others = arrays
    if others:
        size, threads = total.size, threads_worth(total.size * len(arrays), config.threads)

        def add(start: int, end: int) -> None:
            for other in others:
                total[start:end] += other[start:end]

        run(add, even_parts(size, size * len(arrays), threads), threads)
    return total
