"""Check a traversal edge by edge, without algebra, on the device on which it ran.

The checks are local, but sufficient to prove that the result is correct: levels are distances if
only the source has level 0, no edge raises the level by more than 1, and every other reached vertex
has a neighbor that is one level nearer to the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import graphla as gl

CHUNK = 1 << 26  # number of edges checked at a time
NOT_REACHED = -1


@dataclass(frozen=True)
class Edges:
    """The rows, columns and weights of a matrix's entries, as arrays on the matrix's device."""

    xp: ModuleType
    n: int
    rows: Any
    columns: Any
    weights: Any

    @classmethod
    def of(cls, A: gl.Matrix, weighted: bool = False) -> Edges:
        rows, columns, values = A.to_coo(values=weighted, copy=False)
        return cls(library(A), A.nrows, rows, columns, values if weighted else None)

    def parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the rows, columns and weights of up to CHUNK edges at a time."""
        for first in range(0, self.rows.size, CHUNK):
            part = slice(first, first + CHUNK)
            weights = None if self.weights is None else self.weights[part]
            yield self.rows[part], self.columns[part], weights


def library(A: Any) -> ModuleType:
    """Return NumPy or CuPy, whichever holds the arrays of A."""
    if A.device.startswith("cuda"):
        import cupy

        return cupy
    return np


def spread(v: gl.Vector, dtype: Any = np.int64, missing: Any = NOT_REACHED) -> Any:
    """Return v as a dense array, with `missing` where v has no entry."""
    xp = library(v)
    where, values = v.to_coo(copy=False)
    dense = xp.full(v.size, missing, dtype)
    dense[where] = values
    return dense


def check_levels(edges: Edges, source: int, levels: gl.Vector) -> Any:
    """Check the levels of a breadth-first search from `source`; return one level per vertex."""
    xp, level = edges.xp, spread(levels, np.int32)
    nearer = xp.zeros(edges.n, bool)
    for u, v, _ in edges.parts():
        here, there = level[u], level[v]
        inside = here >= 0
        _hold(inside & ((there < 0) | (there > here + 1)), "an edge skips a level")
        nearer[v[inside & (there == here + 1)]] = True
    _source_alone(level, source)
    nearer[source] = True
    _hold((level >= 0) != nearer, "a vertex has no neighbor one level nearer")
    return level


def check_parents(edges: Edges, source: int, level: Any, parents: gl.Vector) -> None:
    """Check parents by Graph500's five rules.

    Each parent must be one level nearer to the source than its child. Then there is no cycle, and
    every tree edge joins adjacent levels. An edge must lead from a parent to its child. The tree
    must contain exactly the reached vertices. `check_levels` must have been called before: it
    checks the remaining rule, that every edge of the graph spans at most one level.
    """
    xp, parent = edges.xp, spread(parents)
    joined = xp.zeros(edges.n, bool)
    for u, v, _ in edges.parts():
        joined[v[parent[v] == u]] = True
    if int(parent[source]) != source:
        raise AssertionError(f"the source has parent {int(parent[source])}")
    joined[source] = True
    _hold((parent >= 0) != (level >= 0), "levels and parents are not of the same vertices")
    inside = parent >= 0
    _hold(inside & ~joined, "no edge joins a vertex with its parent")
    ahead = level - level[xp.maximum(parent, 0)]
    ahead[source] = 1
    _hold(inside & (ahead != 1), "a parent is not one level nearer")


def check_distances(edges: Edges, source: int, distances: gl.Vector) -> Any:
    """Check distance(v) <= distance(u) + w for each edge (u, v) of weight w, with equality for at
    least one edge into each reached vertex except the source."""
    xp = edges.xp
    floating = np.dtype(distances.dtype.np_type).kind == "f"
    distance = spread(distances, np.float64 if floating else np.int64)
    tight = xp.zeros(edges.n, bool)
    for u, v, weights in edges.parts():
        here, there = distance[u], distance[v]
        inside, through = here >= 0, here + weights
        _hold(inside & ((there < 0) | (there > through)), "an edge makes a path shorter")
        tight[v[inside & (there == through)]] = True
    _source_alone(distance, source)
    tight[source] = True
    _hold((distance >= 0) != tight, "no shortest path leads to a vertex that has a distance")
    return distance


def _source_alone(found: Any, source: int) -> None:
    if int(found[source]) != 0 or int((found == 0).sum()) != 1:
        raise AssertionError("the source, and it alone, must be at 0")


def _hold(wrong: Any, problem: str) -> None:
    if bool(wrong.any()):
        raise AssertionError(f"{problem}: {int(wrong.sum()):,} times")
