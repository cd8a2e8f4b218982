"""Eigenvector centrality: a vertex is as important as the vertices that point at it.

The measure was defined by P. Bonacich (1972). The power method is applied to A + I, because on A
alone it may oscillate forever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first, plus_times


@graph_algorithm(keyed=("nstart",))
def eigenvector(
    A: Matrix,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Vector | Mapping[Any, float] | None = None,
    weight: bool | str | None = None,
) -> Vector:
    """``x = (x + xA) / ‖x + xA‖``, until x no longer changes.

    Compute eigenvector centrality: a vertex is important if important vertices point to it.

    x is the left eigenvector for the largest eigenvalue of A. The power method is applied to A + I,
    because on A alone it may oscillate. The iteration stops when Σ |change| is below n·tol. Each
    round takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        max_iter: the maximum number of rounds, at least 1.
        tol: the tolerance per vertex, at least 0.
        nstart: the initial values: a Vector of size n or a mapping from vertex to number. By
            default, all initial values are equal.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.

    Returns:
        Vector: a full Vector of size n and dtype FP64, of Euclidean length 1. It is empty if the
            graph has no vertices; NetworkX raises an error in this case.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `nstart` has a size other than n.
        IndexOutOfBound: If `nstart` has a key that is not a vertex.
        DeviceMismatch: If A and `nstart` are not on the same device.
        InvalidValue: If `nstart` is 0 everywhere or not finite, or `tol` or `max_iter` is out of
            range.
        ConvergenceError: If the values do not converge within `max_iter` rounds.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import eigenvector
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> [round(x, 2) for x in eigenvector(A).to_dense().tolist()]
        [0.5, 0.71, 0.5]

    References:
        P. Bonacich, *Factoring and Weighting Approaches to Status Scores and Clique
            Identification*, 1972.
    """
    n = A.nrows
    max_iter = validation.count("max_iter", max_iter, least=1)
    tol = validation.real("tol", tol, low=0)
    follow = (plus_times if validation.weighs("weight", weight) else plus_first)["FP64"]
    if nstart is None or not n:
        x = power_iteration.full(1.0 / max(n, 1), n)
    else:
        x = power_iteration.as_full_vector("nstart", nstart, n)
        total = power_iteration.norm(x)
        if not 0 < total < float("inf"):
            raise InvalidValue("nstart must be finite, and somewhere other than 0")
        x = x.apply(binary.truediv, right=total).new()
    if n == 0:
        return x
    x, changed = _iterate(A, x, follow, max_iter, n * tol)
    if not changed < n * tol:
        raise power_iteration.convergence_error("the eigenvector", max_iter, changed, n * tol)
    return x


@jit_if_large
def _iterate(A: Matrix, x: Vector, follow: Any, rounds: int, least: float) -> tuple[Vector, float]:
    """Iterate until Σ |change| is below `least`, for at most `rounds` rounds.

    Return x and Σ |change| in the last round.
    """
    following, changed = x.dup(), math.inf
    for _ in range(rounds):
        # x' = (x + xA) / ‖x + xA‖
        following << x
        following(binary.plus) << follow(x @ A)
        power_iteration.scale_to_length_1(following)
        # Σ |x' - x|
        changed = power_iteration.distance(following, x)
        x, following = following, x
        if changed < least:
            break
    return x, changed
