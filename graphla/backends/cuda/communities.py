"""Label propagation and Louvain's method, in rounds that process all vertices at once.

Kernels: communities.cu. Rows are divided into classes by length once per matrix. The host waits
once per round, to learn whether a label has changed or what the modularity is. When a matrix is
first used, the host also waits once for each class of rows and, if all weights are equal, once for
their common value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import cupy as xp
import numpy as np

from graphla.backends.cuda.build import build_matrix
from graphla.backends.cuda.launch import (
    BLOCK,
    ISO,
    WARP,
    blocks,
    counter,
    csr,
    number,
    read,
    rows_of,
    size,
)
from graphla.backends.requests import CommunityMoves, Gains
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, Csr, is_iso, remember
from semirings import binary

POPULAR, GAINING = enumeration("communities.cuh", "Rule")
ROW_BATCH, STEP = Struct("communities.cuh", "RowBatch"), Struct("communities.cuh", "Step")
GAIN, HUBS = Struct("communities.cuh", "Gain"), Struct("communities.cu", "Hubs")


@dataclass(frozen=True, slots=True)
class Layout:
    """Constants that are compiled into the kernels."""

    thread_entries: int = 4  # maximum number of entries in a row that one thread reads
    table_entries: int = 256  # maximum number of entries in a row that one warp reads
    # number of threads per block in the kernels that read one row per warp
    table_block: int = 128
    # maximum number of threads in a block that reads one row
    long_block: int = 256
    part: int = 1024  # number of entries in a part of a hub's row
    part_bits: int = 11  # the hash table of a part has 2^part_bits slots
    # number of threads in a block that reads one part of a hub's row
    hub_block: int = 256


LAYOUT = Layout()


@dataclass(frozen=True, slots=True)
class CommunitiesTuning:
    """The limits that divide rows into classes by length, and the memory for hubs.

    A hub is a vertex whose row has more than `block_entries` entries. Its row is cut into parts,
    which many blocks read.
    """

    thread_entries: int = LAYOUT.thread_entries
    lane_entries: int = WARP
    table_entries: int = LAYOUT.table_entries
    block_entries: int = 4096
    # Maximum number of table slots in a launch for several hubs. (A hub that needs more has a
    # launch of its own.)
    hub_slots: int = 1 << 25


TUNING = CommunitiesTuning()
LONG_PARTS = ((8, 128), (4, 128), (2, LAYOUT.long_block), (1, LAYOUT.long_block))
"""Long rows are processed by several kernel launches, in order of increasing row length. Each pair
(divisor, threads) describes one launch: its rows have at most `block_entries` / divisor entries,
and its blocks have `threads` threads. Each row has a hash table, and all tables of a launch have
the same size."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The rows of a matrix, divided into classes by length."""

    few: Array
    short: Array
    middle: Array
    long: tuple[Long, ...]
    hubs: tuple[HubRows, ...]


class Long(NamedTuple):
    """The long rows that one kernel launch processes. Each row has a hash table, and all tables of
    the launch have the same size."""

    rows: Array
    most: int  # maximum number of entries in a row
    block: int  # number of threads per block


@dataclass(frozen=True, slots=True)
class HubRows:
    """The rows of the hubs that one kernel launch processes. Each row is cut into parts. For each
    hub, `first_parts` contains the index of its first part, and `first_slots` the index of the
    first slot of its hash table."""

    rows: Array
    first_parts: Array
    first_slots: Array
    parts: int
    slots: int


class Launch(NamedTuple):
    """A kernel launch for one class of rows. It is repeated in each round with a new `Step`."""

    kernel: Kernel
    blocks: int
    block: int
    rows: Packed
    more: tuple[Any, ...]
    shared: int  # bytes


