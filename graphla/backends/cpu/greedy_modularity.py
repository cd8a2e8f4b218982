"""Merge communities greedily, with `loops/greedy_modularity`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.requests import GreedyMergers
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array


@try_loops
def merge_greedily(request: GreedyMergers) -> Array | None:
    """Return the mergers as pairs of communities, or None if no compiled loop is used."""
    gains, n = request.gains, request.gains.nrows
    if not compiles(gains.nvals, size=n):
        return None
    starts = gains.indptr[:-1].astype(np.int64)
    counts = np.diff(gains.indptr).astype(np.int64)
    # The arrays have free space after the rows. A row that needs more room is moved there. The
    # spare arrays hold a new row and, while the rows are compacted, all rows.
    size, leaves = 3 * gains.nvals + 1, 1 << max(n - 1, 1).bit_length()
    columns, values = np.empty(size, np.int64), np.empty(size)
    columns[: gains.nvals], values[: gains.nvals] = gains.indices, gains.values
    spare = np.empty(n + size, np.int64), np.empty(n + size)
    best, tree = np.full(n, -1), np.full(2 * leaves, -1)
    rows = starts, counts, counts.copy(), columns, values, *spare, best, tree
    sums = request.out.copy(), request.into.copy()
    mergers, stop = np.empty((2, n), np.int64), np.zeros(1, np.int64)
    arrays = *rows, *sums, *mergers, np.array([request.resolution]), stop
    limits = gains.nvals, request.fewest, request.most
    loop = load("greedy_modularity.merge_best", (numba_ops.nothing,), arrays)
    count = apart(lambda: loop(*arrays, *limits), stop, 1, 64 * (n + gains.nvals))
    return mergers[:, :count].T
