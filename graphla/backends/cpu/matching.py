"""Find a maximal matching, heaviest edges first, with the loop in `loops/matching`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.matching import NONE, Links, Suitors
from graphla.backends.cpu.operands import row_parts, threads_worth, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr
from semirings import monoid


@try_loops
def match(a: Csr, words: Array) -> Array | None:
    """Return the mate of each vertex, or -1 if it has none, as int32[n]. Return None if no compiled
    loop is used."""
    n = a.nrows
    threads = compiles(a.nvals, size=n)
    if not threads:
        return None
    mates = np.full(n, NONE, np.int32)
    if not a.nvals:
        return mates
    threads = threads_worth(n + a.nvals, threads)
    values, step = values_of(a.values)
    links = Links(a.indptr, a.indices, values, words, step)
    places = np.zeros(n if step else 1, np.int64)
    hashes = np.zeros(1 if step else n, np.uint64)
    weights = np.full(n if step else 1, monoid.max[values.dtype].identity, values.dtype)
    suitors, stop = Suitors(mates, places, hashes, weights), np.zeros(1, np.int64)
    loop = load("matching.match", (numba_ops.sharing, threads > 1), (links, suitors, stop))
    call = lambda *part: loop(*links, *suitors, stop, *part)  # noqa: E731
    parts = row_parts(a.indptr, threads)
    apart(lambda: run(call, parts, threads, stop), stop, threads, a.nvals)
    return mates
