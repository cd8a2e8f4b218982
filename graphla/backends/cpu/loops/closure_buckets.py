"""Closure under min.plus by delta-stepping: x = x min (x min.+ A). No value is negative.

See U. Meyer and P. Sanders, *Delta-stepping: a parallelizable shortest path algorithm*, 2003; and
the thread-local buckets of S. Beamer et al., *The GAP Benchmark Suite*, 2015.

Bucket b holds the pending vertices whose values lie between base + b * width and base + (b + 1) *
width. A vertex is pending if its value has decreased since it was last multiplied. The last bucket,
FAR, also holds all vertices with larger values. The loop multiplies the vertices of one bucket in
rounds, until none of them is pending, and proceeds to the next bucket that is not empty. To
multiply a vertex means to add its value to the weights of its out-edges, and to decrease the values
of their targets to these sums.

A bucket is a chain of blocks, one chain per thread. A vertex that moves to a lower bucket is not
removed from the higher one; it is skipped there, because it is no longer pending. If all blocks are
in use, `append` lists no more vertices and sets a flag. All chains are then rebuilt from `done`.

Several threads may multiply the vertices of one round. They use atomic operations.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    HAS_PARENTS,
    INFINITE,
    IS_SHARED,
    bucket,
    compare_and_swap,
    exchange,
    fetch_add,
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
BLOCK = 64  # number of vertices in a block
LOW = np.uint64(BLOCK - 1)
BATCH = 512  # number of edges in a batch
ROOM = np.uint64(BATCH)
SHORT = np.uint64(4)  # maximum length of a row that is copied without a branch
AHEAD = np.uint64(8)  # the loop loads the start of a row this many vertices in advance
FAR = 64  # the number of the last bucket
ROW = FAR + 8  # length of the part of `heads` and `ends` that belongs to one thread
CHUNK = 64  # number of vertices that a thread takes at a time in a short round
LEAST_LOAD = 256  # a chunk of less than CHUNK vertices has at least about this many edges
LOAD = 8192  # approximate maximum number of edges in a chunk of a round
MANY = 16  # several threads share only rounds with at least this many vertices
SAMPLES = 64  # number of vertices of a round whose edges are counted for an estimate
COPIED = 64  # if a round has more blocks than this, several threads copy them
ALONE = 256  # after this number of consecutive rounds with few edges, one thread continues alone
CHUNKS = 8  # a round with many vertices has at least this many chunks per thread
CHECK = 1023  # the stop flag is read every CHECK vertices
# Positions in `state`: the index of the current bucket, the number of vertices of this round, the
# number of blocks in use, whether a vertex could not be listed because no block was left, and how
# many buckets, vertices and edges have been processed so far.
CURRENT, SIZE, BLOCKS, IS_FULL, DEPTH, MULTIPLIED, EDGES = range(7)
FINISHED, PAUSED, STOPPED, TO_SHARE, TO_RUN_ALONE, TOO_LARGE = range(6)
FAILED = np.int64(-(1 << 60))  # a thread adds this to its number of edges if a value is too large
# The kinds of steps of a team: multiply the vertices of a round, or copy chains to `round`.
MULTIPLY, COPY = range(2)


class Edges(NamedTuple):
    """A matrix in CSR."""

    indptr: Any
    indices: Any
    values: Any


class Work(NamedTuple):
    """The vector x, and the pending vertices."""

    values: Any  # the value of each vertex, or INFINITE if x has no entry there
    parents: Any
    # Whether each vertex has been multiplied since its value last decreased. All other vertices
    # with a value are pending.
    done: Any
    round: Any  # the vertices of this round
    pool: Any  # the blocks
    links: Any  # for each block, the previous block of its chain, or -1
    heads: Any  # for each thread and bucket, the last block of the chain, or -1
    # For each thread and bucket, the position in `pool` where the last block's vertices end.
    ends: Any
    counts: Any  # for each thread and bucket, the number of blocks in the chain
    round_ends: Any  # for each thread, the position at which its vertices end in `round`
    limits: Any  # four values: base, width, the largest value to multiply, the largest value wanted
    state: Any
    stop: Any


def append(work: Work, chain, v):
    """Append vertex v to a chain. If no block is left, set state[IS_FULL] instead."""
    end = np.uint64(work.ends[chain])
    if end & LOW == ZERO:
        if IS_SHARED:
            block = fetch_add(work.state, BLOCKS, 1)
        else:
            block = work.state[BLOCKS]
            work.state[BLOCKS] = block + 1
        if block >= work.links.size:
            work.state[IS_FULL] = 1
            return
        work.links[np.uint64(block)] = work.heads[chain]
        work.heads[chain] = block
        work.counts[chain] += 1
        end = np.uint64(block * BLOCK)
    work.pool[end] = v
    work.ends[chain] = end + ONE


def multiply(edges: Edges, work: Work, step, first, begin, end):
    """Multiply the vertices in round[begin:end]. `first` is the thread's first chain.

    Return the number of edges that were read, or -1 if a value is too large to be multiplied.
    `step` is 0 if the array of weights holds a single weight for all entries, otherwise 1. The
    function lists a batch of edges before it examines their targets. It copies a short row without
    a branch that depends on its length, and chooses edges without a branch that depends on the
    values.
    """
    indptr, indices, weights = edges
    values, done, current = work.values, work.done, work.state[CURRENT]
    base, width, largest = work.limits[0], work.limits[1], work.limits[2]
    targets, sums = local_array(BATCH, np.int32), local_array(BATCH, values.dtype)
    sources, chosen = local_array(BATCH, np.int32), local_array(BATCH, np.int32)
    size = np.uint64(indices.size)
    t, last = np.uint64(begin), np.uint64(end)
    p, stop, count, k = ZERO, ZERO, ZERO, ZERO
    u = values.dtype.type(0)
    total = 0
    while p < stop or t < last:
        while count + SHORT <= ROOM and (p < stop or t < last):
            if p == stop:
                later = np.uint64(work.round[min(t + AHEAD + AHEAD, last - ONE)])
                prefetch_element(indptr, later)
                prefetch_element(values, later)
                soon = np.uint64(indptr[np.uint64(work.round[min(t + AHEAD, last - ONE)])])
                prefetch_element(indices, soon)
                prefetch_element(weights, soon * step)
                k = np.uint64(work.round[t])
                t += ONE
                if IS_SHARED:
                    was_done = exchange(done, k, np.uint8(1))
                else:
                    was_done = done[k]
                    done[k] = 1
                u = values[k]
                if u > largest:
                    return -1
                p, stop = np.uint64(indptr[k]), np.uint64(indptr[k + ONE])
                if was_done:
                    p = stop
                total += np.int64(stop - p)
            if stop - p <= SHORT and p + SHORT <= size:
                for i in range(SHORT):
                    o = indices[p + i]
                    new = values.dtype.type(u + values.dtype.type(weights[(p + i) * step]))
                    targets[count + i], sums[count + i] = o, new
                    if HAS_PARENTS:
                        sources[count + i] = np.int32(k)
                count += stop - p
                p = stop
            else:
                most = min(stop, p + ROOM - count)
                for i in range(p, most):
                    o = indices[i]
                    new = values.dtype.type(u + values.dtype.type(weights[i * step]))
                    targets[count], sums[count] = o, new
                    if HAS_PARENTS:
                        sources[count] = np.int32(k)
                    count += ONE
                p = most
        kept = ZERO
        for e in range(count):
            chosen[kept] = e
            kept += np.uint64(sums[e] < values[np.uint64(targets[e])])
        for c in range(kept):
            e = np.uint64(chosen[c])
            o = np.uint64(targets[e])
            new, old = sums[e], values[o]
            if not new < old:
                continue
            if IS_SHARED:
                while not compare_and_swap(values, o, old, new):
                    old = values[o]
                    if not new < old:
                        break
                if not new < old:
                    continue
            else:
                values[o] = new
                if HAS_PARENTS:
                    work.parents[o] = sources[e]
            b = bucket(new, base, width)
            before = FAR + 1 if old == INFINITE else bucket(old, base, width)
            is_new = b != before
            if b == current and not is_new:
                # A vertex that is not done is already listed for this round or the next.
                if IS_SHARED:
                    is_new = exchange(done, o, np.uint8(0)) != 0
                else:
                    is_new = done[o] != 0
                    done[o] = 0
            if is_new:
                append(work, np.uint64(first + b), np.int32(o))
        count = ZERO
    return total


def collect(work: Work, b, threads):
    """Move the vertices of bucket b of all threads to `round`, and return their number."""
    count = np.uint64(0)
    for thread in range(threads):
        chain = np.uint64(thread * ROW + b)
        block = work.heads[chain]
        begin, end = np.uint64(block * BLOCK), np.uint64(work.ends[chain])
        while block >= 0:
            for t in range(begin, end):
                work.round[count] = work.pool[t]
                count += ONE
            block = work.links[np.uint64(block)]
            begin = np.uint64(block * BLOCK)
            end = begin + np.uint64(BLOCK)
        work.heads[chain] = -1
        work.ends[chain] = work.counts[chain] = 0
    return np.int64(count)


def count_listed(work: Work, b, threads):
    """Return the number of vertices that all threads have listed in bucket b.

    For each thread, store the position at which its vertices end in `round`.
    """
    total = 0
    for thread in range(threads):
        chain = np.uint64(thread * ROW + b)
        if work.heads[chain] >= 0:
            full = work.counts[chain] - 1  # only the last block of a chain may have room
            total += full * BLOCK + work.ends[chain] - work.heads[chain] * BLOCK
        work.round_ends[np.uint64(thread)] = total
    return total


def copy_chain(work: Work, b, thread):
    """Move the vertices in bucket b of a single thread to `round`."""
    chain = np.uint64(thread * ROW + b)
    block, end = work.heads[chain], work.ends[chain]
    to = np.uint64(work.round_ends[np.uint64(thread)])
    while block >= 0:
        begin = block * BLOCK
        to -= np.uint64(end - begin)
        for t in range(np.uint64(end - begin)):
            work.round[to + t] = work.pool[np.uint64(begin) + t]
        block = np.int64(work.links[np.uint64(block)])
        end = block * BLOCK + BLOCK
    work.heads[chain] = -1
    work.ends[chain] = work.counts[chain] = 0


def estimate_edges(indptr, work: Work, size):
    """Estimate the number of edges of the pending vertices in round[:size] from a sample."""
    edges = 0
    for t in range(SAMPLES):
        k = np.uint64(work.round[np.uint64(size * t // SAMPLES)])
        if not work.done[k]:
            edges += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
    return edges * size // SAMPLES


def list_again(work: Work, count):
    """Append the pending vertices among round[:count] to their buckets."""
    base, width = work.limits[0], work.limits[1]
    for t in range(np.uint64(count)):
        v = np.uint64(work.round[t])
        if not work.done[v]:
            append(work, np.uint64(bucket(work.values[v], base, width)), np.int32(v))


def empty(work: Work, threads):
    """Empty all buckets. Write the pending vertices to `round`, and return their number."""
    work.state[BLOCKS] = work.state[IS_FULL] = 0
    for chain in range(np.uint64(threads * ROW)):
        work.heads[chain] = -1
        work.ends[chain] = work.counts[chain] = 0
    count = ZERO
    for v in range(np.uint64(work.values.size)):
        if not work.done[v] and work.values[v] != INFINITE:
            work.round[count] = np.int32(v)
            count += ONE
    return np.int64(count)


def find_bucket(work: Work, threads, target, most):
    """Return the next bucket that is not empty, or -1 if the closure is complete or all wanted
    values are final."""
    b, values, limits = work.state[CURRENT], work.values, work.limits
    is_empty = True
    while is_empty and b < FAR:
        b += 1
        for thread in range(threads):
            if work.heads[np.uint64(thread * ROW + b)] >= 0:
                is_empty = False
    if is_empty:
        return -1
    if target >= 0 and bucket(values[np.uint64(target)], limits[0], limits[1]) < b:
        return -1
    if most and work.state[DEPTH] and bucket(limits[3], limits[0], limits[1]) < b:
        return -1
    return b


def raise_base(work: Work, size):
    """Set the base to the smallest value of the pending vertices in round[:size].

    Return whether there is a pending vertex.
    """
    smallest = INFINITE
    for t in range(np.uint64(size)):
        v = np.uint64(work.round[t])
        if not work.done[v]:
            smallest = min(smallest, work.values[v])
    if smallest == INFINITE:
        return False
    work.limits[0], work.state[CURRENT] = smallest, 0
    return True


def copy_chains(work: Work, team, threads):
    """Move chains of the current bucket to `round`; other threads may move other chains."""
    while True:
        thread = take_chunk(team, 1)
        if thread >= threads:
            break
        copy_chain(work, work.state[CURRENT], thread)


def gather_round(work: Work, team, threads):
    """Move the vertices of the current bucket of all threads to `round`; return their number."""
    b = work.state[CURRENT]
    size = count_listed(work, b, threads)
    if size > COPIED * BLOCK:
        open_step(team, COPY)
        copy_chains(work, team, threads)
        close_step(team)
    elif size:
        for thread in range(threads):
            copy_chain(work, b, thread)
    return size


def run(edges: Edges, kept_work: Work, step, threads, longest, least, target, most, steps):
    """Process up to `steps` buckets in one thread, and return why the loop ended.

    `longest` is the number of entries of the longest row. If a round has at least `least` edges and
    there are several threads, the loop returns TO_SHARE. The vertices of this round are then in
    `round`. Unless `target` is -1, the loop ends once the value of the vertex `target` is final. If
    `most` is true, the loop ends once all pending values are greater than limits[3].
    """
    indptr, state, stop = edges.indptr, kept_work.state, kept_work.stop
    values, limits = kept_work.values, kept_work.limits
    round_, done = kept_work.round, kept_work.done
    step, is_new, count = np.uint64(step), False, 0
    while not stop[0]:
        b = state[CURRENT]
        if state[IS_FULL]:
            count = empty(kept_work, threads)
        if count:
            list_again(kept_work, count)
            count = 0
            continue
        if is_new:
            is_new = False
            state[DEPTH] += 1
            if steps == 0:
                return PAUSED
            steps -= 1
        size = collect(kept_work, b, threads)
        if size == 0:
            b = find_bucket(kept_work, threads, target, most)
            if b < 0:
                return FINISHED
            state[CURRENT], is_new = b, b < FAR
            continue
        if b == FAR:  # the smallest pending value becomes the base
            smallest = INFINITE
            for t in range(np.uint64(size)):
                v = np.uint64(round_[t])
                if not done[v]:
                    smallest = min(smallest, values[v])
            if smallest == INFINITE:
                return FINISHED
            limits[0], state[CURRENT], is_new, count = smallest, 0, True, size
            continue
        if threads > 1 and size > CHUNK and size * longest >= least:
            total = 0
            for t in range(np.uint64(size)):
                k = np.uint64(round_[t])
                if not done[k]:
                    total += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
            if total >= least:
                state[SIZE] = size
                return TO_SHARE
        for begin in range(0, size, CHECK):
            if stop[0]:
                return STOPPED
            total = multiply(edges, kept_work, step, 0, begin, min(begin + CHECK, size))
            if total < 0:
                return TOO_LARGE
            state[EDGES] += total
        state[MULTIPLIED] += size
    return STOPPED


def run_together(
    edges: Edges,
    kept_work: Work,
    kept_team,
    step,
    threads,
    longest,
    least,
    target,
    most,
    steps,
    thread,
):
    """Process up to `steps` buckets in several threads, and return why the loop ended.

    The caller calls this function after `run` has returned TO_SHARE. Thread 0 leads the other
    threads (see `loops/team`). It returns TO_RUN_ALONE after ALONE consecutive rounds with fewer
    than `least` edges. Other parameters are as in `run`.
    """
    indptr, state, stop = edges.indptr, kept_work.state, kept_work.stop
    step, is_new, again = np.uint64(step), False, 0
    number, alone, status = np.int64(0), 0, STOPPED
    is_large = True
    while not stop[0]:
        if thread > 0:
            number = enter(kept_team, stop, number)
            if number == OVER:
                return STOPPED if stop[0] else FINISHED
            if kept_team[KIND] == COPY:
                copy_chains(kept_work, kept_team, threads)
                leave(kept_team)
                continue
        elif not is_large:
            if state[IS_FULL]:
                again = empty(kept_work, threads)
            if again:
                list_again(kept_work, again)
                again = 0
                continue
            if is_new:
                is_new = False
                state[DEPTH] += 1
                if steps == 0:
                    status = PAUSED
                    break
                steps -= 1
            size = gather_round(kept_work, kept_team, threads)
            if size == 0:
                b = find_bucket(kept_work, threads, target, most)
                if b < 0:
                    status = FINISHED
                    break
                state[CURRENT], is_new = b, b < FAR
                continue
            if state[CURRENT] == FAR:
                if not raise_base(kept_work, size):
                    status = FINISHED
                    break
                is_new, again = True, size
                continue
            state[SIZE] = size
            if size >= MANY and size * longest >= least:
                is_large = estimate_edges(indptr, kept_work, size) >= least
        is_shared = thread > 0 or is_large  # whether several threads run this round
        chunk = CHECK
        if is_shared:
            if thread == 0:
                size = state[SIZE]
                ahead = max(estimate_edges(indptr, kept_work, size), 1)
                chunk = max(size // (threads * CHUNKS), min(size * LEAST_LOAD // ahead, CHUNK))
                kept_team[ARGUMENT] = max(min(chunk, CHECK, size * LOAD // ahead), 1)
                open_step(kept_team, MULTIPLY)
            chunk = kept_team[ARGUMENT]
        begin, total = np.int64(0), np.int64(0)
        while not stop[0]:
            if is_shared:
                begin = take_chunk(kept_team, chunk)
            if begin >= state[SIZE]:
                break
            end = min(begin + chunk, state[SIZE])
            count = multiply(edges, kept_work, step, thread * ROW, begin, end)
            total += FAILED if count < 0 else count
            begin = end
        if is_shared:
            fetch_add(kept_team, SUM, total)
            if thread > 0:
                leave(kept_team)
                continue
            close_step(kept_team)
            total = kept_team[SUM]
        if total < 0:
            status = TOO_LARGE
            break
        state[EDGES] += total
        state[MULTIPLIED] += state[SIZE]
        state[SIZE] = 0
        alone = 0 if is_large else alone + 1
        is_large = False
        if alone == ALONE:
            status = TO_RUN_ALONE
            break
    if thread == 0:
        dismiss(kept_team)
    return status
