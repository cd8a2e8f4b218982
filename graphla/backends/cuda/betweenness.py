"""Dependencies on shortest paths: a source to each team of blocks, in one launch; where edges have
lengths, a launch for each source, by all blocks.

Kernel: betweenness.cu, on persistent.cuh; where edges have lengths, after closure.cu.
Waits: for each launch.
"""

from __future__ import annotations

from traceback import clear_frames
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.closure import closure
from graphla.backends.cuda.launch import NULL, size
from graphla.backends.traversals import Dependencies
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, Plan, SparseVector, is_iso
from semirings.semiring import min_plus

BLOCK = 512
"""Threads of a block, as in betweenness.cu."""
PART = 256
"""Edges that a place in a queue stands for, as in betweenness.cu."""
WORDS = 16
"""Words of a team, as in betweenness.cu."""
EDGES = 1 << 13
"""Edges of the graph from which one more block of a team pays."""
FEW_PARTS = 16
"""The first block of a team starts to work alone at a level of at most this many parts."""
ALONE_PARTS = 400
"""Most parts of a level at which the first block of a team continues to work alone."""
ALONE_EDGES = 4096
"""Most edges of a level at which the first block of a team continues to work alone."""
MOST_BYTES = 8 << 30
"""Of device memory that teams may take; half as many teams where there is less."""
OF_VERTICES, OF_EDGES = 0, 1  # as Summed in betweenness.cu
BY_LEVELS, BY_LENGTHS = 0, 1  # as Told in betweenness.cu
ENDLESS = 1 << 62
"""Rounds of a closure that ends by itself."""


def dependencies(
    out: Csr,
    sources: Array,
    *,
    is_weighted: bool,
    of_edges: bool,
    reach: bool,
    plan: Plan | None,
) -> Dependencies | None:
    """What vertices, or edges, carry of the shortest paths from the sources."""
    n = out.nrows
    relabelled = None if plan is None or of_edges or is_weighted else plan.relabelled
    graph, vertices, renumbered = out, n, NULL
    if relabelled:
        graph, vertices, renumbered = relabelled.out, relabelled.active, relabelled.new
    totals = xp.zeros(vertices, np.float64)
    edges: Any = xp.zeros(out.nvals, np.float64) if of_edges else None
    reached: Any = xp.zeros(vertices, np.int64) if reach else None
    counts = xp.zeros(sources.size, np.int64)
    sums = (totals, NULL if edges is None else edges, NULL if reached is None else reached)
    sources = xp.asarray(sources, np.int32)
    if is_weighted:
        stride = size(0 if is_iso(out.values) else 1)
        lengths = xp.ascontiguousarray(out.values[: 1 if stride == 0 else None], np.float64)
        weighted = Csr(n, n, out.indptr, out.indices, out.values.astype(np.float64))
        for k in range(sources.size):
            one = sources[k : k + 1]
            told = (lengths, stride, _distances(weighted, one))
            _launch(out, n, BY_LENGTHS, told, one, NULL, sums, counts[k : k + 1])
    elif sources.size:
        told = (NULL, size(0), NULL)
        _launch(graph, vertices, BY_LEVELS, told, sources, renumbered, sums, counts)
    if relabelled:
        totals = _in_user_order(totals, relabelled, n)
        reached = None if reached is None else _in_user_order(reached, relabelled, n)
    return Dependencies(totals, edges, reached, counts)


def _launch(
    graph: Csr,
    vertices: int,
    told: int,
    distances: tuple[Any, ...],
    sources: Array,
    renumbered: Any,
    sums: tuple[Any, ...],
    counts: Array,
) -> None:
    """All the sources; by lengths there is one."""
    summed = OF_VERTICES if sums[1] is NULL else OF_EDGES
    kernel = load("betweenness.cu", "brandes", NOTHING, graph.indptr.dtype, told, summed)
    room = vertices + graph.nvals // PART + 1
    each = 28 * vertices + 8 * room
    grid, most = persistent.grid(kernel, BLOCK), MOST_BYTES
    while True:
        teams = min(sources.size, grid, max(1, most // each))
        try:
            scratch = _scratch(teams, vertices, room)
            break
        except MemoryError as error:
            if teams == 1:
                raise
            clear_frames(error.__traceback__)
            most = each * (teams // 2)
    blocks = max(1, min(grid // teams, graph.nvals // EDGES))
    persistent.run(
        kernel,
        teams * blocks,
        BLOCK,
        *(size(vertices), size(sources.size), np.uint32(blocks), graph.indptr, graph.indices),
        *(*distances, sources, renumbered, *scratch),
        *(np.uint32(min(parts, BLOCK)) for parts in (FEW_PARTS, ALONE_PARTS)),
        np.uint32(ALONE_EDGES),
        *(*sums, counts),
        results=0,
    )


def _distances(a: Csr, source: Array) -> Array:
    """From the source to each vertex; not a number where it does not reach."""
    closed = closure(
        a,
        None,
        SparseVector(a.nrows, source, xp.zeros(1, np.float64)),
        min_plus["FP64"],
        how="near_far",
        mask=None,
        limit=ENDLESS,
        parents=False,
        delta=None,
        turns=ENDLESS,
        traced=False,
    )
    return xp.where(closed.values.present, closed.values.values, np.nan)


def _scratch(teams: int, vertices: int, room: int) -> tuple[Any, ...]:
    """What teams know of their sources' paths: from their words to the ends of levels."""
    return (
        xp.zeros(teams * WORDS, np.uint64),
        xp.full(teams * vertices, -1, np.int32),
        *xp.zeros((2, teams * vertices), np.float64),
        *(xp.empty(teams * room, np.uint64), size(room)),
        xp.empty(teams * (vertices + 2), np.uint64),
    )


def _in_user_order(values: Array, relabelled: Any, n: int) -> Array:
    there = xp.zeros(n, values.dtype)
    there[relabelled.old[: relabelled.active]] = values
    return there
