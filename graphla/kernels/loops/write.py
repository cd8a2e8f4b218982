"""The write rule on bitmaps, index by index: C⟨mask, replace⟩ = accum(C, T), in C's own arrays."""

import numpy as np

from graphla.kernels.loops.stand_in import HAS_ACCUM, accumulate, lift


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
    """Indices start..stop; how many of them have an entry then. T is full if its step is 0."""
    count = 0
    t_present_step, step = np.uint64(t_present_step), np.uint64(step)
    mask_step = np.uint64(mask_step)
    for i in range(np.uint64(start), np.uint64(stop)):
        if mask[i * mask_step] != forbidden:
            if t_present[i * t_present_step]:
                value = t_values[i * step]
                if HAS_ACCUM and out_present[i]:
                    out_values[i] = accumulate(out_values[i], value, i)
                else:
                    out_values[i] = lift(value)
                    out_present[i] = True
                count += 1
            elif HAS_ACCUM:
                count += out_present[i]
            else:
                out_present[i] = False
        elif replace:
            out_present[i] = False
        else:
            count += out_present[i]
    return count


def to_list(present, values, out_indices, out_values, step):
    """The indices that are present, in order, and their values."""
    t = np.uint64(0)
    step = np.uint64(step)
    for i in range(np.uint64(present.size)):
        if present[i]:
            out_indices[t] = np.int32(i)
            out_values[t] = values[i * step]
            t += np.uint64(1)
