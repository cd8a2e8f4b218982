"""Core numbers: vertices are removed in order of their remaining degree.

See V. Batagelj and M. Zaversnik, *An O(m) Algorithm for Cores Decomposition of Networks*, 2003.

`order` lists the vertices sorted by degree. Vertex v is at position place(v), and the vertices with
degree d begin at position bins(d).
"""

import numpy as np

BATCH = 1023
FINISHED, STOPPED = range(2)


def lower(kept_degrees, kept_bins, kept_order, kept_place, u):
    """Decrement the degree of u.

    First u is swapped with the first vertex of the same degree in `kept_order`, so that the
    vertices there remain sorted by degree.
    """
    degree = kept_degrees[np.uint64(u)]
    p, q = kept_place[np.uint64(u)], np.int32(kept_bins[np.uint64(degree)])
    w = kept_order[np.uint64(q)]
    kept_order[np.uint64(p)] = w
    kept_order[np.uint64(q)] = u
    kept_place[np.uint64(w)] = p
    kept_place[np.uint64(u)] = q
    kept_bins[np.uint64(degree)] = q + 1
    kept_degrees[np.uint64(u)] = degree - 1


def peel(
    a_indptr,
    a_indices,
    b_indptr,
    b_indices,
    kept_degrees,
    kept_bins,
    kept_order,
    kept_place,
    kept_stop,
    both,
):
    """Replace the degrees in `kept_degrees` by core numbers.

    The neighbors of a vertex are the indices in its row of the matrix a. If `both` is true, the
    indices in its row of the matrix b are neighbors too.
    """
    n = kept_order.size
    for v in range(n):
        degree = np.uint64(kept_degrees[v])
        kept_place[v] = kept_bins[degree]
        kept_order[np.uint64(kept_bins[degree])] = v
        kept_bins[degree] += 1
    # In the loop above, the start of each bin has moved to the end of the bin. Restore the starts.
    for d in range(kept_bins.size - 1, 0, -1):
        kept_bins[d] = kept_bins[d - 1]
    kept_bins[0] = 0
    for t in range(n):
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = np.uint64(kept_order[t])
        core = kept_degrees[v]
        for p in range(np.uint64(a_indptr[v]), np.uint64(a_indptr[v + np.uint64(1)])):
            u = a_indices[p]
            if kept_degrees[np.uint64(u)] > core:
                lower(kept_degrees, kept_bins, kept_order, kept_place, u)
        if both:
            for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + np.uint64(1)])):
                u = b_indices[p]
                if kept_degrees[np.uint64(u)] > core:
                    lower(kept_degrees, kept_bins, kept_order, kept_place, u)
    return FINISHED
