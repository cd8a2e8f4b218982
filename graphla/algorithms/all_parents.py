"""All parents of each vertex: its predecessors on the shortest paths from a source.

The edge u -> v is on a shortest path if d(u) + A(u, v) = d(v), where d holds the distances from the
source.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import bellman_ford
from graphla.algorithms.sssp import ShortestPaths, lengths_of, sssp
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.exceptions import InvalidValue
from semirings.semiring import any_second, min_plus


class AllParents(NamedTuple):
    """The result of `all_parents`. Only reached vertices have entries.

    Attributes:
        distances: a Vector with the distance of each vertex, of dtype FP64 for floating-point
            weights, otherwise INT64.
        parents: a BOOL Matrix that is true at (u, v) if u is the vertex before v on a shortest path
            from a source to v.
    """

    distances: Vector
    parents: Matrix


@graph_algorithm(vertices=("source",), lengths="weight")
def all_parents(
    A: Matrix,
    source: Any,
    weight: bool | str | None = None,
    method: str = "dijkstra",
    *,
    cutoff: float | None = None,
) -> AllParents:
    """``P(u, v)`` is true if ``d(u) + A(u, v) = d(v)``, where d holds the distances.

    Find the parents of each vertex on all shortest paths from one or several vertices.

    Takes O(m) time after the search.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "dijkstra", which rejects negative weights, or "bellman-ford", which also accepts
            negative weights. Without weights, both methods run a breadth-first search.
        cutoff: the maximum distance; vertices farther away are not reached. None means no limit. It
            must be None if the method is "bellman-ford" and weights are used.

    Returns:
        AllParents: (distances, parents). If edges of weight 0 join two vertices in both directions,
            each is a parent of the other, and a source may have parents. Self-loops are never
            included.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.
        InvalidValue: If `method` is not "dijkstra" or "bellman-ford", if a weight is NaN, if a
            weight is negative and the method is "dijkstra", if the source reaches a negative cycle
            and the method is "bellman-ford", if `cutoff` is negative, if `cutoff` is used with
            weights and "bellman-ford", or if weights are used and A is a Graph whose parallel edges
            were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import all_parents
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1, nrows=5, ncols=5)
        >>> all_parents(A, 0).parents.to_dicts("columnwise")
        {1: {0: True}, 2: {0: True}, 3: {1: True, 2: True}}
    """
    distances = find_distances(A, source, weight, method, cutoff=cutoff).distances
    W, _ = lengths_of(A, weight)
    return AllParents(distances, find_tight_edges(W, distances))


def find_distances(
    A: Matrix,
    source: Any,
    weight: bool | str | None,
    method: Any,
    *,
    parents: bool = False,
    cutoff: float | None = None,
) -> ShortestPaths[Any]:
    """Return the distances, and the parents if requested, using the search `method`."""
    if not isinstance(method, str) or method not in ("dijkstra", "bellman-ford"):
        raise InvalidValue(f'method must be "dijkstra" or "bellman-ford", not {method!r}')
    if method == "dijkstra" or not validation.weighs("weight", weight):
        return sssp(A, source, weight=weight, cutoff=cutoff, parents=parents)
    if cutoff is not None:
        raise InvalidValue(f'cutoff is {cutoff}, but must be None with the method "bellman-ford"')
    return bellman_ford(A, source, weight=weight, parents=parents)


def find_tight_edges(A: Matrix, d: Vector) -> Matrix:
    """Return the matrix of tight edges: T(u, v) = true where d(u) + A(u, v) = d(v)."""
    D = d.diag()
    A = select.offdiag(A).new()
    # Each element of D @ A and of A @ D is a single term, not a sum, because D is diagonal.
    reached = binary.eq(min_plus[d.dtype](D @ A) & any_second(A @ D)).new()
    return select.valueeq(reached, True).new()
