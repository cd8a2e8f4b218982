"""Compute the closure of each row of a matrix, with the compiled loop `loops/closure_rows`."""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.closure_rows import UNSEEN, Edges, Found, Heap, Starts
from graphla.backends.cpu.operands import threads_worth, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Csr
from graphla.settings import config

MOST = 1 << 24
"""The maximum size (rows times vertices) of the array of distances."""
PARTS = 8
"""Number of parts into which the rows are divided, per thread."""


@try_loops
def distances(a: Csr, x: Csr) -> Csr | None:
    """Return X min (X min.+ A) min (X min.+ A²) min ..., or None if no compiled loop is used.

    The values of both matrices have the same dtype, and none is negative or NaN. No sum of the
    weights on a path without cycles overflows.
    """
    rows, n, work = x.nrows, a.nrows, x.nrows * (a.nrows + a.nvals)
    if rows * n > MOST or not compiles(rows * a.nvals, size=n):
        return None
    threads = max(1, min(threads_worth(work, config.threads), rows))
    stop = np.zeros(1, np.int64)
    edges = Edges(a.indptr, a.indices, *values_of(a.values))
    starts = Starts(x.indptr, x.indices, *values_of(x.values))
    found = Found(np.empty((rows, n), x.values.dtype), np.zeros((rows, n), np.bool_))
    heaps: SimpleQueue[Heap] = SimpleQueue()
    for _ in range(threads):
        heaps.put(Heap(np.empty(n, np.int32), np.full(n, UNSEEN, np.int32), stop))
    heap = heaps.get()
    loop = load("closure_rows.close_rows", (numba_ops.nothing,), (edges, starts, found, heap))
    heaps.put(heap)

    def close(first: int, last: int) -> None:
        heap = heaps.get()
        try:
            loop(*edges, *starts, *found, *heap, first, last)
        finally:
            heaps.put(heap)

    size = max(1, -(-rows // (threads * PARTS))) if threads > 1 else max(1, rows)
    parts = [(first, min(first + size, rows)) for first in range(0, rows, size)]
    apart(lambda: run(close, parts, threads, stop), stop, threads, work)
    indptr = np.zeros(rows + 1, np.int32)
    np.cumsum(found.present.sum(axis=1), out=indptr[1:])
    indices = found.present.nonzero()[1].astype(np.int32)
    return Csr(rows, n, indptr, indices, found.distances[found.present])
