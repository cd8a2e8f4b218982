"""Triangles: L holds each edge once, and each triangle consists of three of its entries.

The rank of a vertex is its position in descending order of degree, and then in order of its number.
Row r of L lists the ranks below r of the neighbors of the vertex with rank r. A triangle with the
ranks r > s > t is counted once, from r: s is in row r, and t is in the rows of r and s. A row of L
has at most sqrt(2 · edges) entries, even for a hub (T. Schank and D. Wagner, *Finding, Counting and
Listing All Triangles in Large Graphs*, 2005). Most entries have low ranks, so that the marks that
are read most often remain in the cache.
"""

import numpy as np

ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED = 0, -1


def rank(indptr, kept_counts, out_ranks):
    """Write the rank of each vertex. `kept_counts` has two elements more than there are vertices."""
    n = np.uint64(out_ranks.size)
    kept_counts[:] = 0
    for u in range(n):
        kept_counts[indptr[u + ONE] - indptr[u]] += 1
    higher = 0  # the number of vertices of higher degree
    for d in range(kept_counts.size):
        degree = kept_counts.size - 1 - d
        count = kept_counts[degree]
        kept_counts[degree] = higher
        higher += count
    for u in range(n):
        degree = indptr[u + ONE] - indptr[u]
        out_ranks[u] = kept_counts[degree]
        kept_counts[degree] += 1


def orient(indptr, indices, ranks, out_begins, out_ends, out_columns, stop_flag, start, stop):
    """Write the rows of L of the vertices start..stop.

    Row r is out_columns[out_begins[r] : out_ends[r]]. It begins where the row of the vertex before
    ends, so a part leaves the end of its section of `out_columns` unused.
    """
    at = np.uint64(indptr[np.uint64(start)])
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        r = ranks[u]
        out_begins[np.uint64(r)] = at
        for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            s = ranks[np.uint64(indices[p])]
            out_columns[at] = s
            at += np.uint64(s < r)
        out_ends[np.uint64(r)] = at
    return FINISHED


def count(ranks, begins, ends, columns, kept_marks, stop_flag, start, stop):
    """Return the number of triangles whose vertex of highest rank is in start..stop.

    `kept_marks` is zero for every rank, before and after the call.
    """
    total = 0
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        r = np.uint64(ranks[u])
        begin, end = np.uint64(begins[r]), np.uint64(ends[r])
        if end - begin < np.uint64(2):
            continue
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 1
        for p in range(begin, end):
            s = np.uint64(columns[p])
            found = 0
            for q in range(np.uint64(begins[s]), np.uint64(ends[s])):
                found += kept_marks[np.uint64(columns[q])]
            total += found
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 0
    return total
