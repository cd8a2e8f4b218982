"""Push flow through a network, with `loops/flow`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.transpose import transpose
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@try_loops
def augment(residuals: Csr, source: int, target: int) -> Array | None:
    """Return the residual capacities after a maximum flow, or None if no compiled loop is used."""
    n, count = residuals.nrows, residuals.nvals
    if not compiles(count, size=n):
        return None
    indptr, indices = residuals.indptr, residuals.indices
    # If the value of each entry is its own position, then the transpose of the matrix holds, for
    # each entry, the position of the opposite entry.
    numbered = Csr(n, n, indptr, indices, np.arange(count))
    reverse = transpose(numbered).values
    left = np.array(residuals.values)
    levels, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    cursor, stop = np.empty(n, indptr.dtype), np.zeros(1, np.int64)
    path = np.empty(n, np.int64)
    arrays = (indptr, indices, reverse, left, levels, queue, cursor, path, stop)
    loop = load("flow.augment", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, source, target), stop, 1, n + count)
    return left
