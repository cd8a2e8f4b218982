"""Build a matrix from entries in any order: distribute them to rows, then sort each row.

Both steps are stable, so entries with the same position keep the order in which they were given.
"""

import numpy as np

ONE = np.uint64(1)


def count(rows, out_counts, nrows, part, start, stop):
    """Count, for each row, how many of the entries start..stop it contains.

    The counts of the part with index `part` begin at out_counts[part * nrows].
    """
    base = np.uint64(part * nrows)
    for p in range(np.uint64(start), np.uint64(stop)):
        out_counts[base + np.uint64(rows[p])] += 1


def place(
    rows,
    columns,
    values,
    kept_next,
    out_indices,
    out_values,
    has_values,
    nrows,
    part,
    start,
    stop,
):
    """Copy the entries start..stop to their rows.

    kept_next[part * nrows + i] is the position of the part's next entry in row i. If `has_values`
    is 0, the values are not copied.
    """
    base = np.uint64(part * nrows)
    for p in range(np.uint64(start), np.uint64(stop)):
        row = base + np.uint64(rows[p])
        to = np.uint64(kept_next[row])
        kept_next[row] += 1
        out_indices[to] = columns[p]
        if has_values:
            out_values[to] = values[p]


def are_sorted(indptr, indices, gap, start, stop):
    """Return whether columns increase by at least `gap` from entry to entry in rows start..stop."""
    for i in range(start, stop):
        for p in range(np.uint64(indptr[i]) + ONE, np.uint64(indptr[i + ONE])):
            if indices[p] - indices[p - ONE] < gap:
                return False
    return True


def sort(
    indptr,
    kept_indices,
    kept_values,
    kept_ends,
    kept_rows,
    kept_columns,
    kept_moved,
    has_values,
    start,
    stop,
):
    """Sort each of the rows start..stop by column. Return whether there are no duplicates.

    The loop distributes the entries of these rows to columns, and then back to their rows. The
    scratch memory consists of `kept_ends` and three arrays with one element per entry. `kept_ends`
    has at least as many elements as there are rows, and more elements than there are columns.
    """
    start, stop = np.uint64(start), np.uint64(stop)
    if are_sorted(indptr, kept_indices, 0, start, stop):
        return are_sorted(indptr, kept_indices, 1, start, stop)
    begin, end = np.uint64(indptr[start]), np.uint64(indptr[stop])
    kept_ends[:] = 0
    for p in range(begin, end):
        kept_ends[np.uint64(kept_indices[p]) + ONE] += 1
    for j in range(ONE, np.uint64(kept_ends.size)):
        kept_ends[j] += kept_ends[j - ONE]
    for i in range(start, stop):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            j = np.uint64(kept_indices[p])
            to = np.uint64(kept_ends[j])
            kept_ends[j] += 1
            kept_rows[to] = i - start
            kept_columns[to] = j
            if has_values:
                kept_moved[to] = kept_values[p]
    for i in range(start, stop):
        kept_ends[i - start] = indptr[i]
    for p in range(end - begin):
        i = np.uint64(kept_rows[p])
        to = np.uint64(kept_ends[i])
        kept_ends[i] += 1
        kept_indices[to] = kept_columns[p]
        if has_values:
            kept_values[to] = kept_moved[p]
    return are_sorted(indptr, kept_indices, 1, start, stop)
