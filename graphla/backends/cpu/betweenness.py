"""Dependencies on shortest paths: the host side of `loops/betweenness`, sources by all threads."""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from graphla.backends.traversals import Dependencies
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr, is_iso

PARTS = 8
"""Parts of the sources for each thread."""

_nothing = np.zeros(1)


def dependencies(
    out: Csr, sources: Array, *, is_weighted: bool, of_edges: bool, reach: bool, threads: int
) -> Dependencies:
    """Sums of all threads: each has its own, and what it knows of a source's paths."""
    n, count = out.nrows, sources.size
    weights, step = _nothing, 0
    if is_weighted:
        one = is_iso(out.values)
        weights = np.ascontiguousarray(out.values[:1] if one else out.values, np.float64)
        step = int(not one)
    counts, stop = np.zeros(count, np.int64), np.zeros(1, np.int64)
    threads = max(1, min(threads, count))
    idle: SimpleQueue[tuple[Array, ...]] = SimpleQueue()
    sums = [_sums(n, out.nvals if of_edges else 1, n if reach else 1) for _ in range(threads)]
    for own in sums:
        idle.put((*own, counts, *_known(n, is_weighted), stop))
    operands = (out.indptr, out.indices, weights, sources.astype(np.int32))
    sample = (*operands, *_sums(1, 1, 1), counts[:0], *_known(1, is_weighted), stop)
    loop = load("betweenness.dependencies", (numba_ops.nothing,), sample)
    options = (step, int(is_weighted), int(of_edges), int(reach))

    def some(first: int, last: int) -> None:
        arrays = idle.get()
        try:
            loop(*operands, *arrays, *options, first, last)
        finally:
            idle.put(arrays)

    size = max(1, -(-count // (threads * PARTS)))
    parts = [(first, min(first + size, count)) for first in range(0, count, size)]
    apart(lambda: run(some, parts, threads, stop), stop, threads)
    totals, edges, reached = (sum(each) for each in zip(*sums, strict=True))
    return Dependencies(totals, edges if of_edges else None, reached if reach else None, counts)


def _sums(n: int, edges: int, reached: int) -> tuple[Array, Array, Array]:
    return np.zeros(n), np.zeros(edges), np.zeros(reached, np.int64)


def _known(n: int, is_weighted: bool) -> tuple[Array, ...]:
    """`place`, `sigma`, `share` and `queue`; `heap` and `distance` too."""
    far = n if is_weighted else 1
    queue, heap = np.empty(n, np.int32), np.empty(far, np.int32)
    return np.full(n, -1, np.int32), np.zeros(n), np.zeros(n), queue, heap, np.zeros(far)
