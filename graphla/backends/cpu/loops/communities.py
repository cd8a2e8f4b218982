"""Which label, or which community, is most around each vertex."""

import numpy as np

ONE = np.uint64(1)
BATCH = 1023
STILL, MOVING = 0, 1
MARGIN = 1e-12


def popular(
    indptr,
    indices,
    values,
    labels,
    out_labels,
    kept_sums,
    kept_met,
    kept_stop,
    step,
    start,
    stop,
):
    """The label of the greatest sum around each vertex from start to stop, of equal ones the least.

    The new labels take the place of older ones in `out_labels`. Which of bits 0 and 1 is set says
    that a new one differs from that in `labels`, or from the older one. All sums are 0 before and
    after; `met` has room for the longest row.
    """
    step = np.uint64(step)
    differs = 0
    for v in range(np.uint64(start), np.uint64(stop)):
        if v & np.uint64(BATCH) == np.uint64(0) and kept_stop[0]:
            break
        count = 0
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            label = labels[np.uint64(indices[p])]
            if kept_sums[label] == 0:
                kept_met[count] = label
                count += 1
            kept_sums[label] += values[p * step]
        best, most = labels[v], kept_sums[0] - kept_sums[0] - 1
        for k in range(count):
            label = kept_met[k]
            total = kept_sums[label]
            kept_sums[label] = 0
            if total > most or (total == most and label < best):
                best, most = label, total
        if best != labels[v]:
            differs |= 1
        if best != out_labels[v]:
            differs |= 2
        out_labels[v] = best
    return differs


def gains(indptr, indices, values, community, kept_sums, kept_met, step, v):
    """Sums what v is linked by to each community around it; how many of these there are."""
    count = 0
    for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
        j = np.int64(indices[p])
        if j != v:
            c = community[j]
            if kept_sums[c] == 0:
                kept_met[count] = c
                count += 1
            kept_sums[c] += values[p * np.uint64(step)]
    return count


def move(
    indptr,
    indices,
    values,
    degrees,
    factor,
    order,
    out_community,
    kept_totals,
    kept_sums,
    kept_met,
    kept_queue,
    kept_waits,
    kept_stop,
    step,
):
    """Moves vertices one by one, first in order, then those around whom something moved.

    A vertex moves where it gains most: gain(c) = what links it to c, less factor[0] times
    out(v)·into(c) + into(v)·out(c), which are what chance would link, without v itself. Totals lie
    side by side: out(c), into(c). All sums are 0 before and after; `queue` is a ring of n places.
    """
    n = order.size
    f = factor[0]
    for t in range(n):
        kept_queue[t] = order[t]
        kept_waits[t] = True
    head, size, turns = 0, n, 0
    while size:
        if turns & BATCH == 0 and kept_stop[0]:
            return MOVING
        turns += 1
        v = np.int64(kept_queue[head])
        head += 1
        if head == n:
            head = 0
        size -= 1
        kept_waits[v] = False
        count = gains(indptr, indices, values, out_community, kept_sums, kept_met, step, v)
        out, into, own = degrees[0, v], degrees[1, v], out_community[v]
        kept_totals[own, 0] -= out
        kept_totals[own, 1] -= into
        best = own
        most = kept_sums[own] - f * (out * kept_totals[own, 1] + into * kept_totals[own, 0])
        most += MARGIN * (out + into)
        for k in range(count):
            c = kept_met[k]
            if c != own:
                gain = kept_sums[c] - f * (out * kept_totals[c, 1] + into * kept_totals[c, 0])
                if gain > most:
                    best, most = c, gain
        for k in range(count):
            kept_sums[kept_met[k]] = 0
        kept_totals[best, 0] += out
        kept_totals[best, 1] += into
        if best == own:
            continue
        out_community[v] = best
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
            j = np.int64(indices[p])
            if out_community[j] != best and not kept_waits[j]:
                kept_waits[j] = True
                place = head + size
                if place >= n:
                    place -= n
                kept_queue[place] = j
                size += 1
    return STILL
