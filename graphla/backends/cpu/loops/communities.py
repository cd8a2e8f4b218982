"""Find the label or community with the largest total weight among each vertex's neighbors."""

from typing import Any, NamedTuple

from graphla.backends.cpu.loops.placeholder_ops import called
from graphla.backends.cpu.loops.team import (
    KIND,
    OVER,
    close_step,
    dismiss,
    enter,
    leave,
    open_step,
    take_chunk,
)

BATCH = 1023
CHUNK = 32  # number of vertices that a thread takes at a time in a batch
CHOOSE, WAKE = range(2)
"""The kinds of steps: choose communities for vertices, or let the neighbors of vertices wait."""
STILL, MOVING = 0, 1
TURNS = 1000


class Links(NamedTuple):
    """A matrix in CSR. If `step` is 0, `values` holds a single value for all entries."""

    indptr: Any
    indices: Any
    values: Any
    step: Any


class Moves(NamedTuple):
    """The state while vertices move.

    `sides` is 2 if the weights of the edges out of and into vertices differ, and otherwise 1. If it
    is 2, element 2v of an array is for v's out-edges, and element 2v + 1 for its in-edges.
    """

    sides: Any
    degrees: Any  # the weights of the edges out of and into each vertex
    totals: Any  # the sums of the degrees in each community
    rates: Any  # two numbers: `factor` and `margin` of the request
    queue: Any  # vertices; for `move` a ring buffer of n vertices
    waits: Any  # whether a vertex is in the queue, or must be put into the next queue


class Batches(NamedTuple):
    """The arrays and parameters of moves in batches."""

    chosen: Any  # the community chosen for each vertex, or -1 if it stays in its community
    order: Any  # all vertices
    # For each thread, n elements for the sums of `sum_links`, and `longest` elements for its list.
    sums: Any
    met: Any
    span: Any  # the positions in the queue at which the current batch begins and ends
    team: Any
    size: Any  # maximum number of vertices in a batch
    few: Any  # the rounds end once fewer than n / `few` vertices wait
    rounds: Any  # maximum number of rounds
    longest: Any  # length of the longest row


def popular(
    links: Links,
    labels,
    out_labels,
    kept_active,
    kept_next,
    kept_sums,
    kept_met,
    kept_stop,
    start,
    stop,
):
    """For each active vertex in start..stop, write the most frequent label among its neighbors.

    The new labels overwrite `out_labels`, which holds the labels of the round before last. If a new
    label differs from the one that it overwrites, the neighbors of its vertex become active for the
    next round. Return whether this has happened. Inactive vertices need no work: the labels of
    their neighbors are the same as two rounds ago, so their new label is the same as two rounds
    ago, too.
    """
    differs = 0
    for v in range(start, stop):
        if v & BATCH == 0 and kept_stop[0]:
            break
        if not kept_active[v]:
            continue
        kept_active[v] = 0
        best = most_frequent(links, labels, labels, kept_sums, kept_met, v, 0)
        if best != out_labels[v]:
            differs = 1
            out_labels[v] = best
            for p in range(links.indptr[v], links.indptr[v + 1]):
                kept_next[links.indices[p]] = 1
    return differs


def popular_in_block(
    links: Links,
    labels,
    out_labels,
    kept_active,
    kept_awake,
    kept_sums,
    kept_met,
    kept_stop,
    bits,
    block,
):
    """For each active vertex v of a block, write the most frequent label among its neighbors.

    The block consists of the vertices v with v >> bits == block. The vertices change one after
    another. The labels of neighbors in this block are read from `out_labels`, so that new labels
    are used at once. The labels of other neighbors are read from `labels`, which no thread writes
    at the same time. The neighbors of v in this block become active if the label of v changes.
    Return the number of changed labels.
    """
    changes = 0
    for v in range(block << bits, min(len(labels), (block + 1) << bits)):
        if v & BATCH == 0 and kept_stop[0]:
            break
        if not kept_active[v]:
            continue
        kept_active[v] = 0
        best = most_frequent(links, labels, out_labels, kept_sums, kept_met, v, bits)
        if best != out_labels[v]:
            changes += 1
            out_labels[v] = best
            kept_awake[block] = 1
            for p in range(links.indptr[v], links.indptr[v + 1]):
                if links.indices[p] >> bits == block:
                    kept_active[links.indices[p]] = 1
    return changes


