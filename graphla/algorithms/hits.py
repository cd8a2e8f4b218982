"""Hubs and authorities: who points at good ones, and at whom good ones point.

J. Kleinberg, *Authoritative Sources in a Hyperlinked Environment*, 1999: the vectors of the
greatest singular value of A. The power method takes many rounds where the next value is near; ours
looks in each for the best vector among the last one, its error, and the last step, as A. Knyazev
does (*Toward the Optimal Preconditioned Eigensolver*, 2001), and so takes about their square root.

Invariants, at the head of each round: h has length 1, and MS = S·A·Aᵀ row by row, where the rows of
S are h, then the error, then the last step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms import arguments, iterations
from graphla.backends import backend
from graphla.sparse import Matrix, Vector
from graphla.storage import Array
from semirings import binary, unary
from semirings.semiring import plus_times

DEPENDENT = 1e-12
"""Directions that are shorter than this part of the longest are left out."""


class Hits(NamedTuple):
    """How much of a hub, and of an authority, each vertex is."""

    hubs: Vector
    authorities: Vector


@arguments.of_graph(keyed=("nstart",))
def hits(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Vector | Mapping[Any, float] | None = None,
    normalized: bool = True,
) -> Hits:
    """a = hA, h = aAᵀ, until h points where it did: (hubs, authorities), that each add up to 1.

    The values of A, none below 0, are weights. Rounds begin with `nstart` as hubs, or with equal
    ones, and end where |hAAᵀ - θh| < tol·θ, the greatest singular value being √θ; where `max_iter`
    do not suffice, ConvergenceError is raised. Unless `normalized`, authorities have length 1 and
    hubs are aAᵀ. Without edges there are only zeros.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import hits
    >>> A = Matrix.from_coo([0, 1, 1], [2, 2, 3], 1, nrows=4, ncols=4)
    >>> hubs, authorities = hits(A)
    >>> [round(h, 3) for h in hubs.to_dense().tolist()]
    [0.382, 0.618, 0.0, 0.0]
    """
    n = A.nrows
    max_iter = arguments.count("max_iter", max_iter, least=1)
    tol = arguments.real("tol", tol, low=0)
    arguments.nonnegative(A)
    h = iterations.full(1.0, n) if nstart is None else iterations.each("nstart", nstart, n)
    h = h if nstart is not None or not n else _pointed_back(A, h)
    if not n or not iterations.size(_forth(A, h)):
        nothing = iterations.full(0.0, n)
        return Hits(nothing, nothing.dup())
    h = _rest(A, iterations.of_length_one(h), max_iter, tol)
    # a = hA, h = aAᵀ: of h's own sign, everywhere
    authorities = iterations.of_length_one(_forth(A, unary.abs(h).new()))
    hubs = _back(A, authorities)
    if normalized:
        return Hits(*(_shares(x) for x in (hubs, authorities)))
    return Hits(hubs, authorities)


def _rest(A: Matrix, h: Vector, max_iter: int, tol: float) -> Vector:
    """The vector of length 1 to which AAᵀ gives no other direction."""
    xp = backend(A.device).xp

    def applied(x: Array) -> Array:
        return _pointed_back(A, Vector.from_dense(x)).to_dense()

    S = h.to_dense()[None, :]
    MS = applied(S[0])[None, :]
    error = 0.0
    for _ in range(max_iter):
        # θ = h·hM, r = hM - θh
        theta = float((S[0] * MS[0]).sum())
        r = MS[0] - theta * S[0]
        error = float(xp.sqrt((r * r).sum()))
        if error < tol * theta:
            return Vector.from_dense(S[0])
        r /= error
        S = xp.concatenate((S[:1], r[None, :], S[1:]))
        MS = xp.concatenate((MS[:1], applied(r)[None, :], MS[1:]))
        # h' = cS, where c is best: the greatest of cMSᵀcᵀ / cSSᵀcᵀ
        c = _best(*(_products(A, S, other) for other in (S, MS)))
        S, MS = _step(xp, S, c), _step(xp, MS, c)
        lengths = [float(xp.sqrt((row * row).sum())) for row in S]
        for k, length in enumerate(lengths):
            S[k] /= length or 1.0
            MS[k] /= length or 1.0
    raise iterations.ConvergenceError(
        f"max_iter is {max_iter}, but the error of the hubs was {error:.3g} of {theta:.3g} still, "
        f"and not less than the part {tol:g} of that"
    )


def _best(lengths: np.ndarray, products: np.ndarray) -> np.ndarray:
    """c, by the eigenvalues of small matrices; directions that depend on others are left out."""
    sizes, vectors = np.linalg.eigh(lengths)
    kept = sizes > DEPENDENT * sizes[-1]
    W = vectors[:, kept] / np.sqrt(sizes[kept])
    _, found = np.linalg.eigh(W.T @ products @ W)
    c = W @ found[:, -1]
    return c if c[0] >= 0 else -c


def _products(A: Matrix, X: Array, Y: Array) -> np.ndarray:
    """XYᵀ, of few rows, on the host."""
    return backend(A.device).to_host((X[:, None, :] * Y[None, :, :]).sum(axis=2))


def _step(xp: Any, S: Array, c: np.ndarray) -> Array:
    """The best vector, and the step that led there from the last one."""
    step = sum(float(x) * row for x, row in zip(c[1:], S[1:], strict=True))
    return xp.stack((float(c[0]) * S[0] + step, step))


def _forth(A: Matrix, h: Vector) -> Vector:
    a = iterations.full(0.0, A.nrows)
    # a = hA
    a(binary.plus) << plus_times["FP64"](h @ A)
    return a


def _back(A: Matrix, a: Vector) -> Vector:
    h = iterations.full(0.0, A.nrows)
    # h = aAᵀ
    h(binary.plus) << plus_times["FP64"](A @ a)
    return h


def _pointed_back(A: Matrix, h: Vector) -> Vector:
    return _back(A, _forth(A, h))


def _shares(x: Vector) -> Vector:
    return x.apply(binary.truediv, right=iterations.size(x) or 1.0).new()
