"""Compute the dependencies of sources on vertices and edges with Brandes' algorithm.

The dependency of a source on a vertex is the sum, over all targets, of the fraction of shortest
paths that pass through the vertex. If edges have no lengths, one launch processes all sources: the
blocks of the grid form teams, and each team processes one source at a time. If edges have lengths,
there is one launch per source, and all blocks form one team.

Kernel: betweenness.cu. If edges have lengths, closure.cu runs before each launch. The host waits
for each launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from traceback import clear_frames
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.closure import closure
from graphla.backends.requests import Closure, Dependencies, DependenciesResult
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings.semiring import min_plus


@dataclass(frozen=True, slots=True)
class BetweennessTuning:
    """Tuning parameters, measured on an H200.

    The kernel is compiled with the values of `block`, `part` and `team_words`.
    """

    block: int = 512  # number of threads per block
    part: int = 256  # a row is divided into parts of at most this many edges
    team_words: int = 16  # number of control words per team
    edges: int = 1 << 13  # number of edges of the graph per block of a team
    # If a level has at most `few_parts` parts of rows, the first block of a team starts to process
    # levels alone. It continues alone as long as each level has at most `few_parts` parts, or has
    # at most `alone_parts` parts and at most `alone_edges` edges.
    few_parts: int = 16
    alone_parts: int = 400
    alone_edges: int = 4096
    most_bytes: int = 8 << 30  # memory limit for all teams; halved if the memory runs out


TUNING = BetweennessTuning()
NETWORK, SOURCES, MEMORY, LIMITS, SUMS = (
    Struct("betweenness.cu", name) for name in ("Network", "Sources", "Memory", "Limits", "Sums")
)
Summed, Told = (enumeration("betweenness.cu", name) for name in ("Summed", "Told"))
Structs = tuple[Packed, Packed, Packed]  # the structs Network, Sources and Sums
ENDLESS = 1 << 62
"""A limit on the rounds of a closure that no closure reaches: the number of rounds is unlimited."""


def dependencies(request: Dependencies) -> DependenciesResult:
    """Return the sum of all sources' dependencies on each vertex and, if requested, on each edge.

    The dependency of a source on a vertex or edge is the sum, over all targets, of the fraction of
    shortest paths that pass through it.
    """
    out, sources, plan = request.out, request.sources, request.plan
    is_weighted, of_edges, reach = request.is_weighted, request.of_edges, request.reach
    n = out.nrows
    relabeled = None if plan is None or of_edges or is_weighted else plan.relabeled
    graph, vertices, renumbered = out, n, None
    if relabeled:
        graph, vertices, renumbered = relabeled.out, relabeled.active, relabeled.new
    totals = xp.zeros(vertices, np.float64)
    edges: Any = xp.zeros(out.nvals, np.float64) if of_edges else None
    reached: Any = xp.zeros(vertices, np.int64) if reach else None
    counts = xp.zeros(sources.size, np.int64)
    network = {"vertices": vertices, "ends": graph.indptr, "out": graph.indices}
    sums = {"totals": totals, "of_edges": edges, "reached": reached}
    sources = xp.asarray(sources, np.int32)
    told = Told.BY_LENGTHS if is_weighted else Told.BY_LEVELS
    summed = Summed.OF_EDGES if of_edges else Summed.OF_VERTICES
    kernel = load(
        *("betweenness.cu", "brandes", NOTHING, graph.indptr.dtype, told, summed),
        constants=current(TUNING),
    )
    if is_weighted:
        stride = 0 if is_iso(out.values) else 1
        lengths = xp.ascontiguousarray(out.values[: 1 if stride == 0 else None], np.float64)
        weighted = Csr(n, n, out.indptr, out.indices, out.values.astype(np.float64))
        for k in range(sources.size):
            one = sources[k : k + 1]
            far = _distances(weighted, one)
            place = NETWORK(**network, lengths=lengths, stride=stride, distances=far)
            given = SOURCES(count=1, sources=one, renumbered=None)
            structs = place, given, SUMS(**sums, counts=counts[k : k + 1])
            _launch(kernel, graph, vertices, 1, structs)
    elif sources.size:
        place = NETWORK(**network, lengths=None, stride=0, distances=None)
        given = SOURCES(count=sources.size, sources=sources, renumbered=renumbered)
        structs = place, given, SUMS(**sums, counts=counts)
        _launch(kernel, graph, vertices, sources.size, structs)
    if relabeled:
        totals = _in_user_order(totals, relabeled, n)
        reached = None if reached is None else _in_user_order(reached, relabeled, n)
    return DependenciesResult(totals, edges, reached, counts)


def _launch(kernel: Kernel, graph: Csr, vertices: int, count: int, structs: Structs) -> None:
    """Launch the kernel, which adds the dependencies of `count` sources to the arrays in Sums."""
    tuning, (network, sources, sums) = current(TUNING), structs
    room = vertices + graph.nvals // tuning.part + 1
    each = 28 * vertices + 8 * room
    grid, most = persistent.grid(kernel, tuning.block), tuning.most_bytes
    while True:
        teams = min(count, grid, max(1, most // each))
        blocks = max(1, min(grid // teams, graph.nvals // tuning.edges))
        try:
            memory = _memory(teams, blocks, vertices, room)
            break
        except MemoryError as error:
            if teams == 1:
                raise
            clear_frames(error.__traceback__)
            most = each * (teams // 2)
    limits = LIMITS(
        few_parts=min(tuning.few_parts, tuning.block),
        alone_parts=min(tuning.alone_parts, tuning.block),
        alone_edges=tuning.alone_edges,
    )
    persistent.run(
        kernel,
        teams * blocks,
        tuning.block,
        network,
        sources,
        memory,
        limits,
        sums,
        results=0,
        as_struct=True,
    )


def _distances(a: Csr, source: Array) -> Array:
    """Return the distances from the source. The distance of a vertex that is not reached is NaN."""
    x = SparseVector(a.nrows, source, xp.zeros(1, np.float64))
    semiring = min_plus["FP64"]
    request = Closure(a, x, semiring, "near_far", mask=None, limit=ENDLESS, turns=ENDLESS)
    closed = closure(request)
    return xp.where(closed.values.present, closed.values.values, np.nan)


def _memory(teams: int, blocks: int, vertices: int, room: int) -> Packed:
    """Allocate the working memory of all teams. A team is a group of `blocks` blocks."""
    sigmas, shares = xp.zeros((2, teams * vertices), np.float64)
    return MEMORY(
        team_size=blocks,
        room=room,
        words=xp.zeros(teams * TUNING.team_words, np.uint64),
        levels=xp.full(teams * vertices, -1, np.int32),
        sigmas=sigmas,
        shares=shares,
        queues=xp.empty(teams * room, np.uint64),
        level_ends=xp.empty(teams * (vertices + 2), np.uint64),
    )


def _in_user_order(values: Array, relabeled: Any, n: int) -> Array:
    there = xp.zeros(n, values.dtype)
    there[relabeled.old[: relabeled.active]] = values
    return there
