"""The neighbourhood of a vertex: all within a radius, counted in edges or by their weights.

NetworkX has the graph that they induce, `ego_graph`; that is `A[v, v]` for the v of the result.
"""

from __future__ import annotations

import math
from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.reachable import reachable
from graphla.algorithms.sssp import sssp
from graphla.graph.cached_properties import has_symmetric_values, is_symmetric
from graphla.sparse import Matrix, Vector
from semirings import binary, unary


@graph_algorithm(vertices=("n",), lengths="distance")
def neighborhood(
    A: Matrix,
    n: Any,
    radius: float = 1,
    *,
    center: bool = True,
    undirected: bool = False,
    distance: bool | str | None = None,
) -> Vector:
    """r(v) = d(n, v) ≤ radius: true at each vertex at most so far away from vertex n.

    The parameters are those of `networkx.ego_graph`. `n` is a vertex, or several: then what is
    within the radius of one of them. With `undirected` edges lead both ways (of two weights the
    smaller counts); without `center` n itself is left out. With `distance` the weights of A, which
    must not be below 0, are the lengths of its edges; else each has length 1.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import neighborhood
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], 1, nrows=5, ncols=5)
    >>> neighborhood(A, 1).to_dict()
    {1: True, 2: True}
    >>> neighborhood(A, 1, 2, center=False, undirected=True).to_dict()
    {0: True, 2: True, 3: True}
    """
    validation.sources(n, A, "n")
    radius = validation.real("radius", radius, low=0)
    weighs = validation.weighs("distance", distance)
    # Distances need a matrix with symmetric values; without them a symmetric pattern is enough.
    if undirected and not (is_symmetric(A) and (not weighs or has_symmetric_values(A))):
        # A = A min Aᵀ, or A any Aᵀ
        A = (binary.min if weighs else binary.any)(A | A.T).new()
    if weighs:
        within = unary.one["BOOL"](sssp(A, n, cutoff=radius).distances).new()
    else:
        within = reachable(A, n, cutoff=None if math.isinf(radius) else int(radius))
    if not center:
        # r⟨¬s, r⟩ = r
        within = within.dup(mask=~validation.starts(n, A, True, "BOOL").S)
    return within
