"""PageRank: where a walker who follows edges at random, and now and then jumps, is to be found.

S. Brin and L. Page, *The Anatomy of a Large-Scale Hypertextual Web Search Engine*, 1998, by the
power method. From a *dangling* vertex, which has no out-edge, the walker always jumps.

Invariants, at the head of each round:
- rank is full, nowhere below 0, and adds up to 1 up to rounding;
- share has an entry at each vertex that is not dangling: damping / what its out-edges add up to;
- jump is full, nowhere below 0, and adds up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from graphla.algorithms import arguments
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import DimensionMismatch, GraphblasException, InvalidValue
from semirings.semiring import plus_first, plus_pair, plus_times


class ConvergenceError(GraphblasException, RuntimeError):
    """An iteration that did not come to rest in the rounds that it was given."""


@arguments.beside_its_graph
def pagerank(
    A: Matrix,
    damping: float = 0.85,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    personalization: Vector | Mapping[int, float] | None = None,
    weighted: bool = False,
) -> Vector:
    """r = d·(r / degree)A + (1 - what that carried)·jump, until r rests: PageRank, a share of 1.

    The walker follows an out-edge with probability `damping`, each alike, or in proportion to its
    weight if `weighted`; and else jumps to any vertex alike, or in proportion to `personalization`.
    The last round is the first to change the ranks by less than `tolerance` in all (the sum of
    |change|); where `max_iterations` do not suffice, ConvergenceError is raised.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import pagerank
    >>> A = Matrix.from_coo([0, 1, 2], [2, 2, 0], 1, nrows=3, ncols=3)
    >>> [round(r, 3) for r in pagerank(A).to_dense().tolist()]
    [0.464, 0.05, 0.486]
    """
    A = arguments.adjacency(A)
    n = A.nrows
    damping = arguments.real("damping", damping, low=0, high=1)
    tolerance = arguments.real("tolerance", tolerance, low=0)
    max_iterations = arguments.count("max_iterations", max_iterations, least=1)
    jump = _jump(personalization, n)
    if n == 0:
        return jump

    # share = d / degree, where the degree is not 0; degree = A plus.pair 1, or A plus.times 1
    if weighted:
        arguments.nonnegative(A)
    ones = _full(1.0, n)
    degree = (plus_times if weighted else plus_pair)["FP64"](A @ ones).new()
    endless = degree.select("==", math.inf)
    if endless.nvals:
        vertex = endless.to_coo()[0][0]
        raise InvalidValue(
            f"A has weights out of vertex {vertex} that add up to inf, but their sum must be finite"
        )
    share = binary.truediv(damping, degree.select("!=", 0)).new()
    follow = plus_times if weighted else plus_first

    changed = 0.0
    rank, following, change = jump.dup(), Vector(float, n), Vector(float, n)
    for _ in range(max_iterations):
        # r' = (share ∘ r)A
        following << follow(binary.times(share & rank) @ A)
        # r' = r' + (1 - Σ r')·jump: what the edges did not carry, jumps
        left = 1 - following.reduce(monoid.plus).get(0)
        following(binary.plus) << binary.times(jump, left)
        # |r' - r| in all
        change << unary.abs(binary.minus(following & rank))
        changed = change.reduce(monoid.plus).get(0)
        rank, following = following, rank
        if changed < tolerance:
            return rank
    raise ConvergenceError(
        f"max_iterations is {max_iterations}, but PageRank still changed by {changed:.3g} in the "
        f"last, not by less than the tolerance of {tolerance:g}"
    )


def _jump(personalization: Vector | Mapping[int, float] | None, n: int) -> Vector:
    """Where a jump ends, as a full vector that adds up to 1."""
    if personalization is None:
        return _full(1 / max(n, 1), n)
    if isinstance(personalization, Vector):
        given = personalization.dup(float)
    elif isinstance(personalization, Mapping):
        given = Vector.from_dict(dict(personalization), float, size=n)
    else:
        raise TypeError(
            "personalization must be a Vector or a mapping from vertex to weight, "
            f"not a {type(personalization).__name__}"
        )
    if given.size != n:
        raise DimensionMismatch(f"personalization has size {given.size}, but A has {n} vertices")
    total = given.reduce(monoid.plus).get(0)
    if not 0 < total < float("inf") or given.select("<", 0).nvals:
        raise InvalidValue("personalization must be finite, nowhere below 0, and somewhere above")
    jump = _full(0.0, n)
    # jump⟨p⟩ = p / Σ p
    jump(given.S) << binary.truediv(given, total)
    return jump


def _full(value: float, n: int) -> Vector:
    full = Vector(float, n)
    full << value
    return full
