"""Label propagation, and the moves of Louvain's method, in rounds of all vertices at once.

Kernels: communities.cu. Rows are told apart by length once for each matrix.
Waits: once a round, for whether anything changed and what was gained; once for each class of rows
when a matrix is met first; once for the one weight of all edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, ISO, NULL, blocks, number, read, size
from graphla.backends.groups import Gains, Rounds
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, is_iso

POPULAR, GAINING = 0, 1  # as in communities.cu
FEWEST, LANES, TABLE, SHARED = 4, 32, 256, 4096
"""The greatest length of a row in each class. One thread reads up to FEWEST entries, as in
communities.cu. A warp reads up to LANES entries with one entry per lane, or up to TABLE entries
with a table. A block reads up to SHARED entries with a table in shared memory. Many blocks share a
longer row, which is called a hub's."""
PART, HUB_BLOCK = 1024, 256  # as in communities.cu
HUB_SLOTS = 1 << 25
"""Most slots of the tables of the hubs in one launch, unless a single hub needs more."""
TABLE_BLOCK, SHARED_BLOCK = 128, 256
LONG_PARTS = ((8, 128), (4, 128), (2, SHARED_BLOCK), (1, SHARED_BLOCK))
"""(divisor, threads) of each kernel launch for long rows, in increasing order of length. A launch
takes the rows of up to SHARED / divisor entries, with tables of one size and blocks of `threads`
threads."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The rows of a matrix by length."""

    few: Array
    short: Array
    middle: Array
    long: tuple[Long, ...]
    hubs: tuple[Hubs, ...]


class Long(NamedTuple):
    """Rows that one launch reads with tables of one size."""

    rows: Array
    most: int  # entries of a row
    block: int  # threads of a block


@dataclass(frozen=True, slots=True)
class Hubs:
    """The hubs' rows of one launch, and the first part and the first table slot of each row."""

    rows: Array
    first_parts: Array
    first_slots: Array
    parts: int
    slots: int


