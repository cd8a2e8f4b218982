"""Rows to columns by counting. A call covers the columns first..last alone, found by bisection."""

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)


def bisect(indices, begin, end, least):
    """The first position in begin..end whose index is at least `least`."""
    while begin < end:
        middle = (begin + end) >> ONE
        if np.uint64(indices[middle]) < least:
            begin = middle + ONE
        else:
            end = middle
    return begin


def count(indices, out_counts, first, last):
    """How many entries each column from first to last has; out_counts[j + 1] is that of j."""
    least, past = np.uint64(first), np.uint64(last)
    for p in range(np.uint64(indices.size)):
        j = np.uint64(indices[p])
        if least <= j and j < past:
            out_counts[j + ONE] += 1


def scatter(indptr, indices, values, out_next, out_rows, out_values, is_iso, first, last):
    """Each entry to its column; out_next[j] is where column j's next goes, and ends at its end."""
    size = np.uint64(out_next.size)
    least, past = np.uint64(first), np.uint64(last)
    for i in range(np.uint64(indptr.size - 1)):
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        if least > ZERO:
            begin = bisect(indices, begin, end, least)
        if past < size:
            end = bisect(indices, begin, end, past)
        for p in range(begin, end):
            j = np.uint64(indices[p])
            t = np.uint64(out_next[j])
            out_next[j] += 1
            out_rows[t] = np.int32(i)
            if not is_iso:
                out_values[t] = values[p]
