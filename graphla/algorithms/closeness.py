"""Closeness: how close a vertex is to all vertices that reach it (Freeman; Wasserman and Faust).

As in NetworkX, distances are measured along paths that end at the vertex.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.algorithms.distances import all_pairs_lengths
from graphla.operations.moving import on_host
from graphla.sparse import Matrix, Vector
from graphla.traversal import many
from semirings import monoid
from semirings.dtypes import FP64

BATCH = 64
"""Number of vertices whose weighted distances are in memory at the same time."""


@overload
def closeness(
    A: GraphLike,
    u: None = None,
    distance: bool | str | None = None,
    wf_improved: bool = True,
) -> Vector: ...


@overload
def closeness(
    A: GraphLike,
    u: int | str,
    distance: bool | str | None = None,
    wf_improved: bool = True,
) -> float: ...


@overload
def closeness(
    A: GraphLike,
    u: Iterable[Any],
    distance: bool | str | None = None,
    wf_improved: bool = True,
) -> Vector: ...


@overload
def closeness(
    A: GraphLike,
    u: Any,
    distance: bool | str | None = None,
    wf_improved: bool = True,
) -> Vector | float: ...


@graph_algorithm(vertices=("u",), lengths="distance")
def closeness(
    A: Matrix, u: Any = None, distance: bool | str | None = None, wf_improved: bool = True
) -> Vector | float:
    """``c(v) = (r - 1) / Σ d(u, v)``, over the r vertices u that reach v.

    Compute the closeness centrality of each vertex: how close it is to the vertices that reach it.

    As in NetworkX, distances are measured along paths that end at v. c(v) is 0 if no other vertex
    reaches v. Without lengths, 64 searches run at once: in the best case, a search from k vertices
    takes the time of k / 64 searches of O(m) time each.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        u: a single vertex, a list or array of vertices, or None for all vertices.
        distance: if None or False, paths are measured in edges; if True, or the name of an edge
            attribute as in NetworkX, the values of A are the lengths, which must be at least 0.
        wf_improved: whether to multiply by (r - 1) / (n - 1), the fraction of the other vertices
            that reach v (Wasserman and Faust), so that vertices in small components do not rank
            first.

    Returns:
        Vector | float: a float if `u` is one vertex; otherwise a Vector of size n and dtype FP64,
            with entries at the vertices of `u`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a length is negative or NaN, or if lengths are used and A is a Graph whose
            parallel edges were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import closeness
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> closeness(A).to_dict()
        {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}

    References:
        L. Freeman, *Centrality in Social Networks: Conceptual Clarification*, 1978.
        S. Wasserman and K. Faust, *Social Network Analysis*, 1994.
    """
    n = A.nrows
    is_one = u is not None and np.ndim(u) == 0
    chosen = validation.distinct("u", [validation.vertex(u, n, "u")] if is_one else u, n)
    if validation.weighs("distance", distance):
        validation.nonnegative(A)
        count, total = _sum_distances(A.dup(FP64).T.new(), chosen)
    else:
        found = many.reach(A.T.new(), chosen, "closeness")
        count, total = found.count, found.total
    others = (count - 1).astype(float)
    # c = (r - 1) / Σ d, where the sum is above 0
    values = np.divide(others, total, out=np.zeros(chosen.size), where=total > 0)
    if wf_improved:
        values *= others / max(n - 1, 1)
    if is_one:
        return float(values[0])
    return Vector.from_coo(chosen, values, size=n, dtype=FP64)


def _sum_distances(A: Matrix, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays with one element per chosen vertex.

    The first array holds the number of vertices that each chosen vertex reaches. The second array
    holds the sum of the distances to these vertices.
    """
    count, total = np.zeros(chosen.size, np.int64), np.zeros(chosen.size)
    for part in many.batches(A, chosen.size, "closeness", BATCH):
        D = all_pairs_lengths(A, chosen[part], weight=True)
        indptr, _, values = D.to_csr(copy=False)
        counted = np.diff(indptr)
        if A.device == "cpu":  # no row is empty, because each vertex reaches itself
            count[part], total[part] = counted, np.add.reduceat(values, indptr[:-1])
        else:
            count[part] = on_host(counted)
            total[part] = D.reduce_rowwise(monoid.plus).new().to("cpu").to_dense(0)
    return count, total
