"""Positions of vertices from the eigenvectors of the Laplacian matrix.

K. Hall (1970) showed that these positions minimize the sum of the squared lengths of the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.laplacian import laplacian_matrix
from graphla.graph.cached_properties import has_symmetric_values
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_times

DENSE = 256
"""Up to this many vertices, the eigenvectors are computed from a dense array."""

TOLERANCE = 1e-10
"""Maximum residual of an eigenvector, relative to the largest eigenvalue."""


@graph_algorithm()
def spectral_layout(
    A: Matrix, weight: bool | str | None = True, scale: float = 1, dim: int = 2
) -> tuple[Vector, ...]:
    """``L x = λ x`` for the smallest eigenvalues λ of the Laplacian matrix L, except the first.

    Compute positions of the vertices that place adjacent vertices close to each other.

    Each coordinate is an eigenvector of L, which minimizes Σ A(i, j) (x(i) - x(j))² among the
    vectors of the same norm that are orthogonal to the earlier ones and to the constant vector. The
    products run on the device of A, and the other steps of the iteration on the CPU. A round takes
    O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. In a directed graph, the weights of both
            directions are added.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A, which
            must be at least 0, are used; if None or False, each edge counts as 1.
        scale: the largest absolute coordinate, above 0.
        dim: the number of dimensions, at least 1.

    Returns:
        tuple[Vector, ...]: one full Vector of size n and dtype FP64 per dimension, with the
            coordinate of each vertex. The mean of each Vector is 0. Its sign is chosen so that the
            coordinate with the largest absolute value is positive.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a weight is negative or NaN, if the sum of the weights is not finite, or if
            `scale` or `dim` is out of range.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import spectral_layout
        >>> path = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1)
        >>> x, y = spectral_layout(path)
        >>> abs(x.to_dense()).round(2).tolist()
        [0.87, 0.0, 0.87]

    References:
        K. Hall, *An r-Dimensional Quadratic Placement Algorithm*, 1970.
    """
    n, dim = A.nrows, validation.count("dim", dim, least=1)
    scale = validation.real("scale", scale, low=0)
    if not 0 < scale < float("inf"):
        raise InvalidValue(f"scale is {scale}, but must be finite and above 0")
    W = A.dup("FP64") if validation.weighs("weight", weight) else unary.one["FP64"](A).new()
    validation.nonnegative(W)
    validation.finite_sum(W)
    if not has_symmetric_values(W) and not W.isequal(W.T.new()):
        W = binary.plus(W | W.T).new()
    positions = np.zeros((n, dim))
    found = _smallest_eigenvectors(laplacian_matrix(W), min(dim, max(n - 1, 0)))
    positions[:, : found.shape[1]] = found
    for x in positions.T:
        x *= np.copysign(1.0, x[np.abs(x).argmax()]) if n else 1.0
    most = np.abs(positions).max(initial=0.0)
    if most > 0:
        positions *= scale / most
    return tuple(Vector.from_dense(np.ascontiguousarray(x)) for x in positions.T)


def _smallest_eigenvectors(L: Matrix, count: int) -> np.ndarray:
    """Return eigenvectors for the smallest eigenvalues, except the constant vector, as columns."""
    n = L.nrows
    if n <= DENSE:
        # Raise the eigenvalue of the constant vector above all other eigenvalues, so that this
        # vector comes last.
        dense = L.to("cpu").to_dense(0.0)
        dense += _bound(L) / max(n, 1)
        return np.linalg.eigh(dense)[1][:, :count] if count else np.zeros((n, 0))
    from scipy.sparse import linalg

    sparse: Any = linalg  # SciPy's type annotations are too narrow

    bound = _bound(L)

    def flip(x: np.ndarray) -> np.ndarray:
        """Return bx - Lx minus its mean; the smallest eigenvalues of L become the largest."""
        x = x.ravel() - x.mean()
        product = plus_times(L @ Vector.from_dense(x)).new().to("cpu").to_dense(0.0)
        y = bound * x - product
        return y - y.mean()

    start = np.random.default_rng(0).standard_normal(n)
    operator = sparse.LinearOperator((n, n), flip, dtype=float)
    subspace = min(n, max(2 * count + 1, 20, int(n**0.5)))
    values, vectors = sparse.eigsh(
        operator, k=count, which="LA", v0=start, tol=TOLERANCE, ncv=min(subspace, 200)
    )
    return vectors[:, np.argsort(-values)]


def _bound(L: Matrix) -> float:
    """Return 2d + 1, where d is the largest degree. This exceeds each eigenvalue of L."""
    return 2.0 * float(L.diag().reduce(monoid.max).get(0.0)) + 1.0
