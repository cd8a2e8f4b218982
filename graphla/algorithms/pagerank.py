"""PageRank: how often each vertex is visited by a random walker that sometimes jumps.

The ranks of S. Brin and L. Page (1998) are computed by the power method. From a *dangling* vertex,
which has no out-edges, the walker always jumps.

Invariants, at the start of each round:
- rank is full, has no negative value, and adds up to 1, up to rounding;
- share is full; it holds alpha divided by the total weight of the out-edges, and 0 at a dangling
  vertex;
- jump and fall (the distribution used at a dangling vertex) are full, have no negative value, and
  each adds up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.degree import edges_in, edges_out
from graphla.graph.cached_properties import values_differ
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import PageRank, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first, plus_times

Given = Vector | Mapping[Any, float] | None


@graph_algorithm(keyed=("personalization", "nstart", "dangling"))
def pagerank(
    A: Matrix,
    alpha: float = 0.85,
    personalization: Given = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Given = None,
    weight: bool | str | None = True,
    dangling: Given = None,
    *,
    dtype: Any = "FP64",
) -> Vector:
    """``r = α·(r / degree)A + α·(Σ r of dangling vertices)·dangling + (1 - α)·jump``.

    Compute the PageRank of each vertex: how often a random walker visits it.

    The walker follows an out-edge with probability `alpha`, and otherwise jumps to a random vertex.
    From a dangling vertex, which has no out-edges, the walker always jumps. As in NetworkX, the
    rounds end when Σ |change| is below n·tol; for Σ |change| < 1e-4 pass `tol=1e-4 / n`. Unlike in
    NetworkX, the initial ranks are derived from the numbers of in-edges, so that they are close to
    the result. A round takes O(n + m) time. On the CPU, a compiled loop uses new ranks as soon as
    they are computed, which saves rounds; with `config.deterministic` it does not, and the result
    is the same in every run.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        alpha: the probability of following an edge, from 0 to 1.
        personalization: the distribution of the jump targets: a Vector of size n or a mapping from
            vertex to number. A jump chooses a vertex with a probability proportional to its number;
            missing vertices count as 0. None makes all vertices equally likely.
        max_iter: the maximum number of rounds, at least 1.
        tol: the tolerance per vertex, at least 0.
        nstart: the initial ranks, which need not add up to 1: a Vector of size n or a mapping from
            vertex to number. If None, they are derived from the numbers of in-edges.
        weight: if True, or the name of an edge attribute as in NetworkX, out-edges are chosen in
            proportion to the values of A, which must be at least 0. If None or False, all out-edges
            of a vertex are equally likely.
        dangling: where the walker goes from a dangling vertex: a Vector of size n or a mapping from
            vertex to number. None means the same as `personalization`.
        dtype: the dtype of the ranks, "FP64" or "FP32"; on a GPU "FP32" is not faster.

    Returns:
        Vector: the ranks, a full Vector of size n and of the given dtype that adds up to 1.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector has a size other than n.
        IndexOutOfBound: If a mapping has a key that is not a vertex.
        DeviceMismatch: If A and a Vector are not on the same device.
        InvalidValue: If `alpha`, `tol`, `max_iter` or `dtype` is out of range, if a weight is
            negative or NaN, if a sum of weights does not fit in the dtype, or if a distribution has
            a negative value or no finite positive sum.
        ConvergenceError: If the values do not converge within `max_iter` rounds.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import pagerank
        >>> A = Matrix.from_coo([0, 1, 2], [2, 2, 0], 1, nrows=3, ncols=3)
        >>> [round(r, 3) for r in pagerank(A, tol=1e-7).to_dense().tolist()]
        [0.464, 0.05, 0.486]

    References:
        S. Brin and L. Page, *The Anatomy of a Large-Scale Hypertextual Web Search Engine*, 1998.
    """
    n = A.nrows
    alpha = validation.real("alpha", alpha, low=0, high=1)
    tol = validation.real("tol", tol, low=0)
    max_iter = validation.count("max_iter", max_iter, least=1)
    kept = validation.one_of("dtype", dtype, ("FP32", "FP64"))
    is_weighted = validation.weighs("weight", weight) and values_differ(A)
    if n == 0:
        return Vector(kept, 0)

    def read_distribution(name: str, values: Given) -> Vector:
        return power_iteration.as_distribution(name, values, n, kept)

    jump = power_iteration.full(1 / n, n, kept)
    if personalization is not None:
        jump = read_distribution("personalization", personalization)
    fall = jump if dangling is None else read_distribution("dangling", dangling)
    share = _share(A, alpha, kept, is_weighted)
    rank = (
        _first_ranks(A, share, jump, alpha)
        if nstart is None
        else read_distribution("nstart", nstart)
    )
    request = PageRank(A, share, rank, jump, fall, alpha, is_weighted, n * tol, max_iter)
    rank, change = accelerated(request, partial(definition, request))
    if not change < n * tol:
        raise power_iteration.convergence_error("PageRank", max_iter, change, n * tol)
    return rank


def definition(walk: PageRank) -> tuple[Vector, float]:
    """Run the rounds with matrix products; return the ranks and the last total change.

    The total change is the sum of the absolute changes of all ranks.
    """
    A, share, jump, fall, alpha = walk.A, walk.share, walk.jump, walk.fall, walk.alpha
    rank = walk.rank.dup()
    follow = (plus_times if walk.is_weighted else plus_first)[rank.dtype]
    following, change, least = Vector(rank.dtype, rank.size), math.inf, walk.least
    for _ in range(walk.rounds):
        # r' = (share ∘ r)A
        following << follow(binary.times(share & rank) @ A)
        # r' = r' + (1 - α)·jump + (α - Σ r')·fall. After the product above, Σ r' is the part of α
        # that followed edges. The rest of α comes from the dangling vertices and is distributed by
        # `fall`.
        left = max(0.0, alpha - following.reduce(monoid.plus).get(0.0))
        jumps = binary.plus(binary.times(jump, 1 - alpha) & binary.times(fall, left))
        following(binary.plus) << jumps
        # Σ |r' - r|
        change = power_iteration.distance(following, rank)
        rank, following = following, rank
        if change < least:
            break
    return rank, change


def _share(A: Matrix, alpha: float, kept: Any, is_weighted: bool) -> Vector:
    """Return α / degree for each vertex, or 0 if its degree is 0.

    The degree is the sum of the values in the vertex's row of A if `is_weighted` is set, otherwise
    the number of entries in this row.
    """
    if is_weighted:
        validation.nonnegative(A)
        degree = plus_times["FP64"](A @ power_iteration.full(1.0, A.nrows)).new()
        _refuse_unfit_sums(degree, alpha, kept)
    else:
        degree = edges_out(A)
    if degree.nvals == A.nrows and degree.reduce(monoid.min).get(0) > 0:  # faster: needs no mask
        return binary.truediv(alpha, degree).new(kept)
    if degree.nvals == A.nrows:
        # The degree 0 of a dangling vertex is replaced by 1 before the division; afterwards the
        # share of the vertex is set to 0.
        dangling = binary.eq(degree, 0).new("FP64")
        share = binary.truediv(alpha, binary.plus(degree & dangling)).new(kept)
        share(dangling.V) << 0
        return share
    share = power_iteration.full(0.0, A.nrows, kept)
    share(degree.V) << binary.truediv(alpha, degree)
    return share


def _refuse_unfit_sums(degree: Vector, alpha: float, dtype: Any) -> None:
    """Raise an error if the dtype of the ranks cannot represent s or alpha / s.

    Here s is the sum of the weights of a vertex's out-edges.
    """
    most = float(np.finfo(dtype.np_type).max)
    great = degree.select(">", most)
    small = degree.select("<=", alpha / most).select(">", 0)
    for unfit, but in ((great, "their sum"), (small, "alpha / their sum")):
        if unfit.nvals:
            vertices, sums = unfit.to_coo()
            raise InvalidValue(
                f"A has weights out of vertex {vertex_name(vertices[0])} that add up to "
                f"{sums[0]:.3g}, but {but} must be finite in {dtype}"
            )


def _first_ranks(A: Matrix, share: Vector, jump: Vector, alpha: float) -> Vector:
    """Return b·jump + (1 - b)·in-degree / edges, where b is the probability of a jump.

    b is chosen so that a walker whose position has this distribution jumps next with probability b.
    On an undirected graph, the ranks of a walker that never jumps are proportional to the
    in-degrees. Few rounds suffice when starting from this mixture.
    """
    kept = jump.dtype
    if not A.nvals:
        return jump.dup()
    # arrivals(v) = number of edges into v / number of all edges
    arrivals = binary.truediv(edges_in(A), A.nvals).new(kept)
    # the sums of `jump` and of `arrivals` over the dangling vertices, whose share is 0
    jumped = arrived = 0.0
    if share.reduce(monoid.min).get(0) == 0:
        dangling = binary.eq(share, 0).new(kept)
        jumped, arrived = (
            float(binary.times(x & dangling).reduce(monoid.plus).get(0)) for x in (jump, arrivals)
        )
    b = (1 - alpha + alpha * arrived) / (1 - alpha * jumped + alpha * arrived or 1.0)
    return binary.plus(binary.times(jump, b) & binary.times(arrivals, 1 - b)).new()
