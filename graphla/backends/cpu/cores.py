"""Core numbers, by `loops/cores`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@try_loops
def cores(out: Csr, into: Csr | None) -> Array | None:
    """Return the core number of each vertex as int64[n], or None if no compiled loop runs."""
    n = out.nrows
    if not compiles(out.nvals, size=n):
        return None
    degrees = np.diff(out.indptr).astype(np.int32, copy=False)
    if into is not None:
        degrees += np.diff(into.indptr).astype(np.int32, copy=False)
    left, queue, stop = (
        np.arange(n, dtype=np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(1, np.int64),
    )
    other = out if into is None else into
    rows = (out.indptr, out.indices, other.indptr, other.indices)
    arrays = (*rows, degrees, left, queue, stop)
    loop = load("cores.peel", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, int(into is not None)), stop, 1, n + out.nvals)
    return degrees.astype(np.int64)
