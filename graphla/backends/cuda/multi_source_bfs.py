"""Breadth-first searches from many start vertices: one bit per search, 64 searches per launch.

Kernels: multi_source_bfs.cu, which uses persistent.cuh. The host waits for each launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, WARP
from graphla.backends.cuda.matvec import presence
from graphla.backends.requests import Level, MultiSearch, MultiSearchResult, Reach
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array
from graphla.settings import forced_direction


@dataclass(frozen=True, slots=True)
class MultiSearchTuning:
    """Tuning constants, measured on an H200; the first three constants are compiled into the
    kernel."""

    block: int = 256  # number of threads per block
    searches: int = 64  # number of searches per launch, which is the number of bits in a word
    tally: int = 2 * 64 + 1  # number of counts per level (see `Tally` in multi_source_bfs.cu)
    longest: int = 64  # maximum number of entries in a short row, which one warp reads
    part: int = 256  # number of entries in each part of a long row; one warp reads a part
    # A search pulls if f · favor > r, where f is the number of edges out of its frontier, and r the
    # number of edges out of its unreached vertices. So `favor` is Beamer's alpha.
    favor: float = 14.0
    # Number of bits that are initially allocated for each level if levels are int32. If a level
    # needs more bits, the searches run again with more memory.
    planes: int = 12
    records: int = 4096  # maximum number of levels of a launch that a trace records


TUNING = MultiSearchTuning()
GRAPH, SEARCHES, WORDS, RESULTS = (
    Struct("multi_source_bfs.cuh", name) for name in ("Graph", "Searches", "Words", "Results")
)
QUEUES = Struct("multi_source_bfs_expand.cuh", "Queues")
RECORDS = Struct("persistent.cuh", "Records")
Towards = enumeration("multi_source_bfs.cuh", "Towards")

BYTE = np.dtype(np.uint8)


def multi_source_bfs(request: MultiSearch) -> MultiSearchResult:
    """Return the levels of a search from each start vertex, or only statistics of each search.

    If `request.levels` is None, the result holds for each search the number of reached vertices,
    and the sum and the maximum of their levels. Otherwise it holds the levels. The array of levels
    is a transposed view. In memory, the levels of one vertex are adjacent.
    """
    search, size = _Searches(request), TUNING.searches
    if request.levels is None:
        totals = xp.empty((3, search.count), np.int64)
        for first in range(0, search.count, size):
            batch = totals[:, first : first + size]
            batch[...] = search.run(first, None)[:, : batch.shape[1]]
        return MultiSearchResult(None, Reach(*totals), [])
    width = _width(search.count, 16 // request.levels.itemsize)
    table = xp.empty((request.out.nrows, width), request.levels)
    for first in range(0, search.count, size):
        search.run(first, table[:, first : first + size])
    return MultiSearchResult(table[:, : search.count].T, None, search.trace)


def _width(count: int, each: int) -> int:
    """Return the number of columns of the table for the levels of `count` searches.

    All launches except the last run 64 searches. The last launch may run fewer, and its number of
    columns is rounded up to `each` · 2^k for some integer k. `each` is the number of levels that
    fit in 16 bytes.
    """
    whole, rest = divmod(count, TUNING.searches)
    last = each << (-(-rest // each) - 1).bit_length() if rest else 0
    return whole * TUNING.searches + last


class _Searches:
    """The searches of a request, with the graph in the form in which the kernel reads it.

    If the plan of the graph renumbers the vertices, the graph is in the plan's numbering.
    """

    def __init__(self, request: MultiSearch) -> None:
        out, into, plan, mask = request.out, request.into, request.plan, request.mask
        self.n, self.limit, self.count = out.nrows, request.limit, request.starts.size
        self.starts = xp.asarray(request.starts, np.int32)
        allowed: Any = None
        if mask is not None:
            flags = presence(mask)
            allowed = ~flags if mask.complement else flags
        first = plan.first if plan else None
        relabeled = plan and plan.relabeled
        vertices, self.renumbered = self.n, None
        if relabeled:
            out, into, first = relabeled.out, relabeled.into, relabeled.first
            vertices, self.renumbered = relabeled.active, relabeled.new
            if mask is not None:
                allowed = allowed[relabeled.old]
        self.out, self.vertices = out, vertices
        self.tuning = tuning = current(TUNING)
        self.graph = GRAPH(
            vertices=vertices,
            out_ends=out.indptr,
            out=out.indices,
            into_ends=None if into is None else into.indptr,
            into=None if into is None else into.indices,
            first=None if into is None else first,
            # In a relabeled graph, first[v] is the first entry of v's row. In any other graph,
            # first[v] may be any entry of the row.
            leads=bool(relabeled),
            allowed=allowed,
            longest=tuning.longest,
            part=tuning.part,
        )
        self.records = tuning.records if request.traced else 0
        self.trace: list[Level] = []
        self.room = tuning.planes

    def run(self, first: int, table: Array | None) -> Array:
        """Run up to 64 searches, beginning with search `first`, and write their levels to `table`.

        Return an array of three statistics for each of 64 searches: the number of reached vertices,
        and the sum and the maximum of their levels.
        """
        dtype = BYTE if table is None else table.dtype
        while True:
            room = 0 if table is None else 8 if dtype == BYTE else self.room
            status, depth, totals = self._launch(first, table, dtype, room)
            if status == persistent.FINISHED and not (dtype == BYTE and room and depth > 254):
                return totals
            if dtype == BYTE:
                raise OverflowError(
                    "some vertex is more than 254 edges away from a start, and levels of one byte "
                    "(uint8) hold no more; ask for int32"
                )
            self.room = min(2 * self.room, 31)

    def _launch(
        self, first: int, table: Array | None, dtype: np.dtype[Any], room: int
    ) -> tuple[int, int, Array]:
        out, vertices, tuning = self.out, self.vertices, self.tuning
        starts = self.starts[first : first + tuning.searches]
        groups = -(-vertices // WARP)
        tally = 3 * tuning.tally
        zeroed = xp.zeros(self.n + vertices + tally + -(-groups // 8), xp.uint64)
        seen, rest = zeroed[: self.n], zeroed[self.n :]
        upcoming, rest = rest[:vertices], rest[vertices:]
        tallies, touched = rest[:tally], rest[tally:].view(xp.uint8)
        most = out.nvals // (tuning.longest + 1) + out.nvals // tuning.part + 1
        totals = xp.empty((3, tuning.searches), xp.int64)
        records: Any = xp.zeros((self.records, 4), xp.uint64) if self.records else None
        kernel = load(
            "multi_source_bfs.cu", "search_many", NOTHING, out.indptr.dtype, dtype, constants=tuning
        )
        block = tuning.block
        wanted = max(-(-groups // (block // WARP)), out.nvals // (block * 8), 1)
        status, depth = persistent.run(
            kernel,
            min(persistent.grid(kernel, block), wanted),
            block,
            self.graph,
            WORDS(
                seen=seen,
                next=upcoming,
                fresh=xp.empty(vertices, xp.uint64),
                open=xp.empty(groups, xp.uint32),
                touched=touched,
                had=xp.empty(groups, xp.uint64),
                planes=xp.empty(room * vertices, xp.uint64),
                stride=vertices,
                room=room,
            ),
            SEARCHES(
                starts=starts,
                renumbered=self.renumbered,
                n=self.n,
                count=starts.size,
                limit=min(self.limit, INT32_END - 1),
                towards=Towards[forced_direction().upper()],
                favor=tuning.favor,
            ),
            QUEUES(
                parts=xp.empty(2 * most, xp.uint64),
                rows=xp.empty(vertices, xp.int32),
                counts=None,
            ),
            _results(tallies, totals, table),
            RECORDS(at=records, room=self.records),
            results=1,
            as_struct=True,
        )
        if records is not None:
            self.trace += _levels(records.get(), depth)
        return status, depth, totals


def _results(tallies: Array, totals: Array, table: Array | None) -> Packed:
    if table is None:
        return RESULTS(tallies=tallies, totals=totals, levels=None, pitch=0, width=0)
    # `table` is a range of columns of a wider table, so its rows are not adjacent in memory.
    at, pitch = table.data.ptr, table.strides[0] // table.itemsize
    return RESULTS(tallies=tallies, totals=totals, levels=at, pitch=pitch, width=table.shape[1])


def _levels(records: np.ndarray, depth: int) -> list[Level]:
    """Convert the records of a traced launch to `Level` objects, one per level of the searches.

    The kernel writes one record at the start of each level, and one at the end of the launch.
    """
    rows = [row for row in records[: depth + 2].tolist() if row[3]]
    return [
        Level(f"pull {direction >> 32} of {direction & 0xFFFFFFFF}", frontier, edges, spent)
        for (direction, frontier, edges, begin), (*_, end) in pairwise(rows)
        for spent in (1e-9 * (end - begin),)
    ]
