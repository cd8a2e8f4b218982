"""Strong components, with `loops/strong_components` or SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphla.backends.cpu.components import label_by_search
from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@try_loops
def strong_components(out: Csr, _columns: Callable[[], Csr]) -> Array:
    """Return the smallest vertex of the strong component of each vertex, as int64[n]."""
    if compiles(out.nvals, size=out.nrows):
        return _strong_components_numba(out)
    return label_by_search(out, "strong")


def _strong_components_numba(out: Csr) -> Array:
    n = out.nrows
    labels, stop = np.empty(n, np.int64), np.zeros(1, np.int64)
    order, path, stack = (np.empty(n, np.int32) for _ in range(3))
    low, following = np.zeros(n, np.int32), np.empty(n, out.indptr.dtype)
    arrays = (out.indptr, out.indices, labels, order, low, following, path, stack, stop)
    loop = load("strong_components.label", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays), stop, 1, n + out.nvals)
    return labels
