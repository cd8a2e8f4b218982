"""Write to a bitmap in place, C⟨mask, replace⟩ = accum(C, T), and list the entries of a bitmap."""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import HAS_ACCUM, accumulate, lift, local_array

ONE = np.uint64(1)
EIGHT = np.uint64(8)
BLOCK = 512
ROOM = BLOCK + 1  # spare room: the loops write an index before deciding whether to keep it


def write(
    t_present,
    t_values,
    mask,
    out_present,
    out_values,
    t_present_step,
    step,
    mask_step,
    forbidden,
    replace,
    start,
    stop,
):
    """Write the vector T to C by the write rule, at the indices start..stop - 1. Return the number
    of entries that C then has at these indices.

    T has an entry at every index if `t_present_step` is 0. The loop processes one block of indices
    at a time: it first lists the indices at which a value of T is written, and then writes these
    values. The listing avoids a branch that the processor would mispredict about half of the time.
    """
    count = 0
    t_present_step, step = np.uint64(t_present_step), np.uint64(step)
    mask_step = np.uint64(mask_step)
    places = local_array(ROOM, np.int64)
    there = local_array(ROOM, np.bool_)
    for begin in range(start, stop, BLOCK):
        size = np.uint64(0)
        for i in range(np.uint64(begin), np.uint64(min(begin + BLOCK, stop))):
            was = out_present[i]
            allowed = mask[i * mask_step] != forbidden
            comes = allowed & t_present[i * t_present_step]
            stays = was & (HAS_ACCUM if allowed else replace == 0)
            places[size] = i
            there[size] = was
            size += np.uint64(comes)
            out_present[i] = comes | stays
            count += comes | stays
        for s in range(size):
            i = np.uint64(places[s])
            value = t_values[i * step]
            if HAS_ACCUM and there[s]:
                out_values[i] = accumulate(out_values[i], value, i)
            else:
                out_values[i] = lift(value)
    return count


def fill(words, t_present, t_values, out_values, step, start, stop):
    """Store the values of the vector T in C, at each index where T has an entry.

    Each word in `words` consists of eight presence flags of T. A word without flags is skipped.
    """
    step = np.uint64(step)
    places = local_array(ROOM, np.int64)
    for begin in range(start, stop, BLOCK // 8):
        size = np.uint64(0)
        for w in range(np.uint64(begin), np.uint64(min(begin + BLOCK // 8, stop))):
            if words[w]:
                for i in range(w * EIGHT, w * EIGHT + EIGHT):
                    places[size] = i
                    size += np.uint64(t_present[i])
        for s in range(size):
            i = np.uint64(places[s])
            out_values[i] = lift(t_values[i * step])


def scatter(
    t_indices,
    t_values,
    mask,
    out_present,
    out_values,
    step,
    mask_step,
    forbidden,
):
    """Write a sparse vector T into C without removing any entry of C; return the number of new
    entries."""
    gained = 0
    step, mask_step = np.uint64(step), np.uint64(mask_step)
    for s in range(np.uint64(t_indices.size)):
        i = np.uint64(t_indices[s])
        if mask[i * mask_step] == forbidden:
            continue
        value = t_values[s * step]
        if HAS_ACCUM and out_present[i]:
            out_values[i] = accumulate(out_values[i], value, i)
        else:
            out_values[i] = lift(value)
            gained += not out_present[i]
            out_present[i] = True
    return gained


def to_list(present, values, out_indices, out_values, step):
    """List, in ascending order, the indices that have an entry, and the values of the entries."""
    step = np.uint64(step)
    places = local_array(ROOM, np.int32)
    t = np.uint64(0)
    for begin in range(0, present.size, BLOCK):
        size = np.uint64(0)
        for i in range(np.uint64(begin), np.uint64(min(begin + BLOCK, present.size))):
            places[size] = np.int32(i)
            size += np.uint64(present[i])
        for s in range(size):
            i = places[s]
            out_indices[t] = i
            out_values[t] = values[np.uint64(i) * step]
            t += ONE
