"""Harmonic centrality: how near a vertex is to all others, those that do not reach it being far.

P. Boldi and S. Vigna, *Axioms for Centrality*, 2014. Distances are those of paths that end there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments
from graphla.algorithms.lengths import all_pairs_lengths
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.dtypes import FP64
from semirings.semiring import plus_first

BATCH = 64
"""Vertices whose distances are there at a time."""


@arguments.of_graph(vertices=("nbunch", "sources"))
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
    chosen = np.unique(arguments.vertices("nbunch", nbunch, n))
    begins = np.unique(arguments.vertices("sources", sources, n))
    is_weighted = arguments.weighs("distance", distance)
    if is_weighted:
        arguments.nonnegative(A)
        A = A.dup(FP64)
    h = Vector.from_coo(chosen, 0.0, FP64, size=n)
    is_back = chosen.size < begins.size  # from fewer vertices, if against the edges
    starts, ends = (chosen, begins) if is_back else (begins, chosen)
    allowed = Vector.from_coo(ends, 1.0, FP64, size=n)
    for first in range(0, starts.size, BATCH):
        some = starts[first : first + BATCH]
        D = all_pairs_lengths(A.T.new() if is_back else A, some, weight=is_weighted)
        # N(i, v) = 1 / d(i, v), where that is not 0
        N = D.select("!=", 0).new(FP64).apply(unary.minv).new()
        if is_back:
            # h(i) = h(i) + Σ N(i, s) over the sources
            sums = plus_first["FP64"](N @ allowed).new()
            at, values = sums.to_coo()
            h(binary.plus) << Vector.from_coo(some[at], values, FP64, size=n)
        else:
            # h⟨h⟩ = h + Σ N(s, v) over the sources
            h(h.S, binary.plus) << N.reduce_columnwise(monoid.plus)
    return h
