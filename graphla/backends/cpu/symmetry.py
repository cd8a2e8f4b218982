"""Compare a matrix with its transpose: the host side of `loops/symmetry`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.loops.symmetry import DIFFERENT, SAME
from graphla.backends.cpu.operands import UNREAD, between, spread, threads_worth
from graphla.backends.traversals import Symmetry, nan_bits
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Csr, is_iso


def find_symmetry(a: Csr, threads: int) -> Symmetry:
    """Return whether a square matrix has the pattern, and the values, of its transpose."""
    n, values = a.nrows, a.values
    reads = a.nvals > 0 and not is_iso(values)
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}") if reads else UNREAD
    cursor, stop = np.empty(n, a.indptr.dtype), np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, bits, cursor, stop)
    loop = load("symmetry.compare", (numba_ops.nothing,), arrays)
    # Every part walks all rows after its first, so there is one part for each thread.
    count = threads_worth(a.nvals, threads)
    shares = [a.nvals * part // count for part in range(1, count)]
    cuts = [0, *np.searchsorted(a.indptr, np.array(shares, a.indptr.dtype)).tolist(), n]
    integers = (int(reads), *nan_bits(values.dtype))
    parts = between(cuts) or [(0, 0)]

    def compare() -> int:
        return min(spread(loop, arrays, integers, parts, threads))

    found = apart(compare, stop, threads, n + a.nvals)
    return Symmetry(found != DIFFERENT, found == SAME)
