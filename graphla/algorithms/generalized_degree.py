"""Generalized degree: the numbers of edges of a vertex that are in 0, 1, 2, ... triangles.

The multiplicity of an edge is the number of triangles that contain it (V. Zlatić, D. Garlaschelli
and G. Caldarelli, 2012). The generalized degree of a vertex counts its edges by multiplicity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.semiring import plus_pair


@graph_algorithm(vertices=("nodes",), undirected=True)
def generalized_degree(A: Matrix, nodes: Any = None) -> Matrix:
    """``D(v, k) = |{w : T(v, w) = k}|``, where T⟨N⟩ = N plus.pair N counts triangles.

    Count, for each vertex and each k, the edges of the vertex that are in exactly k triangles.

    Self-loops are ignored. Takes at most O(m √m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        nodes: a single vertex, a list or array of vertices, or None for all vertices.

    Returns:
        Matrix: a Matrix of dtype INT64 with one row per vertex of A and one column per number of
            triangles, from 0 to the largest. Only rows of the vertices in `nodes` have entries.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import generalized_degree
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> generalized_degree(binary.any(A | A.T)).to_dicts()
        {0: {1: 2}, 1: {1: 2}, 2: {0: 1, 1: 2}, 3: {0: 1}}

    References:
        V. Zlatić, D. Garlaschelli and G. Caldarelli, *Networks with Arbitrary Edge Multiplicities*,
            2012.
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    N = common_neighbors.pattern(common_neighbors.drop_loops(A), symmetric=True)
    degree = common_neighbors.degrees(N)
    if chosen is None:
        F = common_neighbors.orient_edges(N, degree)
        u, v, count = common_neighbors.triangles_per_edge(N, F).to_coo(copy=False)
        rows, count = np.concatenate((u, v)), np.concatenate((count, count))
    else:
        # T⟨R⟩ = R plus.pair N, where R holds the rows of the chosen vertices
        R = N[chosen, :].new()
        u, _, count = plus_pair["INT64"](R @ N.T).new(mask=R.S).to_coo(copy=False)
        rows = chosen[u]
        is_chosen = np.zeros_like(degree)
        is_chosen[chosen] = 1
        degree = degree * is_chosen
    # Edges without triangles have no entry in T.
    free = degree - _count_equal(rows, A)
    alone = np.flatnonzero(free)
    columns = int(count.max()) + 1 if count.size else 1
    return Matrix.from_coo(
        np.concatenate((rows, alone)),
        np.concatenate((count, np.zeros_like(alone))),
        np.concatenate((np.ones_like(count), free[alone])),
        nrows=A.nrows,
        ncols=columns,
        dup_op=binary.plus,
    )


def _count_equal(rows: Any, A: Matrix) -> Any:
    """Return how often each vertex of A is in `rows`, on the device of A."""
    if A.device == "cpu":
        return np.bincount(rows, minlength=A.nrows)
    counts = Vector.from_scalar(0, A.nrows, "INT64").to(A.device)
    counts(binary.plus)[rows] << 1
    return counts.to_dense(copy=False)
