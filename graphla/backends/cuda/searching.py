"""Breadth-first search, the whole traversal in one launch.

Kernel: bfs.cu. Waits: for the traversal.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import cupy as xp
import numpy as np

from graphla.backends import Level, Tree
from graphla.backends.cuda import persistent
from graphla.backends.cuda.frontiers import flags_of
from graphla.backends.cuda.launching import NULL, size
from graphla.kernels.cuda import NOTHING, Kernel, load
from graphla.storage import Array, Csr, Plan, VectorMask

THREADS = 1024  # of a block, as BFS_THREADS in bfs.cuh
ROOM = 2048
"""Vertices that one block's queue in shared memory holds."""
PULL_SHARED = 32 * 4 * 32 * 4  # as in bfs_pull.cuh
ALONE_EDGES = 8192
"""A level of no more edges is given to one block, if its vertices have room there;"""
GRID_EDGES = 24576
"""and one of more edges is taken from it."""
PUSH_COST = 12.0
"""What an edge out of the frontier costs by push, in edges into vertices not reached yet."""
UNIT = 4
"""Edges of matrices with 64-bit offsets are counted in units of 2^UNIT in the queue."""
STATIC = 3 << 10
"""Bytes of shared memory that the kernel has beside those asked for."""
MOST_RECORDS = 1 << 20
TOO_DEEP = persistent.FAULT
DIRECTIONS = {"auto": 0, "push": 1, "pull": 2}
WAYS = ("push", "pull", "push")


def bfs(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any] | None,
    parents: Literal["any", "least"] | None,
    direction: Literal["auto", "push", "pull"],
    plan: Plan | None,
    traced: bool,
) -> Tree:
    """Levels and parents of a breadth-first search from all starts at once."""
    n = out.nrows
    is_least = parents == "least"
    kept = None if levels is None and not is_least else xp.empty(n, levels or np.int32)
    tree = None if parents is None else xp.empty(n, xp.int32)
    present = xp.empty(n, bool)
    if not n:
        return Tree(kept, tree, present, 0, 0, [])
    start = np.int32(-1)  # a lone start travels as a number: an array would take a copy
    if starts.size == 1 and isinstance(starts, np.ndarray):
        start, starts = np.int32(starts[0]), NULL
    else:
        starts = xp.asarray(starts)
    graph = plan.relabelled if plan is not None else None
    rows, columns, active = (
        (out, into, n) if graph is None else (graph.out, graph.into, graph.active)
    )
    first: Any = NULL if plan is None else plan.first if graph is None else graph.first
    idle: Any = plan.idle if plan is not None and graph is None else NULL
    offset, level = rows.indptr.dtype, np.dtype(np.int32) if levels is None else levels
    kernel = load("bfs.cu", "search_breadth_first", NOTHING, offset, level, parents is not None)
    room, words, shared, blocks = _shape(kernel, n, offset.itemsize, parents is not None)
    by = out if into is None else into
    flags: Any = NULL if mask is None else flags_of(mask)
    memory = xp.empty(
        _scratch(
            n, offset.itemsize, mask is not None, parents is not None, graph is not None, level
        ),
        xp.uint8,
    )
    records: Any = xp.empty((min(n + 2, MOST_RECORDS), 4), xp.uint64) if traced else NULL
    status, depth, reached, recorded = persistent.run(
        *(kernel, blocks, THREADS, size(n), size(active)),
        *(rows.indptr, rows.indices),
        *((NULL, NULL) if columns is None else (columns.indptr, columns.indices)),
        *(first, idle),
        *((NULL, NULL) if graph is None else (graph.new, graph.old)),
        *(starts, start, size(1 if start >= 0 else starts.size)),
        *(flags, np.bool_(mask is not None and mask.complement)),
        *(NULL if kept is None else kept, NULL if tree is None else tree, present, memory),
        *((NULL, NULL) if not is_least else (by.indptr, by.indices)),
        np.bool_(into is not None),
        *(size(min(limit, n)), np.int32(DIRECTIONS[direction])),
        *(size(ALONE_EDGES), size(GRID_EDGES), np.int32(room), np.int32(words), np.int32(UNIT)),
        *(np.float32(PUSH_COST), records, size(len(records) if traced else 0)),
        results=3,
        shared=shared,
    )
    if status == TOO_DEEP:
        raise OverflowError(f"a vertex is more than 254 edges away, which {levels} cannot hold")
    if levels is None:
        kept = None
    return Tree(kept, tree, present, reached, depth, _trace(records, recorded) if traced else [])


def _shape(kernel: Kernel, n: int, offset: int, parents: bool) -> tuple[int, int, int, int]:
    """Entries of one block's queue, words of the map beside it, the bytes, and the grid."""
    most = _shared_limit(xp.cuda.runtime.getDevice()) - STATIC
    queue = ROOM * 2 * (offset + 4 + 4 * parents)
    words = -(-n // 32)
    if queue + 4 * words > most:
        words = 0
    shared = max(queue + 4 * words, PULL_SHARED)
    return ROOM, words, shared, persistent.grid(kernel, THREADS, shared, each=1)


def _shared_limit(device: int) -> int:
    attributes = xp.cuda.Device(device).attributes
    return attributes["MaxSharedMemoryPerBlockOptin"]


def _scratch(
    n: int, offset: int, masked: bool, parents: bool, relabelled: bool, level: np.dtype[Any]
) -> int:
    """Bytes that the kernel carves its maps and its queue from, in the order of bfs.cu."""
    words = -(-n // 32)
    pieces = [words * 4] * (3 if masked else 2) + [n * offset, n * 4]
    pieces += [n * 4] * ((offset == 8) + parents)
    if relabelled:
        pieces += [n * 4] * parents + [n] + [n * 4] * (level.itemsize > 1)
    return sum(-(-piece // 256) * 256 for piece in pieces)


def _trace(records: Array, count: int) -> list[Level]:
    """Records as the kernel made them: each level's time is that until the next one began."""
    rows = records[:count].tolist()
    return [
        Level(WAYS[way], frontier, edges, (after[3] - begin) * 1e-9)
        for (way, frontier, edges, begin), after in pairwise(rows)
    ]
