"""Breadth-first search, the whole traversal in one launch.

Kernels: bfs.cu; bfs_deep.cu, the same kernel in clusters of blocks; bfs_small.cu, one cluster for a
small graph. The host waits once, for the end of the traversal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any
from weakref import ref

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import card
from graphla.backends.cuda.matvec import presence
from graphla.backends.requests import BfsResult, Level, Search
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, remember

GRAPH, QUERY, ANSWER, STATE, LIMITS = (
    Struct("bfs.cuh", name) for name in ("Graph", "Query", "Answer", "State", "Limits")
)
SMALL_LIMITS = Struct("bfs_small.cuh", "SmallLimits")
RECORDS = Struct("persistent.cuh", "Records")
DIRECTION, SHAPE = (enumeration("bfs.cuh", name) for name in ("Direction", "BfsShape"))
DIRECTIONS = {
    "auto": int(DIRECTION.EITHER),
    "push": int(DIRECTION.PUSHES),
    "pull": int(DIRECTION.PULLS),
}
WAY = enumeration("bfs.cuh", "Way")
WAYS = {WAY.BY_PUSH: "push", WAY.BY_PULL: "pull", WAY.BY_PUSH_ALONE: "push"}
TOO_DEEP = persistent.FAULT
THREADS = int(SHAPE.BFS_THREADS)
SUMS_BYTES = int(SHAPE.SMALL_SUMS_BYTES)
INT32, BOOL = np.dtype(np.int32), np.dtype(bool)
NO_RECORDS = RECORDS(at=None, room=0)
MOST_RECORDS = 1 << 20
HUBS = 24
"""ends[HUBS] of a `Relabeled` graph is the number of its vertices with degree 128 or more."""


@dataclass(frozen=True)
class BfsTuning:
    """Tuning parameters of searches, measured on an H200 (docs/performance/findings.md).

    A word has 4 bytes. Each block keeps lists of vertices in shared memory. The map of reached
    vertices has one bit per vertex. If the map is small enough, it is in shared memory too.
    """

    # The capacity of one block's queue, in vertices. Two queues must fit in least_pool words.
    room: int = 4096
    pool: int = 16384  # number of words for the lists of a block
    # Minimum number of words for the lists of a block. A pull cannot work with fewer words.
    least_pool: int = 8704
    # number of words for the lists of a block if a cluster processes the small levels
    deep_pool: int = 32768
    static: int = 6656  # upper bound on the bytes of static shared memory in the kernel
    small_map: int = 12288  # maximum number of words in a map that one block keeps in shared memory
    # If the graph has at most this many edges per vertex, maps larger than `small_map` words are
    # kept in shared memory, too, if they fit.
    few_edges: int = 8
    cluster: int = 16  # number of blocks that process small levels together; 1: no cluster
    alone_edges: int = 4096  # maximum number of edges in a level that a single block processes
    cluster_edges: int = 16384  # maximum number of edges in a level that a cluster processes
    # If block 0 or a cluster processes a level with more edges than this, it stops working alone,
    # and all blocks process the following level.
    grid_edges: int = 24576
    push_cost: float = 1.25  # cost of an edge in a push; reading a neighbor in a pull costs 1
    unit: int = 4  # in graphs with 64-bit offsets, queues count edges in units of 2^unit
    # If all vertex maps fit in the shared memory of each block, one cluster searches the whole
    # graph. The rest of the parameters belong to the kernel of this search.
    small_edges: int = 3 << 20  # maximum number of entries in a graph that one cluster searches
    small_room: int = 16384  # maximum number of words for the lists of a block
    # minimum number of words for the lists of a block; if fewer fit, all blocks search the graph
    least_small_room: int = 4096
    small_static: int = 12800  # upper bound on the bytes of static shared memory in the kernel
    small_push_cost: float = 0.3
    # number of threads per block if the vertex maps are small; for larger maps, the number is
    # THREADS
    small_threads: int = 512
    few_words: int = 1024  # maximum number of words in a small vertex map


TUNING = BfsTuning()


def bfs(request: Search) -> BfsResult:
    """Return the levels and parents of one breadth-first search from all start vertices
    together."""
    n, dtype, parents = request.out.nrows, request.levels, request.parents
    has_levels = dtype is not None or parents == "least"
    outputs = _Outputs(n, (dtype or INT32) if has_levels else None, parents is not None)
    if not n:
        return BfsResult(*outputs.arrays(), 0, 0, [])
    query, keeps = _query(request)
    records: Any = xp.empty((min(n + 2, MOST_RECORDS), 4), xp.uint64) if request.traced else None
    traces = NO_RECORDS if records is None else RECORDS(at=records, room=len(records))
    shown = tree = present = None

    def meanwhile() -> None:
        nonlocal shown, tree, present
        levels, tree, present = outputs.arrays()
        shown = None if dtype is None else levels
        if request.meanwhile is not None:
            request.meanwhile(shown, tree, present)

    try:
        answer = _run(request, query, outputs, traces, meanwhile)
    except persistent.Refused:
        _refusing.add(xp.cuda.runtime.getDevice())
        answer = _run(request, query, outputs, traces, meanwhile)
    del keeps
    status, depth, reached, recorded = answer
    if status == TOO_DEEP:
        raise OverflowError(f"a vertex is more than 254 edges away, which {dtype} cannot hold")
    trace = [] if records is None else _trace(records, recorded)
    return BfsResult(shown, tree, present, reached, depth, trace)


class _Outputs:
    """Memory for the results of one search.

    The memory is allocated before the launch. The CuPy arrays that refer to it are created after
    the launch, so that the search starts sooner.
    """

    __slots__ = ("dtype", "levels", "n", "parents", "present")

    def __init__(self, n: int, dtype: np.dtype[Any] | None, has_parents: bool) -> None:
        alloc = xp.cuda.alloc
        self.n, self.dtype = n, dtype
        self.levels = None if dtype is None else alloc(n * dtype.itemsize)
        self.parents = alloc(4 * n) if has_parents else None
        self.present = alloc(n)

    def arrays(self) -> tuple[Array | None, Array | None, Array]:
        """Return the arrays of levels, parents and presence flags."""
        n = self.n
        levels = None if self.levels is None else xp.ndarray(n, self.dtype, self.levels)
        parents = None if self.parents is None else xp.ndarray(n, INT32, self.parents)
        return levels, parents, xp.ndarray(n, BOOL, self.present)


def _query(request: Search) -> tuple[Packed, Any]:
    """Return the kernel's query, and the arrays that must not be freed before the kernel ends."""
    starts, mask = request.starts, request.mask
    start, count = 0, starts.size
    if count == 1 and isinstance(starts, np.ndarray):
        # A single start vertex is passed by value, without copying an array.
        start, starts = int(starts[0]), None
    elif count:
        starts = xp.asarray(starts)
    flags = None if mask is None else presence(mask)
    query = QUERY(
        starts=starts,
        starts_count=count,
        flags=flags,
        limit=min(request.limit, request.out.nrows),
        start=start,
        direction=DIRECTIONS[request.direction],
        complement=mask is not None and mask.complement,
    )
    return query, (starts, flags)


