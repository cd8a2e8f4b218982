"""Up to 64 breadth-first searches at once: bit b of a word of each vertex is search b's.

levels(v, b) = the least number of edges from start b to v. Bits of `seen` are set for the searches
that reached v, all of them where no search may; those of `now`, for whom it was in this level; of
`next`, in the next one. One look at an edge serves all the searches that meet there. `queue` holds
the vertices with a bit in `now`, then, in its other half, those with a bit in `next`, by turns.
"""

import numpy as np

ZERO = np.uint64(0)
ONE = np.uint64(1)
BATCH = np.uint64(1023)
FINISHED, STOPPED, TOO_DEEP = range(3)
PUSHED = 2


def lowest(word):
    """The place of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def search(
    a_indptr,
    a_indices,
    b_indptr,
    b_indices,
    out_levels,
    out_reach,
    kept_seen,
    kept_now,
    kept_next,
    kept_queue,
    kept_stop,
    first,
    everyone,
    size,
    may_pull,
    has_levels,
    limit,
    deepest,
):
    """All levels, into the columns of `levels` from `first` on; why it ended.

    Or, without levels, what they come to, into those of `reach`: how many vertices there are, the
    sum of their levels, and the greatest.
    """
    n = np.uint64(kept_seen.size)
    full = np.uint64(everyone)
    here, size, depth = ZERO, np.uint64(size), 0
    left = np.int64(b_indices.size)  # entries of the rows that some search has still to reach
    while size and depth < limit:
        there, count, edges = n - here, ZERO, 0
        for t in range(size):
            k = np.uint64(kept_queue[here + t])
            edges += np.int64(a_indptr[k + ONE]) - np.int64(a_indptr[k])
        if may_pull and PUSHED * edges > left + np.int64(n):
            for v in range(n):
                if v & BATCH == ZERO and kept_stop[0]:
                    return STOPPED
                wanted = full & ~kept_seen[v]
                if wanted == ZERO:
                    continue
                found = ZERO
                for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + ONE])):
                    found |= kept_now[np.uint64(b_indices[p])]
                    if found & wanted == wanted:
                        break
                if found & wanted:
                    kept_next[v] = found & wanted
                    kept_queue[there + count] = np.int32(v)
                    count += ONE
        else:
            for t in range(size):
                if t & BATCH == ZERO and kept_stop[0]:
                    return STOPPED
                k = np.uint64(kept_queue[here + t])
                now = kept_now[k]
                for p in range(np.uint64(a_indptr[k]), np.uint64(a_indptr[k + ONE])):
                    o = np.uint64(a_indices[p])
                    new = now & ~kept_seen[o]
                    if new:
                        if kept_next[o] == ZERO:
                            kept_queue[there + count] = np.int32(o)
                            count += ONE
                        kept_next[o] |= new
        for t in range(size):
            kept_now[np.uint64(kept_queue[here + t])] = ZERO
        depth += 1
        if count and depth > deepest:
            return TOO_DEEP
        level = out_levels.dtype.type(depth)
        for t in range(count):
            if t & BATCH == ZERO and kept_stop[0]:
                return STOPPED
            v = np.uint64(kept_queue[there + t])
            new = kept_next[v]
            kept_next[v] = ZERO
            kept_now[v] = new
            seen = kept_seen[v] | new
            kept_seen[v] = seen
            if seen == full:
                left -= np.int64(b_indptr[v + ONE]) - np.int64(b_indptr[v])
            while new:
                b = np.uint64(first) + lowest(new)
                new &= new - ONE
                if has_levels:
                    out_levels[v, b] = level
                else:
                    out_reach[0, b] += 1
                    out_reach[1, b] += depth
                    out_reach[2, b] = depth
        here, size = there, count
    return FINISHED
