"""Pull: each output gathers from the entries of u along its row, and stops once nothing can change.

w(o) = (+)_k term(A(o, k), u(k)) for the allowed outputs o: a row that the mask forbids is not
touched. Values are folded in order of k.
"""

import numpy as np

from graphla.kernels.loops.stand_in import (
    HAS_TERMINAL,
    IDENTITY,
    IS_ANY,
    TERMINAL,
    U_FULL,
    add,
    term,
)

ONE = np.uint64(1)
BLOCK = 512


def fold(indptr, indices, values, u_present, u_values, o, step, u_step):
    """Whether output o has an entry, and its value."""
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
    indptr,
    indices,
    values,
    u_present,
    u_values,
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
    """Outputs start..stop into a bitmap; how many there are."""
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
    indptr,
    indices,
    values,
    u_present,
    u_values,
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
    """As `pull`, where one entry will do: the first is looked up for many outputs at a time.

    Most outputs end there, and the lookups of a block wait for memory together, since nothing
    branches on them. How many outputs a block has is found without branching as well.
    """
    count = 0
    step, u_step, mask_step = np.uint64(step), np.uint64(u_step), np.uint64(mask_step)
    rows = np.empty(BLOCK + 1, np.int64)
    firsts = np.empty(BLOCK, np.int64)
    there = np.empty(BLOCK, np.bool_)
    for begin in range(start, stop, BLOCK):
        size = np.uint64(0)
        for o in range(np.uint64(begin), np.uint64(min(begin + BLOCK, stop))):
            out_present[o] = False
            rows[size] = o
            allowed = mask[o * mask_step] != forbidden
            size += np.uint64(allowed & (indptr[o] < indptr[o + ONE]))
        for t in range(size):
            k = np.uint64(indices[np.uint64(indptr[np.uint64(rows[t])])])
            firsts[t] = k
            there[t] = U_FULL or u_present[k]
        for t in range(size):
            o, k = np.uint64(rows[t]), np.uint64(firsts[t])
            p, end = np.uint64(indptr[o]), np.uint64(indptr[o + ONE])
            found = there[t]
            while not found and p + ONE < end:
                p += ONE
                k = np.uint64(indices[p])
                found = u_present[k]
            if found:
                out_present[o] = True
                out_values[o] = term(values[p * step], u_values[k * u_step], o, k)
                count += 1
    return count


def pull_listed(
    indptr,
    indices,
    values,
    u_present,
    u_values,
    outputs,
    out_present,
    out_values,
    step,
    u_step,
    start,
    stop,
):
    """Outputs outputs[start:stop] alone, into the same places of `out`; how many there are."""
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