def propagate_labels(
    links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int] | None
) -> Array:
    """Return the labels after at most `rounds` rounds.

    stream_of(k) is the hash stream of round k, which gives each vertex a random bit. A round then
    has two halves: in the first half only the vertices with bit 1 may change their labels, and in
    the second half only the other vertices. If `stream_of` is None, all vertices change at once.
    """
    if links.nvals and is_iso(links.values) and not float(links.values[0]):
        # If one stored weight is shared by all entries, the kernels count entries instead of adding
        # weights. With the common weight 0 this gives wrong sums, so store a separate 0 for each
        # entry.
        links = replace(links, values=xp.zeros(links.nvals, links.values.dtype))
    now, other = labels.copy(), labels.copy()  # `other` will hold the labels of the next round
    if not links.nvals:
        return now
    classes = _classes(links)
    tables = _tables(links, classes)
    gain = GAIN(**dict.fromkeys(("out", "into", "outs", "intos")), factor=0.0, margin=0.0)
    launches, others = (
        _prepare(POPULAR, links, classes, tables, *each, gain)
        for each in ((now, other), (other, now))
    )
    halves = (-1,) if stream_of is None else (1, 0)
    for k in range(rounds):
        differs, stream = counter(), stream_of(k) if stream_of else 0
        for half in halves:
            _run(launches, STEP(differs=differs, inside=None, stream=stream, half=half))
            now, other, launches, others = other, now, others, launches
        if not number(differs):
            # If all vertices change at once, `now` equals the labels of two rounds ago. So further
            # rounds would only alternate between `other` and `now`.
            return now if stream_of or (rounds - k) % 2 else other
    return now


def move_communities(request: CommunityMoves) -> Array:
    """Return the community of each vertex after at most the requested number of rounds.

    In a round, only the vertices whose hash word has its highest bit set may move. These are about
    half of the vertices.
    """
    links, out, into, rounds = request.links, request.out, request.into, request.rounds
    assert rounds is not None
    classes, n = _classes(links), links.nrows
    start, outs, is_symmetric = request.start, out.copy(), into.data.ptr == out.data.ptr
    community = xp.arange(n, dtype=np.int32) if start is None else start.copy()
    kept, chosen = community.copy(), community.copy()
    intos = outs if is_symmetric else into.copy()
    if start is not None:
        outs = xp.bincount(start, out, n)
        intos = outs if is_symmetric else xp.bincount(start, into, n)
    weights = {"out": out, "into": into, "outs": outs, "intos": intos}
    gain = GAIN(**weights, factor=request.factor, margin=request.margin)
    tables = _tables(links, classes)
    launches = _prepare(GAINING, links, classes, tables, community, chosen, gain)
    gains = Gains(rounds, float(out.sum()))
    inside = xp.zeros(len(rounds.streams), np.float64)
    move = load("communities.cu", "move_vertices", NOTHING, constants=LAYOUT)
    for k, stream in enumerate(rounds.streams):
        _run(launches, STEP(differs=None, inside=inside[k:], stream=stream, half=1))
        # `quality` is the modularity of the current communities, multiplied by the sum of all
        # weights. Reading it makes the host wait, once per round.
        quality = float(inside[k] - 2 * request.factor * (outs * intos).sum())
        if gains.is_best(quality):
            kept = community.copy()
        if not gains.patience:
            break
        move(blocks(n), BLOCK, chosen, size(n), out, into, outs, intos, community)
    return kept


def settle_labels(
    links: Csr,
    back: Csr,
    labels: Array,
    turns_of: Callable[[int], tuple[Array, Array]],
    rounds: int,
) -> None:
    """Return None, because this backend has no kernel that changes the vertices one after
    another."""


def refine_communities(request: CommunityMoves) -> None:
    """Return None, so that `algorithms.leiden` refines the communities with matrix products
    instead."""


def contract(links: Csr, labels: Array, count: int) -> Csr:
    """Merge all vertices with the same label into one vertex, and sum the weights of parallel
    edges."""
    rows, columns = labels[rows_of(links)], labels[links.indices]
    return build_matrix(count, count, rows, columns, links.values, binary.plus["FP64"])


def _run(launches: list[Launch], step: Packed) -> None:
    """Run all kernel launches of one round, which `step` describes."""
    for kernel, grid, block, rows, more, shared in launches:
        kernel(grid, block, rows, step, *more, shared=shared)


def _prepare(
    rule: int,
    links: Csr,
    classes: Classes,
    tables: dict[str, Array],
    labels: Array,
    chosen: Array,
    gain: Packed,
) -> list[Launch]:
    """Return the launches of a round that reads `labels` and writes `chosen`."""
    values, _, kept = read(links.values)
    types, matrix = (links.indptr.dtype, kept, rule), csr(links, values)
    found: list[Launch] = []

    def add(name: str, rows: Array, items: int, block: int, *more: Any, shared: int = 0) -> None:
        kernel = load("communities.cu", name, NOTHING, *types, constants=LAYOUT)
        if shared:
            kernel.resident(block, shared)
        packed = ROW_BATCH(
            links=matrix, rows=rows, count=rows.size, labels=labels, next=chosen, gain=gain
        )
        found.append(Launch(kernel, blocks(items, block), block, packed, more, shared))

    if classes.few.size:
        add("choose_by_threads", classes.few, classes.few.size, BLOCK)
    if classes.short.size:
        add("choose_by_lanes", classes.short, classes.short.size * WARP, BLOCK)
    if classes.middle.size:
        threads = classes.middle.size * WARP
        add("choose_by_tables", classes.middle, threads, LAYOUT.table_block)
    for rows, most, block in classes.long:
        slots = _slots(most)
        shared = slots * (4 + (4 if kept == ISO else 8))
        add("choose_by_blocks", rows, rows.size * block, block, size(slots), shared=shared)
    for hubs in classes.hubs:
        given = HUBS(first_parts=hubs.first_parts, first_slots=hubs.first_slots, **tables)
        for name in ("sum_parts", "choose_for_hubs"):
            add(name, hubs.rows, hubs.parts * LAYOUT.hub_block, LAYOUT.hub_block, given)
    return found


