"""Shortest paths with possibly negative weights, and cycles with a negative total weight.

Like `sssp`, this algorithm computes the least d with d = d min (d min.+ A) and d = 0 at the source
(R. Bellman, 1958; L. R. Ford, 1956). Each round multiplies only the distances that decreased in the
previous round. Around a cycle with a negative total weight, distances would decrease forever. The
parents reveal such a cycle: they form a forest unless some path has gone around a negative cycle.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.algorithms.sssp import ShortestPaths, lengths_of
from graphla.graph.labels import vertex_name
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal.closure import solve
from graphla.traversal.cycles import EndlessCycle
from semirings.exceptions import InvalidValue
from semirings.semiring import min_plus


@overload
def bellman_ford(
    A: GraphLike,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[None]: ...


@overload
def bellman_ford(
    A: GraphLike,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Vector]: ...


@overload
def bellman_ford(
    A: GraphLike,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="weight")
def bellman_ford(
    A: Matrix,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: bool = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]:
    """``d = d min (d min.+ A)``, until no distance decreases.

    Find shortest paths from one or several vertices to all other vertices; weights may be negative.

    Takes O(n m) time in the worst case. `sssp` is faster if no weight is negative.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are the edge lengths.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has distance 0, unless a path to it has a negative length.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.
        parents: whether to also return the predecessor of each vertex on a shortest path.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        ShortestPaths: (distances, parents), with entries at the reached vertices. `distances` is a
            Vector of size n, of dtype FP64 for floating-point weights, otherwise INT64 and exact.
            With `parents=True`, `parents` is a Vector of dtype INT32; otherwise it is None. If
            there are several shortest paths, the parents describe one of them.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If the source reaches a cycle with a negative total weight (the message names
            one of its vertices, and `negative_cycle` returns the whole cycle), if the weights of a
            cycle add up to about 0 but the rounded lengths around it decrease without end, if a
            weight is NaN, or if weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import bellman_ford
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, -2], nrows=4, ncols=4)
        >>> bellman_ford(A, 0).distances.to_dict()
        {0: 0, 1: 1, 2: -1}
        >>> distances, parents = bellman_ford(A, 0, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}

    References:
        R. Bellman, *On a routing problem*, 1958.
        L. R. Ford, *Network Flow Theory*, 1956.
    """
    A, dtype = lengths_of(A, weight)
    # d(s) = 0
    start = validation.starts(source, A, 0, dtype)
    try:
        # d = d ⊕ d min.+ A ⊕ d min.+ A² ⊕ ...
        distances, before = solve(start, A, min_plus[dtype], mask=mask, parents=parents)
    except EndlessCycle as error:
        raise no_solution(error, ", which the source reaches") from error
    return ShortestPaths(distances, before)


@graph_algorithm(vertices=("source",), lengths="A")
def negative_cycle(A: Matrix, source: Any = None) -> list[int] | None:
    """``Σ A(u, v) < 0``, over the edges u -> v of the cycle.

    Find a cycle with a negative total weight.

    Takes O(n m) time in the worst case. An undirected edge with a negative weight is itself such a
    cycle, because it can be followed in both directions. If there is no such cycle, this function
    returns None, whereas NetworkX raises an error.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are the edge weights.
        source: a vertex or several vertices; only cycles that they reach are found. If None, the
            cycle may be anywhere in the graph.

    Returns:
        list[int] | None: the vertices of a cycle in the order of its edges, with the first vertex
            repeated at the end; None if there is no such cycle. The exact sum of the weights is
            negative.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.
        InvalidValue: If the weights of a cycle add up to about 0 but the rounded lengths around it
            decrease without end, if a weight is NaN, or if A is a Graph whose parallel edges were
            summed.
        OverflowError: If a length does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import negative_cycle
        >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 1, 0], [1, 2, -3, 1], nrows=4, ncols=4)
        >>> sorted(set(negative_cycle(A)))
        [1, 2]
    """
    A, dtype = lengths_of(A, True)
    if source is None:
        # d = 0 everywhere, because a path may begin at any vertex
        start = Vector.from_scalar(0, A.nrows, dtype)
    else:
        start = validation.starts(source, A, 0, dtype)
    try:
        solve(start, A, min_plus[dtype])
    except EndlessCycle as error:
        if error.is_rounded:
            raise no_solution(error) from error
        return [*error.cycle, error.cycle[0]]
    return None


def no_solution(error: EndlessCycle, reached: str = "") -> InvalidValue:
    """Return the error that reports a cycle around which lengths keep decreasing."""
    vertex = vertex_name(error.cycle[0])
    if error.is_rounded:
        return InvalidValue(
            f"A has a cycle through vertex {vertex} whose weights add up to about 0, and rounded "
            "lengths go down around it: scale the weights to integers"
        )
    return InvalidValue(
        f"A has a cycle of negative weight through vertex {vertex}{reached}: so there is no "
        "shortest path (negative_cycle gives the cycle)"
    )
