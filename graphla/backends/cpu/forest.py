"""Spanning forests of minimum weight, by `loops/forest`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.forest import Rows
from graphla.backends.cpu.operands import values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@try_loops
def forest(upper: Csr, is_maximum: bool) -> Array | None:
    """Return which entries are edges of the forest (bool[nvals]); None without a compiled loop."""
    n, m = upper.nrows, upper.nvals
    if not compiles(m, size=n):
        return None
    values, step = values_of(upper.values)
    flags, stop = np.zeros(m, np.bool_), np.zeros(1, np.int64)
    rows, places = np.empty(m, np.int32), np.empty(m, upper.indptr.dtype)
    best, weights = np.empty(n, upper.indptr.dtype), np.empty(n, values.dtype)
    matrix = Rows(upper.indptr, upper.indices, values)
    lists = flags, rows, places, best, weights, np.empty(n, np.int32), np.arange(n, dtype=np.int32)
    loop = load("forest.grow", (numba_ops.nothing,), (matrix, *lists, stop))
    given = *matrix, *lists, stop, step, int(is_maximum)
    apart(lambda: loop(*given), stop, 1, n + m)
    return flags
