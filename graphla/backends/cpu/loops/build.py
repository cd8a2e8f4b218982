"""Build a matrix from entries in any order: distribute them to rows, then sort each row.

Both steps are stable, so entries with the same position keep the order in which they were given.
"""

import numpy as np

ONE = np.uint64(1)


def count(rows, out_counts, nrows, part, start, stop):
    """Count the entries start..stop of each row. The counts of a part begin at part * nrows."""
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

    `kept_next` has, from part * nrows on, the position of the part's next entry in each row. If
    `has_values` is 0, the values are not copied.
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
    """Return whether each column in the rows start..stop is at least `gap` more than the one
    before it in its row."""
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

    The entries of all these rows are distributed to columns, and from there to rows again. Scratch
    memory are `kept_ends`, with an element per column and one more, and three arrays with an
    element per entry.
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
