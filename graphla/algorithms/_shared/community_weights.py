"""Links of a graph for its communities: symmetric, and weighed in whole numbers.

Sums of whole numbers below 2^53 are exact in a float, in whatever order they are added: so what
rests on such sums is the same on every device, and for any number of threads.
"""

from __future__ import annotations

import math

from graphla.graph.cached_properties import has_symmetric_values, is_symmetric
from graphla.sparse import Matrix
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue

EXACT = 52
"""Bits of the sum of all weights."""


def edge_weights(A: Matrix, weight: bool) -> tuple[Matrix, bool]:
    """The values of A, or ones, FP64; and whether they are the same in both directions."""
    has_symmetric_pattern = is_symmetric(A)  # before W is made, so that W inherits the result
    W = A.dup("FP64") if weight else unary.one["FP64"](A).new()
    if has_symmetric_values(A):  # the values are symmetric as well
        return W, True
    return W, has_symmetric_pattern and (not weight or A.isequal(A.T.new()))


def symmetrize(W: Matrix) -> Matrix:
    """(W + Wᵀ) / 2."""
    return binary.times(binary.plus(W | W.T).new(), 0.5).new()


def double_loops(W: Matrix) -> Matrix:
    """W + diag(W): of an undirected graph, in which a self-loop ends at its vertex twice."""
    loops = W.diag()
    return binary.plus(W | loops.diag()).new() if loops.nvals else W


def scale_to_integers(W: Matrix) -> tuple[Matrix, float]:
    """W times a power of 2, without what is left below the point; and what that adds up to.

    What it adds up to has 52 bits: each weight is as exact as its share of the sum of all. Weights
    that add up to no finite number are refused.
    """
    total = float(W.reduce_scalar(monoid.plus).get(0))
    if not total < math.inf:
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    if total == 0:
        return W, 0.0
    scale = math.ldexp(1.0, min(EXACT - math.frexp(total)[1], 1000))
    W = unary.trunc(binary.times(W, scale).new()).new()
    return W, float(W.reduce_scalar(monoid.plus).get(0))
