"""Label propagation and the moves of Louvain's method: compiled loops, or plain Python."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.loops.communities import (
    Links,
    Moves,
    popular_in_block,
    publish_block,
)
from graphla.backends.cpu.operands import cut, threads_worth, values_of
from graphla.backends.requests import CommunityMoves
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart, run
from graphla.formats import Array, Csr, is_iso


@dataclass(frozen=True, slots=True)
class LabelsTuning:
    """Parameters of label propagation."""

    # Maximum number of blocks of vertices. With fewer blocks, fewer threads can work, and a label
    # may fill a whole graph. With more blocks, more neighbors change at the same time.
    blocks: int = 32


TUNING = LabelsTuning()


def propagate_labels(
    links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int] | None
) -> Array | None:
    """Return the labels after at most `rounds` rounds of label propagation.

    Without a `stream_of`, all vertices change at once. Then return None if no compiled loop is used
    for a matrix of this size.
    """
    threads = compiles(links.nvals, size=links.nrows)
    if not links.nvals:
        return labels
    if stream_of is not None:
        return _propagate_in_blocks(links, labels, rounds, stream_of, threads)
    return _propagate_at_once(links, labels, rounds, threads) if threads else None


def _propagate_at_once(links: Csr, labels: Array, rounds: int, threads: int) -> Array:
    n = links.nrows
    stop = np.zeros(1, np.int64)
    rows, sums, longest = _read(links)
    is_large = threads_worth(links.nvals + n, threads) > 1
    parts = cut(np.diff(links.indptr) + 1, threads) if is_large else [(0, n)]
    scratch = [(np.zeros(n, sums), np.empty(longest, np.int32)) for _ in parts]
    # The active vertices of this round and of the next. All are active in the first two rounds,
    # because the labels before the first round were not computed from other labels.
    active = np.ones((2, n), np.uint8)
    arrays = (rows, labels, labels, *active, *scratch[0], stop)
    loop = load("communities.popular", (numba_ops.nothing,), arrays)

    def propagate() -> Array:
        now, other = labels.copy(), labels.copy()  # `other` holds the labels of the previous round
        for k in range(rounds):
            flags = active[k % 2], active[1 - k % 2]
            calls = [
                (now, other, *flags, *own, stop, *part)
                for own, part in zip(scratch, parts, strict=True)
            ]
            if not any(run(lambda *each: loop(*rows, *each), calls, threads, stop)):
                return other if (rounds - k) % 2 else now
            now, other = other, now
        return now

    return apart(propagate, stop, threads)


def _propagate_in_blocks(
    links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int], threads: int
) -> Array:
    """Let about half of the blocks of vertices change their labels, then the other blocks.

    The blocks of a half work at the same time, and do not read each other's new labels. So the
    result depends neither on the number of threads nor on their speed. If no compiled loop is used
    (`threads` is 0), the loops run as plain Python, on lists.
    """
    n = links.nrows
    bits = ((n - 1) // current(TUNING).blocks).bit_length()
    count = ((n - 1) >> bits) + 1
    stop = np.zeros(1, np.int64)
    rows: Any
    rows, sums, longest = _read(links)
    threads_used = max(1, threads_worth(links.nvals + n, threads))
    # `now` holds the labels before the current half of a round, `new` also those of this half.
    # `active` marks the vertices that may change, and `awake` the blocks that contain any.
    now, new, active = labels.copy(), labels.copy(), np.ones(n, np.uint8)
    awake = np.ones(count, np.uint8)
    scratch: list[Any] = [
        (np.zeros(n, sums), np.empty(longest, np.int32)) for _ in range(threads_used)
    ]
    arguments = rows, now, new, active, awake, *scratch[0], stop
    choose: Any = popular_in_block
    publish: Any = publish_block
    if threads:
        choose = load("communities.popular_in_block", (numba_ops.nothing,), arguments)
        publish = load("communities.publish_block", (numba_ops.nothing,), arguments[:5])
    else:
        lists = (x.tolist() for x in (rows.indptr, rows.indices, rows.values))
        rows = [Links(*lists, step=rows.step)]
        scratch = [[x.tolist() for x in scratch[0]]]
        now, new, active, awake = (x.tolist() for x in (now, new, active, awake))

    def change(block: int) -> int:
        own = scratch.pop()
        changes = choose(*rows, now, new, active, awake, *own, stop, bits, block)
        scratch.append(own)
        return changes

    def make_visible(block: int) -> None:
        publish(*rows, new, now, active, awake, bits, block)

    def propagate() -> Array:
        for k in range(rounds):
            word, total = stream_of(k), 0
            for half in (1, 0):
                blocks = [b for b in range(count) if awake[b] and word >> b & 1 == half]
                for b in blocks:
                    awake[b] = 0
                calls = [(b,) for b in blocks]
                changes = run(change, calls, threads_used, stop)
                changed = [call for call, found in zip(calls, changes, strict=True) if found]
                run(make_visible, changed, threads_used, stop)
                total += sum(changes)
            if not total:
                break
        return np.asarray(now, labels.dtype)

    return apart(propagate, stop, threads_used, links.nvals)


def _read(links: Csr) -> tuple[Links, type, int]:
    """Return the arguments for a loop, the dtype of sums of weights, and the longest row's length.

    If all weights are equal, but not 0, the loops count edges.
    """
    longest = int(np.diff(links.indptr).max(initial=0))
    if is_iso(links.values) and links.values[0]:
        return Links(links.indptr, links.indices, np.ones(1, np.int64), 0), np.int64, longest
    values, step = values_of(links.values)
    return Links(links.indptr, links.indices, values, step), np.float64, longest


def move_communities(request: CommunityMoves) -> Array:
    """Return communities for which no move of a single vertex increases the modularity."""
    links = request.links
    if compiles(links.nvals, size=links.nrows):
        return _move_communities_numba(request)
    return _move_communities_python(request)


def _move_communities_numba(request: CommunityMoves) -> Array:
    links, n = request.links, request.links.nrows
    community = np.arange(n, dtype=np.int32)
    degrees = np.stack([request.out, request.into])
    words = request.words()
    order = abandonable(words.argsort, n).astype(np.int32)
    values, step = values_of(links.values)
    longest = int(np.diff(links.indptr).max(initial=0))
    stop = np.zeros(1, np.int64)
    moves = Moves(
        degrees=degrees,
        totals=np.ascontiguousarray(degrees.T),
        rates=np.array([request.factor, request.margin]),
        sums=np.zeros(n),
        met=np.empty(longest, np.int32),
        queue=order,
        waits=np.ones(n, np.bool_),
        stop=stop,
    )
    arguments = (Links(links.indptr, links.indices, values, step), community, moves)
    loop = load("communities.move", (numba_ops.nothing,), arguments)
    apart(lambda: loop(*arguments[0], community, *moves), stop, 1)
    return community


def _move_communities_python(request: CommunityMoves) -> Array:
    """Move vertices in plain Python, for small graphs and on machines without Numba.

    The order of moves and of sums is the same as in `loops/communities.move`, so both give the same
    communities. Each move depends on the moves before it, so NumPy cannot vectorize the loop.
    """
    links, factor = request.links, request.factor
    indptr, indices, values = links.indptr.tolist(), links.indices, links.values
    community = list(range(links.nrows))
    outs, intos = request.out.tolist(), request.into.tolist()
    # `outs` and `intos` have one value per vertex, `total_out` and `total_in` one per community.
    total_out, total_in = outs.copy(), intos.copy()
    queue = deque(np.argsort(request.words()).tolist())
    waits = [True] * links.nrows
    while queue:
        v = queue.popleft()
        waits[v] = False
        row = slice(indptr[v], indptr[v + 1])
        neighbors = indices[row].tolist()
        linked: dict[int, float] = {}  # weight per community, in the order of v's neighbors
        for j, weight in zip(neighbors, values[row].tolist(), strict=True):
            if j != v:
                c = community[j]
                linked[c] = linked.get(c, 0.0) + weight
        own, o, i = community[v], outs[v], intos[v]
        total_out[own] -= o
        total_in[own] -= i
        best = own
        most = linked.pop(own, 0.0) - factor * (o * total_in[own] + i * total_out[own])
        most += request.margin * (o + i)
        for c, weight in linked.items():
            gain = weight - factor * (o * total_in[c] + i * total_out[c])
            if gain > most:
                best, most = c, gain
        total_out[best] += o
        total_in[best] += i
        if best == own:
            continue
        community[v] = best
        for j in neighbors:
            if community[j] != best and not waits[j]:
                waits[j] = True
                queue.append(j)
    return np.array(community, np.int32)
