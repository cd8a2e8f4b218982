"""Harmonic centrality: the sum of the inverse distances to a vertex, where 1 / ∞ = 0.

The measure was studied by P. Boldi and S. Vigna (2014). Distances are measured along paths that end
at the vertex.
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
"""Number of vertices whose weighted distances are in memory at the same time."""


@graph_algorithm(vertices=("nbunch", "sources"), lengths="distance")
def harmonic(
    A: Matrix, nbunch: Any = None, distance: bool | str | None = None, sources: Any = None
) -> Vector:
    """``h(v) = Σ 1 / d(s, v)``, over the vertices s other than v that reach v.

    Compute the harmonic centrality of each vertex.

    Distances are measured along paths that end at v. Vertices at distance 0 are omitted from the
    sum. Without lengths, searches from k vertices take O(m k / 64) time in the best case, where k
    is the length of the shorter list, `nbunch` or `sources`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        nbunch: a list or array of the vertices v for which to compute h(v); None for all vertices.
        distance: if None or False, paths are measured in edges; if True, or the name of an edge
            attribute as in NetworkX, the values of A are the lengths, which must be at least 0.
        sources: a list or array of the vertices s to sum over; None for all vertices.

    Returns:
        Vector: a Vector of size n and dtype FP64, with entries at the vertices of `nbunch`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a length is negative or NaN, or if lengths are used and A is a Graph whose
            parallel edges were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import harmonic
        >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
        >>> harmonic(A).to_dict()
        {0: 0.0, 1: 1.0, 2: 1.5}

    References:
        P. Boldi and S. Vigna, *Axioms for Centrality*, 2014.
    """
    n = A.nrows
    chosen = validation.distinct("nbunch", nbunch, n)
    begins = validation.distinct("sources", sources, n)
    is_weighted = validation.weighs("distance", distance)
    if is_weighted:
        validation.nonnegative(A)
        A = A.dup(FP64)
    # Search backward if there are fewer vertices in `nbunch` than in `sources`.
    is_back = chosen.size < begins.size
    starts, ends = (chosen, begins) if is_back else (begins, chosen)
    B = A.T.new() if is_back else A
    if not is_weighted:
        total = many.sum_reciprocals(B, starts, ends, 1 if is_back else 0, "harmonic")
        return Vector.from_coo(chosen, total, FP64, size=n)
    total = np.zeros(chosen.size)
    for part in many.batches(B, starts.size, "harmonic", BATCH):
        D = all_pairs_lengths(B, starts[part], weight=True)[:, ends].new()
        # N(i, v) = 1 / d(i, v), where d(i, v) is not 0
        N = D.select("!=", 0).new().apply(unary.minv).new()
        sums = N.reduce_rowwise(monoid.plus) if is_back else N.reduce_columnwise(monoid.plus)
        found = sums.new().to("cpu").to_dense(0)
        # `found` is the sum of 1 / d(s, v) over the sources s in this batch. In a backward search,
        # the batch consists of vertices v instead, and the sum is over all sources s.
        if is_back:
            total[part] = found
        else:
            total += found
    return Vector.from_coo(chosen, total, FP64, size=n)
