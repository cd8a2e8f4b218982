"""Matrix times matrix: C(i, j) = (+)_k product(A(i, k), B(k, j)), at the positions of a pattern P.

All loops sum the products of an entry in order of k. `saxpy` reads row k of B for each entry A(i,
k). `dot` and `count_pairs` read row j of B's transpose for each entry P(i, j). `multiply_rows`
needs no pattern, and computes all entries of C.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    HAS_TERMINAL,
    IDENTITY,
    IS_ANY,
    TERMINAL,
    add,
    product,
)

ZERO, ONE, SIX, LOW = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
OUTSIDE, ALLOWED, REACHED = np.uint8(0), np.uint8(1), np.uint8(2)


class Rows(NamedTuple):
    """A matrix in CSR."""

    indptr: Any
    indices: Any
    values: Any


class Reached(NamedTuple):
    """The columns that have a value in the current row, as a two-level bit map (see `loops/marks`),
    and an array with one value per column."""

    bits: Any
    summary: Any
    values: Any


def saxpy(
    a: Rows,
    b: Rows,
    p_indptr,
    p_indices,
    kept_states,
    kept_values,
    out_present,
    out_values,
    a_step,
    b_step,
    start,
    stop,
):
    """Compute C = A B at the entries of the pattern P in rows `start` to `stop` - 1.

    Return how many of these entries of C have a value.
    """
    a_indptr, a_indices, a_values = a
    b_indptr, b_indices, b_values = b
    count = 0
    a_step, b_step = np.uint64(a_step), np.uint64(b_step)
    for i in range(np.uint64(start), np.uint64(stop)):
        first, last = np.uint64(p_indptr[i]), np.uint64(p_indptr[i + ONE])
        if first == last:
            continue
        for t in range(first, last):
            kept_states[np.uint64(p_indices[t])] = ALLOWED
        for p in range(np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])):
            k = np.uint64(a_indices[p])
            for q in range(np.uint64(b_indptr[k]), np.uint64(b_indptr[k + ONE])):
                j = np.uint64(b_indices[q])
                state = kept_states[j]
                if state == OUTSIDE or (IS_ANY and state == REACHED):
                    continue
                value = product(a_values[p * a_step], b_values[q * b_step], i, k, j)
                if state == REACHED:
                    kept_values[j] = add(kept_values[j], value)
                else:
                    kept_values[j] = value
                    kept_states[j] = REACHED
        for t in range(first, last):
            j = np.uint64(p_indices[t])
            found = kept_states[j] == REACHED
            out_present[t] = found
            if found:
                out_values[t] = kept_values[j]
                count += 1
            kept_states[j] = OUTSIDE
    return count


def dot(
    a: Rows,
    bt: Rows,
    p_indptr,
    p_indices,
    kept_places,
    out_present,
    out_values,
    a_step,
    b_step,
    start,
    stop,
):
    """Compute the result of `saxpy` with one dot product for each entry of P.

    For the current row i, kept_places[k] is 1 + the position of A(i, k) in the row, or 0 if A(i, k)
    is not an entry.
    """
    a_indptr, a_indices, a_values = a
    bt_indptr, bt_indices, bt_values = bt
    count = 0
    a_step, b_step = np.uint64(a_step), np.uint64(b_step)
    for i in range(np.uint64(start), np.uint64(stop)):
        first, last = np.uint64(p_indptr[i]), np.uint64(p_indptr[i + ONE])
        begin, end = np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])
        if first == last:
            continue
        for p in range(begin, end):
            kept_places[np.uint64(a_indices[p])] = p - begin + ONE
        for t in range(first, last):
            j = np.uint64(p_indices[t])
            found = False
            total = IDENTITY
            for q in range(np.uint64(bt_indptr[j]), np.uint64(bt_indptr[j + ONE])):
                k = np.uint64(bt_indices[q])
                place = np.uint64(kept_places[k])
                if place:
                    x = a_values[(begin + place - ONE) * a_step]
                    value = product(x, bt_values[q * b_step], i, k, j)
                    total = add(total, value) if found else value
                    found = True
                    if IS_ANY or (HAS_TERMINAL and total == TERMINAL):
                        break
            out_present[t] = found
            if found:
                out_values[t] = total
                count += 1
        for p in range(begin, end):
            kept_places[np.uint64(a_indices[p])] = 0
    return count


def count_pairs(
    a_indptr,
    a_indices,
    bt_indptr,
    bt_indices,
    p_indptr,
    p_indices,
    kept_marks,
    out_present,
    out_values,
    start,
    stop,
):
    """Compute what `dot` computes for plus_pair: count the columns that two rows have in common.

    kept_marks[k] is 1 if the current row of A has an entry in column k. The inner loop has no
    branch, so it is several times as fast as that of `dot`.
    """
    count = 0
    for i in range(np.uint64(start), np.uint64(stop)):
        first, last = np.uint64(p_indptr[i]), np.uint64(p_indptr[i + ONE])
        begin, end = np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])
        if first == last:
            continue
        for p in range(begin, end):
            kept_marks[np.uint64(a_indices[p])] = 1
        for t in range(first, last):
            j = np.uint64(p_indices[t])
            common = 0
            for q in range(np.uint64(bt_indptr[j]), np.uint64(bt_indptr[j + ONE])):
                common += kept_marks[np.uint64(bt_indices[q])]
            out_present[t] = common > 0
            out_values[t] = common
            count += common > 0
        for p in range(begin, end):
            kept_marks[np.uint64(a_indices[p])] = 0
    return count


def lowest(word):
    """Return the position of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def multiply_rows(
    a: Rows,
    b: Rows,
    kept: Reached,
    out_indptr,
    out_indices,
    out_values,
    a_step,
    b_step,
    nrows,
    ncols,
):
    """Compute all rows of C into the `out_` arrays; return the number of entries.

    The set `kept` contains the columns of the current row of C. It is empty before and after the
    call.
    """
    a_indptr, a_indices, a_values = a
    b_indptr, b_indices, b_values = b
    bits, summary, sums = kept
    a_step, b_step = np.uint64(a_step), np.uint64(b_step)
    tops = (np.uint64(ncols) + np.uint64(4095)) >> np.uint64(12)
    count = ZERO
    out_indptr[0] = 0
    for i in range(np.uint64(nrows)):
        begin, end = np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])
        for p in range(begin, end):
            k = np.uint64(a_indices[p])
            for q in range(np.uint64(b_indptr[k]), np.uint64(b_indptr[k + ONE])):
                j = np.uint64(b_indices[q])
                word, bit = j >> SIX, ONE << (j & LOW)
                held = bits[word]
                if held & bit:
                    if not IS_ANY:
                        value = product(a_values[p * a_step], b_values[q * b_step], i, k, j)
                        sums[j] = add(sums[j], value)
                else:
                    if held == ZERO:
                        summary[word >> SIX] |= ONE << (word & LOW)
                    bits[word] = held | bit
                    sums[j] = product(a_values[p * a_step], b_values[q * b_step], i, k, j)
        for top in range(tops if begin < end else ZERO):
            words = summary[top]
            summary[top] = ZERO
            while words:
                word = (np.uint64(top) << SIX) | lowest(words)
                words &= words - ONE
                held = bits[word]
                bits[word] = ZERO
                while held:
                    j = (word << SIX) | lowest(held)
                    held &= held - ONE
                    out_indices[count], out_values[count] = np.int32(j), sums[j]
                    count += ONE
        out_indptr[i + ONE] = count
    return count
