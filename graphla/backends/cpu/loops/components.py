"""Weak and strong components.

Weak components: union-find over the first entries of each row, then over the other entries.

parent(v) <= v lies in the component of v: the root of a tree is its least vertex. Once most
vertices are in one tree, an edge inside it says nothing: rows of its vertices are passed over, as
whoever is outside goes through a row that holds the edge too.
"""

import numpy as np

SAMPLED = 2  # entries of each row
SAMPLES = 1024  # vertices
BATCH = 1023
FINISHED, STOPPED = range(2)
CLOSED = 2**31 - 1


def join(kept_parent, u, v):
    """The trees of u and v become one (M. Rem's way, in E. Dijkstra, *A Discipline of Programming*,
    1976): both paths are gone up at once, and each step hooks a vertex onto a lesser one."""
    above, other = kept_parent[np.uint64(u)], kept_parent[np.uint64(v)]
    while above != other:
        if above < other:
            u, v = v, u
            above, other = other, above
        kept_parent[np.uint64(u)] = other
        if above == u:
            break
        u = above
        above = kept_parent[np.uint64(u)]


def weak(
    a_indptr,
    a_indices,
    b_indptr,
    b_indices,
    kept_parent,
    kept_tally,
    out_labels,
    kept_stop,
    both,
    skips,
):
    """The least vertex of each one's component; `both`: columns are to be gone through too."""
    n = a_indptr.size - 1
    for place in range(SAMPLED):
        for v in range(n):
            if v & BATCH == 0 and kept_stop[0]:
                return STOPPED
            p = np.uint64(a_indptr[v]) + np.uint64(place)
            if p < np.uint64(a_indptr[v + 1]):
                join(kept_parent, np.int32(v), a_indices[p])
    for v in range(n):  # parents come before their children
        kept_parent[v] = kept_parent[np.uint64(kept_parent[v])]
    whole, most = np.int32(-1), 0
    if skips:
        for k in range(SAMPLES):
            v = kept_parent[np.uint64((k * 0x9E3779B1) % n)]
            kept_tally[np.uint64(v)] += 1
            if kept_tally[np.uint64(v)] > most:
                whole, most = v, kept_tally[np.uint64(v)]
    for v in range(n):
        if v & BATCH == 0 and kept_stop[0]:
            return STOPPED
        if kept_parent[v] == whole:
            continue
        for p in range(np.uint64(a_indptr[v]), np.uint64(a_indptr[v + 1])):
            join(kept_parent, np.int32(v), a_indices[p])
        if both:
            for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + 1])):
                join(kept_parent, np.int32(v), b_indices[p])
    for v in range(n):
        kept_parent[v] = kept_parent[np.uint64(kept_parent[v])]
        out_labels[v] = kept_parent[v]
    return FINISHED


def strong(
    a_indptr,
    a_indices,
    out_labels,
    kept_order,
    kept_low,
    kept_next,
    kept_path,
    kept_open,
    kept_stop,
):
    """Label each vertex with the least vertex of its strong component (R. Tarjan, *Depth-First
    Search and Linear Graph Algorithms*, 1972).

    order(v) numbers the vertices in the order of discovery, from 1. low(v) is 0 before v is
    discovered, CLOSED once the component of v is complete, and otherwise the least order among the
    open vertices that v is known to reach. `path` leads from the root of the search to the current
    vertex v, whose row is read from next(v) on. `open` is the stack of discovered vertices without
    a component.
    """
    n = a_indptr.size - 1
    count, depth, size, turns = 0, 0, 0, 0
    for root in range(n):
        if kept_low[root]:
            continue
        found = np.int32(root)
        while True:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            if found >= 0:  # discover it
                count += 1
                v = np.uint64(found)
                kept_order[v] = count
                kept_low[v] = count
                kept_next[v] = a_indptr[v]
                kept_path[depth] = found
                kept_open[size] = found
                depth += 1
                size += 1
            v = np.uint64(kept_path[depth - 1])
            low = kept_low[v]
            p, end = np.uint64(kept_next[v]), np.uint64(a_indptr[v + np.uint64(1)])
            found = np.int32(-1)
            while p < end:
                other = kept_low[np.uint64(a_indices[p])]
                if other == 0:
                    found = a_indices[p]  # this edge is read again after the row of `found`
                    break
                low = min(low, other)
                p += np.uint64(1)
            kept_next[v] = p
            kept_low[v] = low
            if found >= 0:
                continue
            depth -= 1
            # If v reaches no older open vertex, the stack from v up is its component.
            if low == kept_order[v]:
                least, begin = np.int32(v), size
                while True:
                    begin -= 1
                    least = min(least, kept_open[begin])
                    if kept_open[begin] == np.int32(v):
                        break
                for t in range(begin, size):
                    out_labels[np.uint64(kept_open[t])] = least
                    kept_low[np.uint64(kept_open[t])] = CLOSED
                size = begin
            if depth == 0:
                break
    return FINISHED
