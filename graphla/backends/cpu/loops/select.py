"""Select the entries of a matrix by a mask or by flags."""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import selects

ONE = np.uint64(1)


def flag(indptr, indices, values, thunk, out_flags, step, start, stop):
    """Flag the entries in rows start..stop that the operator selects."""
    step = np.uint64(step)
    for i in range(np.uint64(start), np.uint64(stop)):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            out_flags[p] = selects(values[p * step], np.int64(i), np.int64(indices[p]), thunk[0])


def look_up(indptr, indices, m_indptr, m_indices, out_flags, start, stop):
    """Flag each entry (i, j) of a matrix A, in rows start..stop, if M(i, j) is also an entry.

    `indptr` and `indices` belong to A. If a row of M is much longer than the same row of A, the
    loop searches the row of M for each index instead of merging the two rows.
    """
    for i in range(np.uint64(start), np.uint64(stop)):
        p, end = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        q, m_end = np.uint64(m_indptr[i]), np.uint64(m_indptr[i + ONE])
        if m_end - q > (end - p) << np.uint64(4):
            while p < end:
                j = indices[p]
                low, high = q, m_end
                while low < high:
                    middle = low + ((high - low) >> ONE)
                    if m_indices[middle] < j:
                        low = middle + ONE
                    else:
                        high = middle
                q = low
                out_flags[p] = q < m_end and m_indices[q] == j
                p += ONE
            continue
        while p < end and q < m_end:
            x, y = indices[p], m_indices[q]
            out_flags[p] = x == y
            p += np.uint64(x <= y)
            q += np.uint64(y <= x)
        while p < end:
            out_flags[p] = False
            p += ONE


def keep(
    indptr,
    indices,
    values,
    flags,
    out_indptr,
    out_indices,
    out_values,
    part_ends,
    has_values,
    part,
    start,
    stop,
):
    """Copy the flagged entries in rows start..stop. `part_ends` holds the number of flagged entries
    up to the end of each part.

    If `has_values` is 0, the values are not copied. The loop writes every entry, but advances the
    write position only past flagged entries. This avoids a branch that the processor would often
    mispredict.
    """
    to, end = np.uint64(part_ends[part]), np.uint64(part_ends[part + 1])
    for i in range(np.uint64(start), np.uint64(stop)):
        out_indptr[i] = to
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            if to == end:  # the next position belongs to another part
                break
            out_indices[to] = indices[p]
            if has_values:
                out_values[to] = values[p]
            to += np.uint64(flags[p])
