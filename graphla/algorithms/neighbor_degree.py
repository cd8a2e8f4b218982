"""Average neighbor degree: the mean degree of the neighbors of a vertex.

The measure is due to R. Pastor-Satorras, A. Vázquez and A. Vespignani (2001); A. Barrat et al.
(2004) give the weighted version.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.edge_ends import (
    check_direction,
    is_directed,
    sum_ends,
    weights_of,
)
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix, Vector
from semirings.semiring import plus_times


@graph_algorithm(vertices=("nodes",))
def average_neighbor_degree(
    A: Matrix,
    source: str = "out",
    target: str = "out",
    nodes: Any = None,
    weight: bool | str | None = None,
    *,
    directed: bool | None = None,
) -> Vector:
    """``k(v) = Σ over u of W(v, u) d(u) / s(v)``, where s(v) = Σ W(v, u).

    Compute the mean degree of the neighbors of each vertex, weighted by the edge weights.

    d(u) counts the edges of u. k(v) is 0 if s(v) is 0. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: which neighbors of v count in a directed graph: "out" for those with an edge from v,
            "in" for those with an edge to v, "in+out" for the sum of both. It has no effect in an
            undirected graph.
        target: which edges of the neighbors count in a directed graph: "out", "in" or "in+out". It
            has no effect in an undirected graph.
        nodes: a list or array of vertices, or None for all vertices.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Vector: a Vector of size n and dtype FP64, with entries at the vertices of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If `source` or `target` is not one of the values above.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import average_neighbor_degree
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> average_neighbor_degree(A).to_dense().tolist()
        [2.0, 1.0, 2.0]

    References:
        A. Barrat et al., *The Architecture of Complex Weighted Networks*, 2004.
    """
    check_direction("source", source)
    check_direction("target", target)
    directed = is_directed(A, directed)
    sums, s = sum_neighbor_degrees(A, source, target, weight, directed=directed)
    k = sums / np.where(s == 0, 1, s) * (s != 0)
    chosen = common_neighbors.vertex_list(nodes, A)
    if chosen is None:
        return Vector.from_dense(k, copy=False)
    return Vector.from_coo(chosen, k[chosen], size=A.nrows)


def sum_neighbor_degrees(
    A: Matrix, source: str, target: str, weight: bool | str | None, *, directed: bool
) -> tuple[Any, Any]:
    """Return Σ W(v, u) d(u) and s(v) for each vertex v, as arrays on the device of A."""
    is_weighted = validation.weighs("weight", weight)
    W = weights_of(A, is_weighted)
    d = sum_ends(weights_of(A, False) if is_weighted else W, target, directed)
    degree = Vector.from_dense(d, copy=False)
    # Σ W(v, u) d(u) = W plus.times d for edges out, and d plus.times W for edges in
    sums = np.zeros_like(d, dtype=W.dtype.np_type)
    if not directed or "out" in source:
        sums = sums + common_neighbors.dense(plus_times(W @ degree))
    if directed and "in" in source.split("+"):
        sums = sums + common_neighbors.dense(plus_times(degree @ W))
    return sums, sum_ends(W, source, directed)
