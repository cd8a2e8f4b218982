"""Breadth-first search, level by level: push from a queue, or pull with bit maps of the vertices.

levels(v) is the minimum number of edges on a path from a start vertex to v. parents(v) is a vertex
u with an edge u -> v and levels(u) = levels(v) - 1. Bit v of `done` is set if the search need not
look for v: v was reached, the mask forbids v, or v has no edges. Bit v of `seen` is set if v was
reached. If a vertex is not done and has an in-neighbor in `seen`, it belongs to the next level,
because each level is complete before the next one begins. Without a mask `done` and `seen` are the
same array. The vertices of a level are in `queue` or, after a pull, in the bits of `next`, which
are otherwise zero.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    IS_SHARED,
    LEAST,
    fetch_add,
    fetch_or,
    local_array,
    prefetch_element,
)
from graphla.backends.cpu.loops.team import (
    ARGUMENT,
    KIND,
    OVER,
    SUM,
    close_step,
    dismiss,
    enter,
    leave,
    open_step,
    take_chunk,
)

ZERO = np.uint64(0)
ONE = np.uint64(1)
SIX = np.uint64(6)
LOW = np.uint64(63)
SHORT = np.uint64(4)  # maximum length of a row that is copied without a branch
ROOM = np.uint64(2048)  # a push lists at most this many edges before it examines their targets
CHOSEN = ROOM + ROOM  # position in a thread's part of `edges` at which the chosen edges begin
# In a push a thread takes up to CHUNK vertices at a time, with about CHUNK_EDGES edges.
CHUNK, CHUNK_EDGES = 64, 1024
AHEAD = np.uint64(12)  # a push loads the start of a row this many vertices in advance
WORDS = 16  # number of words of a bit map in one batch of a pull
PULLED_WORDS = 64  # number of words that a thread takes at a time in a pull
SAMPLES = 256  # number of vertices of a frontier whose edges are counted for an estimate
MANY = 4096  # minimum number of vertices of a frontier whose edges are estimated
BATCH = WORDS * 64 + 1  # spare room: the loops write an index before deciding whether to keep it
FEW = np.uint64(16)  # maximum number of vertices of a level in `push_few`
CHECK = 1023  # `push_few` reads the stop flag every CHECK + 1 levels
FEW_EDGES = 256  # maximum number of out-edges of the vertices of a level in `push_few`
PUSHED, SECOND, WAIT = 1, 2, 3
DEPTH, HEAD, TAIL, REACHED, LEFT, UNSEEN, IN_BITS, FRONTIER, EDGES, PULLED, FOUND = range(11)
END = 11
FINISHED, PAUSED, STOPPED, TOO_DEEP, TO_PULL, TO_SHARE = range(6)
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
    """The CSR and CSC arrays of a graph. If the CSC does not exist, the CSR arrays are passed in
    its place."""

    indptr: Any
    indices: Any
    into_indptr: Any
    into_indices: Any
    firsts: Any  # an in-neighbor of each vertex, or -1; only pulls read it


class Work(NamedTuple):
    """The results and the state of a search."""

    levels: Any
    parents: Any
    done: Any
    seen: Any
    next: Any
    queue: Any
    # For each thread: the targets of up to ROOM edges, the sources of these edges, and the indices
    # of the chosen edges
    edges: Any
    state: Any
    stop: Any


class Rule(NamedTuple):
    """Options of a search: what it computes, and when it ends."""

    has_levels: int
    has_parents: int
    has_two_maps: int
    is_symmetric: int
    direction: int  # PUSH, PULL, or 0 to choose the cheaper direction
    limit: int  # the last level to search
    deepest: int  # the largest level that fits in the dtype of the levels


def take(work: Work, rule: Rule, base, edges, end, level):
    """For each listed edge, append the target to the queue if it is not reached yet.

    `edges` is the number of listed edges, which begin at position `base` of `work.edges`. The
    function writes the targets from position `end` of the queue on, and returns the new end. If
    several threads run this function, state[END] is the end of the queue, and `end` is not read.
    The loops over the edges have no branch that depends on whether a target is already reached. The
    first loop only chooses edges. It does not write to `done`, because a store would delay the test
    of the next edge, whose target is often in the same word.
    """
    listed, done, seen, queue = work.edges, work.done, work.seen, work.queue
    levels, parents = work.levels, work.parents
    count, kept = ZERO, ZERO
    for e in range(edges):
        v = np.uint64(listed[base + e])
        listed[base + CHOSEN + count] = np.int32(e)
        count += ((done[v >> SIX] >> (v & LOW)) & ONE) ^ ONE
    for c in range(count):
        e = base + np.uint64(listed[base + CHOSEN + c])
        v = np.uint64(listed[e])
        bit = ONE << (v & LOW)
        if IS_SHARED:
            held = fetch_or(done, v >> SIX, bit)
        else:
            held = done[v >> SIX]
            done[v >> SIX] = held | bit
        listed[base + kept] = np.int32(v)
        listed[base + ROOM + kept] = listed[e + ROOM]
        kept += ((held >> (v & LOW)) & ONE) ^ ONE
    if IS_SHARED:
        end = np.uint64(fetch_add(work.state, END, np.int64(kept)))
    for t in range(kept):
        v = np.uint64(listed[base + t])
        queue[end + t] = np.int32(v)
        if rule.has_levels:
            levels[v] = level
        if rule.has_parents:
            parents[v] = listed[base + ROOM + t]
        if rule.has_two_maps:
            if IS_SHARED:
                fetch_or(seen, v >> SIX, ONE << (v & LOW))
            else:
                seen[v >> SIX] |= ONE << (v & LOW)
    return end + kept


def push_level(graph: Graph, work: Work, rule: Rule, base, head, tail, end, depth):
    """Append the unreached out-neighbors of the vertices in queue[head:tail] to the queue.

    The function writes these neighbors from position `end` of the queue on, and returns the new
    end. It lists a batch of edges, from position `base` of `work.edges` on, before it examines
    their targets. A short row is copied without a branch that depends on its length.
    """
    indptr, indices, queue, listed = graph.indptr, graph.indices, work.queue, work.edges
    stopped = work.stop
    end = np.uint64(end)
    level = work.levels.dtype.type(depth + 1)
    size = np.uint64(indices.size)
    edges = ZERO
    t, p, stop, u = np.uint64(head), ZERO, ZERO, ZERO
    last = np.uint64(tail) - ONE
    while True:
        while edges + SHORT <= ROOM and (p < stop or t < np.uint64(tail)):
            if p == stop:
                soon, later = min(t + AHEAD, last), min(t + AHEAD + AHEAD, last)
                prefetch_element(indptr, np.uint64(queue[later]))
                prefetch_element(indices, np.uint64(indptr[np.uint64(queue[soon])]))
                u = np.uint64(queue[t])
                p, stop = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
                t += ONE
            if stop - p <= SHORT and p + SHORT <= size:
                for i in range(SHORT):
                    listed[base + edges + i] = indices[p + i]
                    listed[base + ROOM + edges + i] = np.int32(u)
                edges += stop - p
                p = stop
            else:
                most = min(stop - p, ROOM - edges)
                for i in range(most):
                    listed[base + edges + i] = indices[p + i]
                    listed[base + ROOM + edges + i] = np.int32(u)
                edges += most
                p += most
        if edges == ZERO or stopped[0]:
            return np.int64(end)
        end = take(work, rule, base, edges, end, level)
        edges = ZERO


def edges_of(indptr, queue, head, tail):
    """Count the entries of the rows listed in `queue[head:tail]`."""
    edges = 0
    for t in range(np.uint64(head), np.uint64(tail)):
        v = np.uint64(queue[t])
        edges += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return edges


def push_few(graph: Graph, work: Work, rule: Rule):
    """Run levels as pushes, until a frontier has more than FEW vertices or FEW_EDGES out-edges.

    If each level has only one vertex, this function takes a third of the time that `push_level`
    takes.
    """
    indptr, indices, into_indptr = graph.indptr, graph.indices, graph.into_indptr
    queue, done, state, levels, parents = (
        work.queue,
        work.done,
        work.state,
        work.levels,
        work.parents,
    )
    head, tail = np.uint64(state[HEAD]), np.uint64(state[TAIL])
    depth, unseen, most = state[DEPTH], state[UNSEEN], min(rule.limit, rule.deepest)
    edges = edges_of(indptr, queue, head, tail)
    t, end = head, tail
    while tail - head <= FEW and edges <= FEW_EDGES and depth < most:
        if depth & CHECK == 0 and work.stop[0]:
            break
        level = levels.dtype.type(depth + 1)
        ahead, arrived = ZERO, ZERO
        while t < tail:
            u = np.uint64(queue[t])
            t += ONE
            p, last = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
            while p < last:
                v = np.uint64(indices[p])
                p += ONE
                word, bit = v >> SIX, ONE << (v & LOW)
                held = done[word]
                if held & bit:
                    continue
                done[word] = held | bit
                if rule.has_two_maps:
                    work.seen[word] |= bit
                if rule.has_levels:
                    levels[v] = level
                if rule.has_parents:
                    parents[v] = np.int32(u)
                queue[end] = np.int32(v)
                end += ONE
                ahead += np.uint64(indptr[v + ONE]) - np.uint64(indptr[v])
                if not rule.is_symmetric:
                    arrived += np.uint64(into_indptr[v + ONE]) - np.uint64(into_indptr[v])
        unseen -= edges if rule.is_symmetric else np.int64(arrived)
        edges = np.int64(ahead)
        head, tail = tail, end
        if head == tail:
            break
        depth += 1
    found = np.int64(tail) - state[TAIL]
    state[REACHED] += found
    state[LEFT] -= found
    state[HEAD], state[TAIL] = np.int64(head), np.int64(tail)
    state[FRONTIER] = np.int64(tail - head)
    state[DEPTH], state[UNSEEN] = depth, unseen


def push_least(graph: Graph, work: Work, rule: Rule, head, tail, depth):
    """Run a push like `push_level`, but choose the smallest of all possible parents of each
    vertex."""
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
    """Set the bit in `next` of each target that has an in-neighbor in `seen`; return their number.

    The function examines only the vertices in words start..stop - 1 that are still targets. For a
    batch of vertices, it first tests one neighbor of each vertex, then a second neighbor, and then
    the rest of the row. For most vertices the first neighbor is enough. The first two steps do not
    branch on the result, so that many memory accesses overlap. If the smallest parent is requested,
    each row is read from its start.
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
    rest = local_array(BATCH, np.int32)
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