def _classes(links: Csr) -> Classes:
    """Return the nonempty rows, divided into classes by their number of entries."""
    tuning = current(TUNING)
    return remember(links, tuning, lambda: _divide(links, tuning))


def _divide(links: Csr, tuning: CommunitiesTuning) -> Classes:
    lengths = xp.diff(links.indptr)
    limits = (tuning.thread_entries, tuning.lane_entries, tuning.table_entries)
    ends = (0, *limits, tuning.block_entries, np.iinfo(np.int32).max)
    few, short, middle, long, hubs = (
        xp.flatnonzero((lengths > least) & (lengths <= most)).astype(np.int32)
        for least, most in pairwise(ends)
    )
    long_rows = _long_rows(long, lengths, tuning)
    return Classes(few, short, middle, long_rows, _cut(hubs, lengths, tuning.hub_slots))


def _long_rows(rows: Array, lengths: Array, tuning: CommunitiesTuning) -> tuple[Long, ...]:
    """Divide the long rows into groups by length. One kernel launch processes each group.

    Shorter rows need smaller hash tables, so more blocks fit on a multiprocessor.
    """
    found, lengths, least = [], lengths[rows], tuning.table_entries
    for part, block in LONG_PARTS if rows.size else ():
        most = max(tuning.block_entries // part, tuning.table_entries)
        chosen = rows[(lengths > least) & (lengths <= most)]
        if chosen.size:
            found.append(Long(chosen, most, block))
        least = most
    return tuple(found)


def _slots(entries: int) -> int:
    """Return the number of slots of a hash table for `entries` entries.

    The function `bits_for` of communities.cuh computes the logarithm of the same number.
    """
    return 1 << max(6, (2 * entries - 1).bit_length())


def _cut(rows: Array, lengths: Array, most_slots: int) -> tuple[HubRows, ...]:
    """Divide the hubs' rows into groups, one for each launch.

    The tables of a group have at most `most_slots` slots, unless the group is a single row.
    """
    if not rows.size:
        return ()
    parts, slots = [], []
    for entries in lengths[rows].tolist():
        parts.append(-(-entries // LAYOUT.part))
        slots.append(_slots(entries))
    cuts, room = [0], most_slots
    for k, each in enumerate(slots):
        if k > cuts[-1] and each > room:
            cuts.append(k)
            room = most_slots
        room -= each
    return tuple(
        _hub_rows(rows[first:last], parts[first:last], slots[first:last])
        for first, last in pairwise((*cuts, len(slots)))
    )


def _hub_rows(rows: Array, parts: list[int], slots: list[int]) -> HubRows:
    first_parts, first_slots = (
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64) for counts in (parts, slots)
    )
    return HubRows(rows, xp.asarray(first_parts), xp.asarray(first_slots), sum(parts), sum(slots))


def _tables(links: Csr, classes: Classes) -> dict[str, Array]:
    """Return the memory that the launches for hubs share, keyed by the field names of `Hubs`."""
    hubs = classes.hubs
    if not hubs:
        return {}
    each = 4 if read(links.values)[2] == ISO else 8
    slots, parts = max(one.slots for one in hubs), max(one.parts for one in hubs)
    rows = max(one.rows.size for one in hubs)
    return {
        "names": xp.full(slots, -1, np.int32),
        "sums": xp.zeros(-(-slots * each // 8), np.uint64),
        "slots": xp.empty(parts * LAYOUT.part, np.int32),
        "tallies": xp.zeros(rows, np.uint64),
        "best": xp.empty(parts, np.int32),
        "scores": xp.empty(parts, np.uint64),
        "own": xp.zeros(rows, np.uint64),
    }
