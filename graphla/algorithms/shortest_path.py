"""A shortest path from one vertex to another, and its length.

The parents of a traversal from the source form a tree. The way from the target to its root is the
path, backwards, and is walked vertex by vertex.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import bellman_ford
from graphla.algorithms.bfs import bfs
from graphla.algorithms.sssp import lengths_of
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from graphla.traversal.closure import solve
from semirings.exceptions import GraphblasException, InvalidValue
from semirings.semiring import min_plus

FEW = 64
"""Vertices of a path that are asked for one by one, each with a wait for the card: then for all."""


class NoPath(GraphblasException, ValueError):
    """No path leads from the one vertex to the other."""


@graph_algorithm(vertices=("source", "target"), lengths="weight")
def shortest_path(
    A: Matrix,
    source: Any,
    target: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
) -> list[int]:
    """t, p(t), p(p(t)), ... backwards: the vertices of a shortest path, both ends among them.

    Of several shortest paths it is any. Edges count 1 each, or, with `weight`, their values in A,
    which may lie below 0 with the method "bellman-ford". NoPath is raised where there is none.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import shortest_path
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
    >>> shortest_path(A, 0, 2)
    [0, 2]
    >>> shortest_path(A, 0, 2, weight=True)
    [0, 1, 2]
    """
    source = validation.vertex(source, A.nrows)
    target = validation.vertex(target, A.nrows, "target")
    lengths, parents = _search(A, source, target, weight, method, parents=True)
    _length(lengths, source, target)
    before, path = parents.to_dense(-1, copy=False), [target]
    while path[-1] != source:
        if len(path) == FEW:
            before = parents.to_dense(-1)
        path.append(int(before[path[-1]]))
    return path[::-1]


@graph_algorithm(vertices=("source", "target"), lengths="weight")
def shortest_path_length(
    A: Matrix,
    source: Any,
    target: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
) -> float:
    """d(t), where d = d min (d min.+ A) and d(s) = 0: how long a shortest path is.

    As `shortest_path` otherwise. From one vertex to all: `sssp`, or the levels of `bfs`.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import shortest_path_length
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
    >>> shortest_path_length(A, 0, 2), shortest_path_length(A, 0, 2, weight=True)
    (1, 3)
    """
    source = validation.vertex(source, A.nrows)
    target = validation.vertex(target, A.nrows, "target")
    lengths, _ = _search(A, source, target, weight, method, parents=False)
    return _length(lengths, source, target)


def _search(
    A: Matrix, source: int, target: int, weight: Any, method: Any, *, parents: bool
) -> tuple[Vector, Any]:
    """Return distances and parents of paths from the source, at least of those to the target."""
    if method not in ("dijkstra", "bellman-ford"):
        raise InvalidValue(f'method must be "dijkstra" or "bellman-ford", not {method!r}')
    if not validation.weighs("weight", weight):
        return bfs(A, source, parents=parents)
    if method == "bellman-ford":
        return bellman_ford(A, source, parents=parents)
    A, dtype = lengths_of(A, weight)
    validation.nonnegative(A)
    start = validation.starts(source, A, 0, dtype)
    return solve(start, A, min_plus[dtype], parents=parents, target=target)


def _length(lengths: Vector, source: int, target: int) -> float:
    """Return the length of a shortest path; refuse a target that the source does not reach."""
    length = lengths.get(target)
    if length is None:
        raise NoPath(f"A has no path from {vertex_name(source)} to {vertex_name(target)}")
    return length