def accept(work: Work, to_queue, tail):
    """Mark the vertices that a pull has found, and queue them if `to_queue` is true.

    Return the end of the queue.
    """
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


def estimate_edges(indptr, queue, head, tail):
    """Estimate the number of entries of the rows listed in `queue[head:tail]` from a sample of
    these rows."""
    size = tail - head
    edges = 0
    for k in range(SAMPLES):
        v = np.uint64(queue[np.uint64(head + size * k // SAMPLES)])
        edges += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return edges * size // SAMPLES


def is_pull_cheaper(work: Work, edges):
    """Return whether a pull is cheaper than a push that reads this number of edges."""
    state = work.state
    left = state[LEFT]
    looks = min(left / max(edges, 1), 1.0) * state[UNSEEN]
    return PUSHED * edges > work.next.size // WAIT + left + SECOND * looks


def choose_direction(graph: Graph, work: Work, rule: Rule):
    """Store in state[PULLED] whether the next level is a pull.

    Store the number of the frontier's edges in state[EDGES]; it is exact if the next level is a
    push. If the frontier is large, the function first estimates this number. If a pull is cheaper
    even than a push with an eighth of the estimate, the edges are not counted.
    """
    state, queue = work.state, work.queue
    head, tail, in_bits = state[HEAD], state[TAIL], state[IN_BITS]
    edges, pulls = 0, in_bits or rule.direction == PULL
    if not in_bits:
        if not rule.direction and tail - head >= MANY:
            edges = estimate_edges(graph.indptr, queue, head, tail)
            pulls = is_pull_cheaper(work, edges // 8)
        if not pulls or rule.direction == PULL:
            edges = edges_of(graph.indptr, queue, head, tail)
            if not rule.direction:
                pulls = is_pull_cheaper(work, edges)
    state[EDGES], state[PULLED] = edges, pulls


def end_level(graph: Graph, work: Work, rule: Rule, count):
    """Update the state after a level that has found `count` vertices."""
    state = work.state
    tail, left = state[TAIL], state[LEFT]
    state[FOUND] = -1
    if state[PULLED]:
        state[UNSEEN] -= np.int64(np.float64(state[UNSEEN]) * count / left)
        to_queue = rule.direction != PULL and count * 8 < left + work.next.size
        state[TAIL] = accept(work, to_queue, tail)
        state[IN_BITS] = np.int64(not to_queue)
    else:
        state[TAIL] = tail + count
        if rule.is_symmetric:
            state[UNSEEN] -= state[EDGES]
        else:
            state[UNSEEN] -= edges_of(graph.into_indptr, work.queue, tail, tail + count)
    state[HEAD], state[FRONTIER] = tail, count
    state[REACHED] += count
    state[LEFT] -= count
    state[DEPTH] += np.int64(count > 0)


def has_next_level(work: Work, rule: Rule):
    """Return whether the search continues."""
    state = work.state
    return state[FRONTIER] > 0 and state[DEPTH] < rule.limit and state[LEFT] > 0


def search(graph: Graph, kept_work: Work, rule: Rule, shared, steps):
    """Run up to `steps` levels of a search, and return why the loop ended.

    The array `state` contains the state of the search, both before and after the call. If the next
    level is a pull, the loop ends with TO_PULL. The caller then runs `pull_words`, stores the
    number of vertices found in state[FOUND], and calls this function again. If the next level is a
    push with at least `shared` edges, the loop ends with TO_SHARE, and the caller runs
    `search_together` instead. In all other calls the caller leaves state[FOUND] at -1. If
    `rule.direction` is 0, each level uses the cheaper direction. state[UNSEEN] is the number of
    edges into unreached vertices. It is exact until the first pull; after that it is estimated from
    the number of unreached vertices.
    """
    state, stopped = kept_work.state, kept_work.stop
    while has_next_level(kept_work, rule):
        if stopped[0]:
            return STOPPED
        if steps == 0:
            return PAUSED
        tail, count = state[TAIL], state[FOUND]
        if count < 0:
            may_push = not state[IN_BITS] and rule.direction != PULL
            if not LEAST and may_push and state[FRONTIER] <= FEW and steps > 1:
                push_few(graph, kept_work, rule)
                if state[TAIL] != tail:
                    continue
            choose_direction(graph, kept_work, rule)
            if state[PULLED]:
                return TO_PULL
            head, depth = state[HEAD], state[DEPTH]
            if LEAST:
                end = push_least(graph, kept_work, rule, head, tail, depth)
            elif state[EDGES] >= shared:
                return TO_SHARE
            else:
                end = push_level(graph, kept_work, rule, ZERO, head, tail, tail, depth)
            count = np.int64(end) - tail
        end_level(graph, kept_work, rule, count)
        steps -= 1
        if state[DEPTH] > rule.deepest:
            return TOO_DEEP
    return FINISHED


def work_on_level(graph: Graph, work: Work, rule: Rule, team, thread):
    """Process chunks of a level: vertices of the frontier in a push, all vertices in a pull.

    Other threads take the other chunks. Return the number of vertices that this thread has found in
    a pull, or 0 in a push.
    """
    state, stopped = work.state, work.stop
    depth, total = state[DEPTH], 0
    if team[KIND] == PUSH:
        base = np.uint64(thread) * (CHOSEN + ROOM)
        last, chunk = state[TAIL], team[ARGUMENT]
        while not stopped[0]:
            head = state[HEAD] + take_chunk(team, chunk)
            if head >= last:
                break
            push_level(graph, work, rule, base, head, min(head + chunk, last), 0, depth)
        return 0
    words = work.next.size
    while not stopped[0]:
        begin = take_chunk(team, PULLED_WORDS)
        if begin >= words:
            break
        total += pull_words(graph, work, rule, depth, begin, min(begin + PULLED_WORDS, words))
    return total


def search_together(
    graph: Graph, kept_work: Work, rule: Rule, kept_team, shared, wide, steps, thread
):
    """Run levels on several threads, until the next level should run on one thread.

    Thread 0 leads. All other threads help it with pushes that have at least `shared` edges, and
    with pulls for more than `wide` unreached vertices. All other levels run in one thread: they are
    small, or they are pushes that must find the smallest parents. `search` has chosen the direction
    of the first level. Thread 0 runs at most `steps` levels, and returns the same as `search`.
    """
    state, stopped = kept_work.state, kept_work.stop
    step, status = np.int64(0), FINISHED
    while True:
        if thread > 0:
            step = enter(kept_team, stopped, step)
            if step == OVER:
                return STOPPED if stopped[0] else FINISHED
        else:
            state[END] = state[TAIL]
            chunk = state[FRONTIER] * CHUNK_EDGES // max(state[EDGES], 1)
            kept_team[ARGUMENT] = max(min(chunk, CHUNK), 1)
            open_step(kept_team, PULL if state[PULLED] else PUSH)
        found = work_on_level(graph, kept_work, rule, kept_team, thread)
        if found:
            fetch_add(kept_team, SUM, found)
        if thread > 0:
            leave(kept_team)
            continue
        close_step(kept_team)
        if stopped[0]:
            status = STOPPED
            break
        found = kept_team[SUM] if state[PULLED] else state[END] - state[TAIL]
        end_level(graph, kept_work, rule, found)
        steps -= 1
        if state[DEPTH] > rule.deepest:
            status = TOO_DEEP
            break
        if not has_next_level(kept_work, rule):
            break
        if steps == 0 or (not state[IN_BITS] and state[FRONTIER] <= FEW):
            status = PAUSED
            break
        choose_direction(graph, kept_work, rule)
        looks = state[LEFT] + kept_work.next.size
        if looks <= wide if state[PULLED] else (LEAST or state[EDGES] < shared):
            status = PAUSED
            break
    dismiss(kept_team)
    return status
