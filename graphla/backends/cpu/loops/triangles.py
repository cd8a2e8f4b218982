"""Triangles: L holds each edge once, and each triangle consists of three of its entries.

The rank of a vertex is its degree and then its number. Row u of L lists the neighbors of u with a
higher rank. A triangle with the ranks u < v < w is counted once, from u: v is in row u, and w is in
the rows of u and v. A row of L has at most sqrt(2 · edges) entries, even for a hub (T. Schank and
D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, 2005).
"""

import numpy as np

ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED = 0, -1


def orient(indptr, indices, out_begins, out_ends, out_columns, stop_flag, start, stop):
    """Write the rows start..stop of L: row u is out_columns[out_begins[u] : out_ends[u]].

    A row begins where the row before it ends, so a part leaves the end of its section of
    `out_columns` unused.
    """
    at = np.uint64(indptr[np.uint64(start)])
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        degree = end - begin
        out_begins[u] = at
        for p in range(begin, end):
            v = np.uint64(indices[p])
            other = np.uint64(indptr[v + ONE]) - np.uint64(indptr[v])
            out_columns[at] = indices[p]
            at += np.uint64((other > degree) | ((other == degree) & (v > u)))
        out_ends[u] = at
    return FINISHED


def count(begins, ends, columns, kept_marks, stop_flag, start, stop):
    """Return the number of triangles whose vertex of lowest rank is in start..stop.

    `kept_marks` is zero for every vertex, before and after the call.
    """
    total = 0
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        begin, end = np.uint64(begins[u]), np.uint64(ends[u])
        if end - begin < np.uint64(2):
            continue
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 1
        for p in range(begin, end):
            v = np.uint64(columns[p])
            found = 0
            for q in range(np.uint64(begins[v]), np.uint64(ends[v])):
                found += kept_marks[np.uint64(columns[q])]
            total += found
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 0
    return total
