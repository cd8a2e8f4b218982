"""The neighborhood of a vertex: all vertices within a radius, measured in edges or in edge lengths.

`ego_graph` in NetworkX returns the subgraph induced by these vertices. To get its matrix here,
index A with the result v: `A[v, v]`.
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
    """``r(v) = (d(n, v) ≤ radius)``.

    Find the vertices within a given distance of one vertex, or of several.

    The parameters are those of `networkx.ego_graph`, which returns the induced subgraph. To get the
    Matrix of this subgraph, index A with the result v: `A[v, v]`. Without lengths, a radius of 2.5
    includes the vertices at most 2 edges away.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        n: a vertex, the center; or several vertices as a list, an array, a set or a Vector, to find
            the vertices within the radius of at least one of them.
        radius: the maximum distance, at least 0: a number of edges, or a sum of lengths.
        center: whether the result includes the vertex n itself.
        undirected: whether edges can be followed in both directions; if two opposite edges have
            different lengths, the smaller length is used.
        distance: if None or False, each edge has length 1; if True, or the name of an edge
            attribute as in NetworkX, the values of A are the lengths, which must be at least 0.

    Returns:
        Vector: a Vector with one element per vertex and dtype BOOL, true at the vertices within the
            radius and without entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of vertices has a size other than n.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Vector of vertices are not on the same device.
        InvalidValue: If `radius` is negative, if a length is negative or NaN, or if lengths are
            used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
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
    # Weighted distances need symmetric values; without weights, a symmetric pattern is enough.
    if undirected and not (is_symmetric(A) and (not weighs or has_symmetric_values(A))):
        # Add the opposite of each edge. If two opposite edges have different lengths, keep the
        # smaller length (min). Without lengths, either value will do (any).
        A = (binary.min if weighs else binary.any)(A | A.T).new()
    if weighs:
        within = unary.one["BOOL"](sssp(A, n, cutoff=radius).distances).new()
    else:
        within = reachable(A, n, cutoff=None if math.isinf(radius) else int(radius))
    if not center:
        # r⟨¬s, r⟩ = r
        within = within.dup(mask=~validation.starts(n, A, True, "BOOL").S)
    return within