def publish_block(links: Links, labels, out_labels, kept_active, kept_awake, bits, block):
    """Copy the labels of a block to `out_labels`.

    If this changes the label of a vertex, its neighbors in other blocks become active, and these
    blocks are marked in `kept_awake`.
    """
    for v in range(block << bits, min(len(labels), (block + 1) << bits)):
        if out_labels[v] == labels[v]:
            continue
        out_labels[v] = labels[v]
        for p in range(links.indptr[v], links.indptr[v + 1]):
            j = links.indices[p]
            if j >> bits != block:
                kept_active[j] = 1
                kept_awake[j >> bits] = 1


def priority(label, salt):
    """Return the priority of a label: the label itself if the salt is 2^15, otherwise a hash of the
    label and the salt.

    Labels and salts are below 2^31. Different labels may have the same priority.
    """
    return (label * salt >> 15) & 0x7FFFFFFF


def settle(
    links: Links,
    back: Links,
    order,
    salts,
    out_labels,
    kept_active,
    kept_sums,
    kept_met,
    kept_stop,
):
    """Change the label of each active vertex, one after another in the given order.

    A vertex keeps its label if no other label is more frequent among its neighbors. Otherwise it
    takes the most frequent label. If several labels are most frequent, it takes the one with the
    largest `priority`, which depends on the label and on the salt of the vertex. The frequency of a
    label is the sum of the weights of the edges in the row of the vertex. If the label of a vertex
    changes, the vertices in its row of `back`, the transpose of `links`, become active. Return
    whether any label has changed.
    """
    differs = 0
    for k in range(len(order)):
        if k & BATCH == 0 and kept_stop[0]:
            break
        v = order[k]
        if not kept_active[v]:
            continue
        kept_active[v] = 0
        own, salt, count = out_labels[v], salts[v], 0
        for p in range(links.indptr[v], links.indptr[v + 1]):
            label = out_labels[links.indices[p]]
            kept_met[count] = label
            count += kept_sums[label] == 0
            kept_sums[label] += links.values[p * links.step]
        best, most, present = own, kept_sums[own], kept_sums[own]
        for i in range(count):
            label = kept_met[i]
            total = kept_sums[label]
            kept_sums[label] = 0
            is_first = priority(label, salt) > priority(best, salt)
            is_better = (total > most) | ((total == most) & (most > present) & is_first)
            best, most = (label if is_better else best), (total if is_better else most)
        if best != own:
            differs = 1
            out_labels[v] = best
            for p in range(back.indptr[v], back.indptr[v + 1]):
                kept_active[back.indices[p]] = 1
    return differs


def most_frequent(links, labels, near_labels, kept_sums, kept_met, v, bits):
    """Return the most frequent label among the neighbors of v, or v's label if it has none.

    The frequency of a label is the sum of the weights of the edges to the neighbors that have it.
    Among the labels with the largest sum, the smallest is chosen. The label of neighbor j is
    near_labels[j] if j >> bits == v >> bits, and otherwise labels[j]. All elements of `kept_sums`
    are 0 before and after the call; `kept_met` is at least as long as the longest row.
    """
    count = 0
    for p in range(links.indptr[v], links.indptr[v + 1]):
        j = links.indices[p]
        label = near_labels[j] if j >> bits == v >> bits else labels[j]
        kept_met[count] = label
        count += kept_sums[label] == 0  # a branch would often be mispredicted
        kept_sums[label] += links.values[p * links.step]
    best, most = near_labels[v], kept_sums[0] - kept_sums[0] - 1
    for k in range(count):
        label = kept_met[k]
        total = kept_sums[label]
        kept_sums[label] = 0
        is_better = (total > most) | ((total == most) & (label < best))
        best, most = (label if is_better else best), (total if is_better else most)
    return best


