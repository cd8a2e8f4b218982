"""Label propagation and the moves of Louvain's method, in compiled loops or in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from graphla.backends.cpu.build import build_matrix
from graphla.backends.cpu.dispatch import SIMPLE, compiles, try_loops
from graphla.backends.cpu.layout import offsets, row_of_entry
from graphla.backends.cpu.loops.communities import (
    Batches,
    Links,
    Moves,
    contract_rows,
    group,
    move,
    move_in_batches,
    popular_in_block,
    publish_block,
    refine,
    settle,
    sort_symmetric,
)
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.operands import cut, row_parts, threads_worth, values_of
from graphla.backends.requests import CommunityMoves
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart, run
from graphla.formats import Array, Csr, is_iso
from semirings import binary


@dataclass(frozen=True, slots=True)
class LabelsTuning:
    """Parameters of label propagation."""

    # Maximum number of blocks of vertices. With fewer blocks, fewer threads can work, and one label
    # may spread through the whole graph. With more blocks, more neighbors change at the same time.
    blocks: int = 32


@dataclass(frozen=True, slots=True)
class MovesTuning:
    """Parameters of the moves of Louvain's method."""

    smallest: int = 4096  # minimum number of vertices of a graph for moves in batches
    # The desired number of entries in a batch, and the minimum and maximum number of batches. In a
    # large batch, neighbors often move at the same time. In a small batch, threads often wait for
    # each other.
    entries: int = 1 << 15
    fewest: int = 32
    most: int = 64
    # Vertices move in batches for at most `rounds` rounds, while at least n / `few` vertices wait.
    # Then they move one by one.
    rounds: int = 15
    few: int = 50


LABELS, MOVES = LabelsTuning(), MovesTuning()


