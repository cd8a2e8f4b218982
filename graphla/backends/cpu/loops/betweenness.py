"""For each source, add up the dependencies of the vertices and edges (U. Brandes, 2001).

sigma(v) is the number of shortest paths from the source to v. share(v) is 1 / sigma(v) plus the sum
of share(w) over the edges v -> w that lie on shortest paths. So sigma(v) · share(v) - 1 is the
dependency of v: the sum, over all vertices t except v, of the fraction of the shortest paths to t
that pass through v. An edge lies on a shortest path if its weight is exactly equal to the
difference between the distances of its ends from the source.

Several threads may process one source together (`share_sources`). Thread 0 runs all levels, first
those of the search and then the same levels in reverse. Thread 0 opens a step for a large level,
and all threads take chunks of this step (`loops/team`). The search adds path counts with atomic
operations. The counts are integers, and floating-point sums of integers below EXACT do not depend
on the order of the additions. If a count is not below EXACT, thread 0 repeats the search alone.
Each share(v) is computed by a single thread, which adds its terms in the order of the row. So the
sums have the same bits for any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    compare_and_swap,
    fetch_add,
    local_array,
)
from graphla.backends.cpu.loops.team import (
    ARGUMENT,
    OVER,
    close_step,
    dismiss,
    enter,
    leave,
    open_step,
    take_chunk,
)

ZERO = np.uint64(0)
ONE = np.uint64(1)
BATCH = 1023
ROOM = 1024  # length of the list of vertices that each thread collects
PIECE = np.uint64(512)  # a row is read in pieces of this many entries
CHUNKS = 64  # number of chunks of a step, if it has enough vertices
LARGEST = np.int64(64)  # maximum number of vertices in a chunk
EXACT = 2.0**53
FINISHED, STOPPED = range(2)
# Positions in `state`. Threads change the first two during a step, so each has a cache line.
SIZE, IS_ROUNDED, ACTION, HEAD, FINISH, LEVELS = 0, 8, 16, 17, 18, 19
STATE_SIZE = 24
SEARCH, SUM, CLEAR = range(3)


class Graph(NamedTuple):
    """The adjacency matrix in CSR form: its pattern, and the weights of its entries."""

    indptr: Any
    indices: Any
    weights: Any
    step: Any  # 0 if `weights` holds a single weight for all entries, otherwise 1


class Sums(NamedTuple):
    """The results. Every array except `counts` holds sums over all sources."""

    totals: Any  # for each vertex, the sum of its dependencies
    edges: Any  # for each edge, the sum of its dependencies; empty if not requested
    # for each vertex v, the number of sources, other than v itself, that reach v; empty if not
    # requested
    reached: Any
    counts: Any  # for each source, the number of vertices that it reaches


class Paths(NamedTuple):
    """The arrays for the search for shortest paths from one source.

    Before and after each search, `place`, `sigma` and `share` are 0 at every vertex.
    """

    # For each vertex of an unweighted graph: 1 plus its level. For each vertex of a weighted graph:
    # 1 plus its position in `heap` or, once the vertex is in `queue`, -1 minus its position in
    # `queue`.
    place: Any
    sigma: Any  # for each vertex, the number of shortest paths to it
    share: Any
    queue: Any  # the vertices that the source reaches, nearest first
    # In a weighted graph: a binary heap of the vertices that are reached but not yet in `queue`. In
    # a graph without weights: level k is queue[heap[k]:heap[k + 1]].
    heap: Any
    distance: Any  # only with weights: for each vertex, the smallest distance found so far
    # In `count_by_levels`: for each position in `queue`, the number of shortest paths to the vertex
    frozen: Any
    stop: Any


def rise(heap, place, distance, at):
    """Move the vertex at position `at` of a binary heap up, until the vertex above it is at most as
    far from the source."""
    v = heap[at]
    d = distance[v]
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if distance[other] <= d:
            break
        heap[at] = other
        place[other] = at + 1
        at = above
    heap[at] = v
    place[v] = at + 1


def sink(heap, place, distance, size):
    """Move the vertex at the root of a binary heap down, until no vertex directly below it is
    nearer to the source. The heap has `size` vertices."""
    v = heap[0]
    d = distance[v]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        other = heap[below]
        if d <= distance[other]:
            break
        heap[at] = other
        place[other] = at + 1
        at = below
    heap[at] = v
    place[v] = at + 1


def by_levels(graph, kept_paths, source):
    """Append the vertices that `source` reaches to the queue, level by level, and return their
    number.

    For each of these vertices, the function sets `place` to 1 plus its level, and `sigma` to the
    number of shortest paths to it. If a stop is requested, the function returns early, with only
    some of the vertices.
    """
    indptr, indices, _, _ = graph
    place, sigma, _, queue, _, _, _, stop = kept_paths
    place[source] = 1
    sigma[source] = 1.0
    queue[0] = source
    head, tail = ZERO, ONE
    while head < tail:
        if head & np.uint64(BATCH) == ZERO and stop[0]:
            break
        v = np.uint64(queue[head])
        head += ONE
        ahead = place[v] + 1
        paths = sigma[v]
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            w = np.uint64(indices[p])
            at = place[w]
            if at == 0:
                at = ahead
                place[w] = ahead
                queue[tail] = np.int32(w)
                tail += ONE
            if at == ahead:
                sigma[w] += paths
    return np.int64(tail)


def by_distance(graph, kept_paths, source):
    """Append the vertices that `source` reaches to the queue, in order of distance (Dijkstra).

    Return their number. For each of these vertices, the function sets `place` to -1 minus its
    position in the queue. If a stop is requested, the function returns early, with only some of the
    vertices.
    """
    indptr, indices, weights, step = graph
    place, sigma, _, queue, heap, distance, _, stop = kept_paths
    distance[source] = 0.0
    sigma[source] = 1.0
    heap[0] = source
    place[source] = 1
    size, tail = 1, 0
    while size:
        if tail & BATCH == 0 and stop[0]:
            break
        v = heap[0]
        size -= 1
        last = heap[size]
        if size:
            heap[0] = last
            sink(heap, place, distance, size)
        place[v] = -1 - tail
        queue[tail] = v
        tail += 1
        far, paths = distance[v], sigma[v]
        for p in range(indptr[v], indptr[v + 1]):
            w = indices[p]
            at = place[w]
            if at < 0:
                continue
            there = far + weights[p * step]
            if at == 0:
                distance[w] = there
                sigma[w] = paths
                heap[size] = w
                rise(heap, place, distance, size)
                size += 1
            elif there < distance[w]:
                distance[w] = there
                sigma[w] = paths
                rise(heap, place, distance, at - 1)
            elif there == distance[w]:
                sigma[w] += paths
    return tail


def count_by_levels(graph, kept_paths, source):
    """Search from the source, level by level, in a graph without weights.

    Level k becomes queue[heap[k]:heap[k + 1]], and frozen[t] becomes the number of shortest paths
    to queue[t]. Return the number of reached vertices and the number of levels. If a stop is
    requested, the function returns early, with only some of the vertices.

    The edges of a level add path counts to all their ends without a test of the level of the end.
    So `sigma` is wrong for a vertex whose level is complete, and `frozen` keeps its number of
    paths. But `sigma` is 0 only at vertices that have not been reached.
    """
    indptr, indices, _, _ = graph
    _, sigma, _, queue, starts, _, frozen, stop = kept_paths
    sigma[source] = 1.0
    queue[0] = source
    begin, tail, level = ZERO, ONE, np.int64(0)
    starts[0] = 0
    while begin < tail:
        end = tail
        level += 1
        starts[level] = np.int32(end)
        for t in range(begin, end):
            frozen[t] = sigma[np.uint64(queue[t])]
        for t in range(begin, end):
            if t & np.uint64(BATCH) == ZERO and stop[0]:
                return np.int64(tail), level
            v = np.uint64(queue[t])
            paths = frozen[t]
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                w = np.uint64(indices[p])
                before = sigma[w]
                if before == 0.0:
                    queue[tail] = np.int32(w)
                    tail += ONE
                sigma[w] = before + paths
        begin = end
    return np.int64(tail), level


def sum_by_levels(graph, out_sums, kept_paths, of_edges, levels):
    """Add the dependencies for one source in a graph without weights to the sums.

    The levels are processed from the last to the first. While a level is processed, `share` is
    nonzero only at vertices of later levels. A vertex has no edges to levels after the next one, so
    the sum over all neighbors needs no test of their levels. `frozen` holds the shares of the level
    until it is complete. If a stop is requested, the function returns early.
    """
    indptr, indices, _, _ = graph
    totals, edges, _, _ = out_sums
    _, _, share, queue, starts, _, frozen, stop = kept_paths
    for level in range(levels - 1, -1, -1):
        begin, end = np.uint64(starts[level]), np.uint64(starts[level + 1])
        for t in range(begin, end):
            if t & np.uint64(BATCH) == ZERO and stop[0]:
                return
            v = np.uint64(queue[t])
            paths, total = frozen[t], 0.0
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                there = share[np.uint64(indices[p])]
                total += there
                if of_edges:
                    edges[p] += paths * there
            frozen[t] = 1.0 / paths + total
            if level > 0:
                totals[v] += paths * total
        for t in range(begin, end):
            share[np.uint64(queue[t])] = frozen[t]


def sum_by_distance(graph, out_sums, kept_paths, of_edges, count):
    """Add the dependencies for one source in a graph with weights to the sums.

    If a stop is requested, the function returns early.
    """
    indptr, indices, weights, step = graph
    totals, edges, _, _ = out_sums
    place, sigma, share, queue, _, distance, _, stop = kept_paths
    for t in range(count - 1, -1, -1):
        if t & BATCH == 0 and stop[0]:
            return
        v = np.uint64(queue[t])
        at, paths = place[v], sigma[v]
        total = 0.0
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            w = np.uint64(indices[p])
            far = distance[v] + weights[np.int64(p) * step]
            if place[w] < at and distance[w] == far:
                total += share[w]
                if of_edges:
                    edges[p] += paths * share[w]
        share[v] = 1.0 / paths + total
        if t > 0:
            totals[v] += paths * total


def dependencies(
    graph: Graph,
    sources,
    out_sums: Sums,
    kept_paths: Paths,
    is_weighted,
    of_edges,
    reach,
    first,
    last,
):
    """Add the dependencies for the sources first..last - 1 to the sums. Return FINISHED, or STOPPED
    if a stop was requested."""
    reached, counts = out_sums.reached, out_sums.counts
    place, sigma, share, queue, _, _, _, stop = kept_paths
    for s in range(first, last):
        if stop[0]:
            return STOPPED
        source = sources[s]
        if is_weighted:
            count = by_distance(graph, kept_paths, source)
            sum_by_distance(graph, out_sums, kept_paths, of_edges, count)
        else:
            count, levels = count_by_levels(graph, kept_paths, source)
            sum_by_levels(graph, out_sums, kept_paths, of_edges, levels)
        counts[s] = count
        if stop[0]:
            return STOPPED
        for t in range(count):
            v = queue[t]
            place[v] = 0
            sigma[v] = 0.0
            share[v] = 0.0
            if reach and t > 0:
                reached[v] += 1
    return FINISHED


# --- several threads ------------------------------------------------------------------------------


def put(state, out_queue, own, count):
    """Append own[:count] to the queue, whose size is state[SIZE]."""
    if count:
        place = np.uint64(fetch_add(state, np.uint64(SIZE), np.int64(count)))
        for t in range(count):
            out_queue[place + t] = own[t]


def push_vertices(graph, kept_paths, kept_state, begin, end):
    """Search from the vertices queue[begin:end], while other threads may search from other vertices
    of the same level.

    Add the path count of each vertex to the counts of its neighbors in the next level. Append
    neighbors that are reached for the first time to the queue.
    """
    place, sigma, queue = kept_paths.place, kept_paths.sigma, kept_paths.queue
    own, count = local_array(ROOM, np.int32), ZERO
    for t in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(queue[t])
        ahead, paths = place[v] + np.int32(1), sigma[v]
        if paths >= EXACT:
            kept_state[IS_ROUNDED] = 1
        p, last = np.uint64(graph.indptr[v]), np.uint64(graph.indptr[v + ONE])
        while p < last:
            if count + PIECE > np.uint64(ROOM):
                put(kept_state, queue, own, count)
                count = ZERO
            most = min(p + PIECE, last)
            for q in range(p, most):
                w = np.uint64(graph.indices[q])
                at = place[w]
                if at == 0:
                    at = ahead
                    if compare_and_swap(place, w, np.int32(0), ahead):
                        own[count] = np.int32(w)
                        count += ONE
                if at == ahead:
                    fetch_add(sigma, w, paths)
            p = most
    put(kept_state, queue, own, count)


def sum_vertices(graph, out_sums, kept_paths, of_edges, reach, begin, end):
    """Compute `share` for the vertices queue[begin:end], and add their dependencies to the sums."""
    place, sigma, share, queue = (
        kept_paths.place,
        kept_paths.sigma,
        kept_paths.share,
        kept_paths.queue,
    )
    for t in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(queue[t])
        ahead, paths, total = place[v] + np.int32(1), sigma[v], 0.0
        for p in range(np.uint64(graph.indptr[v]), np.uint64(graph.indptr[v + ONE])):
            w = np.uint64(graph.indices[p])
            if place[w] == ahead:
                total += share[w]
                if of_edges:
                    out_sums.edges[p] += paths * share[w]
        share[v] = 1.0 / paths + total
        if t != ZERO:
            out_sums.totals[v] += paths * total
            if reach:
                out_sums.reached[v] += 1


def clear_vertices(kept_paths, begin, end):
    """Set `place` and `sigma` to 0 at queue[begin:end]."""
    for t in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(kept_paths.queue[t])
        kept_paths.place[v] = 0
        kept_paths.sigma[v] = 0.0


def begin_source(kept_paths, kept_state, source):
    """Add the source to the queue, and prepare the search of the first level."""
    kept_paths.place[source] = 1
    kept_paths.sigma[source] = 1.0
    kept_paths.queue[0] = source
    kept_paths.heap[0], kept_paths.heap[1] = 0, 1
    kept_state[SIZE], kept_state[IS_ROUNDED], kept_state[ACTION] = 1, 0, SEARCH


def next_level(graph, out_sums, kept_paths, kept_state, level, s, source):
    """Choose the level that is processed after `level`, and the action for it.

    Return the number of that level, or -1 after the last action for this source.
    """
    starts, size = kept_paths.heap, kept_state[SIZE]
    if kept_state[ACTION] == SEARCH:
        if size > starts[level + 1]:
            starts[level + 2] = size
            return level + 1
        if kept_state[IS_ROUNDED]:
            clear_vertices(kept_paths, 0, size)
            by_levels(graph, kept_paths, source)
        out_sums.counts[s] = size
        kept_state[LEVELS], kept_state[ACTION] = level + 1, SUM
        return level
    if kept_state[ACTION] == SUM:
        if level > 0:
            return level - 1
        starts[1], kept_state[ACTION] = size, CLEAR
        return level
    return np.int64(-1)


def share_sources(
    graph: Graph,
    sources,
    out_sums: Sums,
    kept_paths: Paths,
    kept_state,
    kept_team,
    of_edges,
    reach,
    large,
    first,
    last,
    thread,
):
    """Add the dependencies for sources[first:last]. Several threads call this function together.

    The graph has no weights. Thread 0 processes a level alone until it has read at least `large`
    edges and vertices. The remaining vertices of the level become a step, which all threads share.
    Other parameters are as in `dependencies`.
    """
    starts, queue, stop = kept_paths.heap, kept_paths.queue, kept_paths.stop
    s, level, number = first - 1, np.int64(-1), np.int64(0)
    head, finish, left = np.int64(0), np.int64(0), large  # thread 0 processes queue[head:finish]
    while not stop[0]:
        is_shared = thread > 0
        begin, end = head, head
        if thread > 0:
            number = enter(kept_team, stop, number)
            if number == OVER:
                break
        elif head == finish:
            if level >= 0:
                level = next_level(graph, out_sums, kept_paths, kept_state, level, s, sources[s])
            if level < 0:
                s += 1
                if s == last:
                    break
                begin_source(kept_paths, kept_state, sources[s])
                level = np.int64(0)
            head, finish, left = np.int64(starts[level]), np.int64(starts[level + 1]), large
            continue
        elif left <= 0 and finish - head > 1:
            is_shared = True
            kept_state[HEAD], kept_state[FINISH] = head, finish
            kept_team[ARGUMENT] = max(min((finish - head) // CHUNKS, LARGEST), 1)
            open_step(kept_team, kept_state[ACTION])
            head = finish
        else:
            left = max(left, 1)
            while end < finish and left > 0:
                v = np.uint64(queue[end])
                left -= np.int64(graph.indptr[v + ONE] - graph.indptr[v]) + 1
                end += 1
            head = end
        while not stop[0]:
            if is_shared:
                chunk = kept_team[ARGUMENT]
                begin = kept_state[HEAD] + take_chunk(kept_team, chunk)
                end = min(begin + chunk, kept_state[FINISH])
            if begin >= end:
                break
            if kept_state[ACTION] == SEARCH:
                push_vertices(graph, kept_paths, kept_state, begin, end)
            elif kept_state[ACTION] == SUM:
                sum_vertices(graph, out_sums, kept_paths, of_edges, reach, begin, end)
            else:
                clear_vertices(kept_paths, begin, end)
            begin = end
        if thread > 0:
            leave(kept_team)
        elif is_shared:
            close_step(kept_team)
    if thread == 0:
        dismiss(kept_team)
    return STOPPED if stop[0] else FINISHED
