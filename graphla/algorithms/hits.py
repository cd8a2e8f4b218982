"""Hubs and authorities: good hubs point at good authorities, and vice versa.

J. Kleinberg (1999) defined them as the singular vectors for the largest singular value of A. The
power method needs many rounds if the second singular value is close to the largest. Here each round
computes the linear combination of h, its residual and the last step that maximizes the Rayleigh
quotient of AAᵀ (A. Knyazev, 2001). If the power method needs k rounds, this method needs about √k.

Invariants at the start of each round, for M = AAᵀ: the previous round replaced h by x·h + `step`
for a number x; `step` is 0 before the first round. `moved` is hM, and `moved_step` is the product
of `step` and M.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import common_neighbors, power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.power_iteration import inner
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_times

DEPENDENT = 1e-12
"""Limit below which the last step counts as a linear combination of h and the residual.

A round then ignores the step. The test scales the step to length 1 and compares the square of its
distance from the span of h and the residual with this limit.
"""

TINY = sys.float_info.min
"""The smallest positive normal number, which replaces a denominator that is 0."""

SWEEPS = 12
"""The maximum number of Jacobi sweeps; four are usually enough."""

ROUNDING = 1e-18
"""The sweeps end when the sum of the absolute elements outside the diagonal is at most this
fraction of the sum of those on the diagonal."""


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
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are weights, which must be at
            least 0.
        max_iter: the maximum number of rounds, at least 1.
        tol: the tolerance, relative to θ, at least 0.
        nstart: the initial hub scores: a Vector of size n or a mapping from vertex to number. None
            means equal scores.
        normalized: whether to scale both results so that each of them adds up to 1. Otherwise the
            authorities have Euclidean length 1, and the hubs are aAᵀ.

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
    authorities_of, hubs_of = _make_products(A)
    h = h if nstart is not None or not n else hubs_of(authorities_of(h))
    if not n or not power_iteration.norm(authorities_of(h)):
        nothing = power_iteration.full(0.0, n)
        return Hits(nothing, nothing.dup())
    h = power_iteration.normalize(h)
    h = _find_singular_vector(A, h, hubs_of(authorities_of(h)), max_iter, tol)
    # a = |h|A, h = aAᵀ. All values of the singular vector h have the same sign, which may be
    # negative. With |h|, no hub or authority is negative.
    authorities = power_iteration.normalize(authorities_of(unary.abs(h).new()))
    hubs = hubs_of(authorities)
    if normalized:
        return Hits(*(_scale_to_1(x) for x in (hubs, authorities)))
    return Hits(hubs, authorities)


@jit_if_large
def _find_singular_vector(A: Matrix, h: Vector, moved: Vector, max_iter: int, tol: float) -> Vector:
    """Change h, which has length 1, until its direction stays the same under AAᵀ; return h.

    `moved` is the product hAAᵀ for the given h.
    """
    step, r, moved_r, a = (power_iteration.full(0.0, A.nrows) for _ in range(4))
    moved_step = step.dup()
    theta = error = 0.0
    for _ in range(max_iter):
        # θ = h·hM / h·h estimates the largest eigenvalue of M = AAᵀ; r = hM - θh is the residual
        hh = inner(h, h)
        theta = inner(h, moved) / hh
        r << binary.plus(moved | binary.times(-theta, h))
        rr = inner(r, r)
        error = math.sqrt(rr / hh)
        if not error < math.inf:
            raise InvalidValue("A has weights whose squares add up to no finite number")
        if error < tol * theta:
            return h
        # rM = rAAᵀ
        a << 0.0
        a(binary.plus) << plus_times["FP64"](r @ A)
        moved_r << 0.0
        moved_r(binary.plus) << plus_times["FP64"](A @ a)
        hs, rs, ss = inner(h, step), inner(r, step), inner(step, step)
        rr_m, rs_m, ss_m = inner(moved_r, r), inner(moved_r, step), inner(moved_step, step)
        # The vectors are not scaled to length 1. The inner products and the factors are scaled
        # instead.
        by_h, by_r, by_step = _inverse(hh), _inverse(rr), _inverse(ss)
        x, y, z = _best_combination(
            hs * by_h * by_step,
            rs * by_r * by_step,
            theta,
            error,
            rr_m * by_r * by_r,
            rs_m * by_r * by_step,
            ss_m * by_step * by_step,
        )
        x, y, z = x * by_h, y * by_r, z * by_step
        # h' = xh + yr + z·step, for the factors that maximize h'M·h' / h'·h'
        step << binary.plus(binary.times(y, r) | binary.times(z, step))
        moved_step << binary.plus(binary.times(y, moved_r) | binary.times(z, moved_step))
        h << binary.plus(binary.times(x, h) | step)
        moved << binary.plus(binary.times(x, moved) | moved_step)
    raise power_iteration.ConvergenceError(
        f"max_iter is {max_iter}, but the error of the hubs was {error:.3g} of {theta:.3g} still, "
        f"and not less than the part {tol:g} of that"
    )


def _inverse(square: float) -> float:
    """Return 1 / √square, or a large number if `square` is 0."""
    return 1.0 / math.sqrt(max(square, TINY))


def _best_combination(
    hs: float, rs: float, theta: float, error: float, rr_m: float, rs_m: float, ss_m: float
) -> tuple[float, float, float]:
    """Return factors a, b, c for which y = ah + br + c·step maximizes yM·y / y·y.

    The vectors h, r and step have length 1, or are 0, and hM = θh + error·r, where r is orthogonal
    to h. The other parameters are the inner products h·step, r·step, rM·r, rM·step and stepM·step.
    If the step depends linearly on h and r, up to rounding, c is 0.
    """
    # v = q(step - hs·h - rs·r) is orthogonal to h and r. Its length is 1, or 0 if the step depends
    # linearly on h and r.
    q = _inverse_length(1.0 - hs * hs - rs * rs)
    # In the basis h, r, v, the matrix of M is tridiagonal, because hM·v = 0.
    rv_m = q * (rs_m - hs * error - rs * rr_m)
    vv_m = q * q * (ss_m - hs * hs * theta + rs * rs * rr_m - 2.0 * rs * rs_m)
    a, b, c = _largest_eigenvector(theta, error, 0.0, rr_m, rv_m, vv_m)
    # Convert the coefficients from the basis h, r, v to the basis h, r, step.
    c = q * c
    b = b - rs * c
    a = a - hs * c
    sign = math.copysign(1.0, a)
    return sign * a, sign * b, sign * c


def _inverse_length(square: float) -> float:
    """Return 1 / √square, or 0 if `square` is at most DEPENDENT."""
    return (square > DEPENDENT) / math.sqrt(max(square, DEPENDENT))


def _largest_eigenvector(
    xx: float, xy: float, xz: float, yy: float, yz: float, zz: float
) -> tuple[float, float, float]:
    """Return the eigenvector of length 1 for the largest eigenvalue of a symmetric 3 x 3 matrix.

    The arguments are the upper triangle of the matrix, row by row. The function uses the Jacobi
    eigenvalue method, which converges quadratically.
    """
    # The columns (x0, y0, z0), (x1, y1, z1) and (x2, y2, z2) converge to the eigenvectors.
    x0, x1, x2 = 1.0, 0.0, 0.0
    y0, y1, y2 = 0.0, 1.0, 0.0
    z0, z1, z2 = 0.0, 0.0, 1.0
    for _ in range(SWEEPS):
        if abs(xy) + abs(xz) + abs(yz) <= ROUNDING * (abs(xx) + abs(yy) + abs(zz)):
            break
        t, c, s = _rotation(xx, xy, yy)
        xx, xy, yy, xz, yz = xx - t * xy, 0.0, yy + t * xy, c * xz - s * yz, s * xz + c * yz
        x0, x1 = c * x0 - s * x1, s * x0 + c * x1
        y0, y1 = c * y0 - s * y1, s * y0 + c * y1
        z0, z1 = c * z0 - s * z1, s * z0 + c * z1
        t, c, s = _rotation(xx, xz, zz)
        xx, xz, zz, xy, yz = xx - t * xz, 0.0, zz + t * xz, c * xy - s * yz, s * xy + c * yz
        x0, x2 = c * x0 - s * x2, s * x0 + c * x2
        y0, y2 = c * y0 - s * y2, s * y0 + c * y2
        z0, z2 = c * z0 - s * z2, s * z0 + c * z2
        t, c, s = _rotation(yy, yz, zz)
        yy, yz, zz, xy, xz = yy - t * yz, 0.0, zz + t * yz, c * xy - s * xz, s * xy + c * xz
        x1, x2 = c * x1 - s * x2, s * x1 + c * x2
        y1, y2 = c * y1 - s * y2, s * y1 + c * y2
        z1, z2 = c * z1 - s * z2, s * z1 + c * z2
    if xx >= yy and xx >= zz:
        return x0, y0, z0
    if yy >= zz:
        return x1, y1, z1
    return x2, y2, z2


def _rotation(xx: float, xy: float, yy: float) -> tuple[float, float, float]:
    """Return the tangent, cosine and sine of the rotation that makes the 2 x 2 matrix diagonal."""
    d = yy - xx
    # The denominator is 0 only if the matrix is a multiple of the identity; then t is 0.
    t = math.copysign(2.0, d) * xy / max(abs(d) + math.hypot(d, 2.0 * xy), TINY)
    c = 1.0 / math.sqrt(1.0 + t * t)
    return t, c, t * c


def _make_products(A: Matrix) -> tuple[Callable[[Vector], Vector], Callable[[Vector], Vector]]:
    """Return two functions, h -> hA and a -> aAᵀ, which return full Vectors."""
    if common_neighbors.is_tiny(A):
        D = common_neighbors.dense_array(A, A.to_csr(copy=False)[2])

        def multiply(D: np.ndarray, x: Vector) -> Vector:
            with np.errstate(all="ignore"):
                return Vector.from_dense(D @ x.to_dense(copy=False), copy=False)

        return partial(multiply, D.T), partial(multiply, D)

    def authorities_of(h: Vector) -> Vector:
        a = power_iteration.full(0.0, A.nrows)
        a(binary.plus) << plus_times["FP64"](h @ A)
        return a

    def hubs_of(a: Vector) -> Vector:
        h = power_iteration.full(0.0, A.nrows)
        h(binary.plus) << plus_times["FP64"](A @ a)
        return h

    return authorities_of, hubs_of


def _scale_to_1(x: Vector) -> Vector:
    """Return x divided by Σ |x|, or x itself if this sum is 0."""
    if x.device == "cpu":
        values = x.to_dense(copy=False)
        return Vector.from_dense(values / (float(np.abs(values).sum()) or 1.0), copy=False)
    return x.apply(binary.truediv, right=power_iteration.norm(x) or 1.0).new()
