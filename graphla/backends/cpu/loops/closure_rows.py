"""Distances from the entries of each row of X, by Dijkstra's algorithm with a binary heap."""

from typing import Any, NamedTuple

import numpy as np

ONE = np.uint64(1)
FINISHED, STOPPED = range(2)
UNSEEN, DONE = -1, -2


class Edges(NamedTuple):
    """The matrix A in CSR form. No weight is negative or NaN, and no distance overflows."""

    indptr: Any
    indices: Any
    weights: Any
    step: Any  # 0 if the array holds a single weight for all entries, otherwise 1


class Starts(NamedTuple):
    """The matrix X in CSR form, whose values are the initial distances."""

    indptr: Any
    indices: Any
    values: Any
    step: Any


class Found(NamedTuple):
    """The distance from each row to each vertex, and whether the vertex is reached."""

    distances: Any
    present: Any


class Heap(NamedTuple):
    """The vertices whose distance is not final, and the position of each vertex in `queue`.

    An element of `place` is UNSEEN if the vertex is not reached, and DONE if its distance is final.
    Before and after each row all elements are UNSEEN.
    """

    queue: Any
    place: Any
    stop: Any


def lift(queue, place, distance, at, v):
    """Insert v at position `at` of the heap, or at a position above it."""
    d = distance[np.uint64(v)]
    while at > 0:
        above = (at - 1) >> 1
        other = queue[np.uint64(above)]
        if distance[np.uint64(other)] <= d:
            break
        queue[np.uint64(at)] = other
        place[np.uint64(other)] = at
        at = above
    queue[np.uint64(at)] = v
    place[np.uint64(v)] = at


def drop(queue, place, distance, size, v):
    """Insert v at the root of a heap of `size` vertices, or at a position below it."""
    d = distance[np.uint64(v)]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = queue[np.uint64(below)]
        if below + 1 < size:
            right = queue[np.uint64(below + 1)]
            if distance[np.uint64(right)] < distance[np.uint64(other)]:
                below += 1
                other = right
        if d <= distance[np.uint64(other)]:
            break
        queue[np.uint64(at)] = other
        place[np.uint64(other)] = at
        at = below
    queue[np.uint64(at)] = v
    place[np.uint64(v)] = at


def close_rows(edges: Edges, starts: Starts, out_found: Found, kept_heap: Heap, first, last):
    """Compute the distances for rows first..last - 1 of X."""
    indptr, indices, weights, step = edges
    x_indptr, x_indices, x_values, x_step = starts
    queue, place, stop = kept_heap
    for row in range(np.uint64(first), np.uint64(last)):
        if stop[0]:
            return STOPPED
        distance, present = out_found.distances[row], out_found.present[row]
        size = 0
        for k in range(np.uint64(x_indptr[row]), np.uint64(x_indptr[row + ONE])):
            v = x_indices[k]
            distance[np.uint64(v)] = x_values[k * np.uint64(x_step)]
            present[np.uint64(v)] = True
            lift(queue, place, distance, size, v)
            size += 1
        while size > 0:
            v = np.uint64(queue[0])
            d = distance[v]
            place[v] = DONE
            size -= 1
            if size > 0:
                drop(queue, place, distance, size, queue[np.uint64(size)])
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                w = np.uint64(indices[p])
                at = place[w]
                if at == DONE:
                    continue
                new = d + weights[p * np.uint64(step)]
                if at == UNSEEN:
                    distance[w] = new
                    present[w] = True
                    lift(queue, place, distance, size, indices[p])
                    size += 1
                elif new < distance[w]:
                    distance[w] = new
                    lift(queue, place, distance, at, indices[p])
        for v in range(place.size):
            place[v] = UNSEEN
    return FINISHED
