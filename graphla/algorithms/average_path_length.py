"""The average length of a shortest path, over all pairs of vertices."""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import bellman_ford
from graphla.algorithms.diameter import refuse_unreachable
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
    """a = Σ d(u, v) / n(n - 1), over all pairs: how long a shortest path is on average.

    Edges have length 1, or, with `weight`, their values in A; `method` is "unweighted", "dijkstra"
    (the default with a weight), or "bellman-ford", for which weights may lie below 0. A graph in
    which some vertex does not reach another is refused, and one without vertices; of one vertex
    alone it is 0.

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
    refuse_unreachable(A, "average path length")
    if n == 1:
        return 0.0
    if method == "unweighted":
        total = int(many.reach(A, np.arange(n), "average path length").total.sum())
    else:
        A, _ = lengths_of(A, weight)
        paths = sssp if method == "dijkstra" else bellman_ford
        # Σ over u of Σ over v of d(u, v); one sum of at most n finite distances in FP64
        batches = many.batches(A, n, "average path length", size=1)
        total = sum(paths(A, u.start).distances.reduce(monoid.plus["FP64"]).get(0) for u in batches)
    return total / (n * (n - 1))
