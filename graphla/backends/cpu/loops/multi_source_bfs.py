"""Up to 64 breadth-first searches in one loop: bit b of a vertex's word belongs to search b.

levels(v, b) is the minimum number of edges on a path from start vertex b to v. If several searches
reach an edge at the same level, the edge is read only once.
"""

from typing import Any, NamedTuple

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED, TOO_DEEP = range(3)
PUSHED = 2


class Graph(NamedTuple):
    """The adjacency matrix: in CSR for pushes, and in CSC (the fields `into_...`) for pulls."""

    indptr: Any
    indices: Any
    into_indptr: Any
    into_indices: Any


class Results(NamedTuple):
    """Two arrays with one column per search. A loop writes only to the one that is requested."""

    levels: Any  # shape (n, searches)
    # shape (3, searches): number of vertices reached, sum of their levels, maximum level
    reach: Any


class Words(NamedTuple):
    """One 64-bit word per vertex, with one bit per search."""

    seen: Any  # bits of the searches that reached v so far; all ones if v is masked out
    now: Any  # bits of the searches that reached v at this level
    next: Any  # bits of the searches that reach v at the next level
    # Two lists of vertices, one per half, which swap roles after each level: the vertices whose
    # word in `now` is not 0, and those whose word in `next` is not 0.
    queue: Any
    stop: Any


def lowest(word):
    """Return the position of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def search(
    graph: Graph,
    out_results: Results,
    kept_words: Words,
    first,
    everyone,
    size,
    may_pull,
    has_levels,
    limit,
    deepest,
):
    """Run all levels of up to 64 searches, and return why the loop ended.

    The searches write to the columns from `first` on: to those of `levels` if `has_levels` is set,
    otherwise to those of `reach`.
    """
    indptr, indices, into_indptr, into_indices = graph
    levels, reach = out_results
    seen, now, ahead, queue, stop = kept_words
    n = np.uint64(seen.size)
    full = np.uint64(everyone)
    here, size, depth = ZERO, np.uint64(size), 0
    # Number of entries in the columns of the vertices that at least one search has not reached.
    left = np.int64(into_indices.size)
    while size and depth < limit:
        there, count, edges = n - here, ZERO, 0
        for t in range(size):
            k = np.uint64(queue[here + t])
            edges += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
        if may_pull and PUSHED * edges > left + np.int64(n):
            for v in range(n):
                if v & BATCH == ZERO and stop[0]:
                    return STOPPED
                wanted = full & ~seen[v]
                if wanted == ZERO:
                    continue
                found = ZERO
                for p in range(np.uint64(into_indptr[v]), np.uint64(into_indptr[v + ONE])):
                    found |= now[np.uint64(into_indices[p])]
                    if found & wanted == wanted:
                        break
                if found & wanted:
                    ahead[v] = found & wanted
                    queue[there + count] = np.int32(v)
                    count += ONE
        else:
            for t in range(size):
                if t & BATCH == ZERO and stop[0]:
                    return STOPPED
                k = np.uint64(queue[here + t])
                bits = now[k]
                for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + ONE])):
                    o = np.uint64(indices[p])
                    new = bits & ~seen[o]
                    if new:
                        if ahead[o] == ZERO:
                            queue[there + count] = np.int32(o)
                            count += ONE
                        ahead[o] |= new
        for t in range(size):
            now[np.uint64(queue[here + t])] = ZERO
        depth += 1
        if count and depth > deepest:
            return TOO_DEEP
        level = levels.dtype.type(depth)
        for t in range(count):
            if t & BATCH == ZERO and stop[0]:
                return STOPPED
            v = np.uint64(queue[there + t])
            new = ahead[v]
            ahead[v] = ZERO
            now[v] = new
            reached = seen[v] | new
            seen[v] = reached
            if reached == full:
                left -= np.int64(into_indptr[v + ONE]) - np.int64(into_indptr[v])
            while new:
                b = np.uint64(first) + lowest(new)
                new &= new - ONE
                if has_levels:
                    levels[v, b] = level
                else:
                    reach[0, b] += 1
                    reach[1, b] += depth
                    reach[2, b] = depth
        here, size = there, count
    return FINISHED
