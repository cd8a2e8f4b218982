"""Greedy coloring: vertices are colored one by one, in a given order."""

import numpy as np

ONE = np.uint64(1)
BATCH = 1023
FINISHED, STOPPED = range(2)


def color(indptr, indices, order, out_colors, kept_marks, kept_stop):
    """Give each vertex the smallest color that none of its neighbors has yet.

    The vertices are colored in the order of the array `order`. In `out_colors`, -1 marks a vertex
    that has no color yet. The array `kept_marks` needs two elements more than the longest row has
    entries. Initially none of its elements may be positive.
    """
    for t in range(order.size):
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = np.uint64(order[t])
        stamp = np.int32(t + 1)
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            taken = out_colors[np.uint64(indices[p])]
            if taken >= 0:
                kept_marks[taken] = stamp
        least = 0
        while kept_marks[least] == stamp:
            least += 1
        out_colors[v] = least
    return FINISHED
