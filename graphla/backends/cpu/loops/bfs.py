"""Breadth-first search, level by level: push from a queue, or pull by bit maps of the vertices.

levels(v) = the minimum number of edges from a start to v; parents(v) = a vertex one level nearer
with an edge to v. Bit v of `done` is set if v is no longer a target, because v was reached, the
mask forbids v, or v has no edges. Bit v of `seen` is set if v was reached. A vertex that is not
done and has a neighbor in `seen` is in the next level, because each level is complete before the
next. Without a mask `done` and `seen` are one array. The vertices of a level are in `queue`, or,
after a pull, in the bits of `next`, which are zero otherwise.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import LEAST

ZERO = np.uint64(0)
ONE = np.uint64(1)
SIX = np.uint64(6)
LOW = np.uint64(63)
SHORT = np.uint64(4)  # entries copied at once
ROOM = np.uint64(2048)  # edges listed before their targets are examined
WORDS = 16  # words of a bit map that one batch of a pull covers
PUSHED, SECOND, WAIT = 1, 2, 3
DEPTH, HEAD, TAIL, REACHED, LEFT, UNSEEN, IN_BITS, FRONTIER, EDGES, PULLED, FOUND = range(11)
FINISHED, PAUSED, STOPPED, TOO_DEEP, TO_PULL = range(5)
PUSH, PULL = 1, 2


def lowest(word):
    """Return the position of the lowest set bit of a word that is not zero."""
    below = (word & (~word + ONE)) - ONE
    count = ZERO
    while below:
        below &= below - ONE
        count += ONE
    return count


def ones(word):
    """Return the number of bits that are set in a word."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


class Graph(NamedTuple):
    """A matrix by rows and by columns; if there is no form by columns, the rows replace it."""

    indptr: Any
    indices: Any
    into_indptr: Any
    into_indices: Any
    firsts: Any  # a neighbor in the column of each vertex, or -1; only pulls read it


class Work(NamedTuple):
    """The results and the state of a search."""

    levels: Any
    parents: Any
    done: Any
    seen: Any
    next: Any
    queue: Any
    edges: Any  # the targets of ROOM listed edges, then their sources
    state: Any
    stop: Any


class Rule(NamedTuple):
    """What a search computes, and how far it goes."""

    has_levels: int
    has_parents: int
    has_two_maps: int
    is_symmetric: int
    direction: int  # 0 (the cheaper one), PUSH or PULL
    limit: int  # the last level to search
    deepest: int  # the largest level that the dtype of the levels holds


def take(work: Work, rule: Rule, edges, end, level):
    """Append the new targets of the first `edges` listed edges to the queue, from `end` on.

    Returns the new end of the queue. No branch depends on which targets are new.
    """
    listed, done, seen, queue = work.edges, work.done, work.seen, work.queue
    levels, parents = work.levels, work.parents
    begin = end
    for e in range(edges):
        v = np.uint64(listed[e])
        held = done[v >> SIX]
        done[v >> SIX] = held | (ONE << (v & LOW))
        queue[end] = np.int32(v)
        listed[ROOM + end - begin] = listed[ROOM + e]
        end += ((held >> (v & LOW)) & ONE) ^ ONE
    for t in range(begin, end):
        v = np.uint64(queue[t])
        if rule.has_levels:
            levels[v] = level
        if rule.has_parents:
            parents[v] = listed[ROOM + t - begin]
        if rule.has_two_maps:
            seen[v >> SIX] |= ONE << (v & LOW)
    return end


