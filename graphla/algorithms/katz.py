"""Katz centrality: the weighted number of walks that end at a vertex.

The measure is due to L. Katz (1953). A walk with k edges has weight alpha^k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors, power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first, plus_times

Given = Vector | Mapping[Any, float] | None


@graph_algorithm(keyed=("beta", "nstart"))
def katz(
    A: Matrix,
    alpha: float = 0.1,
    beta: float | Vector | Mapping[Any, float] = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Given = None,
    normalized: bool = True,
    weight: bool | str | None = None,
) -> Vector:
    """``x = α·xA + β``, until x does not change.

    Compute Katz centrality: the weighted number of walks that end at each vertex.

    A walk with k edges has weight `alpha` to the power k. The rounds converge if `alpha` is below 1
    / λ, where λ is the largest eigenvalue of A. The rounds end when Σ |change| is below n·tol. A
    round takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        alpha: the factor per edge, any number.
        beta: the base value of each vertex, before walks are counted: one number, or a Vector of
            size n or a mapping with a value for every vertex.
        max_iter: the maximum number of rounds, at least 1.
        tol: the tolerance per vertex, at least 0.
        nstart: the values to start from: a Vector of size n or a mapping from vertex to number.
            None means 0 everywhere.
        normalized: whether to divide by the Euclidean length of the result.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.

    Returns:
        Vector: a full Vector of size n and dtype FP64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector has a size other than n.
        IndexOutOfBound: If a mapping has a key that is not a vertex.
        DeviceMismatch: If A and a Vector are not on the same device.
        InvalidValue: If `beta` has no value for some vertex, or `tol` or `max_iter` is out of
            range.
        ConvergenceError: If the values do not converge within `max_iter` rounds, for example
            because `alpha` is too large.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import katz
        >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
        >>> [round(x, 2) for x in katz(A, 0.5, normalized=False).to_dense().tolist()]
        [1.0, 1.5, 1.75]

    References:
        L. Katz, *A New Status Index Derived from Sociometric Analysis*, 1953.
    """
    n = A.nrows
    alpha = validation.real("alpha", alpha, low=-float("inf"))
    max_iter = validation.count("max_iter", max_iter, least=1)
    tol = validation.real("tol", tol, low=0)
    if isinstance(beta, (Vector, Mapping)):
        given = power_iteration.as_vector("beta", beta, n)
        if given.nvals < n:
            raise InvalidValue(f"beta has {given.nvals} values, but there are {n} vertices")
    else:
        given = power_iteration.full(validation.real("beta", beta, low=-float("inf")), n)
    if n == 0:
        return given
    x = (
        power_iteration.full(0.0, n)
        if nstart is None
        else power_iteration.as_full_vector("nstart", nstart, n)
    )
    is_weighted = validation.weighs("weight", weight)
    if common_neighbors.is_tiny(A):
        x, changed = _iterate_densely(A, x, given, alpha, is_weighted, max_iter, n * tol)
    else:
        follow = (plus_times if is_weighted else plus_first)["FP64"]
        x, changed = _iterate(A, x, given, alpha, follow, max_iter, n * tol)
    if not changed < n * tol:
        raise power_iteration.convergence_error("x of Katz centrality", max_iter, changed, n * tol)
    return power_iteration.normalize(x) if normalized else x


def _iterate_densely(
    A: Matrix, x: Vector, beta: Vector, alpha: float, is_weighted: bool, rounds: int, least: float
) -> tuple[Vector, float]:
    """Iterate like `_iterate`, but multiply by a dense array. The graph must be tiny."""
    D = common_neighbors.dense_array(A, A.to_csr(copy=False)[2] if is_weighted else 1.0)
    now, start, changed = x.to_dense(copy=False), beta.to_dense(copy=False), math.inf
    with np.errstate(all="ignore"):
        D *= alpha
        for _ in range(rounds):
            following = now @ D
            following += start
            changed = float(np.abs(following - now).sum())
            now = following
            if changed < least or not math.isfinite(changed):
                break
    return Vector.from_dense(now), changed


@jit_if_large
def _iterate(
    A: Matrix, x: Vector, beta: Vector, alpha: float, follow: Any, rounds: int, least: float
) -> tuple[Vector, float]:
    """Iterate until Σ |change| is below `least` or not finite, for at most `rounds` rounds.

    Return x and Σ |change| in the last round.
    """
    following, changed = x.dup(), math.inf
    for _ in range(rounds):
        # x' = β + α·xA
        following << beta
        following(binary.plus) << follow(binary.times(alpha, x) @ A)
        # Σ |x' - x|
        changed = power_iteration.distance(following, x)
        x, following = following, x
        if changed < least or not math.isfinite(changed):
            break
    return x, changed
