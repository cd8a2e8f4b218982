"""Core numbers: vertices are removed in order of their remaining degree.

For core = 0, 1, 2, ..., a queue takes the vertices whose remaining degree is `core`. Each vertex in
the queue is removed, which decrements the degrees of its neighbors. A neighbor whose degree becomes
`core` joins the queue. No degree falls below `core`, so the degree of a vertex that was removed is
its core number (V. Batagelj and M. Zaversnik, *An O(m) Algorithm for Cores Decomposition of
Networks*, 2003).

For each value of `core`, the loop reads all vertices that remain. So a vertex is read at most c + 1
times, where c is its core number, which is at most its degree. These reads thus take at most as
long as reading each vertex and each edge once.

Several threads may share this work (H. Kabir and K. Madduri, *Parallel k-core Decomposition on
Multicore Platforms*, 2017). Thread 0 runs all steps: reads of the remaining vertices, and removals
of the vertices that are in the queue. It announces each large step in `state`. The other threads
wait for such a step, and take chunks of it. A step ends when all its chunks are done, so it never
depends on a thread that has not started yet. All threads use atomic operations.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    IS_SHARED,
    exchange,
    fetch_add,
    local_array,
    watch,
)

ZERO, ONE = np.uint64(0), np.uint64(1)
BATCH = 1023
ROOM = 1024  # length of a thread's own lists
PIECE = np.uint64(512)  # a row is read in pieces of this many entries
CHUNKS = 32  # number of chunks of a step, if it has enough vertices
LARGEST = np.int64(512)  # maximum number of vertices in a chunk
PLACE = np.int64(1 << 40)
"""A position in a step is PLACE times the number of the step, plus a number of vertices."""
# Positions in `state`. Threads change some of them often, so each has a cache line of its own.
CURSOR, END, DONE, SIZE, KEPT, RULE, IS_OVER = range(0, 56, 8)
CORE, HEAD, HALF, CHUNK, ACTION = range(RULE, RULE + 5)
SCAN, REMOVE = range(2)
FINISHED, STOPPED = range(2)


class Rows(NamedTuple):
    """A matrix in CSR, and a second one, which may be the same."""

    indptr: Any
    indices: Any
    other_indptr: Any
    other_indices: Any
    both: Any  # whether the indices in the rows of the other matrix are neighbors too


class Work(NamedTuple):
    """The state of the vertices."""

    degrees: Any  # the remaining degrees; at the end the core numbers
    # The vertices that may remain, in two halves that are used alternately. Initially the first
    # half lists all vertices.
    left: Any
    queue: Any  # one element more than there are vertices
    state: Any
    stop: Any


def divide(vertices, degrees, core, out_queue, size, out_left, kept, begin, end):
    """Append the vertices of degree `core` to the queue, and those of higher degree to `out_left`.

    Return the new ends of both lists.
    """
    for t in range(np.uint64(begin), np.uint64(end)):
        v = vertices[t]
        degree = degrees[np.uint64(v)]  # less than `core` if v was removed
        out_queue[size] = v
        size += np.uint64(degree == core)
        out_left[kept] = v
        kept += np.uint64(degree > core)
    return size, kept


def decrement(indices, degrees, out_queue, core, size, begin, end):
    """Decrement the degrees of indices[begin:end] that exceed `core`.

    Neighbors whose degree becomes `core` join the queue. Return its new size.
    """
    for p in range(begin, end):
        u = indices[p]
        degree = degrees[np.uint64(u)]
        if degree > core:
            degrees[np.uint64(u)] = degree - 1
            out_queue[size] = u
            size += np.uint64(degree == core + 1)
    return size


def decrement_shared(indices, degrees, out_list, core, size, begin, end):
    """Like `decrement`, while other threads decrement degrees too."""
    for p in range(begin, end):
        u = np.uint64(indices[p])
        if degrees[u] > core:
            degree = fetch_add(degrees, u, np.int32(-1))
            if degree <= core:  # another thread was faster
                fetch_add(degrees, u, np.int32(1))
            elif degree == core + 1:
                out_list[size] = indices[p]
                size += ONE
    return size


def put(state, end, out_list, base, own, count):
    """Append own[:count] to the list whose size is state[end], from position `base` on."""
    if count:
        place = np.uint64(base + fetch_add(state, end, np.int64(count)))
        for t in range(count):
            out_list[place + t] = own[t]


def scan_chunk(work: Work, begin, end):
    """Divide some of the vertices that may remain."""
    state, n = work.state, np.int64(work.degrees.size)
    here, there = state[HALF] * n, n - state[HALF] * n
    own, rest = local_array(ROOM, np.int32), local_array(ROOM, np.int32)
    size, kept = divide(
        work.left, work.degrees, state[CORE], own, ZERO, rest, ZERO, here + begin, here + end
    )
    put(state, np.uint64(SIZE), work.queue, 0, own, size)
    put(state, np.uint64(KEPT), work.left, there, rest, kept)


def remove_row(work: Work, indptr, indices, v, own, count):
    """Remove the edges in a row. Return the number of vertices in the list `own`."""
    p, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
    core = work.state[CORE]
    while p < end:
        if count + PIECE > np.uint64(ROOM):
            put(work.state, np.uint64(SIZE), work.queue, 0, own, count)
            count = ZERO
        most = min(p + PIECE, end)
        count = decrement_shared(indices, work.degrees, own, core, count, p, most)
        p = most
    return count


def remove_chunk(rows: Rows, work: Work, begin, end):
    """Remove some vertices of the queue."""
    own, count = local_array(ROOM, np.int32), ZERO
    head = work.state[HEAD]
    for t in range(np.uint64(head + begin), np.uint64(head + end)):
        v = np.uint64(work.queue[t])
        count = remove_row(work, rows.indptr, rows.indices, v, own, count)
        if rows.both:
            count = remove_row(work, rows.other_indptr, rows.other_indices, v, own, count)
    put(work.state, np.uint64(SIZE), work.queue, 0, own, count)


def take_chunks(rows: Rows, work: Work):
    """Process chunks of the announced step until none is left."""
    state = work.state
    while True:
        chunk = state[CHUNK]
        begin = fetch_add(state, np.uint64(CURSOR), chunk)
        end = state[END]
        # The step cannot end before this chunk is done, so the values read below do not change.
        if begin >= end or begin // PLACE != end // PLACE or work.stop[0]:
            return
        end = min(begin + chunk, end) % PLACE
        begin %= PLACE
        if state[ACTION] == SCAN:
            scan_chunk(work, begin, end)
        else:
            remove_chunk(rows, work, begin, end)
        fetch_add(state, np.uint64(DONE), end - begin)


def share(rows: Rows, work: Work, action, core, half, head, count, step):
    """Run a step of `count` vertices together with the other threads.

    The step scans the vertices that may remain, or removes queue[head : head + count].
    """
    state = work.state
    state[ACTION], state[CORE], state[HALF], state[HEAD] = action, core, half, head
    state[CHUNK] = max(min(count // CHUNKS, LARGEST), 1)
    state[SIZE], state[KEPT], state[DONE] = head + count if action == REMOVE else 0, 0, 0
    exchange(state, np.uint64(END), step * PLACE + count)
    exchange(state, np.uint64(CURSOR), step * PLACE)
    take_chunks(rows, work)
    while watch(state, np.uint64(DONE)) != count and not work.stop[0]:
        pass


def assist(rows: Rows, work: Work):
    """Take part in the steps that thread 0 shares, until it has finished."""
    state = work.state
    while not watch(state, np.uint64(IS_OVER)) and not work.stop[0]:
        if state[CURSOR] < state[END]:
            take_chunks(rows, work)
    return STOPPED if work.stop[0] else FINISHED


def run_steps(rows: Rows, work: Work, large):
    """Run all steps. Share those with at least `large` vertices or edges."""
    degrees, queue, left = work.degrees, work.queue, work.left
    n = degrees.size
    remaining, core, half, step, turns = np.int64(n), np.int64(0), np.int64(0), np.int64(0), 0
    while remaining:
        if IS_SHARED and remaining >= large:
            step += 1
            share(rows, work, SCAN, core, half, np.int64(0), remaining, step)
            size, remaining, half = work.state[SIZE], work.state[KEPT], 1 - half
        else:
            base = np.uint64(half * n)
            end = base + np.uint64(remaining)
            ends = divide(left, degrees, core, queue, ZERO, left, base, base, end)
            size, remaining = np.int64(ends[0]), np.int64(ends[1] - base)
        head = np.int64(0)
        if core == 0:  # no vertex in the queue has neighbors
            head = size
        while head < size:
            if turns & BATCH == 0 and work.stop[0]:
                return STOPPED
            turns += 1
            if IS_SHARED and size - head > 1 and (size - head) * core >= large:
                step += 1
                share(rows, work, REMOVE, core, half, head, size - head, step)
                head, size, turns = size, work.state[SIZE], 0
                continue
            v = np.uint64(queue[np.uint64(head)])
            head += 1
            begin, end = np.uint64(rows.indptr[v]), np.uint64(rows.indptr[v + ONE])
            known = np.uint64(size)
            known = decrement(rows.indices, degrees, queue, core, known, begin, end)
            if rows.both:
                begin = np.uint64(rows.other_indptr[v])
                end = np.uint64(rows.other_indptr[v + ONE])
                known = decrement(rows.other_indices, degrees, queue, core, known, begin, end)
            size = np.int64(known)
        if work.stop[0]:
            return STOPPED
        core += 1
    return FINISHED


def peel(rows: Rows, kept_work: Work, large, thread):
    """Replace the degrees by core numbers. Several threads may call this function together.

    They share the steps with at least `large` vertices or edges.
    """
    if IS_SHARED and thread > 0:
        return assist(rows, kept_work)
    status = run_steps(rows, kept_work, large)
    kept_work.state[IS_OVER] = 1
    return status
