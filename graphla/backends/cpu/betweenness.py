"""Betweenness centrality on the CPU, computed by a loop that Numba compiles.

The algorithm is due to U. Brandes (2001). The sources are divided among threads. For each source,
the loop adds up the dependencies of vertices and edges along the shortest paths from this source.
"""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.betweenness import Graph, Paths, Sums
from graphla.backends.cpu.operands import threads_worth
from graphla.backends.requests import Dependencies, DependenciesResult
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, is_iso
from graphla.settings import config

PARTS = 8
"""Number of parts per thread into which the list of sources is divided."""


@try_loops
def dependencies(request: Dependencies) -> DependenciesResult | None:
    """Return the dependencies of vertices and edges, summed over all sources.

    The result is None if the loop should not be compiled.
    """
    out, sources = request.out, request.sources
    if not compiles(sources.size * out.nvals, size=out.nrows):
        return None
    n, count, is_weighted = out.nrows, sources.size, request.is_weighted
    weights, step = np.zeros(1), 0
    if is_weighted:
        one = is_iso(out.values)
        weights = np.ascontiguousarray(out.values[:1] if one else out.values, np.float64)
        step = int(not one)
    graph = Graph(out.indptr, out.indices, weights, step)
    sources = sources.astype(np.int32)
    counts, stop = np.zeros(count, np.int64), np.zeros(1, np.int64)
    work = count * (n + out.nvals)
    threads = max(1, min(threads_worth(work, config.threads), count))
    sizes = n, out.nvals if request.of_edges else 1, n if request.reach else 1
    sums = [_sums(*sizes, counts) for _ in range(threads)]
    idle: SimpleQueue[tuple[Sums, Paths]] = SimpleQueue()
    for own in sums:
        idle.put((own, _paths(n, is_weighted, stop)))
    sample = (graph, sources, _sums(1, 1, 1, counts[:0]), _paths(1, is_weighted, stop))
    loop = load("betweenness.dependencies", (numba_ops.nothing,), sample)
    wanted = (int(is_weighted), int(request.of_edges), int(bool(request.reach)))

    def some(first: int, last: int) -> None:
        own, paths = idle.get()
        try:
            loop(*graph, sources, *own, *paths, *wanted, first, last)
        finally:
            idle.put((own, paths))

    size = max(1, -(-count // (threads * PARTS)))
    parts = [(first, min(first + size, count)) for first in range(0, count, size)]
    apart(lambda: run(some, parts, threads, stop), stop, threads, work)
    totals, edges, reached = (sum(each) for each in zip(*(own[:3] for own in sums), strict=True))
    return DependenciesResult(
        totals, edges if request.of_edges else None, reached if request.reach else None, counts
    )


def _sums(n: int, edges: int, reached: int, counts: Array) -> Sums:
    return Sums(np.zeros(n), np.zeros(edges), np.zeros(reached, np.int64), counts)


def _paths(n: int, is_weighted: bool, stop: Array) -> Paths:
    far = n if is_weighted else 1
    queue, heap = np.empty(n, np.int32), np.empty(far, np.int32)
    place, sigma, share = np.full(n, -1, np.int32), np.zeros(n), np.zeros(n)
    return Paths(place, sigma, share, queue, heap, np.zeros(far), stop)
