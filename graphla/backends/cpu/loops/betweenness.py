"""For each source, add up the dependencies of the vertices and edges (U. Brandes, 2001).

sigma(v) is the number of shortest paths from the source to v. share(v) is 1 / sigma(v) plus the sum
of share(w) over the edges v -> w that lie on shortest paths. So sigma(v) · share(v) - 1 is the
dependency of v: the sum, over all vertices t except v, of the fraction of the shortest paths to t
that pass through v. An edge lies on a shortest path if its weight is exactly equal to the
difference of the distances of its ends.
"""

from typing import Any, NamedTuple

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
BATCH = 1023
FINISHED, STOPPED = range(2)


class Graph(NamedTuple):
    """The matrix in CSR form: its pattern, and the weights of its entries."""

    indptr: Any
    indices: Any
    weights: Any
    step: Any  # stride between weights in the array: 0 if all are equal and stored once


class Sums(NamedTuple):
    """The results. Every array except `counts` holds sums over all sources."""

    totals: Any  # for each vertex, the sum of its dependencies
    edges: Any  # for each edge, the sum of its dependencies; empty if not requested
    # for each vertex, the number of other sources that reach it; empty if not requested
    reached: Any
    counts: Any  # for each source, the number of vertices that it reaches


class Paths(NamedTuple):
    """The arrays for the search for shortest paths from one source.

    Before and after each search, `place` is -1 at every vertex, and `sigma` is 0.
    """

    # For each vertex: without weights its level; with weights its position in `heap` or, once it is
    # in `queue`, -2 minus its position there.
    place: Any
    sigma: Any  # for each vertex, the number of shortest paths to it
    share: Any
    queue: Any  # the vertices that the source reaches, nearest first
    # Only with weights: a binary heap of the vertices that are reached but not yet in `queue`.
    heap: Any
    distance: Any  # only with weights: for each vertex, the smallest distance found so far
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
        place[other] = at
        at = above
    heap[at] = v
    place[v] = at


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
        place[other] = at
        at = below
    heap[at] = v
    place[v] = at


def by_levels(graph, kept_paths, source):
    """Append the vertices that `source` reaches to the queue, level by level, and return their
    number.

    This sets `place` to the level of each of them, and `sigma` to the number of shortest paths to
    it. If a stop is requested, the function returns early, with only some of the vertices.
    """
    indptr, indices, _, _ = graph
    place, sigma, _, queue, _, _, stop = kept_paths
    place[source] = 0
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
            if at < 0:
                at = ahead
                place[w] = ahead
                queue[tail] = np.int32(w)
                tail += ONE
            if at == ahead:
                sigma[w] += paths
    return np.int64(tail)


def by_distance(graph, kept_paths, source):
    """Append the vertices that `source` reaches to the queue, in order of distance (Dijkstra).

    Return their number. This sets `place` to -2 minus the position of each of them in the queue. If
    a stop is requested, the function returns early, with only some of the vertices.
    """
    indptr, indices, weights, step = graph
    place, sigma, _, queue, heap, distance, stop = kept_paths
    distance[source] = 0.0
    sigma[source] = 1.0
    heap[0] = source
    place[source] = 0
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
        place[v] = -2 - tail
        queue[tail] = v
        tail += 1
        far, paths = distance[v], sigma[v]
        for p in range(indptr[v], indptr[v + 1]):
            w = indices[p]
            at = place[w]
            if at < -1:
                continue
            there = far + weights[p * step]
            if at == -1:
                distance[w] = there
                sigma[w] = paths
                heap[size] = w
                rise(heap, place, distance, size)
                size += 1
            elif there < distance[w]:
                distance[w] = there
                sigma[w] = paths
                rise(heap, place, distance, at)
            elif there == distance[w]:
                sigma[w] += paths
    return tail


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
    indptr, indices, weights, step = graph
    totals, edges, reached, counts = out_sums
    place, sigma, share, queue, _, distance, stop = kept_paths
    for s in range(first, last):
        if stop[0]:
            return STOPPED
        source = sources[s]
        if is_weighted:
            count = by_distance(graph, kept_paths, source)
        else:
            count = by_levels(graph, kept_paths, source)
        counts[s] = count
        for t in range(count - 1, -1, -1):
            if t & BATCH == 0 and stop[0]:
                return STOPPED
            v = np.uint64(queue[t])
            at, paths = place[v], sigma[v]
            total = 0.0
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                w = np.uint64(indices[p])
                if is_weighted:
                    far = distance[v] + weights[np.int64(p) * step]
                    is_on = place[w] < at and distance[w] == far
                else:
                    is_on = place[w] == at + 1
                if is_on:
                    total += share[w]
                    if of_edges:
                        edges[p] += paths * share[w]
            share[v] = 1.0 / paths + total
            if v != np.uint64(source):
                totals[v] += paths * total
                if reach:
                    reached[v] += 1
        for t in range(count):
            v = queue[t]
            place[v] = -1
            sigma[v] = 0.0
    return FINISHED