class Tables:
    """Device memory for the tables of hubs. All slots are free between two launches."""

    def __init__(self, hubs: tuple[Hubs, ...], each: int) -> None:
        slots, parts = max(one.slots for one in hubs), max(one.parts for one in hubs)
        rows = max(one.rows.size for one in hubs)
        self.arguments = (
            xp.full(slots, -1, np.int32),
            xp.zeros(-(-slots * each // 8), np.uint64),
            xp.empty(parts * PART, np.int32),
            xp.zeros(rows, np.uint64),
            xp.empty(parts, np.int32),
            xp.empty(parts, np.uint64),
            xp.zeros(rows, np.uint64),
        )


_known: WeakKeyDictionary[Csr, Classes] = WeakKeyDictionary()


def propagated(links: Csr, labels: Array, rounds: int) -> Array:
    """Labels after so many rounds."""
    if links.nvals and is_iso(links.values) and not float(links.values[0]):
        # Of one weight for all, kernels count the entries: of no weight they must add up to 0.
        links = replace(links, values=xp.zeros(links.nvals, links.values.dtype))
    classes = _classes(links)
    tables = _tables(links, classes)
    unread = (NULL, NULL, NULL, NULL, 0.0, NULL)
    now, other = labels.copy(), labels.copy()  # other has the labels of a round ago
    for k in range(rounds if links.nvals else 0):
        differs = xp.zeros(1, np.int32)
        _choose(POPULAR, links, classes, tables, now, other, differs, *unread)
        if not number(differs[0]):
            return other if (rounds - k) % 2 else now
        now, other = other, now
    return now


def moved(
    links: Csr,
    out: Array,
    into: Array,
    factor: float,
    words: Array,
    rounds: Rounds,
) -> Array:
    """The community of each vertex after rounds in which about half of those who wish it move."""
    classes, n = _classes(links), links.nrows
    tables = _tables(links, classes)
    community = xp.arange(n, dtype=np.int32)
    kept, wished = community.copy(), community.copy()
    outs = out.copy()
    intos = outs if into.data.ptr == out.data.ptr else into.copy()
    gains = Gains(rounds, float(out.sum()))
    move = load("communities.cu", "move_some", NOTHING)
    for stream in rounds.streams:
        differs, inside = xp.zeros(1, np.int32), xp.zeros(1, np.float64)
        state = (out, into, outs, intos, factor, inside)
        _choose(GAINING, links, classes, tables, community, wished, differs, *state)
        quality = float(inside[0]) - 2 * factor * float((outs * intos).sum())
        if gains.is_best(quality):
            kept = community.copy()
        if not gains.patience or not number(differs[0]):
            break
        moving = (wished, size(n), np.uint64(stream), out, into, outs, intos, community)
        move(blocks(n), BLOCK, *moving)
    return kept


def _choose(
    rule: int,
    links: Csr,
    classes: Classes,
    tables: Tables | None,
    labels: Array,
    chosen: Array,
    differs: Any,
    out: Any,
    into: Any,
    outs: Any,
    intos: Any,
    factor: float,
    inside: Any,
) -> None:
    """One round, in a launch for each class of rows."""
    values, _, kept = read(links.values)
    offset, counts = links.indptr.dtype, kept == ISO
    rest = (labels, chosen, differs, out, into, outs, intos, np.float64(factor), inside)

    def state(rows: Array) -> tuple[Any, ...]:
        return links.indptr, links.indices, values, rows, size(rows.size), *rest

    if classes.few.size:
        kernel = load("communities.cu", "choose_by_threads", NOTHING, offset, kept, rule)
        kernel(blocks(classes.few.size), BLOCK, *state(classes.few))
    if classes.short.size:
        kernel = load("communities.cu", "choose_by_lanes", NOTHING, offset, kept, rule)
        kernel(blocks(classes.short.size * 32), BLOCK, *state(classes.short))
    if classes.middle.size:
        kernel = load("communities.cu", "choose_by_tables", NOTHING, offset, kept, rule)
        grid = blocks(classes.middle.size * 32, TABLE_BLOCK)
        kernel(grid, TABLE_BLOCK, *state(classes.middle))
    for rows, most, block in classes.long:
        kernel = load("communities.cu", "choose_by_blocks", NOTHING, offset, kept, rule)
        slots = _slots(most)
        shared = slots * (4 + (4 if counts else 8))
        kernel.resident(block, shared)
        grid = blocks(rows.size * block, block)
        kernel(grid, block, *state(rows), size(slots), shared=shared)
    if tables is None:
        return
    for hubs in classes.hubs:
        for name in ("sum_parts", "choose_for_hubs"):
            kernel = load("communities.cu", name, NOTHING, offset, kept, rule)
            given = (*state(hubs.rows), hubs.first_parts, hubs.first_slots, *tables.arguments)
            kernel(blocks(hubs.parts * HUB_BLOCK, HUB_BLOCK), HUB_BLOCK, *given)


def _long_rows(rows: Array, lengths: Array) -> tuple[Long, ...]:
    """Return the rows in groups by length.

    A group of shorter rows has smaller tables, so a multiprocessor holds more of its blocks.
    """
    found, lengths, least = [], lengths[rows], TABLE
    for part, block in LONG_PARTS if rows.size else ():
        most = max(SHARED // part, TABLE)
        chosen = rows[(lengths > least) & (lengths <= most)]
        if chosen.size:
            found.append(Long(chosen, most, block))
        least = most
    return tuple(found)


def _slots(entries: int) -> int:
    """Of a table for so many entries, as in communities.cu."""
    return 1 << max(6, (2 * entries - 1).bit_length())


def _tables(links: Csr, classes: Classes) -> Tables | None:
    """Return tables for the hubs of a matrix, or None if it has no hub."""
    return Tables(classes.hubs, 4 if read(links.values)[2] == ISO else 8) if classes.hubs else None


def _classes(links: Csr) -> Classes:
    """The rows with an entry, by length."""
    known = _known.get(links)
    if known is None:
        lengths = xp.diff(links.indptr)
        ends = (0, FEWEST, LANES, TABLE, SHARED, np.iinfo(np.int32).max)
        few, short, middle, long, hubs = (
            xp.flatnonzero((lengths > least) & (lengths <= most)).astype(np.int32)
            for least, most in pairwise(ends)
        )
        long_rows, cut_rows = _long_rows(long, lengths), _cut(hubs, lengths)
        known = Classes(few, short, middle, long_rows, cut_rows)
        _known[links] = known
    return known


def _cut(rows: Array, lengths: Array) -> tuple[Hubs, ...]:
    """Divide the hubs' rows into groups, one for each launch.

    The tables of a group have at most HUB_SLOTS slots in total, unless the group is a single row.
    """
    if not rows.size:
        return ()
    parts, slots = [], []
    for entries in lengths[rows].tolist():
        parts.append(-(-entries // PART))
        slots.append(_slots(entries))
    cuts, room = [0], HUB_SLOTS
    for k, each in enumerate(slots):
        if k > cuts[-1] and each > room:
            cuts.append(k)
            room = HUB_SLOTS
        room -= each
    return tuple(
        _hubs(rows[first:last], parts[first:last], slots[first:last])
        for first, last in pairwise((*cuts, len(slots)))
    )


def _hubs(rows: Array, parts: list[int], slots: list[int]) -> Hubs:
    first_parts, first_slots = (
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64) for counts in (parts, slots)
    )
    return Hubs(rows, xp.asarray(first_parts), xp.asarray(first_slots), sum(parts), sum(slots))