def push_level(graph: Graph, work: Work, rule: Rule, head, tail, depth):
    """Append the vertices one step from queue[head:tail] to the queue; return its new end.

    Edges are listed first. A short row is copied without a branch on its length.
    """
    indptr, indices, queue, listed = graph.indptr, graph.indices, work.queue, work.edges
    stopped = work.stop
    end = np.uint64(tail)
    level = work.levels.dtype.type(depth + 1)
    size = np.uint64(indices.size)
    edges = ZERO
    t, p, stop, u = np.uint64(head), ZERO, ZERO, ZERO
    while True:
        while edges + SHORT <= ROOM and (p < stop or t < np.uint64(tail)):
            if p == stop:
                u = np.uint64(queue[t])
                p, stop = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
                t += ONE
            if stop - p <= SHORT and p + SHORT <= size:
                for i in range(SHORT):
                    listed[edges + i] = indices[p + i]
                    listed[ROOM + edges + i] = np.int32(u)
                edges += stop - p
                p = stop
            else:
                most = min(stop - p, ROOM - edges)
                for i in range(most):
                    listed[edges + i] = indices[p + i]
                    listed[ROOM + edges + i] = np.int32(u)
                edges += most
                p += most
        if edges == ZERO or stopped[0]:
            return np.int64(end)
        end = take(work, rule, edges, end, level)
        edges = ZERO


def push_least(graph: Graph, work: Work, rule: Rule, head, tail, depth):
    """Like `push_level`, but each parent is the smallest of all possible parents."""
    indptr, indices, queue, stopped = graph.indptr, graph.indices, work.queue, work.stop
    levels, parents, done, seen, following = (
        work.levels,
        work.parents,
        work.done,
        work.seen,
        work.next,
    )
    end = np.uint64(tail)
    level = levels.dtype.type(depth + 1)
    for t in range(np.uint64(head), np.uint64(tail)):
        if t & LOW == ZERO and stopped[0]:
            break
        u = np.uint64(queue[t])
        for p in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = np.uint64(indices[p])
            word, bit = v >> SIX, ONE << (v & LOW)
            if not done[word] & bit:
                done[word] |= bit
                seen[word] |= bit
                following[word] |= bit
                if rule.has_levels:
                    levels[v] = level
                parents[v] = np.int32(u)
                queue[end] = np.int32(v)
                end += ONE
            elif following[word] & bit and parents[v] > np.int32(u):
                parents[v] = np.int32(u)
    for t in range(np.uint64(tail), end):
        following[np.uint64(queue[t]) >> SIX] = ZERO
    return np.int64(end)


def pull_words(graph: Graph, kept_work: Work, rule: Rule, depth, start, stop):
    """Set the bits of vertices one step from `seen`, in words start..stop; return their number.

    The loop first tries one neighbor of many vertices, then a second one, and then walks whole
    rows. For most vertices the first neighbor is enough. No branch depends on which vertices these
    are, so that many memory accesses overlap. To find the smallest parent, a row is walked from its
    start.
    """
    indptr, indices, firsts = graph.into_indptr, graph.into_indices, graph.firsts
    levels, parents, done, seen, following, stopped = (
        kept_work.levels,
        kept_work.parents,
        kept_work.done,
        kept_work.seen,
        kept_work.next,
        kept_work.stop,
    )
    level = levels.dtype.type(depth + 1)
    rest = np.empty(WORDS * 64 + 1, np.int32)
    total = 0
    for begin in range(np.uint64(start), np.uint64(stop), np.uint64(WORDS)):
        if stopped[0]:
            break
        left = ZERO
        for w in range(begin, min(np.uint64(begin) + np.uint64(WORDS), np.uint64(stop))):
            open_bits = ~done[w]
            found = ZERO
            while open_bits:
                place = lowest(open_bits)
                open_bits &= open_bits - ONE
                v = (w << SIX) | place
                k = firsts[v]
                there = np.uint64(k >= 0)
                k = np.uint64(max(k, 0))
                hit = (seen[k >> SIX] >> (k & LOW)) & there
                found |= hit << place
                if rule.has_levels:
                    levels[v] = level
                if rule.has_parents:
                    parents[v] = np.int32(k)
                rest[left] = np.int32(v)
                left += there & ((hit ^ ONE) | np.uint64(LEAST))
            following[w] = found
            total += ones(found)
        size, left = left, ZERO
        if LEAST:
            left = size
        else:
            for t in range(size):
                v = np.uint64(rest[t])
                k = np.uint64(indices[np.uint64(indptr[v])])
                hit = (seen[k >> SIX] >> (k & LOW)) & ONE
                following[v >> SIX] |= hit << (v & LOW)
                if rule.has_parents:
                    parents[v] = np.int32(k)
                rest[left] = np.int32(v)
                left += hit ^ ONE
            total += np.int64(size - left)
        for t in range(left):
            v = np.uint64(rest[t])
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                k = np.uint64(indices[p])
                if (seen[k >> SIX] >> (k & LOW)) & ONE:
                    bit = ONE << (v & LOW)
                    total += np.int64((following[v >> SIX] & bit) == ZERO)
                    following[v >> SIX] |= bit
                    if rule.has_parents:
                        parents[v] = np.int32(k)
                    break
    return total


