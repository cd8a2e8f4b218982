"""Compare a square matrix with its transpose in one pass over its entries.

The loop reads the rows in order. Each row j has a cursor, which starts at the row's first entry to
the right of the diagonal. For each entry (i, j) with j < i, the entry at the cursor of row j must
be in column i; the cursor then advances. The pass ends after the first row that contains an entry
without a counterpart.

Each part of the loop compares columns start..stop of the lower triangle with rows start..stop of
the upper triangle. The parts share only the flag that stops all parts.
"""

import numpy as np

ONE = np.uint64(1)

DIFFERENT, SAME_PATTERN, SAME = 0, 1, 2


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


def is_nan(bits, mask, infinity):
    """Return whether the bits represent a NaN. For integers, `mask` and `infinity` are 0."""
    return (np.uint64(bits) & np.uint64(mask)) > np.uint64(infinity)


def compare(indptr, indices, bits, kept_cursor, kept_stop, reads, mask, infinity, start, stop):
    """Return SAME, SAME_PATTERN (same pattern, different values) or DIFFERENT (different patterns).

    The array `bits` holds the values reinterpreted as integers. If `reads` is 0, `bits` is not
    read, and only the patterns are compared.
    """
    n, last_place = indptr.size - 1, np.uint64(max(indices.size - 1, 0))
    has_same_values = True
    for row in range(start, n):
        if kept_stop[0]:
            return DIFFERENT
        i = np.uint64(row)
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        if start > 0:
            begin = first_from(indices, begin, end, start)
        lower_end, limit = begin, min(row, stop)
        while lower_end < end and indices[lower_end] < limit:
            lower_end += ONE
        # A cursor that advances past the end of its row is not detected here, but by the loop over
        # the cursors below.
        difference = 0
        if reads and has_same_values:
            differences = 0
            for k in range(begin, lower_end):
                j = np.uint64(indices[k])
                place = min(np.uint64(kept_cursor[j]), last_place)
                difference |= indices[place] ^ row
                kept_cursor[j] = place + ONE
                x, y = bits[k], bits[place]
                if x != y and not (is_nan(x, mask, infinity) and is_nan(y, mask, infinity)):
                    differences += 1
            has_same_values = differences == 0
        else:
            for k in range(begin, lower_end):
                j = np.uint64(indices[k])
                place = min(np.uint64(kept_cursor[j]), last_place)
                difference |= indices[place] ^ row
                kept_cursor[j] = place + ONE
        if difference:
            kept_stop[0] = 1
            return DIFFERENT
        if row < stop:
            if lower_end < end and indices[lower_end] == row:
                lower_end += ONE
            kept_cursor[i] = lower_end
    for row in range(start, stop):
        if kept_cursor[np.uint64(row)] != indptr[np.uint64(row) + ONE]:
            return DIFFERENT
    return SAME if has_same_values else SAME_PATTERN
