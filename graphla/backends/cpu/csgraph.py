"""Components on the host, by SciPy's compiled searches; a label is the least vertex."""

from __future__ import annotations

import numpy as np

from graphla.formats import Array, Csr


def components(a: Csr, connection: str) -> Array:
    """int64[n]: the least vertex of each one's component, "weak" or "strong"."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(a.nvals)
    matrix = csr_array((ones, a.indices, a.indptr), shape=(a.nrows, a.ncols))
    count, labels = connected_components(matrix, directed=True, connection=connection)
    least = np.empty(count, np.int64)
    least[labels[::-1]] = np.arange(a.nrows)[::-1]  # of equal places the last is kept
    return least[labels]
