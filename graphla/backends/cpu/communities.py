"""Label propagation and the moves of Louvain's method: compiled loops, or plain Python."""

from __future__ import annotations

from collections import deque

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.communities import Links, Moves
from graphla.backends.cpu.operands import cut, threads_worth, values_of
from graphla.backends.requests import CommunityMoves
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart, run
from graphla.formats import Array, Csr, is_iso
from graphla.settings import config


@try_loops
def propagate_labels(links: Csr, labels: Array, rounds: int) -> Array | None:
    """Return the labels after `rounds` rounds of label propagation.

    Return None if no compiled loop is used for a matrix of this size.
    """
    n, threads = links.nrows, config.threads
    if not compiles(links.nvals, size=n):
        return None
    stop = np.zeros(1, np.int64)
    if is_iso(links.values):  # with equal weights, count edges
        values, step, sums = np.ones(1, np.int64), 0, np.int64
    else:
        (values, step), sums = values_of(links.values), np.float64
    longest = int(np.diff(links.indptr).max(initial=0))
    is_large = threads_worth(links.nvals + n, threads) > 1
    parts = cut(np.diff(links.indptr) + 1, threads) if is_large else [(0, n)]
    scratch = [(np.zeros(n, sums), np.empty(longest, np.int32)) for _ in parts]
    rows = Links(links.indptr, links.indices, values, step)
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

    work = (links.nvals + n) * min(rounds, 8)
    return apart(propagate, stop, threads, work) if n else labels


@try_loops
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
    apart(lambda: loop(*arguments[0], community, *moves), stop, 1, 8 * (links.nvals + n))
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
