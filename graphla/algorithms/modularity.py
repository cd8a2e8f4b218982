"""Modularity: the fraction of edges within communities, minus the fraction expected at random.

M. Newman (2004) defined the measure, J. Reichardt and S. Bornholdt (2006) added the resolution, and
E. Leicht and M. Newman (2008) extended the measure to directed graphs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphla.algorithms._shared import community_weights, partition, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import selection
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first

LARGE = 1 << 16
"""If a matrix on the CPU has fewer entries than this, NumPy computes the modularity."""


@graph_algorithm(vertices=("communities",), keyed=("communities",))
def modularity(
    A: Matrix,
    communities: Any,
    weight: bool | str | None = True,
    resolution: float = 1,
    *,
    directed: bool | None = None,
) -> float:
    """``Q = Σ over communities c of (inside(c) / m - γ·out(c)·into(c) / m²)``.

    Compute the modularity of a partition into communities.

    inside(c) is the total weight of the edges within c, out(c) and into(c) are the total weights of
    the edges out of and into the vertices of c, m is the total weight of all edges, and γ is the
    resolution. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        communities: a full Vector of n labels, a mapping from each vertex to a label, or a list of
            sets of vertices. Each vertex must be in exactly one community.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.
        resolution: γ, at least 0.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. In an undirected graph each self-loop
            counts twice, as in NetworkX.

    Returns:
        float: the modularity Q.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of labels is not full or has a size other
            than n.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Vector of labels are not on the same device.
        InvalidValue: If a vertex is not in exactly one community, if the weights add up to 0 or
            their sum is not finite, or if `resolution` is negative.

    Examples:
        >>> from graphla import Matrix, Vector
        >>> from graphla.algorithms import modularity
        >>> path = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> round(modularity(path, Vector.from_dense([0, 0, 1, 1])), 4)
        0.1667

    References:
        M. Newman, *Analysis of Weighted Networks*, 2004.
        E. Leicht and M. Newman, *Community Structure in Directed Networks*, 2008.
        J. Reichardt and S. Bornholdt, *Statistical Mechanics of Community Detection*, 2006.
    """
    n, is_weighted = A.nrows, validation.weighs("weight", weight)
    labels = partition.read_labels(communities, A)
    resolution = validation.real("resolution", resolution, low=0)
    W, is_symmetric = community_weights.edge_weights(A, is_weighted)
    if is_symmetric if directed is None else not directed:
        W = community_weights.double_loops(W)
    total = float(W.reduce_scalar(monoid.plus).get(0))
    if not math.isfinite(total):
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    if total == 0:
        raise InvalidValue("A has no edge of any weight, but modularity needs one")
    if A.device == "cpu" and W.nvals < LARGE:
        return _of_arrays(W, labels, total, resolution)
    S = selection(labels, max(n, 1))
    # inside = Σ (W plus.first S)⟨S⟩, where S(v, c) exists if v is in community c: the total weight
    # of the edges within communities
    inside = plus_first(W @ S).new(mask=S.S).reduce_scalar(monoid.plus).get(0)
    # out = (W plus) S / m, into = (Wᵀ plus) S / m
    out = plus_first(W.reduce_rowwise(monoid.plus) @ S).new()
    out = into = binary.truediv(out, total).new()
    if not is_symmetric:
        into = plus_first(W.reduce_columnwise(monoid.plus) @ S).new()
        into = binary.truediv(into, total).new()
    by_chance = binary.times(out & into).new().reduce(monoid.plus).get(0)
    return float(inside / total - resolution * by_chance)


def _of_arrays(W: Matrix, labels: Vector, total: float, resolution: float) -> float:
    """Compute the modularity with NumPy, which is faster than matrix products if W is small."""
    of_vertex = labels.to_dense(copy=False)
    rows, columns, values = W.to_coo(copy=False)
    of_row, of_column = of_vertex[rows], of_vertex[columns]
    inside = float(values[of_row == of_column].sum())
    out, into = (np.bincount(x, values, labels.size) / total for x in (of_row, of_column))
    return inside / total - resolution * float((out * into).sum())
