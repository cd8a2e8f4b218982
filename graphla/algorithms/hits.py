"""Hubs and authorities: who points at good ones, and at whom good ones point.

J. Kleinberg, *Authoritative Sources in a Hyperlinked Environment*, 1999: the vectors of the
greatest singular value of A. The power method takes many rounds where the next value is near; ours
looks in each for the best vector among the last one, its error, and the last step, as A. Knyazev
does (*Toward the Optimal Preconditioned Eigensolver*, 2001), and so takes about their square root.

Invariants, at the head of each round: S has h, and after the first round the last step, both of
length 1; MS has xAAᵀ for each x of S.
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
"""Directions that are shorter than this part of the longest are left out."""


class Hits(NamedTuple):
    """The result of `hits`: two full Vectors of dtype FP64 with an element per vertex.

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

    Compute hubs and authorities: hubs point at good authorities, and good hubs point at
    authorities.

    h and a are the singular vectors of the greatest singular value √θ of A. The rounds end when the
    length of hAAᵀ - θh is below tol·θ. A round takes O(n + m) time. If the greatest singular value
    occurs more than once, the result depends on the start.

    Args:
        A: the graph: a `Graph`, or a square Matrix with an entry A(i, j) for each edge i -> j. If
            it is a Graph, vertices are its labels, in the arguments and in the result. Its values,
            at least 0, are weights.
        max_iter: the greatest number of rounds, at least 1.
        tol: the tolerance, relative to θ, at least 0.
        nstart: the hubs to start from: a Vector of size n or a mapping from vertex to number. None
            starts with equal hubs.
        normalized: whether hubs, and authorities, add up to 1. Otherwise authorities have length 1,
            and hubs are aAᵀ.

    Returns:
        Hits: (hubs, authorities), two full Vectors of size n and dtype FP64. They are 0 if there
            are no edges.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has a wrong type.
        DimensionMismatch: If A is not square, or `nstart` has a size other than n.
        IndexOutOfBound: If `nstart` has a key that is not a vertex.
        DeviceMismatch: If A and `nstart` are not on one device.
        InvalidValue: If a weight is below 0 or NaN, if squares of weights have no finite sum, or if
            `tol` or `max_iter` is out of range.
        ConvergenceError: If `max_iter` rounds do not suffice.

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
    h = h if nstart is not None or not n else _back_and_forth(A, h)
    if not n or not power_iteration.norm(_forth(A, h)):
        nothing = power_iteration.full(0.0, n)
        return Hits(nothing, nothing.dup())
    h = _rest(A, power_iteration.normalize(h), max_iter, tol)
    # a = hA, h = aAᵀ: of h's own sign, everywhere
    authorities = power_iteration.normalize(_forth(A, unary.abs(h).new()))
    hubs = _back(A, authorities)
    if normalized:
        return Hits(*(_shares(x) for x in (hubs, authorities)))
    return Hits(hubs, authorities)


def _rest(A: Matrix, h: Vector, max_iter: int, tol: float) -> Vector:
    """The vector of length 1 to which AAᵀ gives no other direction."""
    S, MS = [h], [_back_and_forth(A, h)]
    theta = error = 0.0
    for _ in range(max_iter):
        # θ = h·hM, r = hM - θh
        theta = _dot(S[0], MS[0])
        r = _mix((1.0, -theta), (MS[0], S[0]))
        error = math.sqrt(_dot(r, r))
        if not math.isfinite(error):
            raise InvalidValue("A has weights whose squares add up to no finite number")
        if error < tol * theta:
            return S[0]
        r = power_iteration.normalize(r)
        S, MS = [S[0], r, *S[1:]], [MS[0], _back_and_forth(A, r), *MS[1:]]
        # h' = cS, where c is best: the greatest of cMSᵀcᵀ / cSSᵀcᵀ
        c = _best(*(np.array([[_dot(x, y) for y in other] for x in S]) for other in (S, MS)))
        # the step is what joined c₀h: both of length 1
        step = _mix(c[1:], S[1:])
        h = _mix((c[0], 1.0), (S[0], step))
        lengths = [math.sqrt(_dot(x, x)) or 1.0 for x in (h, step)]
        moved = _mix(c[1:], MS[1:])
        moved_h = _mix((c[0], 1.0), (MS[0], moved))
        S = [_mix((1 / k,), (x,)) for k, x in zip(lengths, (h, step), strict=True)]
        MS = [_mix((1 / k,), (x,)) for k, x in zip(lengths, (moved_h, moved), strict=True)]
    raise power_iteration.ConvergenceError(
        f"max_iter is {max_iter}, but the error of the hubs was {error:.3g} of {theta:.3g} still, "
        f"and not less than the part {tol:g} of that"
    )


def _dot(x: Vector, y: Vector) -> float:
    """x·y."""
    return float(binary.times(x & y).new().reduce(monoid.plus).get(0))


def _mix(factors: Sequence[float] | np.ndarray, vectors: Sequence[Vector]) -> Vector:
    """Σ c x."""
    mixed = vectors[0].apply(binary.times, right=float(factors[0])).new()
    for c, x in zip(factors[1:], vectors[1:], strict=True):
        mixed(binary.plus) << x.apply(binary.times, right=float(c))
    return mixed


def _best(lengths: np.ndarray, products: np.ndarray) -> np.ndarray:
    """c, by the eigenvalues of small matrices; directions that depend on others are left out."""
    sizes, vectors = np.linalg.eigh(lengths)
    kept = sizes > DEPENDENT * sizes[-1]
    W = vectors[:, kept] / np.sqrt(sizes[kept])
    _, found = np.linalg.eigh(W.T @ products @ W)
    c = W @ found[:, -1]
    return c if c[0] >= 0 else -c


def _forth(A: Matrix, h: Vector) -> Vector:
    a = power_iteration.full(0.0, A.nrows)
    # a = hA
    a(binary.plus) << plus_times["FP64"](h @ A)
    return a


def _back(A: Matrix, a: Vector) -> Vector:
    h = power_iteration.full(0.0, A.nrows)
    # h = aAᵀ
    h(binary.plus) << plus_times["FP64"](A @ a)
    return h


def _back_and_forth(A: Matrix, h: Vector) -> Vector:
    return _back(A, _forth(A, h))


def _shares(x: Vector) -> Vector:
    return x.apply(binary.truediv, right=power_iteration.norm(x) or 1.0).new()
