"""Label propagation, and the moves of Louvain's method, in rounds of all vertices at once.

Kernels: communities.cu. Rows are told apart by length once for each matrix.
Waits: once a round, for whether anything changed and what was gained; once for each class of rows
when a matrix is met first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

import cupy as xp
import numpy as np

from graphla.backends.cuda.launching import BLOCK, ISO, NULL, blocks, number, read, size
from graphla.backends.groups import Rounds
from graphla.kernels.cuda import NOTHING, load
from graphla.storage import Array, Csr

POPULAR, GAINING = 0, 1  # as in communities.cu
LANES, TABLE, SHARED = 32, 256, 4096
"""The longest rows whose labels are a lane's each, in a warp's table, and in a block's."""
TABLE_BLOCK, SHARED_BLOCK, WIDE_BLOCK = 128, 256, 512
LONG_PARTS = ((8, 128), (4, 128), (2, SHARED_BLOCK), (1, SHARED_BLOCK))
"""Parts of SHARED up to which rows have tables of one size, and the threads of their blocks."""
WIDE_BLOCKS = 264
"""Blocks at most that have a table each in the device's memory, two for each multiprocessor."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The rows of a matrix by length, and how long the longest is."""

    short: Array
    middle: Array
    long: Array
    longest: Array
    most: int


_known: WeakKeyDictionary[Csr, Classes] = WeakKeyDictionary()
_known_long: WeakKeyDictionary[Csr, list[tuple[Array, int, int]]] = WeakKeyDictionary()


def propagated(links: Csr, labels: Array, rounds: int) -> Array:
    """Labels after so many rounds."""
    classes = _classes(links)
    unread = (NULL, NULL, NULL, NULL, 0.0, NULL)
    now, other = labels.copy(), labels.copy()  # other has the labels of a round ago
    for k in range(rounds if links.nvals else 0):
        differs = xp.zeros(1, np.int32)
        _choose(POPULAR, links, classes, now, other, differs, *unread)
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
    entries: int,
) -> Array:
    """The community of each vertex after rounds in which about half of those who wish it move."""
    classes, n = _classes(links), links.nrows
    community = xp.arange(n, dtype=np.int32)
    kept, wished = community.copy(), community.copy()
    outs = out.copy()
    intos = outs if into.data.ptr == out.data.ptr else into.copy()
    best, patience, rise = -inf, rounds.patience, rounds.rise * float(out.sum())
    move = load("communities.cu", "move_some", NOTHING)
    for stream in rounds.streams:
        differs, inside = xp.zeros(1, np.int32), xp.zeros(1, np.float64)
        state = (out, into, outs, intos, factor, inside)
        _choose(GAINING, links, classes, community, wished, differs, *state)
        quality = float(inside[0]) - 2 * factor * float((outs * intos).sum())
        patience = rounds.patience if quality > best + rise else patience - 1
        if quality > best:
            best, kept = quality, community.copy()
        if not patience or not number(differs[0]):
            break
        moving = (wished, size(n), np.uint64(stream), out, into, outs, intos, community)
        move(blocks(n), BLOCK, *moving)
    return kept


def _choose(
    rule: int,
    links: Csr,
    classes: Classes,
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

    if classes.short.size:
        kernel = load("communities.cu", "choose_by_lanes", NOTHING, offset, kept, rule)
        kernel(blocks(classes.short.size * 32), BLOCK, *state(classes.short))
    if classes.middle.size:
        kernel = load("communities.cu", "choose_by_tables", NOTHING, offset, kept, rule)
        grid = blocks(classes.middle.size * 32, TABLE_BLOCK)
        kernel(grid, TABLE_BLOCK, *state(classes.middle))
    each = 4 if counts else 8
    for rows, most, block in _long_rows(links, classes) if classes.long.size else ():
        kernel = load("communities.cu", "choose_by_blocks", NOTHING, offset, kept, rule, True)
        slots = _slots(most)
        shared = slots * (each + 4)
        kernel.resident(block, shared)
        given = (*state(rows), size(slots), NULL, NULL)
        kernel(blocks(rows.size * block, block), block, *given, shared=shared)
    if classes.longest.size:
        kernel = load("communities.cu", "choose_by_blocks", NOTHING, offset, kept, rule, False)
        slots, grid = _slots(classes.most), min(WIDE_BLOCKS, classes.longest.size)
        names, sums = (
            xp.empty(grid * slots, np.int32),
            xp.empty(grid * slots * each // 8, np.uint64),
        )
        kernel(grid, WIDE_BLOCK, *state(classes.longest), size(slots), names, sums)


def _long_rows(links: Csr, classes: Classes) -> list[tuple[Array, int, int]]:
    """The rows of `classes.long` in parts: the greatest length of a row of each, and its blocks.

    A multiprocessor holds more of the blocks whose tables are small.
    """
    known = _known_long.get(links)
    if known is None:
        lengths = xp.diff(links.indptr)[classes.long]
        known = _known_long[links] = []
        for part, block in LONG_PARTS:
            least, most = TABLE if not known else known[-1][1], max(SHARED // part, TABLE)
            rows = classes.long[(lengths > least) & (lengths <= most)]
            if rows.size:
                known.append((rows, most, block))
    return known


def _slots(entries: int) -> int:
    """Of a table for so many entries, as in communities.cu."""
    return 1 << max(6, (2 * entries - 1).bit_length())


def _classes(links: Csr) -> Classes:
    """The rows with an entry, by length."""
    known = _known.get(links)
    if known is None:
        lengths = xp.diff(links.indptr)
        ends = (0, LANES, TABLE, SHARED, np.iinfo(np.int32).max)
        rows = (
            xp.flatnonzero((lengths > least) & (lengths <= most)).astype(np.int32)
            for least, most in pairwise(ends)
        )
        known = _known[links] = Classes(*rows, most=number(lengths.max()) if lengths.size else 0)
    return known
