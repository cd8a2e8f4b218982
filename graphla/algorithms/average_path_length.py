"""The mean length of a shortest path, over all pairs of vertices."""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import bellman_ford
from graphla.algorithms.diameter import refuse_unreachable
from graphla.algorithms.eccentricity import are_together
from graphla.algorithms.sssp import lengths_of, sssp
from graphla.sparse import Matrix
from graphla.traversal import many
from semirings import monoid
from semirings.exceptions import InvalidValue

METHODS = ("unweighted", "dijkstra", "bellman-ford")


@graph_algorithm(lengths="weight")
def average_path_length(
    A: Matrix, weight: bool | str | None = None, method: str | None = None
) -> float:
    """``a = Σ d(u, v) / (n (n - 1))``, over all pairs of vertices.

    Compute the mean length of a shortest path.

    The function runs n searches; without weights, 64 searches run at once, each using one bit of a
    64-bit word.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        method: "unweighted", "dijkstra" or "bellman-ford". Only "bellman-ford" accepts negative
            weights. None chooses "dijkstra" if `weight` is set, otherwise "unweighted".

    Returns:
        float: the mean length; 0.0 for a graph with one vertex.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If the graph has no vertices, if the graph is not connected (if it is
            directed: not strongly connected), if `method` is not one of the names above, if a
            weight is NaN, if a weight is negative and the method is "dijkstra", if a cycle has a
            negative total weight, or if weights are used and A is a Graph whose parallel edges were
            summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import average_path_length
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> average_path_length(A)
        1.3333333333333333
    """
    n = A.nrows
    if method is None:
        method = "dijkstra" if validation.weighs("weight", weight) else "unweighted"
    if method not in METHODS:
        raise InvalidValue(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if n == 0:
        raise InvalidValue("A has no vertex, and so no average path length")
    if method == "unweighted" and are_together(A, False):
        reach = many.reach(A, np.arange(n), "average path length")
        if (reach.count == n).all():
            return int(reach.total.sum()) / max(n * (n - 1), 1)
    refuse_unreachable(A, "average path length")
    if n == 1:
        return 0.0
    if method == "unweighted":
        total = int(many.reach(A, np.arange(n), "average path length").total.sum())
    else:
        A, _ = lengths_of(A, weight)
        paths = sssp if method == "dijkstra" else bellman_ford
        # Σ over u of (Σ over v of d(u, v)): the inner sums, one per source u, are in FP64.
        batches = many.batches(A, n, "average path length", size=1)
        total = sum(paths(A, u.start).distances.reduce(monoid.plus["FP64"]).get(0) for u in batches)
    return total / (n * (n - 1))