def sum_links(links, community, kept_sums, kept_met, v):
    """Sum the weights of the edges between v and each neighboring community.

    Return the number of neighboring communities. All elements of `kept_sums` must be 0 before the
    call; `best_move` sets them to 0 again.
    """
    count = 0
    for p in range(links.indptr[v], links.indptr[v + 1]):
        j = links.indices[p]
        if j != v:
            c = community[j]
            kept_met[count] = c
            count += kept_sums[c] == 0  # a branch would often be mispredicted
            kept_sums[c] += links.values[p * links.step]
    return count


def best_move(moves, kept_sums, kept_met, own, count, v):
    """Return the community with the largest gain for vertex v; `own` is its present community.

    The gain of community c is the weight between v and c, minus factor times
    (out(v)·into(c) + into(v)·out(c)), where the sums of c exclude v.
    """
    totals, factor, margin = moves.totals, moves.rates[0], moves.rates[1]
    sides, other = moves.sides, moves.sides - 1
    out, into = moves.degrees[sides * v], moves.degrees[sides * v + other]
    best = own
    outs, intos = totals[sides * own] - out, totals[sides * own + other] - into
    most = kept_sums[own] - factor * (out * intos + into * outs) + margin * (out + into)
    for k in range(count):
        c = kept_met[k]
        gain = kept_sums[c] - factor * (out * totals[sides * c + other] + into * totals[sides * c])
        is_better = (c != own) & (gain > most)
        best, most = (c if is_better else best), (gain if is_better else most)
        kept_sums[c] = 0
    return best


def transfer(moves, community, v, best):
    """Move v to community `best`."""
    own, totals, sides = community[v], moves.totals, moves.sides
    for side in range(sides):
        degree = moves.degrees[sides * v + side]
        totals[sides * own + side] -= degree
        totals[sides * best + side] += degree
    community[v] = best


def move_in_batches(
    links: Links, out_community, kept_moves: Moves, kept_batches: Batches, kept_stop, thread
):
    """Move vertices in batches for at most `rounds` rounds, while at least n / `few` of them wait.

    In each round, the vertices that wait are listed in the order of the array `order`. Each batch
    consists of `size` of them. All vertices of a batch choose their communities before the first
    one of them moves, so that threads can share this work (`loops/team`). Thread 0 leads. At the
    end the vertices that still wait are in the queue. Return their number, or -1 if a stop is
    requested.
    """
    chosen, order, sums, met, span, team, size, few, rounds, longest = kept_batches
    n, number = len(out_community), 0
    sums = sums[thread * n : (thread + 1) * n]
    met = met[thread * longest : (thread + 1) * longest]
    work = (links, out_community, chosen, kept_moves, sums, met)
    if thread > 0:
        number = enter(team, kept_stop, number)
        while number != OVER:
            work_on_batch(work, span, team, kept_stop)
            leave(team)
            number = enter(team, kept_stop, number)
        return -1
    count = list_waiting(order, kept_moves)
    while rounds > 0 and count * few >= n and not kept_stop[0]:
        rounds -= 1
        for first in range(0, count, size):
            span[0], span[1] = first, min(first + size, count)
            for kind in (CHOOSE, WAKE):
                open_step(team, kind)
                work_on_batch(work, span, team, kept_stop)
                close_step(team)
                if kind == CHOOSE:
                    apply_moves(chosen, out_community, kept_moves, first, span[1])
            if kept_stop[0]:
                break
        count = list_waiting(order, kept_moves)
    dismiss(team)
    return -1 if kept_stop[0] else count


