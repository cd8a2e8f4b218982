"""Components, cores and forests: the host side of `loops/components`, `loops/cores` and
`loops/forest`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.operands import values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr

NOTHING = (numba_ops.nothing,)


def components(out: Csr, into: Csr | None) -> Array:
    """int64[n]: the least vertex of each one's component."""
    n = out.nrows
    if not n:
        return np.empty(0, np.int64)
    parent, tally = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    labels = np.empty(n, np.int64)
    other = out if into is None else into
    rows = (out.indptr, out.indices, other.indptr, other.indices)
    stop = np.zeros(1, np.int64)
    arrays = (*rows, parent, tally, labels, stop)
    loop = load("components.weak", NOTHING, arrays)
    apart(
        lambda: loop(*arrays, int(other is not out), int(into is not None)), stop, 1, n + out.nvals
    )
    return labels


def strong_components(out: Csr) -> Array:
    """Return, for each vertex, the least vertex of its strong component, as int64[n]."""
    n = out.nrows
    labels, stop = np.empty(n, np.int64), np.zeros(1, np.int64)
    order, path, stack = (np.empty(n, np.int32) for _ in range(3))
    low, following = np.zeros(n, np.int32), np.empty(n, out.indptr.dtype)
    arrays = (out.indptr, out.indices, labels, order, low, following, path, stack, stop)
    loop = load("components.strong", NOTHING, arrays)
    apart(lambda: loop(*arrays), stop, 1, n + out.nvals)
    return labels


def cores(out: Csr, into: Csr | None) -> Array:
    """int64[n]: the core number of each vertex."""
    n = out.nrows
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
    loop = load("cores.peel", NOTHING, arrays)
    apart(lambda: loop(*arrays, int(into is not None)), stop, 1, n + out.nvals)
    return degrees


def least_forest(upper: Csr, greatest: bool) -> Array:
    """bool[nvals]: the entries of the forest."""
    n, m = upper.nrows, upper.nvals
    values, step = values_of(upper.values)
    flags = np.zeros(m, np.bool_)
    rows, places, stop = np.empty(m, np.int32), np.empty(m, np.int64), np.zeros(1, np.int64)
    arrays = (
        *(upper.indptr, upper.indices, values, flags, rows, places),
        *(np.empty(n, np.int64), np.empty(n, np.int32), np.arange(n, dtype=np.int32), stop),
    )
    loop = load("forest.grow", NOTHING, arrays)
    apart(lambda: loop(*arrays, step, int(greatest)), stop, 1, n + m)
    return flags