@try_loops
def propagate_labels(
    links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int] | None
) -> Array | None:
    """Return the labels after at most `rounds` rounds of label propagation.

    If `stream_of` is None, all vertices change at once; then return None if no compiled loop is
    used for a matrix of this size.
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
    rows, sums = _weights(links)
    is_large = threads_worth(links.nvals + n, threads) > 1
    parts = cut(np.diff(links.indptr) + 1, threads) if is_large else [(0, n)]
    scratch = _scratch(links, sums, len(parts), np.asarray)
    # Flags of the active vertices of this round and of the next. An inactive vertex takes its label
    # of two rounds ago. In the first two rounds there is no such label, so all vertices are active.
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

    return apart(propagate, stop, threads, (links.nvals + n) * min(rounds, 8))


def _propagate_in_blocks(
    links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int], threads: int
) -> Array:
    """In each round, change the labels in about half of the blocks, then in the other blocks.

    Threads process the blocks of one half of a round at the same time. A block does not read the
    new labels of other blocks in its half. So the result does not depend on the number of threads
    or on their timing. If no compiled loop is used (`threads` is 0), the loops run as plain Python,
    on lists.
    """
    n = links.nrows
    bits = ((n - 1) // current(LABELS).blocks).bit_length()
    count = ((n - 1) >> bits) + 1
    crew = max(1, threads_worth(links.nvals + n, threads))  # number of threads that share the work
    kind: Any = np.asarray if threads else np.ndarray.tolist
    stop = np.zeros(1, np.int64)
    rows, sums = _weights(links)
    rows = rows._replace(
        indptr=kind(rows.indptr), indices=kind(rows.indices), values=kind(rows.values)
    )
    # `now` holds the labels before the current half of a round, and `new` the labels with the
    # changes in this half. `active` marks the vertices that may change, and `awake` marks the
    # blocks that contain such vertices.
    now, new, active = kind(labels.copy()), kind(labels.copy()), kind(np.ones(n, np.uint8))
    awake, scratch = kind(np.ones(count, np.uint8)), _scratch(links, sums, crew, kind)
    arguments = rows, now, new, active, awake, *scratch[0], stop
    choose = _loop(popular_in_block, arguments, threads)
    publish = _loop(publish_block, arguments[:5], threads)

    def change(block: int) -> int:
        own = scratch.pop()
        changes = choose(rows, now, new, active, awake, *own, stop, bits, block)
        scratch.append(own)
        return changes

    def make_visible(block: int) -> None:
        publish(rows, new, now, active, awake, bits, block)

    def propagate() -> Array:
        for k in range(rounds):
            word, total = stream_of(k), 0
            for half in (1, 0):
                blocks = [b for b in range(count) if awake[b] and word >> b & 1 == half]
                for b in blocks:
                    awake[b] = 0
                calls = [(b,) for b in blocks]
                changes = run(change, calls, crew, stop)
                changed = [call for call, found in zip(calls, changes, strict=True) if found]
                run(make_visible, changed, crew, stop)
                total += sum(changes)
            if not total:
                break
        return np.asarray(now, labels.dtype)

    return apart(propagate, stop, crew, (links.nvals + n) * min(rounds, 8))


@try_loops
def settle_labels(
    links: Csr,
    back: Csr,
    labels: Array,
    turns_of: Callable[[int], tuple[Array, Array]],
    rounds: int,
) -> Array:
    """Return the labels after rounds in which the vertices change one after another."""
    threads, n = compiles(links.nvals, size=links.nrows), links.nrows
    kind: Any = np.asarray if threads else np.ndarray.tolist
    stop = np.zeros(1, np.int64)
    rows, sums = _weights(links)
    both = tuple(
        Links(kind(each.indptr), kind(each.indices), kind(rows.values), rows.step)
        for each in (rows, back)
    )
    given = labels.astype(np.int64), np.ones(n, np.uint8)
    state = *map(kind, given), *_scratch(links, sums, 1, kind)[0]
    turns = (np.empty(0, np.int64),) * 2
    loop = _loop(settle, (*both, *map(kind, turns), *state, stop), threads)

    def run_all() -> Array:
        for k in range(rounds):
            turns = (each.astype(np.int64, copy=False) for each in turns_of(k))
            if not loop(*both, *map(kind, turns), *state, stop) or stop[0]:
                break
        return np.asarray(state[0], np.int32)

    return apart(run_all, stop, 1, (links.nvals + n) * min(rounds, 8))


def _weights(links: Csr) -> tuple[Links, type]:
    """Return the weights as arguments for a loop, and the dtype of sums of weights.

    If all weights are equal and not 0, the loops count edges instead.
    """
    if is_iso(links.values) and links.values[0]:
        return Links(links.indptr, links.indices, np.ones(1, np.int64), 0), np.int64
    values, step = values_of(links.values)
    return Links(links.indptr, links.indices, values, step), np.float64


@try_loops
def move_communities(request: CommunityMoves) -> Array:
    """Return communities for which no move of a single vertex increases the modularity.

    The vertices of a large graph first move in batches. The vertices of a batch choose their
    communities at the same time, so threads can share this work. Once only few vertices wait for a
    visit, the vertices move one after another. The number of threads does not change the result.
    """
    links, n = request.links, request.links.nrows
    threads = compiles(links.nvals, size=n)
    crew = max(1, threads_worth(links.nvals + n, threads))  # number of threads that share the work
    tuning = current(MOVES)
    batches = min(max(links.nvals // tuning.entries, tuning.fewest), tuning.most)
    is_large = n >= tuning.smallest
    order = _order(request.words(), batches if is_large else 0)
    kind: Any = np.asarray if threads else np.ndarray.tolist
    start = np.arange(n, dtype=np.int32) if request.start is None else request.start
    rows, stop = _rows_as(links, kind), np.zeros(1, np.int64)
    moves = _state(request, start, order, kind)
    community = kind(start.copy())
    longest = int(np.diff(links.indptr).max(initial=0))
    sums, met = kind(np.zeros(crew * n)), kind(np.empty(crew * longest, np.int32))
    finish = _loop(move, (rows, community, moves, sums, met, stop), threads)

    def run_all() -> Array:
        count = n
        if is_large:
            span, team = (kind(np.zeros(size, np.int64)) for size in (2, TEAM_WORDS))
            arrays = kind(np.empty(n, np.int32)), kind(order), sums, met, span, team
            sizes = -(-n // batches), tuning.few, tuning.rounds, longest
            given = rows, community, moves, Batches(*arrays, *sizes), stop
            if threads:
                loop = load("communities.move_in_batches", (numba_ops.nothing,), given)
                count = run_together(loop, tuple(_flatten(given)), crew, stop)
            else:
                count = move_in_batches(*given, 0)
        if count >= 0:
            finish(rows, community, moves, sums, met, stop, count)
        return np.asarray(community, np.int32)

    return apart(run_all, stop, crew, 8 * (links.nvals + n))


@try_loops
def refine_communities(request: CommunityMoves) -> Array:
    """Divide the communities into parts. Initially each vertex is its own part; then vertices that
    are still alone in their part join other parts, one after another."""
    links, n, within = request.links, request.links.nrows, request.start
    assert within is not None
    threads = compiles(links.nvals, size=n)
    kind: Any = np.asarray if threads else np.ndarray.tolist
    stop, parts = np.zeros(1, np.int64), np.arange(n, dtype=np.int32)
    moves = _state(request, parts, _order(request.words(), 0), kind)
    # `cuts` holds the weight of the edges between each part and the rest of its community.
    rows = row_of_entry(links)
    leaves = (within[rows] == within[links.indices]) & (rows != links.indices)
    cuts = np.bincount(rows[leaves], links.values[leaves], n)
    given = _rows_as(links, kind), kind(within), kind(_totals(request, within))
    state = kind(parts), moves, kind(np.ones(n, np.int32)), kind(cuts)
    scratch = _scratch(links, np.float64, 1, kind)[0]
    loop = _loop(refine, (*given, *state, *scratch, stop), threads)

    def run_all() -> Array:
        loop(*given, *state, *scratch, stop)
        return np.asarray(state[0], np.int32)

    return apart(run_all, stop, 1, 2 * (links.nvals + n))


@try_loops
def contract(links: Csr, labels: Array, count: int) -> Csr:
    """Merge all vertices with the same label into one vertex, and sum the weights of parallel
    edges."""
    n, nvals = links.nrows, links.nvals
    threads = compiles(nvals // SIMPLE, size=n // SIMPLE)
    if not threads or links.values.dtype != np.float64:
        return _contract_numpy(links, labels, count)
    labels = labels.astype(np.int32)
    crew = max(1, threads_worth(nvals, threads))
    values, step = values_of(links.values)
    rows = Links(links.indptr, links.indices, values, step)
    starts = offsets(np.bincount(labels, minlength=count))
    lengths = np.bincount(labels, np.diff(links.indptr), minlength=count)
    places = offsets(lengths.astype(np.int64))
    members = np.empty(n, np.int32)
    arrays = labels, members, starts.copy()
    _loop(group, arrays, threads)(*arrays)
    indices, sums = np.empty(nvals, np.int32), np.empty(nvals)
    counts = np.empty(count, np.int64)
    scratch = [np.full(count, -1) for _ in range(crew)]
    given = (rows, labels, members, starts, places, indices, sums, counts)
    add = _loop(contract_rows, (*given, scratch[0]), threads)

    def add_part(first: int, last: int) -> None:
        own = scratch.pop()
        add(*given, own, first, last)
        scratch.append(own)

    run(add_part, row_parts(places, crew), crew)
    indptr = offsets(counts)
    found = np.empty(int(indptr[-1]), np.int32), np.empty(int(indptr[-1]))
    starts, ends = indptr[:-1].astype(np.int64), indptr[1:].astype(np.int64)
    arrays = (places, counts, indices, sums, ends, *found, starts)
    sort = _loop(sort_symmetric, arrays, threads)
    if not all(run(lambda first, last: sort(*arrays, first, last), cut(counts, crew), crew)):
        return _contract_numpy(links, labels, count)  # the matrix is not symmetric after all
    return Csr(count, count, indptr, *found)


def _contract_numpy(links: Csr, labels: Array, count: int) -> Csr:
    rows, columns = labels[row_of_entry(links)], labels[links.indices]
    return build_matrix(count, count, rows, columns, links.values, binary.plus["FP64"])


def _rows_as(links: Csr, kind: Callable[[Array], Any]) -> Links:
    """Return the matrix for a loop, as arrays or, if no loop is compiled, as lists."""
    values, step = values_of(links.values)
    return Links(kind(links.indptr), kind(links.indices), kind(values), step)


def _state(
    request: CommunityMoves, start: Array, order: Array, kind: Callable[[Array], Any]
) -> Moves:
    """Return the state in which each vertex is in its community in `start`."""
    weights = _sides(request)
    degrees = np.stack(weights, axis=1).ravel()
    rates = np.array([request.factor, request.margin])
    arrays = degrees, _totals(request, start), rates, order.copy(), np.ones(start.size, np.bool_)
    return Moves(len(weights), *map(kind, arrays))


def _totals(request: CommunityMoves, labels: Array) -> Array:
    """Return, for each label, the sums over its vertices of `out` and, if `into` differs from
    `out`, of `into`."""
    sums = [np.bincount(labels, weights, labels.size) for weights in _sides(request)]
    return np.stack(sums, axis=1).ravel()


def _sides(request: CommunityMoves) -> list[Array]:
    return [request.out] if request.into is request.out else [request.out, request.into]


def _order(words: Array, batches: int) -> Array:
    """Return the vertices in ascending order of their random words.

    If `batches` is not 0, put each vertex into a random batch instead. Then return the vertices
    batch by batch, in ascending order within a batch, so that the matrix is read in ascending
    order.
    """
    if not batches:
        return abandonable(words.argsort, words.size).astype(np.int32)
    batch = ((words >> np.uint64(32)) * np.uint64(batches) >> np.uint64(32)).astype(np.uint16)
    return batch.argsort(kind="stable").astype(np.int32)


def _scratch(links: Csr, sums: type, count: int, kind: Callable[[Array], Any]) -> list[Any]:
    """Return `count` pairs of scratch arrays for `sum_links` and `most_frequent`."""
    longest = int(np.diff(links.indptr).max(initial=0))
    return [
        (kind(np.zeros(links.nrows, sums)), kind(np.empty(longest, np.int32))) for _ in range(count)
    ]


def _loop(function: Callable, arguments: tuple, threads: int) -> Callable[..., Any]:
    """Return the loop, compiled if `threads` is not 0. `arguments` are its first arguments."""
    if not threads:
        return function
    loop = load(f"communities.{function.__name__}", (numba_ops.nothing,), arguments)

    def call(*each: Any) -> Any:
        return loop(*_flatten(each))

    return call


def _flatten(arguments: tuple) -> Iterator[Any]:
    """Yield the arguments, but replace each tuple by its fields."""
    return chain.from_iterable(x if isinstance(x, tuple) else (x,) for x in arguments)
