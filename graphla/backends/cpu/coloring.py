"""Greedy coloring of vertices in a given order, with `loops/coloring`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.operands import threads_worth
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart
from graphla.formats import Array, Csr


@try_loops
def color(a: Csr, numbers: Array) -> Array | None:
    """Return the colors as int32[n], or None if no compiled loop is used.

    The color of a vertex is the smallest one that differs from the colors of all neighbors with a
    larger number.
    """
    n, threads = a.nrows, compiles(a.nvals, size=a.nrows)
    if not threads:
        return None
    threads = threads_worth(n + a.nvals, threads)
    order = abandonable(lambda: np.argsort(-numbers), n).astype(np.int32)
    states = np.zeros(n, np.int32)
    if threads > 1:
        states = np.empty(n, np.uint64)
        states[order] = np.arange(n, dtype=np.uint64) << np.uint64(32)
    width = int(np.diff(a.indptr).max(initial=0)) + 4
    marks = np.zeros(threads * width, np.int32)
    cursor, stop = np.zeros(1, np.int64), np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, order, states, cursor, marks, stop)
    loop = load("coloring.color", (numba_ops.sharing, threads > 1), arrays)
    apart(lambda: run_together(loop, (*arrays, width), threads, stop), stop, threads, a.nvals)
    return states.astype(np.uint32).view(np.int32) - np.int32(1)
