"""Greedy coloring of vertices in a given order, by `loops/coloring`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart
from graphla.formats import Array, Csr


@try_loops
def color(a: Csr, numbers: Array) -> Array | None:
    """Return the colors as int32[n], or None if no compiled loop is used.

    Each vertex gets the smallest color that no neighbor with a larger number has.
    """
    if not compiles(a.nvals, size=a.nrows):
        return None
    order = abandonable(lambda: np.argsort(-numbers), a.nrows).astype(np.int32)
    colors = np.full(a.nrows, -1, np.int32)
    marks = np.zeros(int(np.diff(a.indptr).max(initial=0)) + 2, np.int32)
    stop = np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, order, colors, marks, stop)
    loop = load("coloring.color", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays), stop, 1, a.nvals)
    return colors
