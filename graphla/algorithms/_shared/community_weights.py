"""Edge weights for community detection: symmetric, and scaled to integers.

Integer sums below 2^53 are exact in FP64, in any order. So results that depend on such sums are the
same on every device and for any number of threads.
"""

from __future__ import annotations

import math

from graphla.graph.cached_properties import has_symmetric_values, is_symmetric
from graphla.sparse import Matrix
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue

EXACT = 52
"""Number of bits in the sum of all scaled weights."""


def edge_weights(A: Matrix, weight: bool) -> tuple[Matrix, bool]:
    """Return A with its values, or ones, in FP64, and whether the result is symmetric."""
    has_symmetric_pattern = is_symmetric(A)  # W inherits this property
    W = A.dup("FP64") if weight else unary.one["FP64"](A).new()
    if has_symmetric_values(A):  # pattern and values are symmetric
        return W, True
    return W, has_symmetric_pattern and (not weight or A.isequal(A.T.new()))


def symmetrize(W: Matrix) -> Matrix:
    """Return (W + Wᵀ) / 2."""
    return binary.times(binary.plus(W | W.T).new(), 0.5).new()


def double_loops(W: Matrix) -> Matrix:
    """Return W + diag(W), because a self-loop of an undirected graph counts at both of its ends."""
    loops = W.diag()
    return binary.plus(W | loops.diag()).new() if loops.nvals else W


def scale_to_integers(W: Matrix) -> tuple[Matrix, float]:
    """Return W times a power of 2, truncated to integers, and their sum.

    The sum has 52 bits, so the rounding error of each weight is relative to the sum of all weights.
    If the sum is not finite, an error is raised.
    """
    total = float(W.reduce_scalar(monoid.plus).get(0))
    if not total < math.inf:
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    if total == 0:
        return W, 0.0
    scale = math.ldexp(1.0, min(EXACT - math.frexp(total)[1], 1000))
    W = unary.trunc(binary.times(W, scale).new()).new()
    return W, float(W.reduce_scalar(monoid.plus).get(0))