def _run(
    request: Search,
    query: Packed,
    outputs: _Outputs,
    records: Packed,
    meanwhile: Callable[[], None],
) -> list[int]:
    search = _prepare(request)
    least_ptr, least_of, by_columns = search.least
    answer = ANSWER(
        levels=outputs.levels and outputs.levels.ptr,
        parents=outputs.parents and outputs.parents.ptr,
        present=outputs.present.ptr,
        least_ptr=least_ptr,
        least_of=least_of,
        by_columns=by_columns,
    )
    memory, state = search.state()
    results = persistent.run(
        search.kernel,
        search.blocks,
        search.threads,
        *(search.graph, query, answer, *state, search.limits, records),
        results=3,
        shared=search.shared,
        cluster=search.cluster,
        cooperative=search.is_cooperative,
        meanwhile=meanwhile,
        as_struct=True,
    )
    del memory
    return results


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Data that all searches with the same matrix, plan and kinds of results share."""

    kernel: Kernel
    cluster: int
    is_cooperative: bool
    threads: int  # of a block
    blocks: int
    shared: int  # bytes
    graph: Packed
    limits: Packed
    least: tuple[Any, Any, bool]  # the rows from which the smallest parents are chosen
    offsets: dict[str, int | None]  # byte offset of each array of the state; None: no array
    state_bytes: int

    def state(self) -> tuple[Any, tuple[Packed, ...]]:
        """Allocate the memory for the arrays of one search.

        Return the memory, and a kernel argument with the address of each array. The address of an
        empty array is null.
        """
        if not self.offsets:
            return None, ()
        memory = xp.cuda.alloc(self.state_bytes)
        base = memory.ptr
        arrays = {k: None if at is None else base + at for k, at in self.offsets.items()}
        return memory, (STATE(**arrays),)


_refusing: set[int] = set()
"""The devices on which the launch of a cluster of `BfsTuning.cluster` blocks has failed."""


def _prepare(request: Search) -> _Prepared:
    """Return the data that searches share. It is cached on the plan or, without a plan, on the
    matrix."""
    out, into, plan = request.out, request.into, request.plan
    tuning = current(TUNING)
    is_refusing = bool(_refusing) and xp.cuda.runtime.getDevice() in _refusing
    key = (
        *("bfs", ref(out), into and ref(into), request.levels, request.parents),
        *(request.mask is None, None if tuning is TUNING else tuning, is_refusing),
    )
    prepare = partial(_make, request, tuning, is_refusing)
    return remember(out if plan is None else plan, key, prepare)


def _make(request: Search, tuning: BfsTuning, is_refusing: bool) -> _Prepared:
    return _Preparation(request, tuning, is_refusing).prepare()


class _Preparation:
    """Chooses the kernel for a search, its launch shape and its limits."""

    def __init__(self, request: Search, tuning: BfsTuning, is_refusing: bool) -> None:
        self.request, self.tuning = request, tuning
        self.plan = request.plan
        self.relabeled = None if self.plan is None else self.plan.relabeled
        self.level = INT32 if request.levels is None else request.levels
        self.has_parents = request.parents is not None
        self.most = card().shared - tuning.static
        has_blocks = card().multiprocessors >= tuning.cluster > 1
        self.has_clusters = card().has_clusters and has_blocks and not is_refusing

    def prepare(self) -> _Prepared:
        """Prepare a search by one cluster if the graph is small, otherwise by the whole grid.

        The grid has as many blocks as the GPU can run at the same time.
        """
        cluster = 1 if self.relabeled is not None else self.cluster()
        return (self.small() if cluster == 1 else None) or self.large(cluster)

    def graph(self) -> dict[str, Any]:
        """Return a dictionary with the two graphs that the kernel reads.

        "graph" is the graph that the kernel traverses. "least" contains the rows from which the
        smallest parents are chosen.
        """
        request, plan, graph = self.request, self.plan, self.relabeled
        out, into, n = request.out, request.into, request.out.nrows
        rows, columns = (out, into) if graph is None else (graph.out, graph.into)
        first = None if plan is None else plan.first if graph is None else graph.first
        packed = GRAPH(
            n=n,
            active=n if graph is None else graph.active,
            several=n if graph is None else graph.ends[30],
            out_indptr=rows.indptr,
            out_indices=rows.indices,
            in_indptr=None if columns is None else columns.indptr,
            in_indices=None if columns is None else columns.indices,
            first=first,
            idle=None if plan is None or graph is not None else plan.idle,
            renumbered=None if graph is None else graph.new,
            old=None if graph is None else graph.old,
        )
        by = out if into is None else into
        is_least = request.parents == "least"
        least = (by.indptr, by.indices) if is_least else (None, None)
        return {
            "graph": packed,
            "least": (*least, into is not None),
        }

    # --- small graphs, which one cluster searches -------------------------------------------------

    def small(self) -> _Prepared | None:
        """Return the data for a search by one cluster, or None if the vertex maps do not fit in the
        shared memory of its blocks."""
        tuning, n = self.tuning, self.request.out.nrows
        room, shared = self.small_shape()
        if not room:
            return None
        threads = tuning.small_threads if n <= 32 * tuning.few_words else THREADS
        types = self.request.out.indptr.dtype, self.level, self.has_parents
        kernel = load("bfs_small.cu", "search_small", NOTHING, *types, tuning.cluster, threads)
        kernel.widen()
        if not kernel.resident(threads, shared):
            return None
        hubs = 0 if self.relabeled is None else self.relabeled.ends[HUBS]
        return _Prepared(
            kernel=kernel,
            cluster=tuning.cluster,
            is_cooperative=False,
            threads=threads,
            blocks=tuning.cluster,
            shared=shared,
            limits=SMALL_LIMITS(hubs=hubs, room=room, push_cost=tuning.small_push_cost),
            offsets={},
            state_bytes=0,
            **self.graph(),
        )

    def small_shape(self) -> tuple[int, int]:
        """Return the number of words for lists and the bytes of shared memory per block, or (0, 0)
        if one cluster cannot hold the graph."""
        tuning, out = self.tuning, self.request.out
        if out.nvals > tuning.small_edges or not self.has_clusters:
            return 0, 0
        size = tuning.cluster
        words = (out.nrows + 31) // 32
        stride = (words + size - 1) // size | 1
        maps = 2 * size * SUMS_BYTES + 4 * (4 * size * stride + 2 * stride)
        most = self.most + tuning.static - tuning.small_static
        room = min(tuning.small_room, (most - maps) // 4)
        return (room, maps + 4 * room) if room >= tuning.least_small_room else (0, 0)

    # --- larger graphs, which the whole grid searches ---------------------------------------------

    def cluster(self) -> int:
        """Return the number of blocks that process small levels together.

        The blocks form a cluster if the graph may have many levels and each block can hold its part
        of the map. Otherwise block 0 works alone, and the number is 1.
        """
        out, tuning = self.request.out, self.tuning
        words = -(-out.nrows // (32 * tuning.cluster)) + tuning.least_pool
        may_be_deep = out.nvals <= tuning.few_edges * out.nrows and 4 * words <= self.most
        return tuning.cluster if may_be_deep and self.has_clusters else 1

    def large(self, cluster: int) -> _Prepared:
        tuning, offset = self.tuning, self.request.out.indptr.dtype
        file = "bfs.cu" if cluster == 1 else "bfs_deep.cu"
        types = offset, self.level, self.has_parents, cluster
        kernel = load(file, "search_breadth_first", NOTHING, *types)
        pool, words = self.pool(cluster)
        shared = 4 * (pool + words)
        alone_edges = min(tuning.alone_edges, SHAPE.ALONE_SHORT * SHAPE.ALONE_LONG)
        limits = LIMITS(
            alone_edges=alone_edges if cluster == 1 else tuning.cluster_edges,
            grid_edges=tuning.grid_edges,
            alone_room=tuning.room,
            pool=pool,
            shared_words=words,
            unit=tuning.unit,
            push_cost=tuning.push_cost,
        )
        offsets, state_bytes = self.state()
        return _Prepared(
            kernel=kernel,
            cluster=cluster,
            is_cooperative=True,
            threads=THREADS,
            blocks=persistent.grid(kernel, THREADS, shared, each=1, cluster=cluster),
            shared=shared,
            limits=limits,
            offsets=offsets,
            state_bytes=state_bytes,
            **self.graph(),
        )

    def pool(self, cluster: int) -> tuple[int, int]:
        """Return two numbers of words in the shared memory of a block: for its lists, and for its
        map.

        The map is kept in shared memory if it is small or if the graph has few edges. If the graph
        has few edges, one block or one cluster processes most levels. For other graphs, a large map
        would take too much memory away from the L1 cache.
        """
        out, tuning = self.request.out, self.tuning
        words, most = -(-out.nrows // (32 * cluster)), self.most // 4
        has_few_edges = out.nvals <= tuning.few_edges * out.nrows
        is_wanted = self.relabeled is None and (words <= tuning.small_map or has_few_edges)
        if not is_wanted or words + tuning.least_pool > most:
            words = 0
        pool = tuning.pool if cluster == 1 else tuning.deep_pool
        return max(tuning.least_pool, min(pool, most - words)), words

    def state(self) -> tuple[dict[str, int | None], int]:
        """Return the byte offset of each array of the kernel's `State`, and the total size.

        The offset of an array that the search does not need is None.
        """
        request, n = self.request, self.request.out.nrows
        is_wide = request.out.indptr.dtype.itemsize == 8
        is_renamed = self.relabeled is not None
        has_levels = is_renamed and (request.levels is not None or request.parents == "least")
        words = 4 * -(-n // 32)
        sizes = {
            "map": words,
            "other_map": words,
            "masked": words * (request.mask is not None),
            "queue_begin": n * request.out.indptr.dtype.itemsize,
            "queue_slot": 4 * n,
            "queue_vertex": 4 * n,
            "queue_degree": 4 * n * is_wide,
            "spill": 4 * n,
            "bytes": n * has_levels,
            "deep": 4 * n * (has_levels and self.level.itemsize > 1),
            "parents": 4 * n * (is_renamed and self.has_parents),
        }
        offsets: dict[str, int | None] = {}
        total = 0
        for name, size in sizes.items():
            offsets[name] = total if size else None
            total += -(-size // 256) * 256
        return offsets, total


def _trace(records: Array, count: int) -> list[Level]:
    """Convert the records that a kernel wrote to `Level` objects.

    Each record contains the time at which a level began, which is also the time at which the
    previous level ended.
    """
    rows = records[:count].tolist()
    return [
        Level(WAYS[way], frontier, edges, (after[3] - begin) * 1e-9)
        for (way, frontier, edges, begin), after in pairwise(rows)
    ]
