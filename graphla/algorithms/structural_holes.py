"""Structural holes: a vertex gains influence if edges between its neighbors are missing.

The constraint and the effective size of R. Burt (1992) measure how strongly the neighbors of a
vertex are connected to each other. S. Borgatti (1997) simplifies the effective size.

Both measures need, for each edge {u, v}, a sum over the common neighbors of u and v. The sums are
symmetric in u and v, so they are computed once per edge, in the row of the end with the larger
degree.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import has_symmetric_values
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select, unary
from semirings.semiring import plus_times


@graph_algorithm(vertices=("nodes",))
def constraint(A: Matrix, nodes: Any = None, weight: bool | str | None = None) -> Vector:
    """``c(u) = Σ over v of (P + PP)²(u, v)``, over the neighbors v of u.

    Compute Burt's constraint of each vertex.

    W = A + Aᵀ, and P(u, v) = W(u, v) / Σ W(u, w) is the fraction of the total edge weight of u that
    belongs to the edges between u and v. A vertex with a self-loop is its own neighbor, as in
    NetworkX. Takes at most O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        nodes: a list or array of vertices, or None for all vertices.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0. Edges of weight 0
            are ignored.

    Returns:
        Vector: a Vector of size n and dtype FP64, with entries at those vertices of `nodes` that
            have a neighbor other than themselves.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a weight is negative or NaN.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import constraint
        >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], 1, nrows=4, ncols=4)
        >>> constraint(A).to_dense().round(3).tolist()
        [1.007, 1.007, 0.611, 1.0]

    References:
        R. Burt, *Structural Holes: The Social Structure of Competition*, 1992.
    """
    W = _mutual_weights(A, weight)
    # P = W diag(1 / s), where s(u) = Σ W(u, w)
    s = W.reduce_rowwise(monoid.plus).new()
    share = unary.minv(s).new()
    # T⟨W⟩ = W diag(1 / s) W, so P + PP = diag(1 / s) (W + T)
    T = _sum_over_common_neighbors(W, binary.times(W & share).new())
    X = binary.plus(W | T).new()
    X = binary.times(X & X).new()
    # c(u) = Σ (W + T)²(u, v) / s(u)²
    c = X.reduce_rowwise(monoid.plus).new()
    return _select(binary.times(c & binary.times(share & share).new()).new(), nodes, W)


@graph_algorithm(vertices=("nodes",))
def effective_size(A: Matrix, nodes: Any = None, weight: bool | str | None = None) -> Vector:
    """``e(u) = Σ over v of (1 - P Mᵀ)(u, v)``, over the neighbors v of u.

    Compute the effective size of the neighborhood of each vertex: its size without redundant ties.

    W = A + Aᵀ, P(u, w) = W(u, w) / Σ W(u, x), and M(v, w) = W(v, w) / max W(v, x). Without weights
    this is d - 2 t / d in an undirected graph, for a vertex with d neighbors and t triangles.
    A vertex with a self-loop is its own neighbor, as in NetworkX. Takes at most O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        nodes: a list or array of vertices, or None for all vertices.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0. Edges of weight 0
            are ignored.

    Returns:
        Vector: a Vector of size n and dtype FP64, with entries at those vertices of `nodes` that
            have a neighbor other than themselves.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a weight is negative or NaN.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import effective_size
        >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], 1, nrows=4, ncols=4)
        >>> effective_size(A).to_dense().round(3).tolist()
        [1.0, 1.0, 2.333, 1.0]

    References:
        R. Burt, *Structural Holes: The Social Structure of Competition*, 1992.
        S. Borgatti, *Structural Holes: Unpacking Burt's Redundancy Measures*, 1997.
    """
    W = _mutual_weights(A, weight)
    # T⟨W⟩ = W W, so (P Mᵀ)(u, v) = T(u, v) / (s(u) x(v))
    T = _sum_over_common_neighbors(W, W)
    s, x = W.reduce_rowwise(monoid.plus).new(), W.reduce_rowwise(monoid.max).new()
    redundancy = binary.truediv(plus_times["FP64"](T @ unary.minv(x).new()).new() & s).new()
    # e = d - redundancy, where d(u) is the number of neighbors of u
    d = unary.one["FP64"](W).new().reduce_rowwise(monoid.plus).new()
    e = binary.minus(d & redundancy).new()
    d(e.S) << e
    return _select(d, nodes, W)


def _mutual_weights(A: Matrix, weight: bool | str | None) -> Matrix:
    """Return A + Aᵀ in FP64, without zeros."""
    if validation.weighs("weight", weight):
        validation.nonnegative(A)
        W = A.dup("FP64").select("!=", 0).new()
    else:
        W = common_neighbors.pattern(A, 1.0, symmetric=has_symmetric_values(A))
    both = binary.plus(W | W.T).new()
    indptr, columns, values = both.to_csr(copy=False)
    return Matrix.from_csr(indptr, columns, values, ncols=A.ncols, symmetric=True, copy=False)


def _sum_over_common_neighbors(W: Matrix, scaled: Matrix) -> Matrix:
    """Return T⟨W⟩ = `scaled` W, for a matrix `scaled` for which the product is symmetric."""
    F = common_neighbors.orient_edges(W, common_neighbors.degrees(W))
    T = plus_times["FP64"](scaled @ W.T).new(mask=F.S)
    return binary.plus(T | select.offdiag(T).new().T).new()


def _select(values: Vector, nodes: Any, W: Matrix) -> Vector:
    """Return the values of the given vertices that have a neighbor other than themselves."""
    others = select.offdiag(W).new().reduce_rowwise(monoid.any).new()
    if nodes is not None:
        chosen = common_neighbors.vertex_list(nodes, W)
        wanted = Vector.from_coo(chosen, True, size=W.nrows)
        values = values.dup(mask=wanted.S)
    return values.dup(mask=others.S)
