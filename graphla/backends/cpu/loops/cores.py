"""Core numbers: vertices are removed in order of their remaining degree.

For core = 0, 1, 2, ..., a queue takes the vertices whose remaining degree is `core`. Each vertex in
the queue is removed, which decrements the degrees of its neighbors. A neighbor whose degree becomes
`core` joins the queue. No degree falls below `core`, so the degree of a vertex that was removed is
its core number (V. Batagelj and M. Zaversnik, *An O(m) Algorithm for Cores Decomposition of
Networks*, 2003).

For each value of `core`, the loop reads all vertices that remain. So a vertex with core number c,
which is at most its degree, is read at most c + 1 times. These reads thus take at most as long as
reading each vertex and each edge once.

Several threads may share this work (H. Kabir and K. Madduri, *Parallel k-core Decomposition on
Multicore Platforms*, 2017). Thread 0 runs all steps. A step either reads the remaining vertices or
removes vertices that are in the queue. All threads take chunks of each large step (`loops/team`).
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    IS_SHARED,
    called,
    fetch_add,
    local_array,
    prefetch_element,
)
from graphla.backends.cpu.loops.team import (
    ARGUMENT,
    KIND,
    OVER,
    close_step,
    dismiss,
    enter,
    leave,
    open_step,
    take_chunk,
)

ZERO, ONE = np.uint64(0), np.uint64(1)
BATCH = np.uint64(1024)  # number of vertices that are removed between reads of the stop flag
ROOM = 1024  # maximum number of vertices in the lists that each thread collects
LENGTH = ROOM + 1  # the loops write a vertex before deciding whether to keep it
AHEAD = np.uint64(6)  # the loop loads the start of a row this many vertices in advance
CHUNKS = 64  # number of chunks of a step, if it has enough vertices
LARGEST = np.int64(512)  # maximum number of vertices in a chunk
# Positions in `state`: the ends of the queue and of `left`, each in a cache line of its own,
# because threads change them during a step; the value of `core`; and the bounds of the step.
SIZE, KEPT, CORE, BEGIN, END = 0, 8, 16, 17, 18
STATE_SIZE = 24
SCAN, REMOVE = range(2)
"""The kinds of steps: read the remaining vertices, or remove vertices that are in the queue."""
FINISHED, STOPPED = range(2)


class Rows(NamedTuple):
    """A matrix in CSR form, and its transpose if the neighbors include the sources of in-edges.

    Otherwise the second matrix is the matrix itself, and is not read.
    """

    indptr: Any
    indices: Any
    other_indptr: Any
    other_indices: Any
    both: Any  # whether the rows of the second matrix also list neighbors


class Work(NamedTuple):
    """The state of the vertices."""

    degrees: Any  # the remaining degrees; at the end the core numbers
    # The vertices that may remain, in two halves that are used alternately. Initially the first
    # half lists all vertices.
    left: Any
    queue: Any  # has one element more than there are vertices
    state: Any
    team: Any
    stop: Any


@called
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


@called
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


@called
def put(state, end, out_list, own, count):
    """Append own[:count] to the list whose end is state[end]."""
    if count:
        place = np.uint64(fetch_add(state, end, np.int64(count)))
        for t in range(count):
            out_list[place + t] = own[t]


@called
def list_large(indices, degrees, core, chosen, kept, begin, end):
    """Append the vertices in indices[begin:end] whose degrees exceed `core` to the list `chosen`.

    Return the new length of the list. The loop has no branch that depends on a degree, so that many
    memory accesses overlap.
    """
    for p in range(begin, end):
        u = indices[p]
        chosen[kept] = u
        kept += np.uint64(degrees[np.uint64(u)] > core)
    return kept


@called
def decrement_listed(degrees, out_queue, state, chosen, kept):
    """Decrement the degrees of the vertices chosen[:kept], while other threads do the same.

    Vertices whose degree becomes `core` join the queue.
    """
    core, count = state[CORE], ZERO
    for c in range(kept):
        v = chosen[c]
        degree = fetch_add(degrees, np.uint64(v), np.int32(-1))
        if degree <= core:  # another thread was faster
            fetch_add(degrees, np.uint64(v), np.int32(1))
        chosen[count] = v
        count += np.uint64(degree == core + 1)
    put(state, np.uint64(SIZE), out_queue, chosen, count)


@called
def remove_rows(indptr, indices, degrees, out_queue, state, chosen, first, last):
    """Remove the edges in the rows of the vertices queue[first:last], while other threads remove
    edges too."""
    core, kept = state[CORE], ZERO
    final = np.uint64(last) - ONE
    for t in range(np.uint64(first), np.uint64(last)):
        prefetch_element(indptr, np.uint64(out_queue[min(t + AHEAD + AHEAD, final)]))
        soon = np.uint64(out_queue[min(t + AHEAD, final)])
        prefetch_element(indices, np.uint64(indptr[soon]))
        v = np.uint64(out_queue[t])
        p, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
        while p < end:
            if kept == np.uint64(ROOM):
                decrement_listed(degrees, out_queue, state, chosen, kept)
                kept = ZERO
            most = min(end, p + np.uint64(ROOM) - kept)
            kept = list_large(indices, degrees, core, chosen, kept, p, most)
            p = most
    decrement_listed(degrees, out_queue, state, chosen, kept)


@called
def run_chunks(rows: Rows, work: Work):
    """Process chunks of the open step until none is left or a stop is requested."""
    degrees, left, queue, state, team, stop = work
    own, rest = local_array(LENGTH, np.int32), local_array(LENGTH, np.int32)
    chunk, end, core = team[ARGUMENT], state[END], state[CORE]
    while not stop[0]:
        first = state[BEGIN] + take_chunk(team, chunk)
        if first >= end:
            break
        last = min(first + chunk, end)
        if team[KIND] == SCAN:
            count, kept = divide(left, degrees, core, own, ZERO, rest, ZERO, first, last)
            put(state, np.uint64(KEPT), left, rest, kept)
            put(state, np.uint64(SIZE), queue, own, count)
        else:
            remove_rows(rows.indptr, rows.indices, degrees, queue, state, own, first, last)
            if rows.both:
                indptr, indices = rows.other_indptr, rows.other_indices
                remove_rows(indptr, indices, degrees, queue, state, own, first, last)


def assist(rows: Rows, work: Work):
    """Help thread 0 with its large steps, until it has finished or a stop is requested."""
    number = enter(work.team, work.stop, np.int64(0))
    while number != OVER:
        run_chunks(rows, work)
        leave(work.team)
        number = enter(work.team, work.stop, number)


def peel(rows: Rows, kept_work: Work, large, thread):
    """Replace the degrees by core numbers. Return FINISHED, or STOPPED if a stop was requested.

    Several threads may call this function together. They share the steps with at least `large`
    vertices or edges.
    """
    degrees, left, queue, state, team, stop = kept_work
    if IS_SHARED and thread > 0:
        assist(rows, kept_work)
        return STOPPED if stop[0] else FINISHED
    n = np.int64(degrees.size)
    remaining, base, core = n, np.int64(0), np.int64(-1)
    head = size = np.int64(0)
    while (remaining or head < size) and not stop[0]:
        scans = head == size
        count = size - head
        edges = count * core
        if scans:
            core += 1
            count = edges = remaining
        if IS_SHARED and count > 1 and edges >= large:
            begin = base if scans else head
            state[CORE], state[BEGIN], state[END] = core, begin, begin + count
            state[SIZE], state[KEPT] = 0 if scans else size, n - base
            team[ARGUMENT] = max(min(count // CHUNKS, LARGEST), 1)
            open_step(team, SCAN if scans else REMOVE)
            run_chunks(rows, kept_work)
            close_step(team)
            head, size = 0 if scans else size, state[SIZE]
            if scans:
                base = n - base
                remaining = state[KEPT] - base
        elif scans:
            place, end = np.uint64(base), np.uint64(base + remaining)
            ends = divide(left, degrees, core, queue, ZERO, left, place, place, end)
            head, size, remaining = np.int64(0), np.int64(ends[0]), np.int64(ends[1]) - base
        else:
            # Remove vertices one by one, until the queue is empty or long enough for a shared step.
            place, known = np.uint64(head), np.uint64(size)
            last = place + BATCH
            while place < min(known, last):
                v = np.uint64(queue[place])
                place += ONE
                begin, end = np.uint64(rows.indptr[v]), np.uint64(rows.indptr[v + ONE])
                known = decrement(rows.indices, degrees, queue, core, known, begin, end)
                if rows.both:
                    begin = np.uint64(rows.other_indptr[v])
                    end = np.uint64(rows.other_indptr[v + ONE])
                    known = decrement(rows.other_indices, degrees, queue, core, known, begin, end)
                if IS_SHARED and np.int64(known - place) * core >= large:
                    break
            head, size = np.int64(place), np.int64(known)
        if core == 0:  # skip the queue: its vertices have no neighbors
            head = size
    if IS_SHARED:
        dismiss(team)
    return STOPPED if stop[0] else FINISHED
