"""Two-level bit maps: sets of indices that are listed in order without a sort.

Bit o of `bits` is set if o is in the set. Bit w of `summary` is set if word w of `bits` is not
zero. Listing a set takes time proportional to its size plus the number of summary words, one per
4096 indices.
"""

from typing import Any, NamedTuple

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
SIX = np.uint64(6)
LOW = np.uint64(63)


def lowest(word):
    """Return the position of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def words_over(size):
    """Return the length of the array `summary` for a set of indices below `size`."""
    return (np.uint64(size) + np.uint64(4095)) >> np.uint64(12)


def drain(kept_bits, kept_summary, kept_values, out_indices, out_values, size):
    """Empty the set. Write its indices to `out_indices` and their values to `out_values`."""
    t = ZERO
    for top in range(words_over(size)):
        words = kept_summary[top]
        kept_summary[top] = ZERO
        while words:
            word = (np.uint64(top) << SIX) | lowest(words)
            words &= words - ONE
            bits = kept_bits[word]
            kept_bits[word] = ZERO
            while bits:
                o = (word << SIX) | lowest(bits)
                bits &= bits - ONE
                out_indices[t] = np.int32(o)
                out_values[t] = kept_values[o]
                t += ONE


class Pattern(NamedTuple):
    """A matrix in CSR, without its values."""

    indptr: Any
    indices: Any


def reach(
    a: Pattern,
    b: Pattern,
    mask: Pattern,
    kept_bits,
    kept_summary,
    out_columns,
    out_counts,
    is_masked,
    size,
    start,
    stop,
):
    """List the columns of the entries in rows `start` to `stop` - 1 of A times B.

    Columns that the mask lists in the same row are omitted. The columns are written to
    `out_columns`, row by row and in ascending order, and the number of columns of each row is
    written to `out_counts`. Return the total number of columns.
    """
    a_indptr, a_indices = a
    b_indptr, b_indices = b
    mask_indptr, mask_indices = mask
    t = ZERO
    for i in range(np.uint64(start), np.uint64(stop)):
        before = t
        begin, end = np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])
        for p in range(begin, end):
            k = np.uint64(a_indices[p])
            for q in range(np.uint64(b_indptr[k]), np.uint64(b_indptr[k + ONE])):
                j = np.uint64(b_indices[q])
                word = j >> SIX
                held = kept_bits[word]
                if held == ZERO:
                    kept_summary[word >> SIX] |= ONE << (word & LOW)
                kept_bits[word] = held | (ONE << (j & LOW))
        if is_masked:
            for p in range(np.uint64(mask_indptr[i]), np.uint64(mask_indptr[i + ONE])):
                j = np.uint64(mask_indices[p])
                kept_bits[j >> SIX] &= ~(ONE << (j & LOW))
        for top in range(words_over(size) if begin < end else ZERO):
            words = kept_summary[top]
            kept_summary[top] = ZERO
            while words:
                word = (np.uint64(top) << SIX) | lowest(words)
                words &= words - ONE
                bits = kept_bits[word]
                kept_bits[word] = ZERO
                while bits:
                    out_columns[t] = np.int32((word << SIX) | lowest(bits))
                    bits &= bits - ONE
                    t += ONE
        out_counts[i] = t - before
    return t


def weigh(a_indptr, a_indices, b_indptr, out_products, start, stop):
    """Count the products that are summed in each row of A times B; return their total number."""
    count = 0
    for i in range(np.uint64(start), np.uint64(stop)):
        total = 0
        for p in range(np.uint64(a_indptr[i]), np.uint64(a_indptr[i + ONE])):
            k = np.uint64(a_indices[p])
            total += np.int64(b_indptr[k + ONE]) - np.int64(b_indptr[k])
        out_products[i] = total
        count += total
    return count
