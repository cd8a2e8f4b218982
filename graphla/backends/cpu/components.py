"""Weak components, with `loops/components` or SciPy. The label of a component is its smallest
vertex."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.components import Rows
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.operands import threads_worth
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr

CHUNKS = 16
"""Number of chunks of vertices per thread in each step."""


@try_loops
def components(out: Csr, into: Csr | None) -> Array:
    """Return the smallest vertex of the weak component of each vertex, as int64[n]."""
    threads = compiles(out.nvals, size=out.nrows)
    if threads:
        return _components_numba(out, into, threads_worth(out.nrows + out.nvals, threads))
    return label_by_search(out, "weak")


def _components_numba(out: Csr, into: Csr | None, threads: int) -> Array:
    n = out.nrows
    if not n:
        return np.empty(0, np.int64)
    parent, tally = np.empty(n, np.int32), np.zeros(n, np.int32)
    labels, stop = np.empty(n, np.int64), np.zeros(1, np.int64)
    other = out if into is None else into
    pair = out.indptr, out.indices, other.indptr, other.indices
    rows = Rows(*pair, int(other is not out))
    arrays = parent, tally, labels, stop, np.zeros(TEAM_WORDS, np.int64)
    loop = load("components.find_components", (numba_ops.sharing, threads > 1), (rows, *arrays))
    chunk = n if threads == 1 else max(n // (threads * CHUNKS), 1)
    given = *rows, *arrays, int(into is not None), chunk
    apart(lambda: run_together(loop, given, threads, stop), stop, threads, n + out.nvals)
    return labels


def label_by_search(a: Csr, connection: str) -> Array:
    """Return the smallest vertex of each vertex's "weak" or "strong" component, computed by
    SciPy."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(a.nvals)
    matrix = csr_array((ones, a.indices, a.indptr), shape=(a.nrows, a.ncols))
    count, labels = connected_components(matrix, directed=True, connection=connection)
    least = np.empty(count, np.int64)
    # If several values are assigned to one element, NumPy keeps the last value. The vertices are
    # assigned in descending order, so each element receives the smallest vertex of its component.
    least[labels[::-1]] = np.arange(a.nrows)[::-1]
    return least[labels]
