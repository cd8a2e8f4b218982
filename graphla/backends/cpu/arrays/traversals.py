"""Whole traversals in NumPy: a loop of products, each over all that one level or round reaches.

For machines without Numba, for `config.compiled = False`, for semirings that have no loop form, and
as what the compiled loops (`backends/compiled/traversals`) are tested against.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphla.backends.cpu.masks import presence
from graphla.backends.cpu.spmspv import push
from graphla.backends.cpu.spmv import pull
from graphla.backends.traversals import Level, Tree
from graphla.formats import Array, BitmapVector, Csr, Plan, SparseVector, VectorMask
from semirings.semiring import any_secondi, min_secondi

BYTE_LEVELS = 255
"""How many levels one byte tells apart: the largest value is kept for what is not reached."""
STOPPING = 0.6
"""One entry expected of a pull that stops early, in entries: often it stops sooner."""
PUSHED = 2.0
"""One entry pushed, in entries pulled."""


# --- breadth first ------------------------------------------------------------------------------


def bfs(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any] | None,
    parents: Literal["any", "least"] | None,
    direction: str,
    traced: bool,
) -> Tree:
    """f⟨¬p, r⟩ = f any.secondi A until f is empty: the levels and parents of what is reached."""
    n = out.nrows
    frontier = np.sort(starts).astype(np.int32)
    present = np.zeros(n, bool)
    present[frontier] = True
    closed = present.copy() if mask is None else present | ~allowed_vertices(mask)
    level = np.empty(n, levels) if levels is not None else None
    parent = np.empty(n, np.int32) if parents else None
    if parent is not None:
        parent[frontier] = frontier
    semiring = (min_secondi if parents == "least" else any_secondi)["INT64"]
    left = n - int(np.count_nonzero(closed))
    reached, depth, trace = frontier.size, 0, []
    while frontier.size:
        if level is not None:
            check_level(depth, level.dtype)
            level[frontier] = depth
        if depth == limit or not left:
            break
        begin = perf_counter()
        expanded = frontier.size
        edges = int((out.indptr[frontier + 1] - out.indptr[frontier]).sum())
        towards = direction_of(direction, edges, left, out.nvals, into)
        hidden = VectorMask(n, closed, None, True)
        if towards == "pull" and into is not None:
            at = np.zeros(n, bool)
            at[frontier] = True
            u: Any = BitmapVector(n, at, closed, expanded)
            found = pull(into, u, semiring, "vxm", hidden)
        else:
            u = SparseVector(n, frontier, frontier)
            found = push(out, u, semiring, "vxm", hidden)
        frontier, values = sorted_entries(found)
        closed[frontier] = present[frontier] = True
        if parent is not None:
            parent[frontier] = values
        reached += frontier.size
        left -= frontier.size
        depth += frontier.size > 0
        if traced:
            trace.append(Level(towards, expanded, edges, perf_counter() - begin))
    return Tree(level, parent, present, reached, depth, trace)


def direction_of(wanted: str, edges: int, left: int, nvals: int, into: Csr | None) -> str:
    """Push along so many edges, or pull to the vertices left? Push where there is no CSC."""
    if into is None or wanted == "push":
        return "push"
    if wanted == "pull":
        return "pull"
    degree = nvals / max(into.nrows, 1)
    pulled = left + STOPPING * left * min(degree, nvals / max(edges, 1)) + into.nrows / 8
    return "push" if PUSHED * edges <= pulled else "pull"


def check_level(level: int, dtype: np.dtype[Any]) -> None:
    """Refuses a level that a byte does not hold."""
    if dtype.itemsize == 1 and level >= BYTE_LEVELS:
        raise OverflowError(
            f"there is a vertex {level} edges away from the start, but levels of one byte "
            f"({dtype}) hold at most {BYTE_LEVELS - 1}; ask for int32"
        )


def allowed_vertices(mask: VectorMask) -> Array:
    """Whether each vertex may be reached."""
    there = presence(mask)
    return ~there if mask.complement else there


def sorted_entries(v: Any) -> tuple[Array, Array]:
    """The indices in order, and their values."""
    if isinstance(v, BitmapVector):
        indices = v.present.nonzero()[0].astype(np.int32)
        return indices, v.values[indices]
    order = None if v.is_sorted else v.indices.argsort(kind="stable")
    indices = v.indices if order is None else v.indices[order]
    return indices, v.values if order is None else v.values[order]


# --- what helps them ----------------------------------------------------------------------------


def plan(out: Csr, into: Csr) -> Plan:
    """Which vertices have no edge, and the first in-neighbour of each."""
    begin = perf_counter()
    idle = out.indptr[1:] == out.indptr[:-1]
    nonempty = into.indptr[1:] > into.indptr[:-1]
    first = np.full(out.nrows, -1, np.int32)
    first[nonempty] = into.indices[into.indptr[:-1][nonempty]]
    return of_idle(idle & ~nonempty, first, begin)


def of_idle(idle: Array, first: Array, begin: float) -> Plan:
    """A plan of these, which is made since `begin`."""
    bits = np.ones((idle.size + 31) // 32 * 32, bool)
    bits[: idle.size] = idle
    words = np.packbits(bits, bitorder="little").view(np.uint32)
    return Plan(words, first, None, words.nbytes + first.nbytes, perf_counter() - begin)
