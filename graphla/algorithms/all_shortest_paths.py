"""All shortest paths from one vertex to another, and one shortest path to each vertex.

The parents of all shortest paths form a graph without cycles, unless edges have weight 0. Walks in
this graph from the target back to the source are the shortest paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.all_parents import all_parents, find_distances
from graphla.algorithms.shortest_path import NoPath
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix


@graph_algorithm(vertices=("source", "target"), lengths="weight")
def all_shortest_paths(
    A: Matrix,
    source: Any,
    target: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
) -> list[list[int]]:
    """``s, ..., w, u, t``, where each vertex is a parent of the next vertex.

    List all shortest paths from one vertex to another.

    The number of paths may grow exponentially with the number of vertices; `path_count` counts the
    paths without listing them.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: the first vertex of the paths.
        target: the last vertex of the paths.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "dijkstra", which needs weights of at least 0, or "bellman-ford", which also accepts
            negative weights. Without weights, both methods run a breadth-first search.

    Returns:
        list[list[int]]: the vertices of each path, including both ends; labels if A is a Graph. No
            path visits a vertex twice, even along edges of weight 0.

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
        >>> from graphla.algorithms import all_shortest_paths
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1, nrows=5, ncols=5)
        >>> all_shortest_paths(A, 0, 3)
        [[0, 1, 3], [0, 2, 3]]
    """
    source = validation.vertex(source, A.nrows)
    target = validation.vertex(target, A.nrows, "target")
    distances, parents = all_parents(A, source, weight, method)
    if distances.get(target) is None:
        raise NoPath(f"A has no path from {vertex_name(source)} to {vertex_name(target)}")
    indptr, before, _ = parents.to_csc()
    bounds = indptr.tolist()

    def parents_of(v: int) -> Sequence[int]:
        return before[bounds[v] : bounds[v + 1]].tolist()

    return list(walk_back(source, target, parents_of))


def walk_back(
    source: Any, target: Any, parents_of: Callable[[Any], Sequence[Any]]
) -> Iterator[list[Any]]:
    """Yield each path from `source` to `target` on which each vertex is a parent of the next one.

    Paths are yielded in depth-first order from `target`: the parents of each vertex v are tried in
    the order of `parents_of(v)`. No path visits a vertex twice.
    """
    path, choices, on_path = [target], [iter(parents_of(target))], {target}
    if target == source:
        yield [target]
    while choices:
        for v in choices[-1]:
            if v not in on_path:
                path.append(v)
                on_path.add(v)
                choices.append(iter(parents_of(v)))
                if v == source:
                    yield path[::-1]
                break
        else:
            choices.pop()
            on_path.discard(path.pop())


@graph_algorithm(vertices=("source",), lengths="weight")
def shortest_paths(
    A: Matrix,
    source: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
    *,
    cutoff: float | None = None,
) -> list[list[int]]:
    """``..., p(p(v)), p(v), v`` for each vertex v, where p(v) is the parent of v in a search.

    List one shortest path from a source to each vertex that can be reached.

    The paths together may have O(n²) vertices; `sssp` and `bfs` return only the parents, which take
    O(n) memory. Other functions find the path to one vertex (`shortest_path`) or all paths to it
    (`all_shortest_paths`).

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. Each path begins at the nearest source.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "dijkstra", which needs weights of at least 0, or "bellman-ford", which also accepts
            negative weights. Without weights, both methods run a breadth-first search.
        cutoff: the maximum length of a path; None means no limit. It must be None if the method is
            "bellman-ford" and weights are used.

    Returns:
        list[list[int]]: for each reached vertex, in ascending order, the vertices of a shortest
            path from a source to it, including both ends; labels if A is a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.
        InvalidValue: If `method` is not one of the names above, if a weight is NaN, if a weight is
            negative and the method is "dijkstra", if the source reaches a negative cycle and the
            method is "bellman-ford", if `cutoff` is negative or is given although it must be None,
            or if weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import shortest_paths
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> shortest_paths(A, 0, weight=True)
        [[0], [0, 1], [0, 1, 2]]
    """
    found = find_distances(A, source, weight, method, parents=True, cutoff=cutoff)
    vertices, before = found.parents.to_coo()
    paths = paths_to_all(vertices, before, A.nrows)
    return [paths[v] for v in vertices.tolist()]


def paths_to_all(
    vertices: np.ndarray, parents: np.ndarray, n: int, names: Sequence[Any] | None = None
) -> dict[int, list[Any]]:
    """Return the path to each vertex of a forest, as a dict.

    `parents` holds the parent of each element of `vertices`; a root is its own parent. A path is a
    list of vertices. If `names` is not None, the path lists the names of the vertices instead.
    """
    before = np.full(n, -1, np.int64)
    before[vertices] = parents
    paths: dict[int, list[Any]] = {}
    follow = before.tolist()
    named = range(n) if names is None else names
    for v in vertices.tolist():
        rest = []
        while v not in paths:
            rest.append(v)
            parent = follow[v]
            if parent == v:
                paths[v] = [named[rest.pop()]]
            v = parent
        path = paths[v]
        for w in reversed(rest):
            paths[w] = path = [*path, named[w]]
    return paths
