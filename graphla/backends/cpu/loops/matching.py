"""Maximal matching, heaviest edges first, by proposals.

Each vertex proposes to the neighbor at the other end of its best edge. A vertex keeps as its suitor
the vertex that has made it the best proposal so far. A vertex whose proposal is rejected or
replaced proposes to the neighbor at the other end of its next best edge. In the end, each vertex
that has a suitor is itself the suitor of that vertex. For any order of the proposals, the matching
is the one that a greedy loop over all edges finds, from the best edge to the worst (F. Manne and M.
Halappanavar, *New Effective Multithreaded Matching Algorithms*, 2014).

Edges are compared by weight, then by their hash, and then by their ends.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import IS_SHARED, compare_and_swap

NONE = -1
BATCH = 1023
FINISHED, STOPPED = range(2)
ONE = np.uint64(1)


class Links(NamedTuple):
    """A matrix in CSR, and a random word for each vertex."""

    indptr: Any
    indices: Any
    values: Any
    words: Any
    step: Any  # 0 if `values` holds a single value for all entries, otherwise 1


class Suitors(NamedTuple):
    """The proposals."""

    suitors: Any  # the vertex whose proposal each vertex keeps, or NONE
    places: Any  # the position in the matrix of the last proposal of each vertex, if `step` is 1
    # For each vertex, the hash (if `step` is 0) or the weight (if `step` is 1) of the edge to its
    # suitor. For a vertex without a suitor, the hash is 0, or the weight is the lowest possible
    # one. While several threads run, the value may belong to an earlier suitor.
    hashes: Any
    weights: Any


def mix(x):
    """Return x after applying the finalizer of the random number generator splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def is_better(value, number, u, v, other_value, other_number, other_u, other_v):
    """Return whether the edge {u, v} comes before another edge; `number` is its hash."""
    if value != other_value:
        return value > other_value
    if number != other_number:
        return number > other_number
    low, other_low = min(u, v), min(other_u, other_v)
    return low < other_low or (low == other_low and max(u, v) < max(other_u, other_v))


def suitor_to_replace(links: Links, kept: Suitors, value, number, u, v):
    """Return the suitor that u would replace at v (NONE if v has no suitor), or u if it would not.

    u would replace a suitor if the edge {u, v} is better than the edge between v and this suitor.
    """
    while True:
        x = np.int64(kept.suitors[np.uint64(v)])
        if x == NONE:
            return x
        place = np.uint64(kept.places[np.uint64(x) * np.uint64(links.step)])
        other = links.values[place * np.uint64(links.step)]
        drawn = mix(links.words[np.uint64(v)] + links.words[np.uint64(x)])
        if is_better(value, number, u, v, other, drawn, x, v):
            return x
        # Another thread may have replaced the suitor x, and then places[x] may have changed before
        # this thread read it.
        if not IS_SHARED or kept.suitors[np.uint64(v)] == x:
            return np.int64(u)


def propose(links: Links, kept: Suitors, u):
    """Let u propose to its best neighbor that prefers u to its present suitor.

    Return the vertex that must propose next: the suitor that u replaced, u itself if another thread
    was faster, or NONE.
    """
    indptr, indices, values, words, step = links
    weights, hashes = kept.weights, kept.hashes
    best, value, number, replaced, place = NONE, values[0], np.uint64(0), NONE, np.uint64(0)
    for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
        v = np.int64(indices[p])
        other = values[p * np.uint64(step)]
        if v == np.int64(u) or (best != NONE and other < value):
            continue
        drawn = mix(words[u] + words[np.uint64(v)])
        if best != NONE and not is_better(other, drawn, u, v, value, number, u, best):
            continue
        if step:
            if other < weights[np.uint64(v)]:
                continue
        elif drawn < hashes[np.uint64(v)]:
            continue
        held = suitor_to_replace(links, kept, other, drawn, np.int64(u), v)
        if held != np.int64(u):
            best, value, number, replaced, place = v, other, drawn, held, p
    if best == NONE:
        return np.int64(NONE)
    if step:
        kept.places[u] = np.int64(place)
    v = np.uint64(best)
    if IS_SHARED:
        if not compare_and_swap(kept.suitors, v, np.int32(replaced), np.int32(u)):
            return np.int64(u)
    else:
        kept.suitors[v] = np.int32(u)
    if step:
        weights[v] = value
    else:
        hashes[v] = number
    return np.int64(replaced)


def match(links: Links, kept_suitors: Suitors, stop_flag, start, stop):
    """Let the vertices start..stop - 1 propose, and also all suitors that are replaced.

    At first no vertex has a suitor.
    """
    turns = 0
    for first in range(np.uint64(start), np.uint64(stop)):
        u = np.int64(first)
        while u != NONE:
            if turns & BATCH == 0 and stop_flag[0]:
                return STOPPED
            turns += 1
            u = propose(links, kept_suitors, np.uint64(u))
    return FINISHED
