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
    degrees = np.diff(out.indptr).astype(np.int64)
    if into is not None:
        degrees += np.diff(into.indptr)
    most = int(degrees.max(initial=0))
    bins = np.zeros(most + 2, np.int64)
    np.cumsum(np.bincount(degrees, minlength=most + 1), out=bins[1:])
    order, place, stop = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(1, np.int64)
    other = out if into is None else into
    rows = (out.indptr, out.indices, other.indptr, other.indices)
    arrays = (*rows, degrees, bins, order, place, stop)
    loop = load("cores.peel", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, int(into is not None)), stop, 1, n + out.nvals)
    return degrees
