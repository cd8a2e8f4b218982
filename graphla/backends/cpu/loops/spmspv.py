"""Push: each entry u(k) is multiplied by row k of A, and the products are added to the outputs.

w(o) = (+)_k term(A(k, o), u(k)), at outputs that the mask allows. Terms are added in the order of
u's entries. The mask is tested before any multiplication. A call computes only the outputs
first..last - 1, so calls for disjoint ranges may run simultaneously. Rows are sorted, so a binary
search finds the entries of a row that belong to these outputs.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import HAS_TERMINAL, IS_ANY, TERMINAL, add, term

ONE = np.uint64(1)
SIX = np.uint64(6)
LOW = np.uint64(63)


class Rows(NamedTuple):
    """A matrix in CSR form."""

    indptr: Any
    indices: Any
    values: Any


class Sparse(NamedTuple):
    """A sparse vector: the indices and the values of its entries."""

    indices: Any
    values: Any


class Reached(NamedTuple):
    """A set of outputs, stored as a two-level bit map (see `loops/marks`), and one value per
    output."""

    bits: Any
    summary: Any
    values: Any


def bisect(indices, begin, end, least):
    """Return the first p in begin..end - 1 with indices[p] >= least, or `end` if there is none."""
    while begin < end:
        middle = (begin + end) >> ONE
        if np.uint64(indices[middle]) < least:
            begin = middle + ONE
        else:
            end = middle
    return begin


def count_edges(indptr, u_indices):
    """Return the number of matrix entries in the rows at which u has an entry."""
    edges = 0
    for t in range(np.uint64(u_indices.size)):
        k = np.uint64(u_indices[t])
        edges += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
    return edges


def push_sparse(
    a: Rows,
    u: Sparse,
    mask,
    kept: Reached,
    step,
    u_step,
    mask_step,
    forbidden,
    size,
    limit,
    first,
    last,
):
    """Compute the outputs first..last - 1. Mark the outputs that u reaches in a two-level bit map.

    Return the number of outputs that this call has marked. The value kept_values[o] is valid only
    if output o is marked. Let e be the number of matrix entries in the rows k with an entry u(k).
    If `limit` > 0 and e > `limit`, the call changes nothing and returns -e.
    """
    indptr, indices, values = a
    u_indices, u_values = u
    kept_bits, kept_summary, kept_values = kept
    if limit > 0:
        edges = count_edges(indptr, u_indices)
        if edges > limit:
            return -edges
    count = 0
    step, u_step, mask_step = np.uint64(step), np.uint64(u_step), np.uint64(mask_step)
    for t in range(np.uint64(u_indices.size)):
        k = np.uint64(u_indices[t])
        begin, end = np.uint64(indptr[k]), np.uint64(indptr[k + ONE])
        if first > 0:
            begin = bisect(indices, begin, end, np.uint64(first))
        if last < size:
            end = bisect(indices, begin, end, np.uint64(last))
        for p in range(begin, end):
            o = np.uint64(indices[p])
            if mask[o * mask_step] == forbidden:
                continue
            word, bit = o >> SIX, ONE << (o & LOW)
            held = kept_bits[word]
            if held & bit:
                if not IS_ANY:
                    total = kept_values[o]
                    if not (HAS_TERMINAL and total == TERMINAL):
                        value = term(values[p * step], u_values[t * u_step], o, k)
                        kept_values[o] = add(total, value)
            else:
                if held == 0:
                    kept_summary[word >> SIX] |= ONE << (word & LOW)
                kept_bits[word] = held | bit
                kept_values[o] = term(values[p * step], u_values[t * u_step], o, k)
                count += 1
    return count


def push_bitmap(
    a: Rows,
    u: Sparse,
    mask,
    out_present,
    out_values,
    step,
    u_step,
    mask_step,
    forbidden,
    size,
    first,
    last,
):
    """Write the outputs first..last - 1 to an empty bitmap; return the number of new entries."""
    indptr, indices, values = a
    u_indices, u_values = u
    count = 0
    step, u_step, mask_step = np.uint64(step), np.uint64(u_step), np.uint64(mask_step)
    for t in range(np.uint64(u_indices.size)):
        k = np.uint64(u_indices[t])
        begin, end = np.uint64(indptr[k]), np.uint64(indptr[k + ONE])
        if first > 0:
            begin = bisect(indices, begin, end, np.uint64(first))
        if last < size:
            end = bisect(indices, begin, end, np.uint64(last))
        for p in range(begin, end):
            o = np.uint64(indices[p])
            if mask[o * mask_step] == forbidden:
                continue
            if out_present[o]:
                if not IS_ANY:
                    total = out_values[o]
                    if not (HAS_TERMINAL and total == TERMINAL):
                        value = term(values[p * step], u_values[t * u_step], o, k)
                        out_values[o] = add(total, value)
            else:
                out_present[o] = True
                out_values[o] = term(values[p * step], u_values[t * u_step], o, k)
                count += 1
    return count


def push_small(
    a: Rows,
    u: Sparse,
    mask,
    out_indices,
    out_present,
    out_values,
    step,
    u_step,
    mask_step,
    forbidden,
    size,
    most,
):
    """Compute all outputs as a bitmap. If few matrix entries are read, convert the bitmap to a list
    of entries.

    Let c be the number of entries of the result. If the rows k with an entry u(k) contain more than
    `most` matrix entries in total, return -1 - c and leave the bitmap. Otherwise convert the bitmap
    and return c.
    """
    out_present[:] = False
    count = push_bitmap(
        a, u, mask, out_present, out_values, step, u_step, mask_step, forbidden, size, 0, size
    )
    if count_edges(a.indptr, u.indices) > most:
        return -count - 1
    t = np.uint64(0)
    for o in range(np.uint64(size)):
        if out_present[o]:
            out_indices[t], out_values[t] = np.int32(o), out_values[o]
            t += ONE
    return count
