"""Square clustering: the fraction of the possible squares at a vertex that exist in the graph.

The coefficient is due to P. Lind, M. González and H. Herrmann (2005); possible squares are counted
as in P. Zhang et al. (2008). Each square is found once, from the wedges (pairs of edges with a
common end) that start at its corner with the largest degree (K. Wang et al., 2019).

Invariants, with the vertices numbered by decreasing degree:
- F = triu(N) holds the edges from each vertex to the neighbors with larger numbers
- P(u, w), for w > u, is the number of wedges u - v - w with v > u; any two of them form a square
  whose smallest corner is u and in which w is opposite u
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.graph.cached_properties import degrees
from graphla.sparse import Matrix, Vector
from semirings import monoid, select
from semirings.semiring import plus_first, plus_pair, plus_second


@overload
def square_clustering(
    A: GraphLike,
    nodes: None = None,
) -> Vector: ...


@overload
def square_clustering(
    A: GraphLike,
    nodes: int | str,
) -> float: ...


@overload
def square_clustering(
    A: GraphLike,
    nodes: Iterable[Any],
) -> Vector: ...


@overload
def square_clustering(
    A: GraphLike,
    nodes: Any,
) -> Vector | float: ...


@graph_algorithm(vertices=("nodes",), undirected=True)
def square_clustering(A: Matrix, nodes: Any = None) -> Vector | float:
    """``c = q / (Σ (degree(u) + degree(w) - 2) - 2 t - q)``, summed over pairs u, w of neighbors.

    Compute the fraction of the possible squares at each vertex that exist in the graph.

    q counts the squares, and t the triangles, that have the vertex as a corner. For each pair of
    neighbors, the sum counts the possible fourth corners. c is 0 if no square is possible.
    Self-loops are ignored. Takes at most O(m √m) time. For a list of vertices, the time is
    proportional to the sum of the degrees of their neighbors.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        nodes: a single vertex, a list or array of vertices, or None for all vertices.

    Returns:
        Vector | float: a float if `nodes` is one vertex; otherwise a Vector of size n and dtype
            FP64, with entries at the vertices of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import square_clustering
        >>> A = Matrix.from_coo([0, 1, 2, 3, 3], [1, 2, 3, 0, 4], 1, nrows=5, ncols=5)
        >>> square_clustering(binary.any(A | A.T)).to_dense().round(2).tolist()
        [0.5, 1.0, 0.5, 0.33, 0.0]

    References:
        P. Lind, M. González and H. Herrmann, *Cycles and Clustering in Bipartite Networks*, 2005.
        P. Zhang et al., *Clustering Coefficient and Community Structure of Bipartite Networks*,
            2008.
        K. Wang et al., *Vertex Priority Based Butterfly Counting*, 2019.
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    N = common_neighbors.drop_loops(A)
    degree = common_neighbors.degrees(N)
    if common_neighbors.is_tiny(N):
        c = _count_densely(N, degree, chosen)
        return common_neighbors.as_result(c, chosen, nodes, A.nrows)
    N = common_neighbors.pattern(N, symmetric=True)
    t = common_neighbors.triangles_per_vertex(N, chosen)
    squares = count_squares(N, degree) if chosen is None else _count_squares_of(N, degree, chosen)
    # s(v) = Σ of the degrees of the neighbors of v
    s = common_neighbors.dense(plus_second["INT64"](N @ degrees(N)))
    if chosen is not None:
        s, degree = s[chosen], degree[chosen]
    possible = (s - degree) * (degree - 1) - 2 * t - squares
    c = squares * (possible > 0) / np.maximum(possible, 1)
    return common_neighbors.as_result(c, chosen, nodes, A.nrows)


def _count_densely(N: Matrix, degree: np.ndarray, chosen: Any) -> np.ndarray:
    """Return the coefficients of a tiny graph, computed with dense arrays."""
    D = common_neighbors.dense_array(N)
    rows = np.arange(N.nrows) if chosen is None else chosen
    # P(v, w) is the number of common neighbors of v and w. P(v, v) is set to 0 below.
    P = common_neighbors.multiply_densely(D[rows], D)
    s, t = P.sum(axis=1), (P * D[rows]).sum(axis=1) / 2
    P[np.arange(rows.size), rows] = 0
    squares = (P * (P - 1)).sum(axis=1) / 2
    possible = (s - degree[rows]) * (degree[rows] - 1) - 2 * t - squares
    return squares * (possible > 0) / np.maximum(possible, 1)


def count_squares(N: Matrix, degree: Any) -> Any:
    """Return, for each vertex, the number of squares that have it as a corner."""
    order = np.argsort(-degree, kind="stable")
    N = common_neighbors.pattern(N[order, order].new(), symmetric=True)
    F = select.triu(N, 1).new()
    squares = np.zeros_like(degree)
    for rows in common_neighbors.row_batches(F, N):
        G = F[rows, :].new()
        # P = triu(F plus.pair N)
        P = select.triu(plus_pair["INT64"](G @ N), rows.start + 1).new()
        p = P.to_csr(copy=False)[2]
        corners = common_neighbors.pattern(P, p * (p - 1) // 2)
        squares[order[rows]] += common_neighbors.dense(corners.reduce_rowwise(monoid.plus))
        squares[order] += common_neighbors.dense(corners.reduce_columnwise(monoid.plus))
        # Q = (P - 1) plus.first N, computed only where F has entries. Each wedge u - v - w forms a
        # square with each of the other P(u, w) - 1 wedges from u to w. So Q(u, v) is the number of
        # squares with an edge u - v and smallest corner u.
        between = plus_first["INT64"](common_neighbors.pattern(P, p - 1) @ N).new(mask=G.S)
        squares[order] += common_neighbors.dense(between.reduce_columnwise(monoid.plus))
    return squares


def _count_squares_of(N: Matrix, degree: Any, chosen: np.ndarray) -> Any:
    """Return, for each chosen vertex v, the number of squares that have it as a corner.

    The matrix N is the pattern of the graph, and P = N plus.pair N counts the common neighbors of
    each pair of vertices. The number of squares is Σ P(v, w) (P(v, w) - 1) / 2 over all w other
    than v.
    """
    R = N[chosen, :].new()
    squares = np.zeros_like(degree, shape=(chosen.size,))
    for rows in common_neighbors.row_batches(R, N):
        P = plus_pair["INT64"](R[rows, :].new() @ N).new()
        row, column, p = P.to_coo(copy=False)
        others = p * (column != chosen[rows][row])
        squares[rows] = common_neighbors.dense(
            common_neighbors.pattern(P, others * (p - 1) // 2).reduce_rowwise()
        )
    return squares
