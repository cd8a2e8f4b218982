"""Harmonic centrality: how near a vertex is to all others, those that do not reach it being far.

P. Boldi and S. Vigna, *Axioms for Centrality*, 2014. Distances are those of paths that end there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.distances import all_pairs_lengths
from graphla.sparse import Matrix, Vector
from graphla.traversal import many
from semirings import monoid, unary
from semirings.dtypes import FP64

BATCH = 64
"""Vertices whose distances are there at a time."""


@graph_algorithm(vertices=("nbunch", "sources"), lengths="distance")
def harmonic(A: Matrix, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Vector:
    """h(v) = Σ 1 / d(s, v) over the vertices s, other than v, that reach v.

    `nbunch`: only for these vertices; `sources`: over these alone. Distances count edges or, with
    `distance`, add up the values of A, none of them below 0; whoever is 0 away is left out.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import harmonic
    >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    >>> harmonic(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 1.5}
    """
    n = A.nrows
    chosen = validation.distinct("nbunch", nbunch, n)
    begins = validation.distinct("sources", sources, n)
    is_weighted = validation.weighs("distance", distance)
    if is_weighted:
        validation.nonnegative(A)
        A = A.dup(FP64)
    is_back = chosen.size < begins.size  # from fewer vertices, if against the edges
    starts, ends = (chosen, begins) if is_back else (begins, chosen)
    B = A.T.new() if is_back else A
    total = np.zeros(chosen.size)
    for part in many.batches(B, starts.size, "harmonic", BATCH):
        if is_weighted:
            D = all_pairs_lengths(B, starts[part], weight=True)[:, ends].new()
            # N(i, v) = 1 / d(i, v), where that is not 0
            N = D.select("!=", 0).new().apply(unary.minv).new()
            sums = N.reduce_rowwise(monoid.plus) if is_back else N.reduce_columnwise(monoid.plus)
            found = sums.new().to("cpu").to_dense(0)
        else:
            found = many.sum_reciprocals(B, starts[part], ends, axis=1 if is_back else 0)
        # h = Σ N over the vertices that reach each
        if is_back:
            total[part] = found
        else:
            total += found
    return Vector.from_coo(chosen, total, FP64, size=n)
