"""Compute truss numbers by repeatedly removing the edges that are in too few triangles.

See J. Wang and J. Cheng, *Truss Decomposition in Massive Networks*, 2012. The matrix N is symmetric
and in CSR, without entries on the diagonal. The edges {u, v} are numbered: if entry p of N belongs
to edge e, then ids[p] = e. L is the part of N that `loops/triangles` describes: row v is
columns[begins[v] : ends[v]]. If entry p of L belongs to edge e, then numbers[p] = e.
"""

from typing import Any, NamedTuple

import numpy as np

ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED, ASYMMETRIC = 0, -1, -2


class Rows(NamedTuple):
    """The matrix N, and the number of the edge at each of its entries."""

    indptr: Any
    indices: Any
    ids: Any


def number(indptr, indices, kept_cursors, out_ids, out_sources, out_targets, stop_flag):
    """Number the edges {u, v} in order of their entries above the diagonal.

    At first kept_cursors[v] is the position of the first entry of row v. The loop visits the rows
    in order. At an entry (u, v) with v > u it expects the entry (v, u) at the cursor of row v,
    gives both entries the same number and advances the cursor. If another entry is at the cursor,
    the matrix is not symmetric, and the loop ends before it writes past the arrays.
    """
    edge = 0
    for row in range(indptr.size - 1):
        u = np.uint64(row)
        if u & BATCH == 0 and stop_flag[0]:
            return STOPPED
        for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = np.uint64(indices[p])
            if v > u:
                mirror = np.uint64(kept_cursors[v])
                if mirror >= np.uint64(indptr[v + ONE]) or indices[mirror] != row:
                    return ASYMMETRIC
                out_ids[p] = edge
                out_ids[mirror] = edge
                kept_cursors[v] += 1
                out_sources[edge] = row
                out_targets[edge] = indices[p]
                edge += 1
    return FINISHED if 2 * edge == indices.size else ASYMMETRIC


def orient(rows: Rows, out_begins, out_ends, out_columns, out_numbers, stop_flag):
    """Write L and the number of the edge at each of its entries."""
    indptr, indices, ids = rows
    at = np.uint64(0)
    for row in range(indptr.size - 1):
        u = np.uint64(row)
        if u & BATCH == 0 and stop_flag[0]:
            return STOPPED
        begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        degree = end - begin
        out_begins[u] = at
        for p in range(begin, end):
            v = np.uint64(indices[p])
            other = np.uint64(indptr[v + ONE]) - np.uint64(indptr[v])
            if other > degree or (other == degree and v > u):
                out_columns[at] = indices[p]
                out_numbers[at] = ids[p]
                at += ONE
        out_ends[u] = at
    return FINISHED


def support(begins, ends, columns, numbers, kept_marks, out_support, stop_flag):
    """Add to out_support[e] the number of triangles that contain edge e.

    For the current row u of L, kept_marks[w] is 1 + e if the row contains w, where e is the number
    of the edge {u, w}. Otherwise kept_marks[w] is 0.
    """
    for row in range(begins.size):
        u = np.uint64(row)
        if u & BATCH == 0 and stop_flag[0]:
            return STOPPED
        begin, end = np.uint64(begins[u]), np.uint64(ends[u])
        if end - begin < np.uint64(2):
            continue
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = numbers[p] + 1
        for p in range(begin, end):
            v = np.uint64(columns[p])
            found = 0
            for q in range(np.uint64(begins[v]), np.uint64(ends[v])):
                mark = kept_marks[np.uint64(columns[q])]
                if mark:
                    out_support[np.uint64(mark - 1)] += 1
                    out_support[np.uint64(numbers[q])] += 1
                    found += 1
            out_support[np.uint64(numbers[p])] += found
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 0
    return FINISHED


def first_from(indices, begin, end, column):
    """Return the first position in begin..end whose index is at least `column`, or end if there is
    none."""
    while begin < end:
        middle = begin + ((end - begin) >> ONE)
        if indices[middle] < column:
            begin = middle + ONE
        else:
            end = middle
    return begin


def flag_supported(indptr, indices, support, out_flags, stop_flag, needed):
    """Flag the entries of the edges that are in at least `needed` triangles.

    The number of triangles of an edge is given at its entry below the diagonal.
    """
    for row in range(indptr.size - 1):
        if np.uint64(row) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        for p in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            if support[p] >= needed:
                v = np.uint64(indices[p])
                end = np.uint64(indptr[v + ONE])
                mirror = first_from(indices, np.uint64(indptr[v]), end, row)
                if mirror == end or indices[mirror] != row:
                    return ASYMMETRIC
                out_flags[p] = True
                out_flags[mirror] = True
    return FINISHED


def peel(
    rows: Rows,
    sources,
    targets,
    kept_support,
    kept_trusses,
    kept_queue,
    stop_flag,
    first,
    last,
):
    """For each k from `first` to `last`, remove edges until only the edges of the k-truss remain.

    An edge that is removed for k gets the number k - 1, and an edge that is never removed gets the
    number `last`. `kept_trusses` is 0 for edges that have not been removed. The queue lists edges
    with fewer than k - 2 triangles. Until such an edge is removed, its triangles still count for
    their other edges.
    """
    indptr, indices, ids = rows
    edges, left = sources.size, sources.size
    for k in range(first, last + 1):
        if left == 0:
            break
        needed = k - 2
        head, tail = 0, 0
        for e in range(edges):
            if kept_trusses[e] == 0 and kept_support[e] < needed:
                kept_queue[tail] = e
                tail += 1
        while head < tail:
            if np.uint64(head) & BATCH == 0 and stop_flag[0]:
                return STOPPED
            edge = np.uint64(kept_queue[head])
            head += 1
            left -= 1
            kept_trusses[edge] = k - 1
            if kept_support[edge] == 0:
                continue
            u, v = np.uint64(sources[edge]), np.uint64(targets[edge])
            if indptr[u + ONE] - indptr[u] > indptr[v + ONE] - indptr[v]:
                u, v = v, u
            place, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
            for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                one = np.uint64(ids[p])
                if kept_trusses[one]:
                    continue
                place = first_from(indices, place, end, indices[p])
                if place == end or indices[place] != indices[p]:
                    continue
                other = np.uint64(ids[place])
                if kept_trusses[other]:
                    continue
                kept_support[one] -= 1
                if kept_support[one] == needed - 1:
                    kept_queue[tail] = one
                    tail += 1
                kept_support[other] -= 1
                if kept_support[other] == needed - 1:
                    kept_queue[tail] = other
                    tail += 1
    for e in range(edges):
        if kept_trusses[e] == 0:
            kept_trusses[e] = last
    return FINISHED
