"""A spanning forest of minimum weight by Borůvka's algorithm.

In each round, the lightest edge that leaves each tree is selected. The edges are the entries of an
upper triangular matrix; among edges of equal weight, the first entry is selected. The arrays
`kept_rows` and `kept_places` list the row and the position of each edge that remains in a round.
parent(v) is at most v, and repeated steps to the parent lead to the root of v's tree.
"""

import numpy as np

BATCH = 1023
FINISHED, STOPPED = range(2)


def grow(
    a_indptr,
    a_indices,
    a_values,
    out_flags,
    kept_rows,
    kept_places,
    kept_best,
    kept_from,
    kept_parent,
    kept_stop,
    step,
    greatest,
):
    """Set the flag of each entry that is an edge of the forest."""
    n = a_indptr.size - 1
    left = 0
    for v in range(n):
        if v & BATCH == 0 and kept_stop[0]:
            return STOPPED
        for p in range(a_indptr[v], a_indptr[v + 1]):
            kept_rows[left] = v
            kept_places[left] = p
            left += 1
    while left:
        for v in range(n):
            kept_best[v] = -1
        kept = 0
        for e in range(left):
            if e & BATCH == 0 and kept_stop[0]:
                return STOPPED
            i, p = kept_rows[e], kept_places[e]
            u = kept_parent[np.uint64(i)]
            v = kept_parent[np.uint64(a_indices[np.uint64(p)])]
            if u == v:
                continue
            kept_rows[kept], kept_places[kept] = i, p
            kept += 1
            w = a_values[np.uint64(p * step)]
            for _ in range(2):
                q = kept_best[np.uint64(u)]
                best = a_values[np.uint64(max(q, 0) * step)]
                if q < 0 or (w > best if greatest else w < best):
                    kept_best[np.uint64(u)] = p
                    kept_from[np.uint64(u)] = i
                u = v
        left = kept
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
