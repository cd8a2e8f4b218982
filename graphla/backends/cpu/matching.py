"""Find a maximal matching, heaviest edges first, with the loop in `loops/matching`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.matching import FREE, NONE
from graphla.backends.cpu.operands import values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@try_loops
def match(a: Csr, words: Array) -> Array | None:
    """Return the mate of each vertex or -1, as int32[n]; None without a compiled loop."""
    n = a.nrows
    if not compiles(a.nvals, size=n):
        return None
    mates, wanted, path = np.full(n, FREE, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    values, step = values_of(a.values)
    if not a.nvals:
        return mates
    stop = np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, values, words, mates, wanted, path, stop)
    loop = load("matching.match", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, step), stop, 1, a.nvals)
    mates[mates == NONE] = -1
    return mates
