"""Breadth-first search, the whole traversal in one launch.

Kernels: bfs.cu; bfs_deep.cu, the same in clusters of blocks; bfs_small.cu, by one cluster. Waits:
for the traversal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any, Literal
from weakref import WeakKeyDictionary, ref

import cupy as xp
import numpy as np

from graphla.backends import Level, Tree
from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import NULL, size
from graphla.backends.cuda.matvec import flags_of
from graphla.backends.traversals import Meanwhile
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.formats import Array, Csr, Plan, VectorMask

THREADS = 1024  # of a block, as BFS_THREADS in bfs.cuh
ROOM = 4096
"""Vertices that one block's queue in shared memory holds: half of LEAST_POOL at most."""
POOL, LEAST_POOL = 16384, 8704
"""Words of shared memory for lists of vertices; the least that the lists of pulls need."""
DEEP_POOL = 32768
"""The same where blocks of a cluster send one another vertices."""
SMALL_MAP, FEW_EDGES = 12288, 8
"""A map of so few words, or of a graph of so few edges a vertex, one block has in shared memory."""
CLUSTER = 16
"""Blocks that walk the small levels of a graph of few edges together, on cards that have clusters;
elsewhere one block does it alone."""
ALONE_EDGES = 4096
"""A level of no more edges is given to one block, if its vertices have room there;"""
MOST_ALONE = 4096
"""no level of more: a list of its long rows has room, ALONE_SHORT x ALONE_LONG in bfs_alone.cuh."""
CLUSTER_EDGES = 16384
"""A level of no more edges is given to a cluster;"""
GRID_EDGES = 24576
"""and one of more edges is taken from it."""
SMALL_EDGES = 3 << 20
"""A graph of no more entries is searched by one cluster of blocks, each with all maps of its
vertices in shared memory, if there is room;"""
SMALL_ROOM, LEAST_SMALL_ROOM = 16384, 4096
"""and for so many words of lists beside them."""
SMALL_STATIC, SMALL_SUMS = 12800, 20
"""Bytes of shared memory that its kernel has beside those asked for; of one block's sums."""
SMALL_PUSH_COST = 0.3
SMALL_THREADS, FEW_WORDS = 512, 1024
"""Threads of a block of it, where the graph's map has no more words; else as many as others."""
HUBS = 24
"""The class of degrees of 128 and more: such rows are followed by all of its blocks together."""
PUSH_COST = 1.25
"""What an edge out of the frontier costs by push, in looks at a neighbour by pull."""
UNIT = 4
"""Edges of matrices with 64-bit offsets are counted in units of 2^UNIT in the queue."""
STATIC = 6656
"""Bytes of shared memory that the kernel has beside those asked for."""
MOST_RECORDS = 1 << 20
TOO_DEEP = persistent.FAULT
INT32, FALSE = np.dtype(np.int32), np.bool_(False)
DIRECTIONS = {"auto": np.int32(0), "push": np.int32(1), "pull": np.int32(2)}
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
    meanwhile: Meanwhile | None = None,
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
    level = INT32 if levels is None else np.dtype(levels)
    search = _search_of(out, into, plan, level, kept is not None, parents, mask is not None)
    scratch, pieces = search.scratch()
    records: Any = xp.empty((min(n + 2, MOST_RECORDS), 4), xp.uint64) if traced else NULL
    args = (
        *(starts, start, size(1 if start >= 0 else starts.size)),
        *((NULL, FALSE) if mask is None else (flags_of(mask), np.bool_(mask.complement))),
        *(NULL if kept is None else kept, NULL if tree is None else tree, present),
        *pieces,
        *search.edges,
        *(size(min(limit, n)), DIRECTIONS[direction]),
    )
    records_of = (records, size(len(records) if traced else 0))
    beside = None
    if meanwhile is not None:
        beside = partial(meanwhile, None if levels is None else kept, tree, present)
    try:
        told = _run(search, args, records_of, beside)
    except persistent.Refused:
        _refusing.add(xp.cuda.runtime.getDevice())
        _searches.clear()
        search = _search_of(out, into, plan, level, kept is not None, parents, mask is not None)
        told = _run(search, args, records_of, beside)
    del scratch
    status, depth, reached, recorded = told
    if status == TOO_DEEP:
        raise OverflowError(f"a vertex is more than 254 edges away, which {levels} cannot hold")
    if levels is None:
        kept = None
    return Tree(kept, tree, present, reached, depth, _trace(records, recorded) if traced else [])


