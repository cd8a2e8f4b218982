"""Sort each segment of an array by a stable merge sort with an arbitrary comparison function. Short
runs are sorted by insertion, and then merged in pairs.

Even if the comparison `before` is not an order relation, the result is a permutation of the
elements.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import before

ONE = np.uint64(1)
TWO = np.uint64(2)
THREE = np.uint64(3)
FOUR = np.uint64(4)
RUN = np.uint64(16)
BATCH = np.uint64((1 << 16) - 1)
ZERO = np.uint64(0)


def sort_run(values, to_values, to_places, begin, end):
    """Sort values[begin..end] by insertion; also store the previous position of each value."""
    for i in range(begin, end):
        x, k = values[i], i
        while k > begin and before(x, to_values[k - ONE]):
            to_values[k] = to_values[k - ONE]
            to_places[k] = to_places[k - ONE]
            k -= ONE
        to_values[k] = x
        to_places[k] = i


def sort_four(values, to_values, to_places, begin, end):
    """Sort one to four values. The result is the same as with `sort_run`.

    Adjacent values are swapped without a branch, because the processor would mispredict it.
    """
    last = end - ONE
    b, c, d = begin + ONE, begin + TWO, begin + THREE
    x, i = values[begin], begin
    y, j = values[min(b, last)], b
    z, k = values[min(c, last)], c
    w, m = values[min(d, last)], d
    x, i, y, j = swap(x, i, y, j, (b <= last) & before(y, x))
    y, j, z, k = swap(y, j, z, k, (c <= last) & before(z, y))
    z, k, w, m = swap(z, k, w, m, (d <= last) & before(w, z))
    x, i, y, j = swap(x, i, y, j, (b <= last) & before(y, x))
    y, j, z, k = swap(y, j, z, k, (c <= last) & before(z, y))
    x, i, y, j = swap(x, i, y, j, (b <= last) & before(y, x))
    # If there are fewer than four values, the surplus ones are written to the last position first.
    # The value that belongs there then overwrites them.
    to_values[min(d, last)], to_places[min(d, last)] = w, m
    to_values[min(c, last)], to_places[min(c, last)] = z, k
    to_values[min(b, last)], to_places[min(b, last)] = y, j
    to_values[begin], to_places[begin] = x, i


def swap(x, i, y, j, is_needed):
    """Return two values with their positions: (y, j, x, i) if `is_needed`, else (x, i, y, j)."""
    return (
        y if is_needed else x,
        j if is_needed else i,
        x if is_needed else y,
        i if is_needed else j,
    )


def merge_runs(values, places, to_values, to_places, stop_flag, begin, middle, end):
    """Merge the runs begin..middle and middle..end; equal values of the left run come first.

    If `stop_flag` is set, the function ends early, and the result is incomplete.
    """
    i, j = begin, middle
    for k in range(begin, end):
        if k & BATCH == ZERO and stop_flag[0]:
            break
        if j < end and (i >= middle or before(values[j], values[i])):
            to_values[k] = values[j]
            to_places[k] = places[j]
            j += ONE
        else:
            to_values[k] = values[i]
            to_places[k] = places[i]
            i += ONE


def segments(
    indptr, values, out_values, out_places, kept_values, kept_places, kept_stop, start, stop
):
    """Sort segments `start` to `stop` - 1, and store the previous position of each element.

    The `kept_` arrays are scratch memory.
    """
    for s in range(np.uint64(start), np.uint64(stop)):
        begin, end = np.uint64(indptr[s]), np.uint64(indptr[s + ONE])
        if begin == end:
            continue
        if end - begin <= FOUR:
            if s & BATCH == ZERO and kept_stop[0]:
                return
            sort_four(values, out_values, out_places, begin, end)
            continue
        from_values, from_places = out_values, out_places
        to_values, to_places = kept_values, kept_places
        width = RUN
        # Each merge swaps the buffers. Choose the first buffer so that the last merge writes to
        # out_values.
        while width < end - begin:
            from_values, to_values = to_values, from_values
            from_places, to_places = to_places, from_places
            width <<= ONE
        for b in range(begin, end, RUN):
            if b & BATCH < RUN and kept_stop[0]:
                return
            sort_run(values, from_values, from_places, b, min(b + RUN, end))
        width = RUN
        while width < end - begin:
            for b in range(begin, end, width << ONE):
                if b & BATCH < width << ONE and kept_stop[0]:
                    return
                middle = min(b + width, end)
                stop_at = min(b + (width << ONE), end)
                merge_runs(
                    from_values, from_places, to_values, to_places, kept_stop, b, middle, stop_at
                )
            from_values, to_values = to_values, from_values
            from_places, to_places = to_places, from_places
            width <<= ONE


def pairs(bounds, values, places, out_values, out_places, kept_stop, start, stop):
    """Merge the pairs start..stop - 1 of adjacent runs.

    In pair s, the left run is bounds[2s]..bounds[2s + 1], and the right run is
    bounds[2s + 1]..bounds[2s + 2].
    """
    for s in range(start, stop):
        begin, middle = np.uint64(bounds[2 * s]), np.uint64(bounds[2 * s + 1])
        end = np.uint64(bounds[2 * s + 2])
        merge_runs(values, places, out_values, out_places, kept_stop, begin, middle, end)
