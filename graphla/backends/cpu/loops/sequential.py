"""Textbook breadth-first search on one thread: two arrays alternate as the queue."""

import numpy as np


def search(a_indptr, a_indices, out_levels, kept_frontier, kept_next, source):
    """Write the level of each vertex (-1 if not reached), and return the number of levels."""
    out_levels[:] = -1
    out_levels[source] = 0
    kept_frontier[0] = source
    depth, count = 0, 1
    while count:
        depth += 1
        found = 0
        for k in range(count):
            v = np.uint64(kept_frontier[k])
            for p in range(np.uint64(a_indptr[v]), np.uint64(a_indptr[v + np.uint64(1)])):
                w = np.uint64(a_indices[p])
                if out_levels[w] < 0:
                    out_levels[w] = depth
                    kept_next[found] = w
                    found += 1
        kept_frontier, kept_next = kept_next, kept_frontier
        count = found
    return depth
