"""Greedy coloring: vertices are colored one by one, in a given order.

Several threads may color vertices at the same time. Each thread takes the next vertices in the
order. If an earlier neighbor of a vertex has no color yet, another thread is about to color this
neighbor. The thread of the vertex then waits for this color. The first vertex in the order without
a color never waits, so no thread waits forever. The result is the same as with one thread.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import IS_SHARED, fetch_add, watch

ZERO = np.uint64(0)
ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)
CHUNK = 32  # number of vertices that a thread takes at a time, if their rows are short
LONG = np.uint64(64)  # a vertex with more neighbors than this is a chunk of its own
BATCH = 1023
FINISHED, STOPPED = range(2)


def color(indptr, indices, order, out_states, kept_cursor, kept_marks, kept_stop, width, thread):
    """Give each vertex the smallest color from 1 on that no earlier neighbor has.

    The vertices are colored in the order of the array `order`. The lower half of out_states[v] is
    the color of v, or 0 if v has no color yet. If several threads run, the upper half is the
    position of v in the order.

    Each thread has a section of `width` elements of `kept_marks`, where `width` is the length of
    the longest row plus 4. Initially all elements are 0. The stamp of v is its position in the
    order plus 1. While v is being colored, the thread writes this stamp to element c if c is the
    color of an earlier neighbor. If an earlier neighbor has no color yet, the thread writes the
    stamp to element 0. If there is a later neighbor, it writes the stamp to the last element.
    """
    size, base, unused = order.size, np.uint64(thread * width), np.uint64(width - 1)
    while True:
        if IS_SHARED:
            v = np.uint64(order[min(kept_cursor[0], size - 1)])
            is_long = np.uint64(indptr[v + ONE]) - np.uint64(indptr[v]) > LONG
            chunk = 1 if is_long else CHUNK
            begin = fetch_add(kept_cursor, ZERO, chunk)
            end = min(begin + chunk, size)
        else:
            begin, end = kept_cursor[0], size
            kept_cursor[0] = size
        if begin >= size:
            return STOPPED if kept_stop[0] else FINISHED
        for t in range(np.uint64(begin), np.uint64(end)):
            if (IS_SHARED or t & np.uint64(BATCH) == ZERO) and kept_stop[0]:
                return STOPPED
            v = np.uint64(order[t])
            stamp = np.int32(t + ONE)
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                state = np.uint64(out_states[np.uint64(indices[p])])
                if IS_SHARED:
                    state = state & LOWER if state < t << HALF else unused
                kept_marks[base + state] = stamp
            if IS_SHARED and kept_marks[base] == stamp:
                for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                    u = np.uint64(indices[p])
                    state = np.uint64(out_states[u])
                    if state < t << HALF:
                        while state & LOWER == ZERO:
                            if kept_stop[0]:
                                return STOPPED
                            state = watch(out_states, u)
                        kept_marks[base + (state & LOWER)] = stamp
            least = ONE
            while kept_marks[base + least] == stamp:
                least += ONE
            out_states[v] = least | (t << HALF) if IS_SHARED else least
