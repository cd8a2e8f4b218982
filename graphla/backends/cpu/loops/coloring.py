"""Greedy coloring: vertices are colored one by one, in a given order.

Several threads may color vertices at the same time. Each takes the next vertices in the order. If
an earlier neighbor of a vertex has no color yet, another thread is about to color that neighbor,
and the thread waits for it. The first vertex without a color never waits, so no thread waits
forever, and the result is that of one thread.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import IS_SHARED, fetch_add, watch

ZERO = np.uint64(0)
ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
CHUNK = 8  # number of vertices that a thread takes at a time
BATCH = 1023
FINISHED, STOPPED = range(2)


def color(
    indptr, indices, order, out_states, kept_cursor, kept_marks, kept_waiting, kept_stop, width, thread
):
    """Give each vertex the smallest color from 1 on that no earlier neighbor has.

    The vertices are colored in the order of the array `order`. The lower half of out_states[v] is
    the color of v, or 0 if v has no color yet. If several threads run, the upper half is the
    position of v in the order. Each thread has a section of `width` elements of `kept_marks` and
    of `kept_waiting`, three more than the longest row of the matrix has entries. Initially all
    marks are 0.
    """
    size, base = order.size, np.uint64(thread * width)
    while True:
        if IS_SHARED:
            begin = fetch_add(kept_cursor, ZERO, CHUNK)
            end = min(begin + CHUNK, size)
        else:
            begin, end = kept_cursor[0], size
            kept_cursor[0] = size
        if begin >= size:
            return FINISHED
        for t in range(np.uint64(begin), np.uint64(end)):
            if (IS_SHARED or t & np.uint64(BATCH) == ZERO) and kept_stop[0]:
                return STOPPED
            v = np.uint64(order[t])
            stamp, count = np.int32(t + ONE), ZERO
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                state = np.uint64(out_states[np.uint64(indices[p])])
                if not IS_SHARED:
                    kept_marks[base + state] = stamp
                else:
                    is_earlier = np.uint64(state >> HALF < t)
                    taken = (state & LOWER) * is_earlier
                    kept_waiting[base + count] = indices[p]
                    count += is_earlier & np.uint64(taken == ZERO)
                    kept_marks[base + taken] = stamp
            if IS_SHARED:
                for w in range(count):
                    u = np.uint64(kept_waiting[base + w])
                    taken = ZERO
                    while taken == ZERO:
                        if kept_stop[0]:
                            return STOPPED
                        taken = watch(out_states, u) & LOWER
                    kept_marks[base + taken] = stamp
            least = ONE
            while kept_marks[base + least] == stamp:
                least += ONE
            out_states[v] = least | (t << HALF) if IS_SHARED else least
