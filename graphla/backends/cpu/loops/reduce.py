"""Combine values with a monoid, in order."""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    HAS_TERMINAL,
    IDENTITY,
    IS_ANY,
    TERMINAL,
    add,
    lift,
    local_array,
)

ONE = np.uint64(1)
SHORT = 4
"""Rows of at most this many values are combined without a branch on their length."""
ROOM = SHORT + 1
"""Number of possible lengths of a row with at most SHORT values."""
STRETCH = np.uint64(1 << 10)
"""Number of consecutive values of a long row that are combined into one partial result.

If all values of the row were added to one sum, the rounding errors would grow with the sum.
"""


def fold(values, begin, end, step):
    """Combine values[begin] to values[end - 1] with the monoid.

    If the range is empty, return the identity. `step` is 0 if the array stores only one element,
    which stands for all values; otherwise it is 1.
    """
    if begin == end:
        return IDENTITY
    total = lift(values[begin * step])
    if IS_ANY:
        return total
    for p in range(begin + ONE, end):
        if HAS_TERMINAL and total == TERMINAL:
            break
        total = add(total, lift(values[p * step]))
    return total


def rows(indptr, values, out_values, step, start, stop):
    """Combine the values within each of the rows `start` to `stop` - 1; `values` is not empty.

    For a row of at most SHORT values, the loop stores the total of the first k values for each k up
    to SHORT, and then reads the total for the length of the row. This avoids a branch on the
    length, which the processor would often mispredict.
    """
    step = np.uint64(step)
    last = np.uint64(indptr[-1]) - ONE
    totals = local_array(ROOM, out_values.dtype)
    totals[0] = IDENTITY
    for i in range(np.uint64(start), np.uint64(stop)):
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + ONE])
        if end - begin > np.uint64(SHORT):
            out_values[i] = fold_long(values, begin, end, step)
            continue
        total = lift(values[min(begin, last) * step])
        totals[1] = total
        for k in range(ONE, np.uint64(SHORT)):
            total = total if IS_ANY else add(total, lift(values[min(begin + k, last) * step]))
            totals[k + ONE] = total
        out_values[i] = totals[end - begin]


def fold_long(values, begin, end, step):
    """Combine values[begin] to values[end - 1], STRETCH values at a time."""
    middle = min(begin + STRETCH, end)
    total = fold(values, begin, middle, step)
    while middle < end and not IS_ANY:
        begin, middle = middle, min(middle + STRETCH, end)
        total = add(total, fold(values, begin, middle, step))
    return total


def stretches(values, out_values, step, size, length, start, stop):
    """Combine the values of each of the ranges `start` to `stop` - 1.

    A range has `length` values; the last range may be shorter.
    """
    step = np.uint64(step)
    for s in range(start, stop):
        end = min((s + 1) * length, size)
        out_values[s] = fold(values, np.uint64(s * length), np.uint64(end), step)
