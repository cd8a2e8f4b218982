"""Edge weights for community detection: symmetric, and scaled to integers.

Integer sums below 2^53 are exact in FP64, in any order. So results that depend on such sums are the
same on every device and for any number of threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphla.graph.cached_properties import has_symmetric_values, is_symmetric
from graphla.sparse import Matrix
from semirings import binary, unary
from semirings.exceptions import InvalidValue

EXACT = 52
"""Maximum number of bits in the sum of the scaled weights. FP64 can hold 53 bits exactly."""


def edge_weights(A: Matrix, weight: bool) -> tuple[Matrix, bool]:
    """Return the matrix of edge weights in FP64, and whether this matrix is symmetric.

    The weights are the values of A if `weight` is True; otherwise each weight is 1.
    """
    has_symmetric_pattern = is_symmetric(A)  # W has the same pattern as A
    W = A.dup("FP64") if weight else unary.one["FP64"](A).new()
    if has_symmetric_values(A):
        return W, True
    return W, has_symmetric_pattern and (not weight or A.isequal(A.T.new()))


def symmetrize(W: Matrix) -> Matrix:
    """Return (W + Wᵀ) / 2."""
    return binary.times(binary.plus(W | W.T).new(), 0.5).new()


def double_loops(W: Matrix) -> Matrix:
    """Return W + diag(W): in an undirected graph, both ends of a self-loop count for its vertex."""
    loops = W.diag()
    return binary.plus(W | loops.diag()).new() if loops.nvals else W


def scale_to_integers(W: Matrix) -> tuple[Matrix, float]:
    """Multiply W by a power of 2 and truncate it. Return these integer weights and their sum.

    The power of 2 is chosen so that the sum needs at most 52 bits. So rounding changes a weight by
    about 2⁻⁵¹ of the sum of all weights, which may be much compared with a small weight. If the sum
    of the weights is not finite, an error is raised.
    """
    indptr, columns, weights = W.to_csr(copy=False)
    with np.errstate(all="ignore"):
        total = float(weights.sum())
    if not total < math.inf:
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    if total == 0:
        return W, 0.0
    scale = math.ldexp(1.0, min(EXACT - math.frexp(total)[1], 1000))
    has_one = weights.strides == (0,)  # all weights are equal, and one value is stored
    weights = np.trunc((weights[:1] if has_one else weights) * scale)
    total = float(weights.sum()) * (W.nvals if has_one else 1)
    shape: dict[str, Any] = {"ncols": W.ncols, "symmetric": has_symmetric_values(W)}
    values = weights[0].item() if has_one else weights
    return Matrix.from_csr(indptr, columns, values, copy=False, **shape), total