def _run(
    search: _Search,
    args: tuple[Any, ...],
    records: tuple[Any, Any],
    meanwhile: Callable[[], None] | None,
) -> list[int]:
    return persistent.run(
        *(
            search.kernel,
            search.blocks,
            search.threads,
            *search.graph,
            *args,
            *search.tuning,
            *records,
        ),
        results=3,
        shared=search.shared,
        cluster=search.cluster,
        cooperative=search.is_cooperative,
        meanwhile=meanwhile,
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """What searches of one matrix, with one plan and the same results, have in common."""

    out: Any  # weak references: what is known of a matrix is not to keep it
    into: Any
    kernel: Kernel
    cluster: int
    is_cooperative: bool
    threads: int  # of a block
    blocks: int
    shared: int  # bytes
    ends: tuple[int, ...]  # of the pieces of scratch
    graph: tuple[Any, ...]  # arguments, as the kernel takes them
    edges: tuple[Any, ...]
    tuning: tuple[Any, ...]

    def scratch(self) -> tuple[Any, list[Any]]:
        """Memory for a call, and where the pieces begin: no pointer to a piece of none."""
        if not self.ends:
            return None, []
        memory, begin, pieces = xp.cuda.alloc(self.ends[-1]), 0, []
        base = memory.ptr
        for end in self.ends:
            pieces.append(np.uint64(base + begin) if end > begin else NULL)
            begin = end
        return memory, pieces


_searches: WeakKeyDictionary[Csr | Plan, dict[Any, _Search]] = WeakKeyDictionary()


def _search_of(
    out: Csr,
    into: Csr | None,
    plan: Plan | None,
    level: np.dtype[Any],
    has_levels: bool,
    parents: Literal["any", "least"] | None,
    is_masked: bool,
) -> _Search:
    """Kept with the plan, or with the matrix if it has none."""
    tuning = (ALONE_EDGES, MOST_ALONE, GRID_EDGES, PUSH_COST, ROOM, POOL, LEAST_POOL, UNIT)
    asked = (level.itemsize, has_levels, parents, is_masked, into is None)
    key = (asked, tuning, SMALL_MAP, FEW_EDGES, CLUSTER, CLUSTER_EDGES, DEEP_POOL)
    key += (SMALL_EDGES, SMALL_ROOM, SMALL_PUSH_COST, HUBS, SMALL_THREADS, FEW_WORDS)
    owner = out if plan is None else plan
    known = _searches.get(owner)
    if known is None:
        known = _searches[owner] = {}
    found = known.get(key)
    if found is None or found.out() is not out or (into is not None and found.into() is not into):
        found = known[key] = _prepared(out, into, plan, level, has_levels, parents, is_masked)
    return found


def _prepared(
    out: Csr,
    into: Csr | None,
    plan: Plan | None,
    level: np.dtype[Any],
    has_levels: bool,
    parents: Literal["any", "least"] | None,
    is_masked: bool,
) -> _Search:
    n, has_parents = out.nrows, parents is not None
    graph = plan.relabelled if plan is not None else None
    rows, columns, active = (
        (out, into, n) if graph is None else (graph.out, graph.into, graph.active)
    )
    offset = rows.indptr.dtype
    by = out if into is None else into
    graph_of = (
        *(size(n), size(active), size(n if graph is None else graph.ends[30])),
        *(rows.indptr, rows.indices),
        *((NULL, NULL) if columns is None else (columns.indptr, columns.indices)),
        NULL if plan is None else plan.first if graph is None else graph.first,
        plan.idle if plan is not None and graph is None else NULL,
        *((NULL, NULL) if graph is None else (graph.new, graph.old)),
    )
    edges = (
        *((by.indptr, by.indices) if parents == "least" else (NULL, NULL)),
        np.bool_(into is not None),
    )
    known = ref(out), None if into is None else ref(into)
    cluster = 1 if graph is not None else _cluster(out)
    room, shared = (0, 0) if cluster > 1 else _small_shape(out)
    if room:
        threads = SMALL_THREADS if n <= 32 * FEW_WORDS else THREADS
        types = offset, level, has_parents
        kernel = load("bfs_small.cu", "search_small", NOTHING, *types, CLUSTER, threads)
        kernel.widen()
        if kernel.resident(threads, shared):
            hubs = size(0 if graph is None else graph.ends[HUBS])
            tuning = (hubs, np.int32(room), np.float32(SMALL_PUSH_COST))
            return _Search(
                *(*known, kernel, CLUSTER, False, threads, CLUSTER, shared, ()),
                *(graph_of, edges, tuning),
            )
    file = "bfs.cu" if cluster == 1 else "bfs_deep.cu"
    kernel = load(file, "search_breadth_first", NOTHING, offset, level, has_parents, cluster)
    pool, words, shared, blocks = _shape(kernel, out, graph is not None, cluster)
    words_of_map, width, is_renamed = 4 * -(-n // 32), offset.itemsize, graph is not None
    scratch = (
        *(words_of_map, words_of_map, words_of_map * is_masked),
        *(n * width, 4 * n, 4 * n, 4 * n * (width == 8), 4 * n),
        *(
            n * (is_renamed and has_levels),
            4 * n * (is_renamed and has_levels and level.itemsize > 1),
            4 * n * (is_renamed and has_parents),
        ),
    )
    return _Search(
        *(*known, kernel, cluster, True, THREADS, blocks, shared),
        ends=tuple(accumulate(-(-each // 256) * 256 for each in scratch)),
        graph=graph_of,
        edges=edges,
        tuning=(
            *(
                size(min(ALONE_EDGES, MOST_ALONE) if cluster == 1 else CLUSTER_EDGES),
                size(GRID_EDGES),
                np.int32(ROOM),
            ),
            *(np.int32(pool), np.int32(words), np.int32(UNIT), np.float32(PUSH_COST)),
        ),
    )


_refusing: set[int] = set()
"""Devices that have refused clusters of CLUSTER blocks."""


def _has_clusters() -> bool:
    """Whether the card has clusters of so many blocks."""
    device = xp.cuda.runtime.getDevice()
    multiprocessors, has_clusters, _ = _card(device)
    return has_clusters and multiprocessors >= CLUSTER > 1 and device not in _refusing


def _small_shape(out: Csr) -> tuple[int, int]:
    """Words for lists and bytes of shared memory of each block, where one cluster has the whole
    graph's maps; (0, 0) where it does not.
    """
    if out.nvals > SMALL_EDGES or not _has_clusters():
        return 0, 0
    words = (out.nrows + 31) // 32
    stride = (words + CLUSTER - 1) // CLUSTER | 1
    maps = 2 * CLUSTER * SMALL_SUMS + 4 * (4 * CLUSTER * stride + 2 * stride)
    most = _card(xp.cuda.runtime.getDevice())[2] + STATIC - SMALL_STATIC
    room = min(SMALL_ROOM, (most - maps) // 4)
    return (room, maps + 4 * room) if room >= LEAST_SMALL_ROOM else (0, 0)


def _cluster(out: Csr) -> int:
    """The blocks that walk small levels of a graph together: several if it may be deep, and if the
    card has clusters, for which each of them takes its part of the map.
    """
    most = _card(xp.cuda.runtime.getDevice())[2]
    words = -(-out.nrows // (32 * CLUSTER)) + LEAST_POOL
    may_be_deep = out.nvals <= FEW_EDGES * out.nrows and 4 * words <= most
    return CLUSTER if may_be_deep and _has_clusters() else 1


def _shape(
    kernel: Kernel, out: Csr, is_relabelled: bool, cluster: int
) -> tuple[int, int, int, int]:
    """Words of shared memory for lists, words for the map of one block, all bytes, and the grid.

    The map is kept there if that costs little, or the graph has few edges: then most levels are
    one block's. It takes room from the cache.
    """
    words, least = -(-out.nrows // (32 * cluster)), LEAST_POOL
    most = _card(xp.cuda.runtime.getDevice())[2] // 4
    is_wanted = not is_relabelled and (words <= SMALL_MAP or out.nvals <= FEW_EDGES * out.nrows)
    if not is_wanted or words + least > most:
        words = 0
    pool = max(least, min(POOL if cluster == 1 else DEEP_POOL, most - words))
    return (
        pool,
        words,
        4 * (pool + words),
        persistent.grid(kernel, THREADS, 4 * (pool + words), each=1, cluster=cluster),
    )


@cache
def _card(device: int) -> tuple[int, bool, int]:
    """Multiprocessors, whether there are clusters, and bytes of shared memory for the asking."""
    card = xp.cuda.Device(device)
    has_clusters = int(card.compute_capability) >= 90
    most = card.attributes["MaxSharedMemoryPerBlockOptin"] - STATIC
    return card.attributes["MultiProcessorCount"], has_clusters, most


def _trace(records: Array, count: int) -> list[Level]:
    """Records as the kernel made them: each level's time is that until the next one began."""
    rows = records[:count].tolist()
    return [
        Level(WAYS[way], frontier, edges, (after[3] - begin) * 1e-9)
        for (way, frontier, edges, begin), after in pairwise(rows)
    ]
