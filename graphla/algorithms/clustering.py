"""Clustering: the fraction of pairs of neighbors of a vertex that are adjacent to each other.

The coefficient was defined by D. Watts and S. Strogatz (1998). With weights, each triangle is
weighted by the geometric mean of its edge weights (J.-P. Onnela et al., 2005). Directed graphs use
the formula of G. Fagiolo (2007), which agrees with the undirected formula if A is symmetric.

Invariants, if A has no self-loops:
- S = W + Wᵀ is symmetric, where W holds the cube root of each weight, or 1 without weights
- total(v) is the number of edges into and out of v, and mutual(v) the number of pairs of opposite
  edges at v
- t(v), twice the number of triangles around v, is at most total (total - 1) - 2 mutual
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.graph.cached_properties import is_symmetric
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_pair


@overload
def clustering(
    A: GraphLike,
    nodes: None = None,
    weight: bool | str | None = None,
) -> Vector: ...


@overload
def clustering(
    A: GraphLike,
    nodes: int | str,
    weight: bool | str | None = None,
) -> float: ...


@overload
def clustering(
    A: GraphLike,
    nodes: Iterable[Any],
    weight: bool | str | None = None,
) -> Vector: ...


@overload
def clustering(
    A: GraphLike,
    nodes: Any,
    weight: bool | str | None = None,
) -> Vector | float: ...


@graph_algorithm(vertices=("nodes",))
def clustering(A: Matrix, nodes: Any = None, weight: bool | str | None = None) -> Vector | float:
    """``c = t / (total (total - 1) - 2 mutual)``.

    Compute the clustering coefficient of each vertex: the fraction of its pairs of neighbors that
    are joined by an edge.

    For each vertex, `total` is the number of edges into and out of it, `mutual` is the number of
    pairs of opposite edges, and t is twice the number of directed triangles around it. In an
    undirected graph, c is the number of triangles divided by the number of pairs of neighbors. c is
    0 if there is no triangle. Self-loops are ignored. Takes at most O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. A Matrix that is not symmetric is a directed
            graph, in which triangles of all directions count.
        nodes: a single vertex, a list or array of vertices, or None for all vertices.
        weight: if None or False, triangles are counted; if True, or the name of an edge attribute
            as in NetworkX, each triangle counts as the cube root of the product of its weights,
            where each weight is divided by the largest weight in A.

    Returns:
        Vector | float: a float if `nodes` is one vertex; otherwise a Vector of size n and dtype
            FP64, with entries at the vertices of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If `weight` is set and the largest weight is 0 although the graph has a
            triangle.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import clustering
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> clustering(binary.any(A | A.T)).to_dense().round(2).tolist()
        [1.0, 1.0, 0.33, 0.0]

    References:
        D. Watts and S. Strogatz, *Collective Dynamics of Small-World Networks*, 1998.
        J.-P. Onnela et al., *Intensity and Coherence of Motifs in Weighted Complex Networks*, 2005.
        G. Fagiolo, *Clustering in Complex Directed Networks*, 2007.
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    N = common_neighbors.drop_loops(A)
    degree, is_weighted = common_neighbors.degrees(N), validation.weighs("weight", weight)
    densely = (
        _count_densely(A, N, degree, is_weighted, chosen) if common_neighbors.is_tiny(N) else None
    )
    if densely is not None:
        t, pairs = densely
    elif is_symmetric(N) and not is_weighted:
        t = 2 * common_neighbors.triangles_per_vertex(
            common_neighbors.pattern(N, symmetric=True), chosen
        )
        pairs = degree * (degree - 1)
    else:
        # S = W + Wᵀ. With weights W = ∛(A / max A), otherwise W is 1 where there is an edge.
        greatest = _greatest(A) if is_weighted else 1.0
        W = _cube_roots(N, greatest) if is_weighted else common_neighbors.pattern(N)
        S = binary.plus["FP64"](W | W.T).new()
        S = common_neighbors.pattern(S, S.to_csr(copy=False)[2], symmetric=True)
        t = common_neighbors.triangles_per_vertex(S, chosen, weighted=True)
        if greatest == 0 and (t != 0).any():
            raise InvalidValue("A has no weight above 0, but weights are divided by the greatest")
        total = degree + common_neighbors.degrees(N.T.new())
        mutual = common_neighbors.degrees(binary.pair(N & N.T).new())
        pairs = total * (total - 1) - 2 * mutual
    if chosen is not None:
        pairs = pairs[chosen]
    c = t / np.where(t == 0, 1, pairs)
    return common_neighbors.as_result(c, chosen, nodes, A.nrows)


