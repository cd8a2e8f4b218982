"""Harmonic centrality: how near a vertex is to all others, those that do not reach it being far.

P. Boldi and S. Vigna, *Axioms for Centrality*, 2014. Distances are those of paths that end there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.distances import all_pairs_lengths
from graphla.backends import backend
from graphla.formats import Array
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from graphla.traversal import many
from semirings import monoid, unary
from semirings.dtypes import FP64

BATCH = 64
"""Vertices whose distances are there at a time."""
PARTS = 256
"""Of long columns that are added up."""


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
            found = _over_levels(B, starts[part], ends, axis=1 if is_back else 0)
        # h = Σ N over the vertices that reach each
        if is_back:
            total[part] = found
        else:
            total += found
    return Vector.from_coo(chosen, total, FP64, size=n)


def _over_levels(A: Matrix, starts: np.ndarray, ends: np.ndarray, axis: int) -> np.ndarray:
    """Σ 1 / d(i, v) over the ends v (axis 1), or over the starts i (axis 0)."""
    levels = many.levels(A, starts, dtype="INT32")

    def summed(_: MatrixForms) -> np.ndarray:
        do = backend(A.device)
        at = levels if ends.size == A.nrows else levels[:, do.asarray(ends)]
        near = do.xp.where(at > 0, 1.0 / do.xp.maximum(at, 1), 0.0)
        return do.to_host(near.sum(axis=0) if axis == 0 else _sums(near.T))

    return perform("harmonic", summed, A._forms)


def _sums(table: Array) -> Array:
    """Of each of a few columns; by parts, as a card adds up many short ones at once."""
    rows, columns = table.shape
    whole = rows // PARTS * PARTS
    parts = table[:whole].reshape(PARTS, whole // PARTS, columns)
    return parts.sum(axis=0).sum(axis=0) + table[whole:].sum(axis=0)