def edges_of(indptr, queue, head, tail):
    """Count the entries of the rows queue[head:tail]."""
    edges = 0
    for t in range(np.uint64(head), np.uint64(tail)):
        v = np.uint64(queue[t])
        edges += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return edges


def accept(work: Work, to_queue, tail):
    """Mark the vertices that a pull has found; queue them if `to_queue`. Return the queue's end."""
    done, seen, following, queue = work.done, work.seen, work.next, work.queue
    end = np.uint64(tail)
    for w in range(np.uint64(following.size)):
        bits = following[w]
        done[w] |= bits
        seen[w] |= bits
        if to_queue:
            following[w] = ZERO
            while bits:
                queue[end] = np.int32((w << SIX) | lowest(bits))
                bits &= bits - ONE
                end += ONE
    return np.int64(end)


def search(graph: Graph, kept_work: Work, rule: Rule, steps):
    """Run up to `steps` levels from `state` on; return why the loop ended.

    The loop ends with TO_PULL before a pull. It is called again after `pull_words` has run and
    FOUND holds the number of vertices found; otherwise FOUND is -1. If the direction is 0, each
    level uses the cheaper one. UNSEEN counts the edges into unreached vertices. It is exact until
    the first pull; then it is estimated in proportion to the number of unreached vertices.
    """
    indptr, into_indptr, queue = graph.indptr, graph.into_indptr, kept_work.queue
    state, stopped, words = kept_work.state, kept_work.stop, kept_work.next.size
    depth, head, tail = state[DEPTH], state[HEAD], state[TAIL]
    reached, left, unseen = state[REACHED], state[LEFT], state[UNSEEN]
    frontier, in_bits = state[FRONTIER], state[IN_BITS]
    status = FINISHED
    while frontier > 0 and depth < rule.limit and left > 0:
        if stopped[0]:
            status = STOPPED
            break
        if steps == 0:
            status = PAUSED
            break
        count = state[FOUND]
        if count < 0:
            edges = 0
            pulls = rule.direction == PULL or in_bits
            if not in_bits:
                edges = edges_of(indptr, queue, head, tail)
                if not rule.direction:
                    looks = min(left / max(edges, 1), 1.0) * unseen
                    pulls = PUSHED * edges > words // WAIT + left + SECOND * looks
            state[EDGES], state[PULLED] = edges, pulls
            if pulls:
                status = TO_PULL
                break
        if state[PULLED]:
            state[FOUND] = -1
            unseen -= np.int64(np.float64(unseen) * count / left)
            to_queue = rule.direction != PULL and count * 8 < left + words
            end = accept(kept_work, to_queue, tail)
            in_bits = np.int64(not to_queue)
        else:
            if LEAST:
                end = push_least(graph, kept_work, rule, head, tail, depth)
            else:
                end = push_level(graph, kept_work, rule, head, tail, depth)
            count = np.int64(end) - tail
            if rule.is_symmetric:
                unseen -= state[EDGES]
            else:
                unseen -= edges_of(into_indptr, queue, tail, end)
        head, tail = tail, np.int64(end)
        steps -= 1
        reached += count
        left -= count
        frontier = count
        depth += np.int64(count > 0)
        if depth > rule.deepest:
            status = TOO_DEEP
            break
    state[DEPTH], state[HEAD], state[TAIL] = depth, head, tail
    state[REACHED], state[LEFT], state[UNSEEN] = reached, left, unseen
    state[FRONTIER], state[IN_BITS] = frontier, in_bits
    return status
