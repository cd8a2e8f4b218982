"""A spanning forest of minimum weight by Borůvka's algorithm.

In each round, the lightest edge that leaves each tree is selected. The edges are the entries of an
upper triangular matrix; among edges of equal weight, the first entry is selected. The first two
rounds read the matrix. The second round also writes the row and the position of each remaining edge
to `kept_rows` and `kept_places`. Later rounds read these lists only, because usually few edges
remain after the first round. parent(v) is at most v, and repeated steps to the parent lead to the
root of v's tree.
"""

from typing import Any, NamedTuple

import numpy as np

BATCH = 1023
FINISHED, STOPPED = range(2)
ONE = np.uint64(1)


class Rows(NamedTuple):
    """An upper triangular matrix in CSR."""

    indptr: Any
    indices: Any
    values: Any


def grow(
    a: Rows,
    out_flags,
    kept_rows,
    kept_places,
    kept_best,
    kept_weights,
    kept_from,
    kept_parent,
    kept_stop,
    step,
    greatest,
):
    """Set the flag of each entry that is an edge of the forest."""
    a_indptr, a_indices, a_values = a
    n = a_indptr.size - 1
    turn, left = 0, 1
    while left:
        kept_best[:] = -1
        kept = np.uint64(0)
        if turn < 2:
            for i in range(n):
                if i & BATCH == 0 and kept_stop[0]:
                    return STOPPED
                root = kept_parent[i]
                for p in range(np.uint64(a_indptr[i]), np.uint64(a_indptr[i + 1])):
                    u, v = root, kept_parent[np.uint64(a_indices[p])]
                    if u == v:
                        continue
                    if turn:
                        kept_rows[kept], kept_places[kept] = i, p
                    kept += ONE
                    w = a_values[p * np.uint64(step)]
                    for _ in range(2):
                        t = np.uint64(u)
                        best = kept_weights[t]
                        if kept_best[t] < 0 or (w > best if greatest else w < best):
                            kept_best[t], kept_weights[t], kept_from[t] = p, w, i
                        u = v
        else:
            for e in range(left):
                if e & BATCH == 0 and kept_stop[0]:
                    return STOPPED
                i, p = kept_rows[e], kept_places[e]
                u = kept_parent[np.uint64(i)]
                v = kept_parent[np.uint64(a_indices[np.uint64(p)])]
                if u == v:
                    continue
                kept_rows[kept], kept_places[kept] = i, p
                kept += ONE
                w = a_values[np.uint64(p * step)]
                for _ in range(2):
                    t = np.uint64(u)
                    best = kept_weights[t]
                    if kept_best[t] < 0 or (w > best if greatest else w < best):
                        kept_best[t], kept_weights[t], kept_from[t] = p, w, i
                    u = v
        turn, left = turn + 1, np.int64(kept)
        for r in range(n):
            if r & BATCH == 0 and kept_stop[0]:
                return STOPPED
            p = kept_best[r]
            if p < 0:
                continue
            u, v = kept_from[r], a_indices[np.uint64(p)]
            while kept_parent[np.uint64(u)] != u:
                u = kept_parent[np.uint64(u)]
            while kept_parent[np.uint64(v)] != v:
                v = kept_parent[np.uint64(v)]
            if u != v:
                out_flags[np.uint64(p)] = True
                kept_parent[np.uint64(max(u, v))] = min(u, v)
        # A parent has a smaller number than its child, so the loop has already found the root of
        # the parent.
        for v in range(n):
            kept_parent[v] = kept_parent[np.uint64(kept_parent[v])]
    return FINISHED
