"""Core numbers: vertices are removed in order of their remaining degree.

For core = 0, 1, 2, ..., a queue takes the vertices whose remaining degree is `core`. Each vertex in
the queue is removed, which decrements the degrees of its neighbors. A neighbor whose degree becomes
`core` joins the queue. No degree falls below `core`, so the degree of a vertex that was removed is
its core number (V. Batagelj and M. Zaversnik, *An O(m) Algorithm for Cores Decomposition of
Networks*, 2003).

For each value of `core`, the loop reads all vertices that remain. So a vertex is read at most c + 1
times, where c is its core number, which is at most its degree. These reads thus take at most as
long as reading each vertex and each edge once.
"""

import numpy as np

ONE = np.uint64(1)
BATCH = 1023
FINISHED, STOPPED = range(2)


def remove(indptr, indices, kept_degrees, kept_queue, core, v, size):
    """Decrement the degrees of the neighbors of v that are more than `core`.

    Neighbors whose degree becomes `core` join the queue. Return its new size.
    """
    for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[p]
        degree = kept_degrees[np.uint64(u)]
        if degree > core:
            kept_degrees[np.uint64(u)] = degree - 1
            kept_queue[size] = u
            size += np.uint64(degree == core + 1)
    return size


def peel(
    a_indptr,
    a_indices,
    b_indptr,
    b_indices,
    kept_degrees,
    kept_left,
    kept_queue,
    kept_stop,
    both,
):
    """Replace the degrees in `kept_degrees` by core numbers.

    The neighbors of a vertex are the indices in its row of the matrix a. If `both` is true, the
    indices in its row of the matrix b are neighbors too. `kept_left` lists all vertices at
    first, and later those that may remain. `kept_queue` has one element more than there are
    vertices.
    """
    left, core = np.uint64(kept_left.size), np.int64(0)
    while left:
        if kept_stop[0]:
            return STOPPED
        size, kept = np.uint64(0), np.uint64(0)
        for t in range(left):
            v = kept_left[t]
            degree = kept_degrees[np.uint64(v)]  # less than `core` if v was removed
            kept_queue[size] = v
            size += np.uint64(degree == core)
            kept_left[kept] = v
            kept += np.uint64(degree > core)
        left, t = kept, np.uint64(0)
        while t < size:
            if t & np.uint64(BATCH) == 0 and kept_stop[0]:
                return STOPPED
            v = np.uint64(kept_queue[t])
            size = remove(a_indptr, a_indices, kept_degrees, kept_queue, core, v, size)
            if both:
                size = remove(b_indptr, b_indices, kept_degrees, kept_queue, core, v, size)
            t += ONE
        core += 1
    return FINISHED
