"""Closure: repeat x = x (+) x A until x converges, in rounds or by delta-stepping.

To multiply an entry x(k) means to compute its products with the entries of row k of A, and to add
them to x. Delta-stepping first multiplies the near entries: those within delta of the best one.
Here `values` and `parents` hold the value and the parent of each entry of x. Entry o improves if
values(o) (+) values(k) A(k, o) differs from values(o); then parents(o) becomes k. An entry that has
improved since it was last multiplied is pending, and is in a queue. All NaNs count as the same
value, whatever their bits. If a product overflows its integer dtype, the loop omits it and reports
the overflow.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import add, beyond, narrower, overflows, term, wider

ONE = np.uint64(1)
BATCH = np.uint64(1023)  # the stop flag is read every BATCH + 1 entries of a queue
SIZE, DEPTH, MADE, OVERFLOWED, TURN, FAR, FRONTIER, EDGES = range(8)
FINISHED, PAUSED, STOPPED, UNSETTLED, SUSPECT = range(5)
NEAR, AWAY, USED, LISTED = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
LOOKED, AGAIN = 4, 8


class Edges(NamedTuple):
    """A matrix in CSR, and a mask.

    Entry o of the vector x may be written only if mask[o * mask_step] differs from `forbidden`.
    """

    indptr: Any
    indices: Any
    values: Any
    mask: Any
    step: Any  # 0 if `values` holds one value for all entries, otherwise 1
    mask_step: Any
    forbidden: Any


class Found(NamedTuple):
    """The vector x, and the parent of each entry."""

    present: Any
    values: Any
    parents: Any


class Rounds(NamedTuple):
    """The pending entries of a closure that runs in rounds."""

    queue: Any  # its two halves alternately hold the entries of this round and of the next
    read: Any  # the values of this round's entries at the start of the round
    marks: Any  # whether each entry is queued for the next round
    state: Any
    stop: Any


class NearFar(NamedTuple):
    """The pending entries of a closure that multiplies near entries before far ones."""

    ring: Any  # a ring buffer of the near entries that must still be multiplied
    pile: Any  # far entries
    # Flags of each entry. NEAR: the entry is in `ring`. AWAY: the entry is in `pile`. USED: the
    # entry has already been multiplied.
    codes: Any
    width: Any  # an array whose only element is delta: values within delta of the best are near
    state: Any
    stop: Any


def improve(present, old, new):
    """Return whether adding `new` changes an entry of x, and the resulting value.

    The value of the entry is `old`. If `present` is False, there is no entry yet.
    """
    if not present:
        return True, new
    total = add(old, new)
    return total != old and (total == total or old == old), total


def rounds(edges: Edges, out_found: Found, kept_work: Rounds, limit, turns, most, steps):
    """Run up to `steps` rounds, and return why the loop ended.

    Each round multiplies only the entries that improved in the previous round, with the values that
    they had at the start of the round. The result is the same as if all entries were multiplied:
    the products of the other entries have already been added to x, and (+) is idempotent. After
    `most` products the loop ends with the status SUSPECT, so that the caller can check the parents
    for a cycle.
    """
    indptr, indices, weights, mask, step, mask_step, forbidden = edges
    present, values, parents = out_found
    queue, read, marks, state, stop = kept_work
    a_step, mask_step = np.uint64(step), np.uint64(mask_step)
    n = np.uint64(values.size)
    size, depth, made = np.uint64(state[SIZE]), state[DEPTH], state[MADE]
    here = n * np.uint64(state[TURN])
    status = FINISHED
    while size and depth < limit:
        if stop[0]:
            status = STOPPED
            break
        if depth == turns:
            status = UNSETTLED
            break
        if made > most:
            status = SUSPECT
            break
        if steps == 0:
            status = PAUSED
            break
        there, count, walked = n - here, np.uint64(0), 0
        for t in range(size):
            read[t] = values[np.uint64(queue[here + t])]
        for t in range(size):
            if t & BATCH == BATCH and stop[0]:
                return STOPPED
            k = np.uint64(queue[here + t])
            u = read[t]
            walked += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
            for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + ONE])):
                o = np.uint64(indices[p])
                if mask[o * mask_step] == forbidden:
                    continue
                a = weights[p * a_step]
                if overflows(a, u):
                    state[OVERFLOWED] = 1
                    continue
                better, value = improve(present[o], values[o], term(a, u, o, k))
                if better:
                    present[o] = True
                    values[o] = value
                    parents[o] = np.int32(k)
                    if not marks[o]:
                        marks[o] = True
                        queue[there + count] = np.int32(o)
                        count += ONE
        for t in range(count):
            marks[np.uint64(queue[there + t])] = False
        state[FRONTIER], state[EDGES] = size, walked
        here, size = there, count
        made += walked
        depth += 1
        steps -= 1
    state[SIZE], state[DEPTH], state[MADE] = size, depth, made
    state[TURN] = np.int64(here > np.uint64(0))
    return status


def near_far(edges: Edges, out_found: Found, kept_work: NearFar, adapts, check, steps):
    """Run up to `steps` steps, and return why the loop ended.

    Each step passes over `pile`, the list of far entries, to find the near entries: those within
    delta of the best one. It multiplies all near entries, in the order in which they became near.
    If `adapts` is set, the loop changes delta in two cases. It increases delta if the pass over
    `pile` costs more than reading the edges of the step. It decreases delta if many entries are
    multiplied more than once. In the second case, the near entries return to `pile`, so an entry
    may be in `pile` twice until the next pass. The loop tests these conditions and the stop flag
    after every `check` entries.
    """
    indptr, indices, weights, mask, step, mask_step, forbidden = edges
    present, values, parents = out_found
    ring, pile, codes, width, state, stop = kept_work
    a_step, mask_step = np.uint64(step), np.uint64(mask_step)
    room = np.uint64(ring.size)
    far = np.uint64(state[FAR])
    delta = width[0]
    while far:
        if stop[0]:
            return STOPPED
        if steps == 0:
            return PAUSED
        # Find the best entry of `pile`, the list of far entries. Remove the entries that have been
        # multiplied since they were added to the list.
        left = np.uint64(0)
        best = values[np.uint64(pile[0])]
        for t in range(far):
            o = np.uint64(pile[t])
            code = codes[o]
            if code & AWAY and not code & LISTED:
                codes[o] = code | LISTED
                pile[left] = np.int32(o)
                best = add(best, values[o]) if left else values[o]
                left += ONE
        looked = np.int64(far)
        horizon = beyond(best, delta)
        far, head, tail = np.uint64(0), np.uint64(0), np.uint64(0)
        for t in range(left):
            o = np.uint64(pile[t])
            used = codes[o] & USED
            if improve(True, values[o], horizon)[0]:
                codes[o] = used | AWAY
                pile[far] = np.int32(o)
                far += ONE
            else:
                codes[o] = used | NEAR
                ring[tail] = np.int32(o)
                tail += ONE
        if tail == room:
            tail = np.uint64(0)
        pops, again, walked = 0, 0, 0
        while head != tail:
            if pops % check == check - 1:
                waiting = tail - head if tail >= head else tail + room - head
                if stop[0]:
                    return STOPPED
                if adapts and again * AGAIN > walked and again > np.int64(far + waiting):
                    break
            k = np.uint64(ring[head])
            head += ONE
            if head == room:
                head = np.uint64(0)
            pops += 1
            u = values[k]
            degree = np.int64(indptr[k + ONE]) - np.int64(indptr[k])
            walked += degree
            if codes[k] & USED:
                again += degree
            codes[k] = USED
            for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + ONE])):
                o = np.uint64(indices[p])
                if mask[o * mask_step] == forbidden:
                    continue
                a = weights[p * a_step]
                if overflows(a, u):
                    state[OVERFLOWED] = 1
                    continue
                better, value = improve(present[o], values[o], term(a, u, o, k))
                if better:
                    present[o] = True
                    values[o] = value
                    parents[o] = np.int32(k)
                    code = codes[o]
                    if code & NEAR:
                        continue
                    if improve(True, value, horizon)[0]:
                        if not code & AWAY:
                            codes[o] = code | AWAY
                            pile[far] = np.int32(o)
                            far += ONE
                    else:
                        codes[o] = (code & USED) | NEAR
                        ring[tail] = np.int32(o)
                        tail += ONE
                        if tail == room:
                            tail = np.uint64(0)
        while head != tail:
            o = ring[head]
            codes[np.uint64(o)] = (codes[np.uint64(o)] & USED) | AWAY
            pile[far] = o
            far += ONE
            head += ONE
            if head == room:
                head = np.uint64(0)
        if adapts:
            if again * AGAIN > walked and again > looked:
                delta = narrower(delta)
            elif looked * LOOKED > walked:
                delta = wider(delta)
            width[0] = delta
        state[FAR] = far
        state[FRONTIER], state[EDGES] = pops, walked
        state[DEPTH] += 1
        steps -= 1
    return FINISHED
