"""Count triangles with a matrix L that contains each edge once. A triangle is three entries of L.

The rank of a vertex is its position when the vertices are sorted by descending degree; among equal
degrees, the smaller number comes first. Row r of L belongs to the vertex with rank r, and lists the
ranks below r of its neighbors. A triangle with the ranks r > s > t is counted once, at row r: s is
in row r, and t is in both rows r and s. A row of L has at most sqrt(2 · edges) entries, even for a
hub (T. Schank and D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, 2005).

Most columns of long rows are among the first TOP ranks. So the rows of vertices of high degree also
store these columns as a bitmap. One instruction then compares 64 ranks. The rows of these vertices
are the first rows of L, and the array of bitmaps has WORDS words for each of them.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import HAS_SUPPORT, local_array

ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED, UNFIT = 0, -1, -2
SIX, LOW = np.uint64(6), np.uint64(63)
WORDS = 128
"""Number of 64-bit words of a bitmap."""
TOP = 64 * WORDS
"""Number of ranks that a bitmap covers."""
SHORT = np.uint64(32)
"""Rows of at most this many entries are looked up entry by entry, even if they have a bitmap."""
ODD_BITS = np.uint64(0x5555555555555555)
ODD_PAIRS = np.uint64(0x3333333333333333)
ODD_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
ONES = np.uint64(0x0101010101010101)  # one in each byte


def count_in_short_rows(indptr, indices, kept_support, stop_flag, most, start, stop):
    """Return the number of triangles whose vertex with the highest number is in start..stop.

    The loop intersects rows of the matrix by merging them, and does not need L. If a row has more
    than `most` entries, return UNFIT. If HAS_SUPPORT is set, also count the triangles of each edge:
    kept_support[p] belongs to the edge whose entry below the diagonal is entry p.
    """
    total = 0
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        if np.int64(end - begin) > most:
            return UNFIT
        # A triangle u > v > w needs a column w < v in row u, so v is not the first column.
        for p in range(begin + ONE, end):
            v = np.uint64(indices[p])
            if v >= u:
                break
            at = begin
            for q in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                w = indices[q]
                if np.uint64(w) >= v:
                    break
                # The loop ends at v at the latest, because row u contains v and v > w.
                while indices[at] < w:
                    at += ONE
                total += indices[at] == w
                if HAS_SUPPORT and indices[at] == w:
                    kept_support[p] += 1
                    kept_support[q] += 1
                    kept_support[at] += 1
    return total


def rank(indptr, kept_counts, out_ranks):
    """Write the rank of each vertex. `kept_counts` has one element for each degree up to n + 1."""
    n = np.uint64(out_ranks.size)
    kept_counts[:] = 0
    for u in range(n):
        kept_counts[indptr[u + ONE] - indptr[u]] += 1
    higher = 0  # the number of vertices whose degree exceeds `degree`
    for d in range(kept_counts.size):
        degree = kept_counts.size - 1 - d
        count = kept_counts[degree]
        kept_counts[degree] = higher
        higher += count
    for u in range(n):
        degree = indptr[u + ONE] - indptr[u]
        out_ranks[u] = kept_counts[degree]
        kept_counts[degree] += 1


def orient(
    indptr,
    indices,
    ranks,
    out_begins,
    out_middles,
    out_ends,
    out_columns,
    kept_bits,
    stop_flag,
    start,
    stop,
):
    """Write the rows of L that belong to vertices start..stop.

    Row r is out_columns[out_begins[r] : out_ends[r]]. A part writes its rows
    one after another, and leaves the end of its section of `out_columns` unused. If row r has a
    bitmap, the columns in the bitmap come last, from out_middles[r] on.
    """
    with_bits = kept_bits.size // WORDS
    at = np.uint64(indptr[np.uint64(start)])
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        r = ranks[u]
        row = np.uint64(r)
        middle = at
        out_begins[row] = at
        for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            s = ranks[np.uint64(indices[p])]
            out_columns[at] = s
            at += np.uint64(s < r)
        if r < with_bits:
            for p in range(middle, at):
                s = out_columns[p]
                if s < TOP:
                    word = row * np.uint64(WORDS) + (np.uint64(s) >> SIX)
                    kept_bits[word] |= ONE << (np.uint64(s) & LOW)
                else:
                    out_columns[p] = out_columns[middle]
                    out_columns[middle] = s
                    middle += ONE
        out_middles[row] = middle
        out_ends[row] = at
    return FINISHED


def count_ones(x):
    """Return the number of bits of x that are set. LLVM compiles this function to one
    instruction."""
    x -= (x >> ONE) & ODD_BITS
    x = (x & ODD_PAIRS) + ((x >> np.uint64(2)) & ODD_PAIRS)
    return ((x + (x >> np.uint64(4))) & ODD_NIBBLES) * ONES >> np.uint64(56)


def count(ranks, begins, middles, ends, columns, bits, kept_marks, stop_flag, start, stop):
    """Return the number of triangles whose vertex with the largest rank is in start..stop.

    All elements of `kept_marks` are 0 before and after the call.
    """
    total = np.uint64(0)
    with_bits = np.uint64(bits.size // WORDS)
    # A bitmap of the columns of row r among the first TOP ranks.
    top = local_array(WORDS, np.uint64)
    for u in range(np.uint64(start), np.uint64(stop)):
        if (u - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        r = np.uint64(ranks[u])
        begin, end = np.uint64(begins[r]), np.uint64(ends[r])
        if end - begin < np.uint64(2):
            continue
        if with_bits:
            top[:] = np.uint64(0)
        for p in range(begin, end):
            s = np.uint64(columns[p])
            kept_marks[s] = 1
            if with_bits and s < np.uint64(TOP):
                top[s >> SIX] |= ONE << (s & LOW)
        for p in range(begin, end):
            s = np.uint64(columns[p])
            first, last = np.uint64(begins[s]), np.uint64(ends[s])
            found = np.uint64(0)
            if s < with_bits and last - first > SHORT:
                last = np.uint64(middles[s])
                for w in range(min(np.uint64(WORDS), (s >> SIX) + ONE)):
                    found += count_ones(bits[s * np.uint64(WORDS) + w] & top[w])
            for q in range(first, last):
                found += np.uint64(kept_marks[np.uint64(columns[q])])
            total += found
        for p in range(begin, end):
            kept_marks[np.uint64(columns[p])] = 0
    return np.int64(total)
