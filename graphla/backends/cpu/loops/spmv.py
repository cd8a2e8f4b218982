"""Matrix-vector products by a pull: w(o) = (+)_k term(A(o, k), u(k)) for each allowed output o.

The loop reads row o of A, and sums the terms of the entries whose column k has an entry in u, in
order of k. It stops early if no further term can change the sum. If the mask forbids output o, its
row is not read.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    HAS_TERMINAL,
    IDENTITY,
    IS_ANY,
    TERMINAL,
    U_FULL,
    add,
    local_array,
    term,
)

ONE = np.uint64(1)
BLOCK = 512
ROOM = BLOCK + 1  # one spare element: loops write an index before deciding whether to keep it


class Rows(NamedTuple):
    """A matrix in CSR."""

    indptr: Any
    indices: Any
    values: Any


class Firsts(NamedTuple):
    """A matrix in CSR with an additional array: firsts[i] is the column of the first entry of row
    i, or -1 if row i is empty."""

    indptr: Any
    indices: Any
    firsts: Any
    values: Any


class Dense(NamedTuple):
    """A dense vector; `present` is not read if the vector is full."""

    present: Any
    values: Any


def fold(indptr, indices, values, u_present, u_values, o, step, u_step):
    """Return whether output o has an entry, and the value of that entry."""
    found = False
    total = IDENTITY
    for p in range(np.uint64(indptr[o]), np.uint64(indptr[o + ONE])):
        k = np.uint64(indices[p])
        if U_FULL or u_present[k]:
            value = term(values[p * step], u_values[k * u_step], o, k)
            total = add(total, value) if found else value
            found = True
            if IS_ANY or (HAS_TERMINAL and total == TERMINAL):
                break
    return found, total


def pull(
    a: Rows,
    u: Dense,
    mask,
    out_present,
    out_values,
    step,
    u_step,
    mask_step,
    forbidden,
    start,
    stop,
):
    """Write outputs start..stop into a bitmap; return the number of outputs with an entry."""
    indptr, indices, values = a
    u_present, u_values = u
    count = 0
    step, u_step, mask_step = np.uint64(step), np.uint64(u_step), np.uint64(mask_step)
    for o in range(np.uint64(start), np.uint64(stop)):
        found = False
        if mask[o * mask_step] != forbidden:
            found, total = fold(indptr, indices, values, u_present, u_values, o, step, u_step)
            if found:
                out_values[o] = total
                count += 1
        out_present[o] = found
    return count


def pull_any(
    a: Firsts,
    u: Dense,
    mask,
    out_present,
    out_values,
    step,
    u_step,
    mask_step,
    forbidden,
    start,
    stop,
):
    """Compute the result of `pull` for a semiring under which a single term determines an output.

    The loop processes blocks of rows. First it reads only the first entry of each row, which
    determines most outputs. It collects the remaining outputs of the block in a list without
    branching, so that the memory accesses for different rows overlap. firsts[o] is the column of
    the first entry of row o, or -1 if the row is empty. Unlike the first entries in the CSR arrays,
    these columns are contiguous in memory.
    """
    indptr, indices, firsts, values = a
    u_present, u_values = u
    count = 0
    step, u_step, mask_step = np.uint64(step), np.uint64(u_step), np.uint64(mask_step)
    outputs = local_array(ROOM, np.int64)
    for begin in range(start, stop, BLOCK):
        size = np.uint64(0)
        for o in range(np.uint64(begin), np.uint64(min(begin + BLOCK, stop))):
            out_present[o] = False
            outputs[size] = o
            size += np.uint64((mask[o * mask_step] != forbidden) & (firsts[o] >= 0))
        left = np.uint64(0)
        for t in range(size):
            o = np.uint64(outputs[t])
            k, p = np.uint64(firsts[o]), np.uint64(indptr[o])
            found = U_FULL or u_present[k]
            out_present[o] = found
            out_values[o] = term(values[p * step], u_values[k * u_step], o, k)
            outputs[left] = o
            left += np.uint64(not found)
        count += np.int64(size - left)
        for t in range(left):
            o = np.uint64(outputs[t])
            for p in range(np.uint64(indptr[o]) + ONE, np.uint64(indptr[o + ONE])):
                k = np.uint64(indices[p])
                if u_present[k]:
                    out_present[o] = True
                    out_values[o] = term(values[p * step], u_values[k * u_step], o, k)
                    count += 1
                    break
    return count


def find_firsts(indptr, indices, out_firsts, start, stop):
    """Find the column of the first entry of each row from `start` to `stop` - 1, or -1 if the row
    is empty."""
    for o in range(np.uint64(start), np.uint64(stop)):
        p = np.uint64(indptr[o])
        out_firsts[o] = indices[p] if p < np.uint64(indptr[o + ONE]) else -1


def pull_listed(a: Rows, u: Dense, outputs, out_present, out_values, step, u_step, start, stop):
    """Compute only the outputs listed in outputs[start:stop].

    The result of outputs[k] goes to position k of the `out_` arrays. Return how many of these
    outputs have an entry.
    """
    indptr, indices, values = a
    u_present, u_values = u
    count = 0
    step, u_step = np.uint64(step), np.uint64(u_step)
    for t in range(np.uint64(start), np.uint64(stop)):
        o = np.uint64(outputs[t])
        found, total = fold(indptr, indices, values, u_present, u_values, o, step, u_step)
        if found:
            out_values[t] = total
            count += 1
        out_present[t] = found
    return count
