"""Hubs and authorities: good hubs point at good authorities, and vice versa.

J. Kleinberg (1999) defined them as the singular vectors for the largest singular value of A. The
power method needs many rounds if the second singular value is close to the largest. Here each round
takes the best combination of the last vector, its residual, and the last step (A. Knyazev, 2001).
This needs about the square root of that number of rounds.

Invariants at the start of each round: the list S contains the vector h and, after the first round,
also the last step. Both are scaled to length 1. The list MS contains xAAᵀ for each vector x in S.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_times

DEPENDENT = 1e-12
"""Direction vectors shorter than this fraction of the longest one are dropped, because they are
linear combinations of the others up to rounding."""


class Hits(NamedTuple):
    """The result of `hits`: two full Vectors of dtype FP64 with one element per vertex.

    Attributes:
        hubs: how well each vertex points at authorities.
        authorities: how well hubs point at each vertex.
    """

    hubs: Vector
    authorities: Vector


@graph_algorithm(keyed=("nstart",))
def hits(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Vector | Mapping[Any, float] | None = None,
    normalized: bool = True,
) -> Hits:
    """``a = hA``, ``h = aAᵀ``, until the direction of h does not change.

    Compute hub and authority scores: good hubs point at good authorities, and vice versa.

    h and a are the singular vectors for the largest singular value √θ of A. The rounds end when the
    length of hAAᵀ - θh is below tol·θ. A round takes O(n + m) time. If the largest singular value
    is not unique, the result depends on the start vector.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. With a Graph, arguments and
            results name vertices by their labels. The values of A are weights, which must be at
            least 0.
        max_iter: the maximum number of rounds, at least 1.
        tol: the tolerance, relative to θ, at least 0.
        nstart: the hubs to start from: a Vector of size n or a mapping from vertex to number. None
            starts with equal hubs.
        normalized: whether to scale the hubs, and the authorities, so that they add up to 1.
            Otherwise the authorities have Euclidean length 1, and the hubs are aAᵀ.

    Returns:
        Hits: (hubs, authorities), two full Vectors of size n and dtype FP64. Both are 0 everywhere
            if the graph has no edges.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `nstart` has a size other than n.
        IndexOutOfBound: If `nstart` has a key that is not a vertex.
        DeviceMismatch: If A and `nstart` are not on the same device.
        InvalidValue: If a weight is negative or NaN, if the sum of the squared weights is not
            finite, or if `tol` or `max_iter` is out of range.
        ConvergenceError: If the values do not converge within `max_iter` rounds.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import hits
        >>> A = Matrix.from_coo([0, 1, 1], [2, 2, 3], 1, nrows=4, ncols=4)
        >>> hubs, authorities = hits(A)
        >>> [round(h, 3) for h in hubs.to_dense().tolist()]
        [0.382, 0.618, 0.0, 0.0]

    References:
        J. Kleinberg, *Authoritative Sources in a Hyperlinked Environment*, 1999.
        A. Knyazev, *Toward the Optimal Preconditioned Eigensolver*, 2001.
    """
    n = A.nrows
    max_iter = validation.count("max_iter", max_iter, least=1)
    tol = validation.real("tol", tol, low=0)
    validation.nonnegative(A)
    h = (
        power_iteration.full(1.0, n)
        if nstart is None
        else power_iteration.as_full_vector("nstart", nstart, n)
    )
    h = h if nstart is not None or not n else _multiply_twice(A, h)
    if not n or not power_iteration.norm(_authorities_of(A, h)):
        nothing = power_iteration.full(0.0, n)
        return Hits(nothing, nothing.dup())
    h = _find_singular_vector(A, power_iteration.normalize(h), max_iter, tol)
    # a = |h|A, h = aAᵀ. All values of the singular vector h have the same sign, which may be
    # negative. With |h|, no hub or authority is negative.
    authorities = power_iteration.normalize(_authorities_of(A, unary.abs(h).new()))
    hubs = _hubs_of(A, authorities)
    if normalized:
        return Hits(*(_scale_to_1(x) for x in (hubs, authorities)))
    return Hits(hubs, authorities)


def _find_singular_vector(A: Matrix, h: Vector, max_iter: int, tol: float) -> Vector:
    """Return the vector of length 1 whose direction stays the same under AAᵀ."""
    S, MS = [h], [_multiply_twice(A, h)]
    theta = error = 0.0
    for _ in range(max_iter):
        # θ = h·hM estimates the largest eigenvalue of M = AAᵀ, and r = hM - θh is the residual
        theta = _dot(S[0], MS[0])
        r = _combine((1.0, -theta), (MS[0], S[0]))
        error = math.sqrt(_dot(r, r))
        if not math.isfinite(error):
            raise InvalidValue("A has weights whose squares add up to no finite number")
        if error < tol * theta:
            return S[0]
        r = power_iteration.normalize(r)
        S, MS = [S[0], r, *S[1:]], [MS[0], _multiply_twice(A, r), *MS[1:]]
        # h' = cS, for the c that maximizes cMSᵀcᵀ / cSSᵀcᵀ
        c = _best_combination(
            *(np.array([[_dot(x, y) for y in other] for x in S]) for other in (S, MS))
        )
        # The step is the part of the new vector h' = cS that does not come from h: h' - c₀h. Scale
        # h' and the step to length 1.
        step = _combine(c[1:], S[1:])
        h = _combine((c[0], 1.0), (S[0], step))
        lengths = [math.sqrt(_dot(x, x)) or 1.0 for x in (h, step)]
        moved = _combine(c[1:], MS[1:])
        moved_h = _combine((c[0], 1.0), (MS[0], moved))
        S = [_combine((1 / k,), (x,)) for k, x in zip(lengths, (h, step), strict=True)]
        MS = [_combine((1 / k,), (x,)) for k, x in zip(lengths, (moved_h, moved), strict=True)]
    raise power_iteration.ConvergenceError(
        f"max_iter is {max_iter}, but the error of the hubs was {error:.3g} of {theta:.3g} still, "
        f"and not less than the part {tol:g} of that"
    )


def _dot(x: Vector, y: Vector) -> float:
    """Return x·y."""
    return float(binary.times(x & y).new().reduce(monoid.plus).get(0))


def _combine(factors: Sequence[float] | np.ndarray, vectors: Sequence[Vector]) -> Vector:
    """Return Σ c x."""
    mixed = vectors[0].apply(binary.times, right=float(factors[0])).new()
    for c, x in zip(factors[1:], vectors[1:], strict=True):
        mixed(binary.plus) << x.apply(binary.times, right=float(c))
    return mixed


def _best_combination(lengths: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the factors c of the linear combination cS that maximizes cMSᵀcᵀ / cSSᵀcᵀ.

    `lengths` is the matrix SSᵀ, and `products` is MSᵀ, where M = AAᵀ. The factors solve a small
    eigenvalue problem, in which linearly dependent directions of S are omitted.
    """
    sizes, vectors = np.linalg.eigh(lengths)
    kept = sizes > DEPENDENT * sizes[-1]
    W = vectors[:, kept] / np.sqrt(sizes[kept])
    _, found = np.linalg.eigh(W.T @ products @ W)
    c = W @ found[:, -1]
    return c if c[0] >= 0 else -c


def _authorities_of(A: Matrix, h: Vector) -> Vector:
    """``a = hA``: return the authority scores for the hub scores h, without scaling them."""
    a = power_iteration.full(0.0, A.nrows)
    a(binary.plus) << plus_times["FP64"](h @ A)
    return a


def _hubs_of(A: Matrix, a: Vector) -> Vector:
    """``h = aAᵀ``: return the hub scores for the authority scores a, without scaling them."""
    h = power_iteration.full(0.0, A.nrows)
    h(binary.plus) << plus_times["FP64"](A @ a)
    return h


def _multiply_twice(A: Matrix, h: Vector) -> Vector:
    """Return hAAᵀ."""
    return _hubs_of(A, _authorities_of(A, h))


def _scale_to_1(x: Vector) -> Vector:
    """Return x divided by Σ |x|, or x itself if this sum is 0."""
    return x.apply(binary.truediv, right=power_iteration.norm(x) or 1.0).new()
