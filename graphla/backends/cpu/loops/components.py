"""Find weak components by union-find.

parent(v) is a vertex in the component of v, and parent(v) <= v. So the root of a tree is its
smallest vertex. The first pass joins the trees at both ends of the first SAMPLED edges of each row.
Then usually most vertices are in one large tree. The second pass processes all edges, but skips the
rows of the vertices in this tree: an edge from such a row to a vertex outside the tree is also in
the row of that vertex.
"""

import numpy as np

SAMPLED = 2  # number of entries of each row that the first pass uses
SAMPLES = 1024  # number of vertices that are sampled to find the largest tree
BATCH = 1023
FINISHED, STOPPED = range(2)


def join(kept_parent, u, v):
    """Merge the trees of u and v (M. Rem, in E. Dijkstra, *A Discipline of Programming*, 1976).

    The loop follows the paths from u and v to their roots at the same time. Each step attaches a
    vertex to one with a smaller number.
    """
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


def label(
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
    """Label each vertex with the smallest vertex of its component.

    The first pass joins the trees at both ends of the first SAMPLED edges of each row. The second
    pass does the same for all edges. If `both` is set, the second pass reads the columns of the
    matrix in addition to the rows. If `skips` is set, it skips the vertices in the tree that is the
    largest in a sample.
    """
    n = a_indptr.size - 1
    for place in range(SAMPLED):
        for v in range(n):
            if v & BATCH == 0 and kept_stop[0]:
                return STOPPED
            p = np.uint64(a_indptr[v]) + np.uint64(place)
            if p < np.uint64(a_indptr[v + 1]):
                join(kept_parent, np.int32(v), a_indices[p])
    # A parent has a smaller number than its child, so the loop has already found the root of the
    # parent.
    for v in range(n):
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
