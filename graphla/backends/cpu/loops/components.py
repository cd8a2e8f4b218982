"""Find weak components by union-find.

parent(v) is a vertex in the component of v, and parent(v) <= v. So the root of a tree is its
smallest vertex. First, each vertex is attached to the first vertex of its row, if that vertex is
smaller. Then, for the second edge of each row, the trees that contain its two ends are joined.
After this, most vertices are usually in one large tree. Last, all other edges join the trees of
their ends in the same way, except for the rows of the vertices in the large tree: an edge from such
a row to a vertex outside this tree is also in the row of that vertex.

Several threads may join trees at the same time. They attach a root by an atomic operation. Changing
the parent of a vertex that is not a root needs no atomic operation: if two threads change the
parent of the same vertex, both then join the old parent, so no edge is lost (L. Dhulipala, C. Hong
and J. Shun, *ConnectIt: A Framework for Static and Incremental Parallel Graph Connectivity
Algorithms*, 2020).
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import IS_SHARED, compare_and_swap
from graphla.backends.cpu.loops.team import (
    ARGUMENT,
    KIND,
    OVER,
    close_step,
    dismiss,
    enter,
    leave,
    open_step,
    take_chunk,
)

ONE, TWO = np.uint64(1), np.uint64(2)
SAMPLES = 1024  # number of vertices that are sampled to find the largest tree
BATCH = np.uint64(1023)
NONE = -1
FINISHED, STOPPED = range(2)
HOOK, JOIN_SECOND, FLATTEN, JOIN_REST, LABEL = range(5)
"""The steps, in this order. All threads must have finished a step before the next one begins."""


class Rows(NamedTuple):
    """A matrix in CSR and, for the edges in the other direction, its transpose.

    If the matrix is symmetric, the second matrix is the matrix itself.
    """

    indptr: Any
    indices: Any
    other_indptr: Any
    other_indices: Any
    both: Any  # whether the columns are read in addition to the rows, to find the rest of the edges


def join(kept_parent, u, v):
    """Merge the trees of u and v (M. Rem, in E. Dijkstra, *A Discipline of Programming*, 1976).

    The loop follows the paths from u and v to their roots at the same time. Each step attaches a
    vertex to a vertex with a smaller number.
    """
    above, other = kept_parent[np.uint64(u)], kept_parent[np.uint64(v)]
    while above != other:
        if above < other:
            u, v = v, u
            above, other = other, above
        if above != u:
            kept_parent[np.uint64(u)] = other
            u = above
        elif not IS_SHARED:
            kept_parent[np.uint64(u)] = other
            break
        elif compare_and_swap(kept_parent, np.uint64(u), above, other):
            break
        above = kept_parent[np.uint64(u)]


def find_largest(parent, kept_tally):
    """Return the root of the tree that is the largest in a sample of vertices."""
    n = parent.size
    whole, most = NONE, 0
    for k in range(SAMPLES):
        root = np.uint64(parent[np.uint64((k * 0x9E3779B1) % n)])
        kept_tally[root] += 1
        if kept_tally[root] > most:
            whole, most = np.int64(root), kept_tally[root]
    return whole


def run_step(rows: Rows, kept_parent, out_labels, kept_stop, step, whole, start, stop):
    """Run a step for the vertices start..stop - 1.

    The last step labels each vertex with the smallest vertex of its component. JOIN_REST skips the
    vertices in the tree with root `whole`.
    """
    indptr, indices, other_indptr, other_indices, both = rows
    first, last = np.uint64(start), np.uint64(stop)
    if step == HOOK:
        for v in range(first, last):
            p, root = np.uint64(indptr[v]), np.int32(v)
            if p < np.uint64(indptr[v + ONE]) and indices[p] < root:
                root = indices[p]
                if np.uint64(root) >= first:
                    root = kept_parent[np.uint64(root)]
            kept_parent[v] = root
    elif step == JOIN_SECOND:
        for v in range(first, last):
            if (v - first) & BATCH == 0 and kept_stop[0]:
                return
            p = np.uint64(indptr[v]) + ONE
            if p < np.uint64(indptr[v + ONE]):
                join(kept_parent, np.int32(v), indices[p])
    elif step == JOIN_REST:
        for v in range(first, last):
            if (v - first) & BATCH == 0 and kept_stop[0]:
                return
            if kept_parent[v] == whole:
                continue
            p, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
            # If the first neighbor exceeds v, HOOK has not used the first edge.
            if p < end and np.uint64(indices[p]) > v:
                join(kept_parent, np.int32(v), indices[p])
            for q in range(p + TWO, end):
                join(kept_parent, np.int32(v), indices[q])
            if both:
                for q in range(np.uint64(other_indptr[v]), np.uint64(other_indptr[v + ONE])):
                    join(kept_parent, np.int32(v), other_indices[q])
    else:
        for v in range(first, last):
            root = kept_parent[np.uint64(kept_parent[v])]
            if IS_SHARED:
                above = kept_parent[np.uint64(root)]
                while above != root:
                    root = above
                    above = kept_parent[np.uint64(root)]
            kept_parent[v] = root
            if step == LABEL:
                out_labels[v] = root


def find_components(
    rows: Rows, kept_parent, kept_tally, out_labels, kept_stop, kept_team, skips, chunk, thread
):
    """Run all steps. Several threads may call this function together; thread 0 leads.

    Each thread takes `chunk` vertices at a time. If `skips` is true, JOIN_REST skips the vertices
    of the largest tree.
    """
    n = kept_parent.size
    number, step, whole = np.int64(0), HOOK, NONE
    while True:
        if thread > 0:
            number = enter(kept_team, kept_stop, number)
            if number == OVER:
                break
        else:
            kept_team[ARGUMENT] = whole
            open_step(kept_team, step)
        while not kept_stop[0]:
            begin = take_chunk(kept_team, chunk)
            if begin >= n:
                break
            kind, root = kept_team[KIND], kept_team[ARGUMENT]
            end = min(begin + chunk, n)
            run_step(rows, kept_parent, out_labels, kept_stop, kind, root, begin, end)
        if thread > 0:
            leave(kept_team)
            continue
        close_step(kept_team)
        if step == LABEL or kept_stop[0]:
            break
        if step == FLATTEN:
            whole = find_largest(kept_parent, kept_tally)
        step += 1 if skips or step != JOIN_SECOND else 2
    if thread == 0:
        dismiss(kept_team)
    return STOPPED if kept_stop[0] else FINISHED
