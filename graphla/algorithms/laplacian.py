"""Laplacian matrices of undirected and directed graphs.

F. Chung defined the normalized Laplacian (1997) and the Laplacians of directed graphs (2005).
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bfs import bfs
from graphla.algorithms.pagerank import pagerank
from graphla.algorithms.strong_components import is_strongly_connected
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_times

DENSE = 100
"""Up to this many vertices, a dense system is solved to find the stationary distribution."""

WALKS = ("random", "lazy", "pagerank")


@graph_algorithm()
def laplacian_matrix(A: Matrix, weight: bool | str | None = True) -> Matrix:
    """``L = D - A``, where D holds the row sums of A on its diagonal.

    Compute the Laplacian matrix.

    In a directed graph D holds the out-degrees. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.

    Returns:
        Matrix: a Matrix with the shape of A. Its dtype is that of A, or INT64 if A has unsigned or
            BOOL values or `weight` is None. It has entries where A has entries, and on the diagonal
            of each nonempty row.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import laplacian_matrix
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [3, 3, 4, 4])
        >>> laplacian_matrix(A).to_dense(0).tolist()
        [[3, -3, 0], [-3, 7, -4], [0, -4, 4]]
    """
    return _laplacian(validation.signed_weights(A, weight))


@graph_algorithm()
def normalized_laplacian_matrix(A: Matrix, weight: bool | str | None = True) -> Matrix:
    """``N = D^(-1/2) (D - A) D^(-1/2)``, where D holds the row sums of A on its diagonal.

    Compute the normalized Laplacian matrix.

    In D^(-1/2), the value for a vertex with degree 0 is 0. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.

    Returns:
        Matrix: a Matrix with the shape of A and dtype FP64. It has entries where A has entries, and
            on the diagonal of each nonempty row.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a sum of weights is negative or NaN.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import normalized_laplacian_matrix
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1)
        >>> normalized_laplacian_matrix(A).to_dense(0).round(2).tolist()
        [[1.0, -0.71, 0.0], [-0.71, 1.0, -0.71], [0.0, -0.71, 1.0]]

    References:
        F. Chung, *Spectral Graph Theory*, 1997.
    """
    W = validation.signed_weights(A, weight).dup("FP64")
    degrees = W.reduce_rowwise(monoid.plus).new()
    least = degrees.reduce(monoid.min).get(0.0)
    if not least >= 0:
        raise InvalidValue(
            f"A has a row whose weights add up to {least}, but the sum must be at least 0"
        )
    # s(i) = 1 / √d(i), or 0 where d(i) is 0
    s = power_iteration.full(0.0, A.nrows)
    s(degrees.V) << unary.minv(unary.sqrt(degrees).new())
    # N(i, j) = s(i) L(i, j) s(j)
    L = _laplacian(W)
    return binary.times(binary.times(s & L).new() & s).new()


@graph_algorithm()
def directed_laplacian_matrix(
    A: Matrix, weight: bool | str | None = True, walk_type: str | None = None, alpha: float = 0.95
) -> Matrix:
    """``L = I - (Q + Qᵀ) / 2``, where ``Q = Φ^(1/2) P Φ^(-1/2)``.

    Compute the normalized Laplacian matrix of a directed graph.

    P holds the transition probabilities of a random walk, and the diagonal of Φ holds the
    probability of being at each vertex after many steps. With the "pagerank" walk, the function
    takes O(n²) time and memory.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, out-edges are chosen in
            proportion to the values of A, which must be at least 0. If None or False, all out-edges
            of a vertex are equally likely.
        walk_type: "random" follows an out-edge in each step; "lazy" does so with probability 1/2,
            and otherwise stays; "pagerank" jumps to a random vertex with probability 1 - `alpha`,
            and always if the vertex has no out-edges. None chooses "pagerank" if the graph is not
            strongly connected, "lazy" if the lengths of all its cycles have a common divisor above
            1, and otherwise "random".
        alpha: the probability of following an edge in the "pagerank" walk, above 0 and below 1.

    Returns:
        Matrix: a symmetric Matrix with the shape of A and dtype FP64, which is full for the
            "pagerank" walk.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A has no vertex, if a weight is negative or NaN, if the sum of the weights
            is not finite, if `walk_type` or `alpha` is out of range, or if the walk is "random" or
            "lazy" but the graph is not strongly connected by edges with weights above 0.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import directed_laplacian_matrix
        >>> circle = Matrix.from_coo([0, 1, 2], [1, 2, 0], 1)
        >>> directed_laplacian_matrix(circle).to_dense(0).round(3).tolist()
        [[0.5, -0.25, -0.25], [-0.25, 0.5, -0.25], [-0.25, -0.25, 0.5]]

    References:
        F. Chung, *Laplacians and the Cheeger Inequality for Directed Graphs*, 2005.
    """
    P, phi = _random_walk(A, weight, walk_type, alpha)
    root = unary.sqrt(phi).new()
    # Q(i, j) = √φ(i) P(i, j) / √φ(j)
    Q = binary.truediv(binary.times(root & P).new() & root).new()
    return _minus_symmetric_part(power_iteration.full(1.0, A.nrows), Q)


@graph_algorithm()
def directed_combinatorial_laplacian_matrix(
    A: Matrix, weight: bool | str | None = True, walk_type: str | None = None, alpha: float = 0.95
) -> Matrix:
    """``L = Φ - (ΦP + PᵀΦ) / 2``.

    Compute the combinatorial Laplacian matrix of a directed graph.

    P holds the transition probabilities of a random walk, and the diagonal of Φ holds the
    probability of being at each vertex after many steps. With the "pagerank" walk, the function
    takes O(n²) time and memory.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, out-edges are chosen in
            proportion to the values of A, which must be at least 0. If None or False, all out-edges
            of a vertex are equally likely.
        walk_type: the random walk: "random", "lazy", "pagerank" or None, as in
            `directed_laplacian_matrix`.
        alpha: the probability of following an edge in the "pagerank" walk, above 0 and below 1.

    Returns:
        Matrix: a symmetric Matrix with the shape of A and dtype FP64, which is full for the
            "pagerank" walk.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A has no vertex, if a weight is negative or NaN, if the sum of the weights
            is not finite, if `walk_type` or `alpha` is out of range, or if the walk is "random" or
            "lazy" but the graph is not strongly connected by edges with weights above 0.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import directed_combinatorial_laplacian_matrix
        >>> both = Matrix.from_coo([0, 1], [1, 0], 1)
        >>> directed_combinatorial_laplacian_matrix(both).to_dense(0).round(2).tolist()
        [[0.25, -0.25], [-0.25, 0.25]]

    References:
        F. Chung, *Laplacians and the Cheeger Inequality for Directed Graphs*, 2005.
    """
    P, phi = _random_walk(A, weight, walk_type, alpha)
    return _minus_symmetric_part(phi, binary.times(phi & P).new())


def _laplacian(W: Matrix) -> Matrix:
    """Return L = D - W, where D holds the row sums of W on its diagonal."""
    D = W.reduce_rowwise(monoid.plus).new().diag()
    return binary.plus(D | unary.ainv(W).new()).new()


def _minus_symmetric_part(d: Vector, Q: Matrix) -> Matrix:
    """Return L = D - (Q + Qᵀ) / 2, where D holds d on its diagonal."""
    S = binary.times(binary.plus(Q | Q.T).new(), -0.5).new()
    return binary.plus(d.diag() | S).new()


def _random_walk(
    A: Matrix, weight: bool | str | None, walk_type: str | None, alpha: float
) -> tuple[Matrix, Vector]:
    """Return the transition probabilities P of a random walk, and its stationary distribution φ.

    Here φ is the solution of φ = φP with Σ φ = 1.
    """
    n = A.nrows
    alpha = validation.real("alpha", alpha, low=0, high=1)
    if walk_type is not None and not (isinstance(walk_type, str) and walk_type in WALKS):
        raise InvalidValue(f"walk_type is {walk_type!r}, but must be one of {', '.join(WALKS)}")
    if n == 0:
        raise InvalidValue("A has no vertex, but a random walk needs one")
    W = A.dup("FP64") if validation.weighs("weight", weight) else unary.one["FP64"](A).new()
    validation.nonnegative(W)
    validation.finite_sum(W)
    if W.nvals and not W.reduce_scalar(monoid.min).get(0.0):
        W = W.select(">", 0).new()
    if walk_type != "pagerank":
        is_connected = is_strongly_connected(W)
        if walk_type is None and not is_connected:
            walk_type = "pagerank"
        elif walk_type is None:
            walk_type = "random" if _period(W) == 1 else "lazy"
        elif not is_connected or not W.nvals:
            raise InvalidValue(
                f"A is not strongly connected, but the walk {walk_type!r} must reach every vertex"
            )
    # P(i, j) = W(i, j) / Σ_k W(i, k)
    P = binary.rtruediv(W.reduce_rowwise(monoid.plus).new() & W).new()
    if walk_type == "pagerank":
        if not 0 < alpha < 1:
            raise InvalidValue(f"alpha is {alpha}, but must be above 0 and below 1")
        phi = pagerank(W, alpha, weight=True, tol=1e-14 / n, max_iter=100_000)
        return _with_jumps(P, alpha), phi
    phi = _stationary_distribution(P)
    if walk_type == "lazy":
        # P = (I + P) / 2, which has the same stationary distribution
        I = power_iteration.full(1.0, n).diag()
        P = binary.times(binary.plus(I | P).new(), 0.5).new()
    return P, phi


def _with_jumps(P: Matrix, alpha: float) -> Matrix:
    """Return αP + (1 - α)/n as a full matrix. Each element of a row that is empty in P is 1/n."""
    n = P.nrows
    jump = power_iteration.full((1 - alpha) / n, n)
    rows = P.reduce_rowwise(monoid.plus).new()
    jump(~rows.S) << 1 / n
    J = jump.outer(power_iteration.full(1.0, n)).new()
    return binary.plus(J | binary.times(P, alpha).new()).new()


def _period(W: Matrix) -> int:
    """Return the greatest common divisor of the cycle lengths of a strongly connected graph.

    This is the greatest common divisor of level(u) + 1 - level(v) over all edges u -> v, where the
    levels are those of a breadth-first search from any vertex.
    """
    levels = bfs(W, 0).levels
    # G(u, v) = |level(u) - level(v) + 1|
    G = binary.minus(binary.plus(levels, 1).new() & binary.second(W & levels).new()).new()
    steps = unary.abs(G).new().to("cpu").to_coo()[2]
    return gcd(*np.unique(steps).tolist())


def _stationary_distribution(P: Matrix) -> Vector:
    """Return the vector φ with φ = φP and Σ φ = 1 for an irreducible stochastic matrix P."""
    n = P.nrows
    if n <= DENSE:
        # One equation follows from the other equations, and is replaced by Σ φ = 1.
        system = P.to("cpu").to_dense(0.0).T - np.eye(n)
        system[0] = 1.0
        values = np.linalg.solve(system, np.eye(n)[0])
        return Vector.from_dense(values, copy=False)

    def step(x: np.ndarray) -> np.ndarray:
        return plus_times(Vector.from_dense(x.ravel()) @ P).new().to("cpu").to_dense(0.0)

    from scipy.sparse import linalg

    sparse: Any = linalg  # SciPy's type annotations are too narrow

    # Search by real part ("LR"): the eigenvalue 1 has the largest real part, but other eigenvalues
    # may also have the absolute value 1.
    start = np.full(n, 1 / n)
    operator = sparse.LinearOperator((n, n), step, dtype=float)
    _, vectors = sparse.eigs(operator, k=1, which="LR", v0=start)
    values = np.abs(vectors.ravel().real)
    return Vector.from_dense(values / values.sum(), copy=False)