def list_waiting(order, moves):
    """Write the vertices that wait to the queue, and return their number."""
    count = 0
    for k in range(len(order)):
        v = order[k]
        moves.queue[count] = v
        count += moves.waits[v] != 0
    return count


def work_on_batch(work, span, team, stop):
    """Process chunks of the open step until none is left or a stop is requested."""
    links, community, chosen, moves, sums, met = work
    while not stop[0]:
        first = span[0] + take_chunk(team, CHUNK)
        last = min(first + CHUNK, span[1])
        if first >= last:
            break
        if team[KIND] == CHOOSE:
            choose_moves(links, community, chosen, moves, sums, met, first, last)
        else:
            wake_neighbors(links, community, chosen, moves, first, last)


@called
def choose_moves(links, community, chosen, moves, kept_sums, kept_met, first, last):
    """Choose communities for the vertices in positions first..last - 1 of the queue.

    If a vertex should stay in its community, -1 is written for it. The function also clears the
    flags of these vertices in `waits`.
    """
    for k in range(first, last):
        v = moves.queue[k]
        own = community[v]
        count = sum_links(links, community, kept_sums, kept_met, v)
        best = best_move(moves, kept_sums, kept_met, own, count, v)
        chosen[v] = -1 if best == own else best
        moves.waits[v] = 0


def apply_moves(chosen, community, moves, first, last):
    """Move the vertices in positions first..last - 1 of the queue to the chosen communities."""
    for k in range(first, last):
        v = moves.queue[k]
        if chosen[v] >= 0:
            transfer(moves, community, v, chosen[v])


@called
def wake_neighbors(links, community, chosen, moves, first, last):
    """Set `waits` for the neighbors of each moved vertex that are not in its community.

    The moved vertices are those in positions first..last - 1 of the queue for which a community was
    chosen.
    """
    for k in range(first, last):
        v = moves.queue[k]
        if chosen[v] >= 0:
            for p in range(links.indptr[v], links.indptr[v + 1]):
                if community[links.indices[p]] != chosen[v]:
                    moves.waits[links.indices[p]] = 1


def move(links: Links, out_community, kept_moves: Moves, kept_sums, kept_met, kept_stop, size):
    """Move the vertices of the queue one by one, until the queue is empty.

    The queue contains `size` vertices at first. The neighbors of a moved vertex are appended to it.
    The loop also ends after TURNS visits per vertex: if the user declared the matrix symmetric but
    it is not, the queue may never become empty.
    """
    queue, waits = kept_moves.queue, kept_moves.waits
    n = len(queue)
    head, turns = 0, 0
    while True:
        if turns & BATCH == 0 and kept_stop[0]:
            return MOVING
        if not size or turns > TURNS * n:
            return STILL
        turns += 1
        v = queue[head]
        head += 1
        if head == n:
            head = 0
        size -= 1
        waits[v] = 0
        own = out_community[v]
        count = sum_links(links, out_community, kept_sums, kept_met, v)
        best = best_move(kept_moves, kept_sums, kept_met, own, count, v)
        if best == own:
            continue
        transfer(kept_moves, out_community, v, best)
        for p in range(links.indptr[v], links.indptr[v + 1]):
            j = links.indices[p]
            if out_community[j] != best and not waits[j]:
                waits[j] = 1
                place = head + size
                if place >= n:
                    place -= n
                queue[place] = j
                size += 1


