"""Dependencies on the shortest paths from some sources, one after another (U. Brandes, 2001).

For each source, `queue` holds the vertices that it reaches, nearest first. `sigma` counts shortest
paths to each of them; `share`, in the reverse order, is what each such path carries:
share(v) = 1 / sigma(v) + sum of share(w) over edges v -> w that lie on shortest paths. Between two
sources `place` is -1 everywhere, and `sigma` and `share` are 0.

Of weights, `distance` are the least so far, and `heap` has the vertices not settled yet, the
nearest at its root; `place(v)` is where v stands in it, and once settled, -2 less where in the
queue: an edge lies on shortest paths where its weight is the difference exactly.
"""

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
BATCH = 1023
FINISHED, STOPPED = range(2)


def rise(kept_heap, kept_place, distance, at):
    """The vertex at `at` in the heap goes up to where it belongs."""
    v = kept_heap[at]
    d = distance[v]
    while at > 0:
        above = (at - 1) >> 1
        other = kept_heap[above]
        if distance[other] <= d:
            break
        kept_heap[at] = other
        kept_place[other] = at
        at = above
    kept_heap[at] = v
    kept_place[v] = at


def sink(kept_heap, kept_place, distance, size):
    """The vertex at the root goes down to where it belongs, in a heap of `size`."""
    v = kept_heap[0]
    d = distance[v]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and distance[kept_heap[below + 1]] < distance[kept_heap[below]]:
            below += 1
        other = kept_heap[below]
        if d <= distance[other]:
            break
        kept_heap[at] = other
        kept_place[other] = at
        at = below
    kept_heap[at] = v
    kept_place[v] = at


def by_levels(indptr, indices, kept_place, kept_sigma, kept_queue, kept_stop, source):
    """Queue the vertices that `source` reaches, and return their number.

    `place` becomes the level of each vertex, and `sigma` its number of shortest paths. If a stop is
    requested, the loop ends early with only some of the vertices; `by_distance` does the same.
    """
    kept_place[source] = 0
    kept_sigma[source] = 1.0
    kept_queue[0] = source
    head, tail = ZERO, ONE
    while head < tail:
        if head & np.uint64(BATCH) == ZERO and kept_stop[0]:
            break
        v = np.uint64(kept_queue[head])
        head += ONE
        ahead = kept_place[v] + 1
        sigma = kept_sigma[v]
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            w = np.uint64(indices[p])
            at = kept_place[w]
            if at < 0:
                at = ahead
                kept_place[w] = ahead
                kept_queue[tail] = np.int32(w)
                tail += ONE
            if at == ahead:
                kept_sigma[w] += sigma
    return np.int64(tail)


def by_distance(
    indptr,
    indices,
    weights,
    step,
    kept_place,
    kept_sigma,
    kept_queue,
    kept_heap,
    distance,
    kept_stop,
    source,
):
    """The same of weights, by Dijkstra: `place` is -2 - where in the queue."""
    distance[source] = 0.0
    kept_sigma[source] = 1.0
    kept_heap[0] = source
    kept_place[source] = 0
    size, tail = 1, 0
    while size:
        if tail & BATCH == 0 and kept_stop[0]:
            break
        v = kept_heap[0]
        size -= 1
        last = kept_heap[size]
        if size:
            kept_heap[0] = last
            sink(kept_heap, kept_place, distance, size)
        kept_place[v] = -2 - tail
        kept_queue[tail] = v
        tail += 1
        far, sigma = distance[v], kept_sigma[v]
        for p in range(indptr[v], indptr[v + 1]):
            w = indices[p]
            at = kept_place[w]
            if at < -1:
                continue
            there = far + weights[p * step]
            if at == -1:
                distance[w] = there
                kept_sigma[w] = sigma
                kept_heap[size] = w
                rise(kept_heap, kept_place, distance, size)
                size += 1
            elif there < distance[w]:
                distance[w] = there
                kept_sigma[w] = sigma
                rise(kept_heap, kept_place, distance, at)
            elif there == distance[w]:
                kept_sigma[w] += sigma
    return tail


def dependencies(
    indptr,
    indices,
    weights,
    sources,
    out_totals,
    out_edges,
    out_reached,
    out_counts,
    kept_place,
    kept_sigma,
    kept_share,
    kept_queue,
    kept_heap,
    kept_distance,
    kept_stop,
    step,
    is_weighted,
    of_edges,
    reach,
    first,
    last,
):
    """The sources first..last - 1, added up; why it ended."""
    for s in range(first, last):
        if kept_stop[0]:
            return STOPPED
        source = sources[s]
        if is_weighted:
            count = by_distance(
                indptr,
                indices,
                weights,
                step,
                kept_place,
                kept_sigma,
                kept_queue,
                kept_heap,
                kept_distance,
                kept_stop,
                source,
            )
        else:
            count = by_levels(
                indptr, indices, kept_place, kept_sigma, kept_queue, kept_stop, source
            )
        out_counts[s] = count
        for t in range(count - 1, -1, -1):
            if t & BATCH == 0 and kept_stop[0]:
                return STOPPED
            v = np.uint64(kept_queue[t])
            at, sigma = kept_place[v], kept_sigma[v]
            total = 0.0
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                w = np.uint64(indices[p])
                if is_weighted:
                    far = kept_distance[v] + weights[np.int64(p) * step]
                    is_on = kept_place[w] < at and kept_distance[w] == far
                else:
                    is_on = kept_place[w] == at + 1
                if is_on:
                    total += kept_share[w]
                    if of_edges:
                        out_edges[p] += sigma * kept_share[w]
            kept_share[v] = 1.0 / sigma + total
            if v != np.uint64(source):
                out_totals[v] += sigma * total
                if reach:
                    out_reached[v] += 1
        for t in range(count):
            v = kept_queue[t]
            kept_place[v] = -1
            kept_sigma[v] = 0.0
    return FINISHED
