"""Merge two patterns row by row into their union or intersection, and compute the values.

A vector is cut into ranges that are passed as rows, so that threads can share the loop.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import IS_VECTOR, combine, left_alone, right_alone

ONE = np.uint64(1)


class Rows(NamedTuple):
    """A matrix in CSR, or a vector that is cut into ranges, each of which counts as a row."""

    indptr: Any
    indices: Any
    values: Any


def count_both(a_indptr, a_indices, b_indptr, b_indices, out_counts, start, stop):
    """Count the entries in each row of the intersection of A and B."""
    for i in range(np.uint64(start), np.uint64(stop)):
        count = 0
        p, a_end = np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])
        q, b_end = np.uint64(b_indptr[i]), np.uint64(b_indptr[i + ONE])
        while p < a_end and q < b_end:
            x, y = a_indices[p], b_indices[q]
            count += x == y
            p += np.uint64(x <= y)
            q += np.uint64(y <= x)
        out_counts[i] = count


def intersect(
    a: Rows, b: Rows, out_indptr, out_indices, out_values, a_step, b_step, t, start, stop
):
    """Write rows start..stop of the intersection from position t on, and their indptr.

    Return the position after the last entry. Each step writes an entry, and the next step
    overwrites it unless both operands have the entry. This avoids a branch that the processor would
    mispredict.
    """
    a_indptr, a_indices, a_values = a
    b_indptr, b_indices, b_values = b
    a_step, b_step, t = np.uint64(a_step), np.uint64(b_step), np.uint64(t)
    for row in range(np.uint64(start), np.uint64(stop)):
        out_indptr[row] = t
        p, a_end = np.uint64(a_indptr[row]), np.uint64(a_indptr[row + ONE])
        q, b_end = np.uint64(b_indptr[row]), np.uint64(b_indptr[row + ONE])
        while p < a_end and q < b_end:
            x, y = a_indices[p], b_indices[q]
            i, j = (np.int64(x), np.int64(0)) if IS_VECTOR else (np.int64(row), np.int64(x))
            out_indices[t] = x
            out_values[t] = combine(a_values[p * a_step], b_values[q * b_step], i, j)
            t += np.uint64(x == y)
            p += np.uint64(x <= y)
            q += np.uint64(y <= x)
    return t


def unite(
    a: Rows, b: Rows, left, right, indptr, out_indices, out_values, a_step, b_step, start, stop
):
    """Write rows start..stop of the union; row i begins at indptr[i].

    Where only the right operand has an entry, left[0] serves as the value of the left operand.
    Where only the left operand has an entry, right[0] serves as the value of the right operand.
    Return the position after the last entry written.
    """
    a_indptr, a_indices, a_values = a
    b_indptr, b_indices, b_values = b
    a_step, b_step = np.uint64(a_step), np.uint64(b_step)
    t = np.uint64(0)
    for row in range(np.uint64(start), np.uint64(stop)):
        t = np.uint64(indptr[row])
        p, a_end = np.uint64(a_indptr[row]), np.uint64(a_indptr[row + ONE])
        q, b_end = np.uint64(b_indptr[row]), np.uint64(b_indptr[row + ONE])
        while p < a_end or q < b_end:
            in_a = q == b_end or (p < a_end and a_indices[p] <= b_indices[q])
            in_b = p == a_end or (q < b_end and b_indices[q] <= a_indices[p])
            x = a_indices[p] if in_a else b_indices[q]
            i, j = (np.int64(x), np.int64(0)) if IS_VECTOR else (np.int64(row), np.int64(x))
            out_indices[t] = x
            if in_a and in_b:
                out_values[t] = combine(a_values[p * a_step], b_values[q * b_step], i, j)
            elif in_a:
                out_values[t] = left_alone(a_values[p * a_step], right[0], i, j)
            else:
                out_values[t] = right_alone(b_values[q * b_step], left[0], i, j)
            t += ONE
            p += np.uint64(in_a)
            q += np.uint64(in_b)
    return t