def refine(
    links: Links,
    within,
    wholes,
    out_parts,
    kept_moves: Moves,
    kept_sizes,
    kept_cuts,
    kept_sums,
    kept_met,
    kept_stop,
):
    """Divide each community into well-connected parts.

    `within` holds the community of each vertex, and `wholes` the sums of the degrees in each
    community. Initially each vertex is a part of its own. The vertices of the queue are visited
    once. A vertex that is alone in its part joins the part of its community with the largest gain.
    Both this vertex and the part that it joins must be well connected: the weight of their edges to
    the rest of the community, which `kept_cuts` holds for each part, must be at least the weight
    expected by chance.
    """
    degrees, totals, sides = kept_moves.degrees, kept_moves.totals, kept_moves.sides
    other, factor, margin = sides - 1, kept_moves.rates[0], kept_moves.rates[1]
    for k in range(len(kept_moves.queue)):
        if k & BATCH == 0 and kept_stop[0]:
            return MOVING
        v = kept_moves.queue[k]
        out, into, whole = degrees[sides * v], degrees[sides * v + other], sides * within[v]
        whole_out, whole_into = wholes[whole], wholes[whole + other]
        expected = factor * (out * (whole_into - into) + into * (whole_out - out))
        if kept_sizes[v] != 1 or out_parts[v] != v or kept_cuts[v] < expected:
            continue
        count = 0
        for p in range(links.indptr[v], links.indptr[v + 1]):
            j = links.indices[p]
            if j != v and within[j] == within[v]:
                part = out_parts[j]
                kept_met[count] = part
                count += kept_sums[part] == 0
                kept_sums[part] += links.values[p * links.step]
        best, most, link = v, margin * (out + into), margin - margin
        for i in range(count):
            part = kept_met[i]
            outs, intos, total = totals[sides * part], totals[sides * part + other], kept_sums[part]
            kept_sums[part] = 0
            gain = total - factor * (out * intos + into * outs)
            expected = factor * (outs * (whole_into - intos) + intos * (whole_out - outs))
            if total > 0 and gain > most and kept_cuts[part] >= expected:
                best, most, link = part, gain, total
        if best != v:
            transfer(kept_moves, out_parts, v, best)
            kept_sizes[v] = 0
            kept_sizes[best] += 1
            kept_cuts[best] += kept_cuts[v] - 2 * link
    return STILL


def group(labels, out_members, kept_next):
    """List the vertices by label. The vertices with label c are written from kept_next[c] on."""
    for v in range(len(labels)):
        place = kept_next[labels[v]]
        kept_next[labels[v]] = place + 1
        out_members[place] = v


def contract_rows(
    links: Links,
    labels,
    members,
    starts,
    offsets,
    out_indices,
    out_values,
    out_counts,
    kept_places,
    first,
    last,
):
    """Sum the weights of the edges between communities first..last - 1 and each community.

    The vertices of community c are members[starts[c]:starts[c + 1]]. The sums of community c are
    written from position offsets[c] on, in the order in which the neighboring communities are
    found, and the number of sums is written to out_counts[c]. `kept_places` has one element for
    each community, and may contain any values at first.
    """
    for c in range(first, last):
        begin, place = offsets[c], offsets[c]
        for k in range(starts[c], starts[c + 1]):
            v = members[k]
            for p in range(links.indptr[v], links.indptr[v + 1]):
                d, weight = labels[links.indices[p]], links.values[p * links.step]
                at = kept_places[d]
                if begin <= at and at < place:
                    out_values[at] += weight
                else:
                    kept_places[d] = place
                    out_indices[place] = d
                    out_values[place] = weight
                    place += 1
        out_counts[c] = place - begin


def sort_symmetric(
    offsets, counts, indices, values, ends, out_indices, out_values, kept_next, first, last
):
    """Write rows first..last - 1 of a symmetric matrix, and sort each row by column.

    The entries of row c are given from position offsets[c] on, in any order. The function visits
    the rows c in ascending order and, as the matrix is symmetric, writes entry (c, d) as (d, c): it
    appends column c to row d. So each row becomes sorted. Row d is written from kept_next[d] to
    ends[d]. Return False if a row has no room for an entry, because the matrix is not symmetric.
    """
    for c in range(len(counts)):
        for p in range(offsets[c], offsets[c] + counts[c]):
            d = indices[p]
            if first <= d and d < last:
                place = kept_next[d]
                if place >= ends[d]:
                    return False
                kept_next[d] = place + 1
                out_indices[place] = c
                out_values[place] = values[p]
    return True