@graph_algorithm(vertices=("nodes",))
def average_clustering(
    A: Matrix, nodes: Any = None, weight: bool | str | None = None, count_zeros: bool = True
) -> float:
    """``Σ c / n``, where c holds the clustering coefficients.

    Compute the mean clustering coefficient of all vertices, or of the given ones.

    Takes at most O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. A Matrix that is not symmetric is a directed
            graph.
        nodes: the vertices to average over, one or several; None for all vertices.
        weight: if None or False, triangles are counted; if True, or the name of an edge attribute
            as in NetworkX, they are weighted as in `clustering`.
        count_zeros: whether vertices with coefficient 0 are included in the mean.

    Returns:
        float: the mean, from 0 to 1.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If there is no vertex to average over, or if `weight` is set and the largest
            weight is 0 although the graph has a triangle.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import average_clustering
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> round(average_clustering(binary.any(A | A.T)), 4)
        0.5833
    """
    if nodes is None:
        c = clustering(A, weight=weight)
    else:
        listed: Iterable[Any] = nodes if np.iterable(nodes) else [nodes]
        c = clustering(A, listed, weight)
    if not count_zeros:
        c = c.select("!=", 0).new()
    if not c.nvals:
        where = "A has" if nodes is None else "nodes has"
        if nodes is not None and count_zeros:
            raise InvalidValue("nodes has no vertex, but a mean needs one")
        which = "no vertex" if count_zeros else "no vertex whose clustering is not 0"
        raise InvalidValue(f"{where} {which}, but a mean needs one")
    return c.reduce(monoid.plus).get(0) / c.nvals


@graph_algorithm()
def transitivity(A: Matrix) -> float:
    """``Σ (N plus.pair Nᵀ)⟨N⟩ / Σ degree (degree - 1)``.

    Compute the fraction of paths of length 2 that an edge closes into a triangle.

    In an undirected graph this is three times the number of triangles divided by the number of
    paths of length 2. In a directed graph, as in NetworkX, it is the fraction of pairs of edges
    v -> u and v -> w for which there is an edge u -> w. Self-loops are ignored: in the formula, N
    is A without self-loops. Takes at most O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        float: the fraction, from 0 to 1; 0 if there is no triangle.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import transitivity
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> transitivity(binary.any(A | A.T))
        0.6
    """
    N = common_neighbors.drop_loops(A)
    degree = common_neighbors.degrees(N)
    paths = int((degree.astype(np.int64) * (degree - 1)).sum())
    if common_neighbors.is_tiny(N):
        D = common_neighbors.dense_array(N)
        return float(common_neighbors.closed_wedges(D, None).sum()) / max(paths, 1)
    N = common_neighbors.pattern(N)
    F = common_neighbors.orient_pairs(N, degree)
    # T⟨F⟩ = F ∘ (N plus.pair Nᵀ), where F(i, j) is 2 if the edge between i and j exists in both
    # directions, and 1 if it exists in only one direction
    T = binary.times(plus_pair["INT64"](N @ N.T).new(mask=F.S) & F).new()
    closed = T.reduce_scalar(monoid.plus).get(0)
    return closed / paths if closed else 0.0


def _count_densely(
    A: Matrix, N: Matrix, degree: Any, is_weighted: bool, chosen: Any
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return, per vertex, the number of closed pairs of neighbors and the number of all pairs.

    A pair is closed if an edge joins the two neighbors. The function multiplies dense arrays, so
    the graph must be tiny.

    With weights, each closed pair counts as the geometric mean of the weights of its triangle,
    divided by the largest weight. If a weight is infinite or NaN after this division, the result is
    None: in a product of dense arrays, this weight would also spoil the sums of other vertices.
    """
    D = common_neighbors.dense_array(N)
    if is_symmetric(N) and not is_weighted:
        return common_neighbors.closed_wedges(D, chosen), degree * (degree - 1)
    total, mutual = degree + D.sum(axis=0), (D * D.T).sum(axis=1)
    if is_weighted:
        with np.errstate(all="ignore"):
            values = np.cbrt(N.to_csr(copy=False)[2] / _greatest(A))
        if not np.isfinite(values).all():
            return None
        D = common_neighbors.dense_array(N, values)
    t = common_neighbors.closed_wedges(D + D.T, chosen) / 2
    return t, total * (total - 1) - 2 * mutual


def _greatest(A: Matrix) -> float:
    return float(A.reduce_scalar(monoid.max).get(0))


def _cube_roots(N: Matrix, greatest: float) -> Matrix:
    """Return ∛(N / greatest) in FP64; values are NaN or infinite if `greatest` is 0."""
    return unary.cbrt["FP64"](binary.truediv["FP64"](N, greatest)).new()
