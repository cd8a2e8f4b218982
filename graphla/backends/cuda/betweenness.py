"""Dependencies on shortest paths: a source to each team of blocks, in one launch.

Kernel: betweenness.cu, on persistent.cuh.
Waits: for the launch.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launching import NULL, size
from graphla.backends.traversals import Dependencies
from graphla.kernels.cuda import NOTHING, load
from graphla.storage import Array, Csr, Plan

BLOCK = 512
"""Threads of a block, as in betweenness.cu."""
PART = 256
"""Edges that a place in a queue stands for, as in betweenness.cu."""
WORDS = 16
"""Words of a team, as in betweenness.cu."""
EDGES = 1 << 13
"""Edges of the graph from which one more block of a team pays."""
MOST_BYTES = 8 << 30
"""Of device memory that teams may take, beside the first."""
OF_VERTICES, OF_EDGES = 0, 1  # as in betweenness.cu


def dependencies(
    out: Csr,
    sources: Array,
    *,
    is_weighted: bool,
    of_edges: bool,
    reach: bool,
    plan: Plan | None,
) -> Dependencies | None:
    """What vertices, or edges, carry of the shortest paths from the sources; None of weights."""
    if is_weighted:
        return None
    n, count = out.nrows, sources.size
    relabelled = None if plan is None or of_edges else plan.relabelled
    graph, vertices, renumbered = out, n, NULL
    if relabelled:
        graph, vertices, renumbered = relabelled.out, relabelled.active, relabelled.new
    totals = xp.zeros(vertices, np.float64)
    edges: Any = xp.zeros(out.nvals, np.float64) if of_edges else None
    reached: Any = xp.zeros(vertices, np.int64) if reach else None
    counts = xp.zeros(count, np.int64)
    if count:
        summed = OF_EDGES if of_edges else OF_VERTICES
        kernel = load("betweenness.cu", "brandes", NOTHING, graph.indptr.dtype, summed)
        room = vertices + graph.nvals // PART + 1
        teams, blocks = _teams(kernel, count, graph.nvals, 24 * vertices + 8 * room)
        persistent.run(
            kernel,
            teams * blocks,
            BLOCK,
            *(size(vertices), size(count), np.uint32(blocks), graph.indptr, graph.indices),
            *(xp.asarray(sources, np.int32), renumbered, xp.zeros(teams * WORDS, np.uint64)),
            *(xp.full(teams * vertices, -1, np.int32), *_zeros(2, teams * vertices)),
            *(xp.empty(teams * room, np.uint64), size(room)),
            xp.empty(teams * (vertices + 2), np.uint32),
            *(totals, NULL if edges is None else edges, NULL if reached is None else reached),
            counts,
            results=0,
        )
    if relabelled:
        totals = _in_user_order(totals, relabelled, n)
        reached = None if reached is None else _in_user_order(reached, relabelled, n)
    return Dependencies(totals, edges, reached, counts)


def _teams(kernel: Any, sources: int, edges: int, nbytes: int) -> tuple[int, int]:
    """How many teams there are, and of how many blocks each."""
    blocks = persistent.grid(kernel, BLOCK)
    teams = min(sources, blocks, max(1, MOST_BYTES // max(nbytes, 1)))
    return teams, max(1, min(blocks // teams, edges // EDGES))


def _zeros(number: int, length: int) -> Any:
    return xp.zeros((number, length), np.float64)


def _in_user_order(values: Array, relabelled: Any, n: int) -> Array:
    there = xp.zeros(n, values.dtype)
    there[relabelled.old[: relabelled.active]] = values
    return there
