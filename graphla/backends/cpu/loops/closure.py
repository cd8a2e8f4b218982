"""Closure, x = x (+) x A until nothing improves: in rounds, or near entries before far ones.

An entry improves where values(o) (+) u(k) A(k, o) is another value than values(o); parents(o) = k
then. All that improved since it was multiplied is pending, in a queue. A NaN is one value, whatever
its bits. A product that does not fit its integers is left out, and told.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import add, beyond, narrower, overflows, term, wider

ONE = np.uint64(1)
BATCH = np.uint64(1023)  # entries of a queue less one, after which the stop flag is read
SIZE, DEPTH, MADE, OVERFLOWED, TURN, FAR, FRONTIER, EDGES = range(8)
FINISHED, PAUSED, STOPPED, UNSETTLED, SUSPECT = range(5)
NEAR, AWAY, USED, LISTED = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
LOOKED, AGAIN = 4, 8


def improved(present, old, new):
    """Whether an entry that is `old`, if it is there, becomes another, and which."""
    if not present:
        return True, new
    total = add(old, new)
    return total != old and (total == total or old == old), total


def rounds(
    indptr,
    indices,
    a_values,
    mask,
    out_present,
    out_values,
    out_parents,
    kept_queue,
    kept_read,
    kept_marks,
    kept_state,
    kept_stop,
    a_step,
    mask_step,
    forbidden,
    limit,
    turns,
    most,
    steps,
):
    """Goes on by up to `steps` rounds; why it ended.

    A round reads the values that its entries had at its start: what it comes to is the whole
    product's, as an entry that did not improve gives a term that is in x already, and (+) is
    idempotent. After `most` products it ends as SUSPECT, for a look at the parents. The queue is
    that of this round and that of the next, by turns.
    """
    a_step, mask_step = np.uint64(a_step), np.uint64(mask_step)
    n = np.uint64(out_values.size)
    size, depth, made = np.uint64(kept_state[SIZE]), kept_state[DEPTH], kept_state[MADE]
    here = n * np.uint64(kept_state[TURN])
    status = FINISHED
    while size and depth < limit:
        if kept_stop[0]:
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
        there, count, edges = n - here, np.uint64(0), 0
        for t in range(size):
            kept_read[t] = out_values[np.uint64(kept_queue[here + t])]
        for t in range(size):
            if t & BATCH == BATCH and kept_stop[0]:
                return STOPPED
            k = np.uint64(kept_queue[here + t])
            u = kept_read[t]
            edges += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
            for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + ONE])):
                o = np.uint64(indices[p])
                if mask[o * mask_step] == forbidden:
                    continue
                a = a_values[p * a_step]
                if overflows(a, u):
                    kept_state[OVERFLOWED] = 1
                    continue
                better, value = improved(out_present[o], out_values[o], term(a, u, o, k))
                if better:
                    out_present[o] = True
                    out_values[o] = value
                    out_parents[o] = np.int32(k)
                    if not kept_marks[o]:
                        kept_marks[o] = True
                        kept_queue[there + count] = np.int32(o)
                        count += ONE
        for t in range(count):
            kept_marks[np.uint64(kept_queue[there + t])] = False
        kept_state[FRONTIER], kept_state[EDGES] = size, edges
        here, size = there, count
        made += edges
        depth += 1
        steps -= 1
    kept_state[SIZE], kept_state[DEPTH], kept_state[MADE] = size, depth, made
    kept_state[TURN] = np.int64(here > np.uint64(0))
    return status


def near_far(
    indptr,
    indices,
    a_values,
    mask,
    out_present,
    out_values,
    out_parents,
    kept_near,
    kept_far,
    kept_codes,
    kept_delta,
    kept_state,
    kept_stop,
    a_step,
    mask_step,
    forbidden,
    adapts,
    check,
    steps,
):
    """Goes on by up to `steps` turns, each over all that is within delta of the best; why it ended.

    `near` is a ring of the entries to multiply, first come, first served, and `far` a pile of the
    others. code(o) says in which of them o is pending, and whether it was ever multiplied. If
    `adapts`, delta grows where looking through the pile costs more than the edges do; where many
    entries are multiplied more than once, it shrinks, and what is near goes back to the pile. There
    an entry may lie twice, until it is looked through. All this is asked every `check` entries.
    """
    a_step, mask_step = np.uint64(a_step), np.uint64(mask_step)
    room = np.uint64(kept_near.size)
    far = np.uint64(kept_state[FAR])
    delta = kept_delta[0]
    while far:
        if kept_stop[0]:
            return STOPPED
        if steps == 0:
            return PAUSED
        # The best of the pile, without what has been multiplied since it was put there.
        left = np.uint64(0)
        best = out_values[np.uint64(kept_far[0])]
        for t in range(far):
            o = np.uint64(kept_far[t])
            code = kept_codes[o]
            if code & AWAY and not code & LISTED:
                kept_codes[o] = code | LISTED
                kept_far[left] = np.int32(o)
                best = add(best, out_values[o]) if left else out_values[o]
                left += ONE
        looked = np.int64(far)
        horizon = beyond(best, delta)
        far, head, tail = np.uint64(0), np.uint64(0), np.uint64(0)
        for t in range(left):
            o = np.uint64(kept_far[t])
            used = kept_codes[o] & USED
            if improved(True, out_values[o], horizon)[0]:
                kept_codes[o] = used | AWAY
                kept_far[far] = np.int32(o)
                far += ONE
            else:
                kept_codes[o] = used | NEAR
                kept_near[tail] = np.int32(o)
                tail += ONE
        if tail == room:
            tail = np.uint64(0)
        pops, again, edges = 0, 0, 0
        while head != tail:
            if pops % check == check - 1:
                waiting = tail - head if tail >= head else tail + room - head
                if kept_stop[0]:
                    return STOPPED
                if adapts and again * AGAIN > edges and again > np.int64(far + waiting):
                    break
            k = np.uint64(kept_near[head])
            head += ONE
            if head == room:
                head = np.uint64(0)
            pops += 1
            u = out_values[k]
            degree = np.int64(indptr[k + ONE]) - np.int64(indptr[k])
            edges += degree
            if kept_codes[k] & USED:
                again += degree
            kept_codes[k] = USED
            for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + ONE])):
                o = np.uint64(indices[p])
                if mask[o * mask_step] == forbidden:
                    continue
                a = a_values[p * a_step]
                if overflows(a, u):
                    kept_state[OVERFLOWED] = 1
                    continue
                better, value = improved(out_present[o], out_values[o], term(a, u, o, k))
                if better:
                    out_present[o] = True
                    out_values[o] = value
                    out_parents[o] = np.int32(k)
                    code = kept_codes[o]
                    if code & NEAR:
                        continue
                    if improved(True, value, horizon)[0]:
                        if not code & AWAY:
                            kept_codes[o] = code | AWAY
                            kept_far[far] = np.int32(o)
                            far += ONE
                    else:
                        kept_codes[o] = (code & USED) | NEAR
                        kept_near[tail] = np.int32(o)
                        tail += ONE
                        if tail == room:
                            tail = np.uint64(0)
        while head != tail:
            o = kept_near[head]
            kept_codes[np.uint64(o)] = (kept_codes[np.uint64(o)] & USED) | AWAY
            kept_far[far] = o
            far += ONE
            head += ONE
            if head == room:
                head = np.uint64(0)
        if adapts:
            if again * AGAIN > edges and again > looked:
                delta = narrower(delta)
            elif looked * LOOKED > edges:
                delta = wider(delta)
            kept_delta[0] = delta
        kept_state[FAR] = far
        kept_state[FRONTIER], kept_state[EDGES] = pops, edges
        kept_state[DEPTH] += 1
        steps -= 1
    return FINISHED
