"""Breadth-first search, level after level: push from a queue, or pull by bit maps of the vertices.

levels(v) = the least number of edges from a start to v; parents(v) = a vertex one level nearer with
an edge to v. Bit v of `done` says that v is no target any more: it was reached, the mask forbids it
or it has no edges. Bit v of `seen` says that it was reached, and what has a neighbour there without
being done is in the next level, as each level is complete before the next. Without a mask the two
are one array. The vertices of a level lie in `queue`, or, after a pull, in the bits of `next`,
which are zero otherwise.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import LEAST

ZERO = np.uint64(0)
ONE = np.uint64(1)
SIX = np.uint64(6)
LOW = np.uint64(63)
SHORT = np.uint64(4)  # entries copied at once
ROOM = np.uint64(2048)  # edges listed before their targets are looked at
WORDS = 16  # of a bit map, whose vertices go through a pull together
PUSHED, SECOND, WAIT = 1, 2, 3
DEPTH, HEAD, TAIL, REACHED, LEFT, UNSEEN, IN_BITS, FRONTIER, EDGES, PULLED, FOUND = range(11)
FINISHED, PAUSED, STOPPED, TOO_DEEP, TO_PULL = range(5)
PUSH, PULL = 1, 2


def lowest(word):
    """The place of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def ones(word):
    """How many bits are set."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


def take(
    out_levels,
    out_parents,
    kept_done,
    kept_seen,
    kept_queue,
    kept_edges,
    edges,
    end,
    level,
    has_levels,
    parents,
    two_maps,
):
    """The targets among so many listed edges that are new, appended to the queue from `end` on.

    Returns its new end. Nothing branches on which are new.
    """
    begin = end
    for e in range(edges):
        v = np.uint64(kept_edges[e])
        held = kept_done[v >> SIX]
        kept_done[v >> SIX] = held | (ONE << (v & LOW))
        kept_queue[end] = np.int32(v)
        kept_edges[ROOM + end - begin] = kept_edges[ROOM + e]
        end += ((held >> (v & LOW)) & ONE) ^ ONE
    for t in range(begin, end):
        v = np.uint64(kept_queue[t])
        if has_levels:
            out_levels[v] = level
        if parents:
            out_parents[v] = kept_edges[ROOM + t - begin]
        if two_maps:
            kept_seen[v >> SIX] |= ONE << (v & LOW)
    return end


def push_level(
    a_indptr,
    a_indices,
    out_levels,
    out_parents,
    kept_done,
    kept_seen,
    kept_queue,
    kept_edges,
    kept_stop,
    head,
    tail,
    depth,
    has_levels,
    parents,
    two_maps,
):
    """The vertices one step from queue[head:tail], appended to the queue; where it ends then.

    Edges are listed first; a short row is copied without a branch on its length.
    """
    end = np.uint64(tail)
    level = out_levels.dtype.type(depth + 1)
    size = np.uint64(a_indices.size)
    edges = ZERO
    t, p, stop, u = np.uint64(head), ZERO, ZERO, ZERO
    while True:
        while edges + SHORT <= ROOM and (p < stop or t < np.uint64(tail)):
            if p == stop:
                u = np.uint64(kept_queue[t])
                p, stop = np.uint64(a_indptr[u]), np.uint64(a_indptr[u + ONE])
                t += ONE
            if stop - p <= SHORT and p + SHORT <= size:
                for i in range(SHORT):
                    kept_edges[edges + i] = a_indices[p + i]
                    kept_edges[ROOM + edges + i] = np.int32(u)
                edges += stop - p
                p = stop
            else:
                most = min(stop - p, ROOM - edges)
                for i in range(most):
                    kept_edges[edges + i] = a_indices[p + i]
                    kept_edges[ROOM + edges + i] = np.int32(u)
                edges += most
                p += most
        if edges == ZERO or kept_stop[0]:
            return np.int64(end)
        end = take(
            out_levels,
            out_parents,
            kept_done,
            kept_seen,
            kept_queue,
            kept_edges,
            edges,
            end,
            level,
            has_levels,
            parents,
            two_maps,
        )
        edges = ZERO


def push_least(
    a_indptr,
    a_indices,
    out_levels,
    out_parents,
    kept_done,
    kept_seen,
    kept_next,
    kept_queue,
    kept_stop,
    head,
    tail,
    depth,
    has_levels,
):
    """As `push_level`, where of all that may be the parent the least is."""
    end = np.uint64(tail)
    level = out_levels.dtype.type(depth + 1)
    for t in range(np.uint64(head), np.uint64(tail)):
        if t & LOW == ZERO and kept_stop[0]:
            break
        u = np.uint64(kept_queue[t])
        for p in range(np.uint64(a_indptr[u]), np.uint64(a_indptr[u + ONE])):
            v = np.uint64(a_indices[p])
            word, bit = v >> SIX, ONE << (v & LOW)
            if not kept_done[word] & bit:
                kept_done[word] |= bit
                kept_seen[word] |= bit
                kept_next[word] |= bit
                if has_levels:
                    out_levels[v] = level
                out_parents[v] = np.int32(u)
                kept_queue[end] = np.int32(v)
                end += ONE
            elif kept_next[word] & bit and out_parents[v] > np.int32(u):
                out_parents[v] = np.int32(u)
    for t in range(np.uint64(tail), end):
        kept_next[np.uint64(kept_queue[t]) >> SIX] = ZERO
    return np.int64(end)


def pull_words(
    b_indptr,
    b_indices,
    firsts,
    out_levels,
    out_parents,
    kept_done,
    kept_seen,
    kept_next,
    kept_stop,
    depth,
    has_levels,
    parents,
    start,
    stop,
):
    """Words start..stop of the bits of what is one step from `seen`; how many that is.

    One neighbour is tried for many vertices at a time, then another, and only then is a row gone
    along: most vertices end at the first, and nothing branches until it is known which do not, so
    that their lookups wait for memory together. firsts[v] is some neighbour of v, or -1. For the
    least parent, a row that has one is gone along from its start.
    """
    level = out_levels.dtype.type(depth + 1)
    rest = np.empty(WORDS * 64 + 1, np.int32)
    total = 0
    for begin in range(np.uint64(start), np.uint64(stop), np.uint64(WORDS)):
        if kept_stop[0]:
            break
        left = ZERO
        for w in range(begin, min(np.uint64(begin) + np.uint64(WORDS), np.uint64(stop))):
            open_bits = ~kept_done[w]
            found = ZERO
            while open_bits:
                place = lowest(open_bits)
                open_bits &= open_bits - ONE
                v = (w << SIX) | place
                k = firsts[v]
                there = np.uint64(k >= 0)
                k = np.uint64(max(k, 0))
                hit = (kept_seen[k >> SIX] >> (k & LOW)) & there
                found |= hit << place
                if has_levels:
                    out_levels[v] = level
                if parents:
                    out_parents[v] = np.int32(k)
                rest[left] = np.int32(v)
                left += there & ((hit ^ ONE) | np.uint64(LEAST))
            kept_next[w] = found
            total += ones(found)
        size, left = left, ZERO
        if LEAST:
            left = size
        else:
            for t in range(size):
                v = np.uint64(rest[t])
                k = np.uint64(b_indices[np.uint64(b_indptr[v])])
                hit = (kept_seen[k >> SIX] >> (k & LOW)) & ONE
                kept_next[v >> SIX] |= hit << (v & LOW)
                if parents:
                    out_parents[v] = np.int32(k)
                rest[left] = np.int32(v)
                left += hit ^ ONE
            total += np.int64(size - left)
        for t in range(left):
            v = np.uint64(rest[t])
            for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + ONE])):
                k = np.uint64(b_indices[p])
                if (kept_seen[k >> SIX] >> (k & LOW)) & ONE:
                    bit = ONE << (v & LOW)
                    total += np.int64((kept_next[v >> SIX] & bit) == ZERO)
                    kept_next[v >> SIX] |= bit
                    if parents:
                        out_parents[v] = np.int32(k)
                    break
    return total


def search(
    a_indptr,
    a_indices,
    b_indptr,
    out_levels,
    out_parents,
    kept_done,
    kept_seen,
    kept_next,
    kept_queue,
    kept_edges,
    kept_state,
    kept_stop,
    has_levels,
    parents,
    two_maps,
    is_symmetric,
    direction,
    limit,
    deepest,
    steps,
):
    """Goes on from `state` by up to `steps` levels; why it ended.

    Before a pull it ends with TO_PULL, and goes on once `pull_words` has run and FOUND says how
    many it found (else it is -1). `direction` 0 is by the costs of both; in `unseen` are the
    in-edges of the vertices left, exactly until the first pull, by their share after it.
    """
    depth, head, tail = kept_state[DEPTH], kept_state[HEAD], kept_state[TAIL]
    reached, left, unseen = kept_state[REACHED], kept_state[LEFT], kept_state[UNSEEN]
    frontier, in_bits = kept_state[FRONTIER], kept_state[IN_BITS]
    words = kept_next.size
    status = FINISHED
    while frontier > 0 and depth < limit and left > 0:
        if kept_stop[0]:
            status = STOPPED
            break
        if steps == 0:
            status = PAUSED
            break
        count = kept_state[FOUND]
        if count < 0:
            edges = 0
            pulls = direction == PULL or in_bits
            if not in_bits:
                for t in range(np.uint64(head), np.uint64(tail)):
                    u = np.uint64(kept_queue[t])
                    edges += np.int64(a_indptr[u + ONE]) - np.int64(a_indptr[u])
                if not direction:
                    looks = min(left / max(edges, 1), 1.0) * unseen
                    pulls = PUSHED * edges > words // WAIT + left + SECOND * looks
            kept_state[EDGES], kept_state[PULLED] = edges, pulls
            if pulls:
                status = TO_PULL
                break
        edges = kept_state[EDGES]
        if kept_state[PULLED]:
            kept_state[FOUND] = -1
            unseen -= np.int64(np.float64(unseen) * count / left)
            to_queue = direction != PULL and count * 8 < left + words
            end = np.uint64(tail)
            for w in range(np.uint64(words)):
                bits = kept_next[w]
                kept_done[w] |= bits
                kept_seen[w] |= bits
                if to_queue:
                    kept_next[w] = ZERO
                    while bits:
                        kept_queue[end] = np.int32((w << SIX) | lowest(bits))
                        bits &= bits - ONE
                        end += ONE
            head, tail = tail, np.int64(end)
            in_bits = np.int64(not to_queue)
        else:
            if is_symmetric:
                unseen -= edges
            if LEAST:
                end = push_least(
                    a_indptr,
                    a_indices,
                    out_levels,
                    out_parents,
                    kept_done,
                    kept_seen,
                    kept_next,
                    kept_queue,
                    kept_stop,
                    head,
                    tail,
                    depth,
                    has_levels,
                )
            else:
                end = push_level(
                    a_indptr,
                    a_indices,
                    out_levels,
                    out_parents,
                    kept_done,
                    kept_seen,
                    kept_queue,
                    kept_edges,
                    kept_stop,
                    head,
                    tail,
                    depth,
                    has_levels,
                    parents,
                    two_maps,
                )
            count = np.int64(end) - tail
            if not is_symmetric:
                for t in range(np.uint64(tail), np.uint64(end)):
                    v = np.uint64(kept_queue[t])
                    unseen -= np.int64(b_indptr[v + ONE]) - np.int64(b_indptr[v])
            head, tail = tail, np.int64(end)
        steps -= 1
        reached += count
        left -= count
        frontier = count
        depth += np.int64(count > 0)
        if depth > deepest:
            status = TOO_DEEP
            break
    kept_state[DEPTH], kept_state[HEAD], kept_state[TAIL] = depth, head, tail
    kept_state[REACHED], kept_state[LEFT], kept_state[UNSEEN] = reached, left, unseen
    kept_state[FRONTIER], kept_state[IN_BITS] = frontier, in_bits
    return status


def find_hubs(b_indptr, b_indices, out_firsts, start, stop):
    """The neighbour of each vertex from start to stop that has most edges itself, or -1."""
    for v in range(np.uint64(start), np.uint64(stop)):
        hub, most = np.int32(-1), -1
        for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + ONE])):
            k = np.uint64(b_indices[p])
            degree = np.int64(b_indptr[k + ONE]) - np.int64(b_indptr[k])
            if degree > most:
                hub, most = np.int32(k), degree
        out_firsts[v] = hub
