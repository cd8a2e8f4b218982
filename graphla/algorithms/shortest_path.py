"""A shortest path from one vertex to another, and its length.

The parents of a search from the source form a tree. Following the parents from the target to the
root yields the shortest path in reverse order.
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
"""Up to this many path vertices are read one by one. Each read waits for the GPU, so for longer
paths all parents are copied to the host.
"""


class NoPath(GraphblasException, ValueError):
    """Raised if there is no path from one vertex to the other."""


@graph_algorithm(vertices=("source", "target"), lengths="weight")
def shortest_path(
    A: Matrix,
    source: Any,
    target: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
) -> list[int]:
    """``t, p(t), p(p(t)), ...`` in reverse order, where p holds the parents of a search.

    Return the vertices of a shortest path from one vertex to another.

    If there are several shortest paths, the function returns one of them. Takes O(n + m) time
    without weights.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: the first vertex of the path.
        target: the last vertex of the path.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "dijkstra", which needs weights of at least 0, or "bellman-ford", which also accepts
            negative weights. Without weights, both methods run a breadth-first search.

    Returns:
        list[int]: the vertices of one shortest path from source to target, including both ends;
            labels if A is a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If source or target is not a vertex of the graph.
        NoPath: If no path leads from source to target.
        InvalidValue: If `method` is not one of the names above, if a weight is NaN, if a weight is
            negative and the method is "dijkstra", if the source reaches a negative cycle and the
            method is "bellman-ford", or if weights are used and A is a Graph whose parallel edges
            were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
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
    """``d(t)``, where ``d = d min (d min.+ A)`` and d(s) = 0.

    Return the length of a shortest path from one vertex to another.

    Takes O(n + m) time without weights. For the lengths from one vertex to all other vertices, call
    `sssp`, or `bfs` if there are no weights.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: the first vertex of the path.
        target: the last vertex of the path.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "dijkstra", which needs weights of at least 0, or "bellman-ford", which also accepts
            negative weights. Without weights, both methods run a breadth-first search.

    Returns:
        float: the length of the path: without weights, the number of edges (an int); with weights,
            their sum (an int if the weights are integers).

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If source or target is not a vertex of the graph.
        NoPath: If no path leads from source to target.
        InvalidValue: If `method` is not one of the names above, if a weight is NaN, if a weight is
            negative and the method is "dijkstra", if the source reaches a negative cycle and the
            method is "bellman-ford", or if weights are used and A is a Graph whose parallel edges
            were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
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
    A: Matrix, source: int, target: int, weight: bool | str | None, method: Any, *, parents: bool
) -> tuple[Vector, Any]:
    """Return the distances and the parents that a search from `source` finds.

    The search may stop when it knows the distance of `target`.
    """
    if method not in ("dijkstra", "bellman-ford"):
        raise InvalidValue(f'method must be "dijkstra" or "bellman-ford", not {method!r}')
    if not validation.weighs("weight", weight):
        return bfs(A, source, parents=parents)
    if method == "bellman-ford":
        return bellman_ford(A, source, parents=parents)
    A, dtype = lengths_of(A, weight)
    validation.nonnegative(A)
    start = validation.start(source, A, 0, dtype)
    return solve(start, A, min_plus[dtype], parents=parents, target=target)


def _length(lengths: Vector, source: int, target: int) -> float:
    """Return the length of a shortest path; raise NoPath if the target is not reached."""
    length = lengths.get(target)
    if length is None:
        raise NoPath(f"A has no path from {vertex_name(source)} to {vertex_name(target)}")
    return length
