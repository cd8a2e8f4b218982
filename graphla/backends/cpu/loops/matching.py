"""Maximal matching: the heaviest edges are selected first."""

import numpy as np

FREE, NONE = -1, -2
BATCH = 1023
FINISHED, STOPPED = range(2)


def mix(x):
    """Return x after applying the finalizer of the random number generator splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def best_neighbor(indptr, indices, values, words, out_mates, step, v):
    """Return the free neighbor on the best edge of v, or NONE if no neighbor is free.

    The best edge is the edge with the largest weight. Among edges of equal weight, it is the edge
    with the largest hash. Among edges of equal hash, it is the edge to the neighbor with the
    smallest number. The hash of an edge is computed from both of its ends, so it is the same seen
    from either end.
    """
    best, value, number = NONE, values[0], np.uint64(0)
    for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
        j = np.int64(indices[p])
        if out_mates[j] != FREE or j == v:
            continue
        other = values[p * np.uint64(step)]
        if best != NONE and other < value:
            continue
        drawn = mix(words[v] + words[j])
        if best == NONE or other > value or drawn > number or (drawn == number and j < best):
            best, value, number = j, other, drawn
    return best


def match(indptr, indices, values, words, out_mates, kept_wanted, kept_path, kept_stop, step):
    """Match edges that are the best at both ends; follow paths of better and better edges.

    `mates` is initially FREE. At the end it holds the mate of each vertex, or NONE if no neighbor
    is free. `wanted` holds, for each vertex on the path, its best neighbor, which is the next
    vertex of the path.
    """
    turns = 0
    for start in range(out_mates.size):
        if out_mates[start] != FREE:
            continue
        depth = 1
        kept_path[0] = start
        kept_wanted[start] = best_neighbor(indptr, indices, values, words, out_mates, step, start)
        while depth:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            v = np.int64(kept_path[depth - 1])
            u = np.int64(kept_wanted[v])
            if u == NONE:
                out_mates[v] = NONE
                depth -= 1
            elif out_mates[u] != FREE:
                kept_wanted[v] = best_neighbor(indptr, indices, values, words, out_mates, step, v)
            elif depth > 1 and np.int64(kept_path[depth - 2]) == u:
                out_mates[v] = u
                out_mates[u] = v
                depth -= 2
            else:
                kept_wanted[u] = best_neighbor(indptr, indices, values, words, out_mates, step, u)
                kept_path[depth] = u
                depth += 1
    return FINISHED
