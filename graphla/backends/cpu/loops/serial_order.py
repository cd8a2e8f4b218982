"""Orders of the vertices of a directed graph without cycles.

These loops also run as plain Python on lists (see `serial`).
"""

BATCH = 1023
WIDTH = 62  # number of vertices whose bits fit in one signed word
STOPPED = -1


def generations(a_indptr, a_indices, kept_degrees, out_order, out_generations, kept_stop):
    """Remove vertices without in-edges, until none is left (A. B. Kahn, 1962).

    `kept_degrees` holds the in-degrees. `out_order` receives the removed vertices in the order of
    their removal, and `out_generations` the number of edges on a longest path to each of them. All
    other elements of these arrays keep their values. Return the number of removed vertices.
    """
    count, t = 0, 0
    for v in range(len(out_order)):
        if kept_degrees[v] == 0:
            out_order[count] = v
            out_generations[v] = 0
            count += 1
    while t < count:
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = out_order[t]
        t += 1
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            kept_degrees[w] -= 1
            if kept_degrees[w] == 0:
                out_order[count] = w
                out_generations[w] = out_generations[v] + 1
                count += 1
    return count


def longest(a_indptr, a_indices, a_values, a_order, out_lengths, out_parents, kept_stop, step):
    """Find the longest path that ends at each vertex. A path may begin anywhere.

    `a_order` lists all vertices in a topological order. At first all lengths are 0, and each vertex
    is its own parent. The length of entry p is a_values[p * step]: `step` is 0 if all entries have
    the same length, otherwise 1.
    """
    for t in range(len(a_order)):
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = a_order[t]
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            length = out_lengths[v] + a_values[p * step]
            if length > out_lengths[w] or (
                length == out_lengths[w] and (out_parents[w] == w or v < out_parents[w])
            ):
                out_lengths[w] = length
                out_parents[w] = v
    return 0


def reduce(a_indptr, a_indices, a_order, a_positions, out_dropped, kept_reached, kept_stop):
    """Mark the entries u -> v for which a path with at least two edges leads from u to v.

    `a_order` lists all vertices in a topological order, and `a_positions` holds the position of
    each vertex in it. The loop handles WIDTH target vertices at a time, which are consecutive in
    this order. Bit k of `kept_reached[v]` is set if a path leads from v to the k-th target.
    `out_dropped` and `kept_reached` are 0 at first.
    """
    n = len(a_order)
    for first in range(0, n, WIDTH):
        for t in range(min(first + WIDTH, n) - 1, -1, -1):
            if t & BATCH == 0 and kept_stop[0]:
                return STOPPED
            u = a_order[t]
            reached = 0
            for p in range(a_indptr[u], a_indptr[u + 1]):
                reached |= kept_reached[a_indices[p]]
            for p in range(a_indptr[u], a_indptr[u + 1]):
                k = a_positions[a_indices[p]] - first
                if 0 <= k < WIDTH:
                    if (reached >> k) & 1:
                        out_dropped[p] = 1
                    reached |= 1 << k
            kept_reached[u] = reached
    return 0
