"""Breadth-first searches from many starts at once: a bit each, 64 to a launch.

Kernels: multi_source_bfs.cu, on persistent.cuh.
Waits: for each launch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import BLOCK, INT32_END, NULL, size
from graphla.backends.cuda.matvec import flags_of
from graphla.backends.requests import Level
from graphla.backends.traversals import Lengths, Reach
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, Plan, VectorMask
from graphla.settings import forced_direction

SEARCHES = 64
"""Searches of a launch, as in multi_source_bfs.cu."""
TALLY = 2 * SEARCHES + 1
"""Words of a level's counts, as in multi_source_bfs.cu."""
GROUP = 32
"""Vertices that a warp takes at a time."""
LONGEST = 64
"""A longer row is no matter of its vertex's group, but queued in parts."""
PART = 256
"""Entries of a part."""
FAVOUR = 14.0
"""A search pulls where the edges out of its frontier, times this, are more than those out of what
it has yet to reach (Beamer's alpha)."""
PLANES = 12
"""Bits of a level that room is made for at first, where levels are int32."""
RECORDS = 4096
"""Levels of a launch that are told of, where it is traced."""
TOWARDS = {"auto": 0, "push": 1, "pull": 2}  # as in multi_source_bfs.cu
BYTE = np.dtype(np.uint8)


def levels_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any],
    plan: Plan | None,
    traced: bool,
) -> Lengths:
    """Levels, as the view of a table in which the k levels of a vertex lie together."""
    search = _Searches(out, into, starts, mask, limit, plan)
    table = xp.empty((out.nrows, _width(search.count, 16 // levels.itemsize)), levels)
    for first in range(0, search.count, SEARCHES):
        search.run(first, table[:, first : first + SEARCHES], RECORDS if traced else 0)
    return Lengths(table[:, : search.count].T, search.trace)


def reach_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    plan: Plan | None,
) -> Reach:
    """How many vertices each search reaches, the sum of their levels, and the greatest."""
    search = _Searches(out, into, starts, mask, limit, plan)
    totals = xp.empty((3, search.count), np.int64)
    for first in range(0, search.count, SEARCHES):
        batch = totals[:, first : first + SEARCHES]
        batch[...] = search.run(first, None)[:, : batch.shape[1]]
    return Reach(*totals)


def _width(count: int, each: int) -> int:
    """The levels of a row of the table: of the last launch a power of two times 16 bytes."""
    whole, rest = divmod(count, SEARCHES)
    return whole * SEARCHES + (each << (-(-rest // each) - 1).bit_length() if rest else 0)


class _Searches:
    """The graph as it is searched, in the plan's numbering if it has one, and what is searched."""

    def __init__(
        self,
        out: Csr,
        into: Csr | None,
        starts: Array,
        mask: VectorMask | None,
        limit: int,
        plan: Plan | None,
    ) -> None:
        relabelled = plan and plan.relabelled
        self.n, self.limit, self.count = out.nrows, limit, starts.size
        self.starts = xp.asarray(starts, np.int32)
        self.allowed: Any = NULL
        if mask is not None:
            flags = flags_of(mask)
            self.allowed = ~flags if mask.complement else flags
        self.first: Any = plan.first if plan else NULL  # of a light plan not where its row begins
        self.out, self.into, self.vertices, self.renumbered = out, into, self.n, NULL
        if relabelled:
            self.out, self.into, self.first = relabelled.out, relabelled.into, relabelled.first
            self.vertices, self.renumbered = relabelled.active, relabelled.new
            if mask is not None:
                self.allowed = self.allowed[relabelled.old]
        if self.into is None:
            self.first = NULL
        self.trace: list[Level] = []
        self.room = PLANES

    def run(self, first: int, table: Array | None, records: int = 0) -> Array:
        """The searches from `first` on, their levels in the table; what they come to (3 x 64)."""
        dtype = BYTE if table is None else table.dtype
        while True:
            room = 0 if table is None else 8 if dtype == BYTE else self.room
            status, depth, totals = self._launch(first, table, dtype, room, records)
            if status == persistent.FINISHED and not (dtype == BYTE and room and depth > 254):
                return totals
            if dtype == BYTE:
                raise OverflowError(
                    "some vertex is more than 254 edges away from a start, and levels of one byte "
                    "(uint8) hold no more; ask for int32"
                )
            self.room = min(2 * self.room, 31)

    def _launch(
        self, first: int, table: Array | None, dtype: np.dtype[Any], room: int, records: int
    ) -> tuple[int, int, Array]:
        out, into, n, vertices = self.out, self.into, self.n, self.vertices
        starts = self.starts[first : first + SEARCHES]
        groups = -(-vertices // GROUP)
        zeroed = xp.zeros(n + vertices + 3 * TALLY + -(-groups // 8), xp.uint64)
        seen, rest = zeroed[:n], zeroed[n:]
        upcoming, rest = rest[:vertices], rest[vertices:]
        tallies, touched = rest[: 3 * TALLY], rest[3 * TALLY :].view(xp.uint8)
        fresh, planes = xp.empty(vertices, xp.uint64), xp.empty(room * vertices, xp.uint64)
        open_to, had = xp.empty(groups, xp.uint32), xp.empty(groups, xp.uint64)
        most = out.nvals // (LONGEST + 1) + out.nvals // PART + 1
        parts = xp.empty(2 * most, xp.uint64)
        rows = xp.empty(vertices, xp.int32)
        totals = xp.empty((3, SEARCHES), xp.int64)
        trace: Any = xp.zeros((records, 4), xp.uint64) if records else NULL
        pull = (NULL, NULL) if into is None else (into.indptr, into.indices)
        written = (NULL, size(0), np.int32(0))
        if table is not None:
            pitch = table.strides[0] // dtype.itemsize
            written = (np.uint64(table.data.ptr), size(pitch), np.int32(table.shape[1]))
        kernel = load("multi_source_bfs.cu", "search_many", NOTHING, out.indptr.dtype, dtype)
        wanted = max(-(-groups // (BLOCK // GROUP)), out.nvals // (BLOCK * 8), 1)
        status, depth = persistent.run(
            kernel,
            min(persistent.grid(kernel, BLOCK), wanted),
            BLOCK,
            *(
                size(vertices),
                size(n),
                np.int32(starts.size),
                np.int32(min(self.limit, INT32_END - 1)),
            ),
            *(np.int32(TOWARDS[forced_direction()]), np.float32(FAVOUR)),
            *(np.int32(LONGEST), np.int32(PART)),
            *(out.indptr, out.indices, *pull, self.first, np.bool_(self.renumbered is not NULL)),
            *(self.allowed, starts, self.renumbered),
            *(seen, upcoming, fresh, open_to, touched, had, planes, np.int32(room)),
            *(parts, rows, tallies, totals, *written, trace, size(records)),
            results=1,
        )
        if records:
            self.trace += _levels(trace.get(), depth)
        return status, depth, totals


def _levels(records: np.ndarray, depth: int) -> list[Level]:
    """What a traced launch has recorded as each level began, and as it found that none follows."""
    rows = [row for row in records[: depth + 2].tolist() if row[3]]
    return [
        Level(f"pull {direction >> 32} of {direction & 0xFFFFFFFF}", frontier, edges, spent)
        for (direction, frontier, edges, begin), (*_, end) in pairwise(rows)
        for spent in (1e-9 * (end - begin),)
    ]
