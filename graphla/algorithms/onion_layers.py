"""Onion layers: the rounds in which vertices are removed when a graph is peeled core by core.

L. Hébert-Dufresne, J. Grochow and A. Allard (2016) defined the layers. The core number of a vertex
is the degree at which the vertex is removed; its layer is the round in which it is removed.

Invariants, at the start of each round of the inner loop:
- left(i), for each vertex i not yet removed, is the number of its edges to such vertices;
- layer(i), for each removed vertex i, is its layer;
- gone has entries at the vertices that this round removes: those with left(i) ≤ k.
"""

from __future__ import annotations

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.expression import replace
from graphla.graph.cached_properties import degrees, loops, self_loops
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_pair


@graph_algorithm(undirected=True)
def onion_layers(A: Matrix) -> Vector:
    """``l(i)`` is the round that removes i: each round removes all vertices of degree at most k.

    Compute the onion layer of each vertex.

    Vertices without edges are in layer 1. After that, each round removes all vertices whose
    remaining degree is at most k; if there is none, k rises to the smallest remaining degree. Takes
    O(n + m) time, plus O(n) for each value of k and O(1) for each round.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: the layers, counted from 1: a full Vector of size n and dtype INT64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric, or if A has a self-loop.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import onion_layers
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], 1, nrows=5, ncols=5)
        >>> onion_layers(binary.any(A | A.T)).to_dense().tolist()
        [3, 3, 3, 2, 1]

    References:
        L. Hébert-Dufresne, J. Grochow and A. Allard, *Multi-Scale Structure and Topological Anomaly
            Detection via a New Network Statistic: the Onion Decomposition*, 2016.
    """
    if self_loops(A):
        i = int(loops(A).to_coo()[0][0])
        raise InvalidValue(
            f"A has a self-loop at vertex {vertex_name(i)}, but onion layers are defined "
            f"only for graphs without self-loops; select.offdiag(A) leaves them out"
        )
    n, k, latest = A.nrows, 0, 0
    layer, gone, lost = Vector("INT64", n), Vector("INT64", n), Vector("INT64", n)
    left = degrees(A).dup()
    while left.nvals:
        # k = max (k, min d); g = d⟨d <= k⟩: the vertices to remove
        k = max(k, left.reduce(monoid.min).get(0))
        gone << left.select("<=", k)
        while gone.nvals:
            latest += 1
            layer(gone.S) << latest
            # l⟨¬layer, r⟩ = A plus.pair g: the number of edges that each remaining vertex loses
            lost(~layer.S, replace) << plus_pair["INT64"](A @ gone)
            # g = d - l; d⟨g⟩ = g; g = g⟨g <= k⟩: the vertices whose degrees have fallen to k
            gone << binary.minus(left & lost)
            left(gone.S) << gone
            gone << gone.select("<=", k)
        # d⟨¬layer, r⟩ = d
        left(~layer.S, replace) << left
    return layer
