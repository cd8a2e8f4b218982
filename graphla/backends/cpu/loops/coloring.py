"""Sets of vertices and of edges that are taken one by one, in a given order."""

import numpy as np

ONE = np.uint64(1)
FREE, NONE = -1, -2
BATCH = 1023
FINISHED, STOPPED = range(2)


def colour(indptr, indices, order, out_colours, kept_marks, kept_stop):
    """Each vertex in order takes the least colour that no neighbour has yet; -1 is none.

    There are as many marks as a row has entries, and two more; none is above 0.
    """
    for t in range(order.size):
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = np.uint64(order[t])
        stamp = np.int32(t + 1)
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            taken = out_colours[np.uint64(indices[p])]
            if taken >= 0:
                kept_marks[taken] = stamp
        least = 0
        while kept_marks[least] == stamp:
            least += 1
        out_colours[v] = least
    return FINISHED


def mix(x):
    """The finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def dearest(indptr, indices, values, words, out_mates, step, v):
    """The free neighbour on the dearest edge of v, NONE if there is none.

    Of edges of one weight the one with the greater number is dearer, then the one with the lesser
    ends: alike from either end.
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
    """Matches edges that are the dearest at both ends, along paths of ever dearer edges.

    FREE at first, `mates` ends with a mate for each vertex, or NONE where no neighbour is free.
    `wanted` has the dearest of each vertex on the path, of which each next one is that of the last.
    """
    turns = 0
    for start in range(out_mates.size):
        if out_mates[start] != FREE:
            continue
        depth = 1
        kept_path[0] = start
        kept_wanted[start] = dearest(indptr, indices, values, words, out_mates, step, start)
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
                kept_wanted[v] = dearest(indptr, indices, values, words, out_mates, step, v)
            elif depth > 1 and np.int64(kept_path[depth - 2]) == u:
                out_mates[v] = u
                out_mates[u] = v
                depth -= 2
            else:
                kept_wanted[u] = dearest(indptr, indices, values, words, out_mates, step, u)
                kept_path[depth] = u
                depth += 1
    return FINISHED
