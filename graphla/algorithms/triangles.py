"""Triangles: triples of pairwise adjacent vertices, counted in total or at each vertex.

When all triangles are counted, each is found once: from the edge between its two vertices of
smallest degree (T. Schank and D. Wagner, 2005). The masked product is due to A. Azad, A. Buluç and
J. Gilbert (2015).

Invariant: each edge {i, j} is stored once in L, in the row of the vertex with the smaller degree.
So a row of L has at most sqrt(2 · edges) entries, even for a hub.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, overload

import numpy as np

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.operations.accelerate import TriangleCount, accelerated
from graphla.sparse import Matrix, Vector
from semirings import monoid, select
from semirings.semiring import plus_pair


@graph_algorithm(undirected=True)
def triangle_count(A: Matrix) -> int:
    """``Σ (L plus.pair Lᵀ)⟨L⟩``, where L holds each edge once.

    Count the triangles of an undirected graph.

    L directs each edge from the vertex with the smaller degree to the other vertex. Self-loops are
    ignored. Takes at most O(m √m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        int: the number of triangles.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import triangle_count
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> triangle_count(binary.any(A | A.T))
        1

    References:
        T. Schank and D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*,
            2005.
        A. Azad, A. Buluç and J. Gilbert, *Parallel Triangle Counting and Enumeration Using Matrix
            Algebra*, 2015.
    """
    return accelerated(TriangleCount(A), partial(definition, A))


def definition(A: Matrix) -> int:
    """Return triangle_count(A)."""
    L = _orient_to_hubs(A)
    # C⟨L⟩ = L plus.pair Lᵀ: the number of common out-neighbors of the two ends of each edge
    common = plus_pair(L @ L.T).new(mask=L.S)
    return int(common.reduce_scalar(monoid.plus).get(0))


@overload
def triangles(
    A: GraphLike,
    nodes: None = None,
) -> Vector: ...


@overload
def triangles(
    A: GraphLike,
    nodes: int | str,
) -> int: ...


@overload
def triangles(
    A: GraphLike,
    nodes: Iterable[Any],
) -> Vector: ...


@overload
def triangles(
    A: GraphLike,
    nodes: Any,
) -> Vector | int: ...


@graph_algorithm(vertices=("nodes",), undirected=True)
def triangles(A: Matrix, nodes: Any = None) -> Vector | int:
    """``t = ½ Σ (N plus.pair N)⟨N⟩``, summed over each row, where N is A without self-loops.

    Count the triangles that have each vertex as a corner.

    Self-loops are ignored. Takes at most O(m √m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        nodes: a single vertex, a list or array of vertices, or None for all vertices.

    Returns:
        Vector | int: an int if `nodes` is one vertex; otherwise a Vector of size n and dtype INT64,
            with entries at the vertices of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import triangles
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> A = binary.any(A | A.T).new()
        >>> triangles(A).to_dense().tolist(), triangles(A, 3)
        ([1, 1, 1, 0], 0)
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    N = common_neighbors.drop_loops(A)
    if common_neighbors.is_tiny(N):
        D = common_neighbors.dense_array(N)
        t = common_neighbors.closed_wedges(D, chosen).astype(np.int64) // 2
    else:
        N = common_neighbors.pattern(N, symmetric=True)
        t = common_neighbors.triangles_per_vertex(N, chosen)
    return common_neighbors.as_result(t, chosen, nodes, A.nrows)


def _orient_to_hubs(A: Matrix) -> Matrix:
    """Return L, which holds each edge in the row of the vertex with the smaller degree.

    On a GPU L = tril(A(p, p)), where p lists the vertices by decreasing degree. The columns of hubs
    are then next to each other, which saves more time than the renumbering takes (9 of 32 ms on the
    graph kron 20). On the CPU the renumbering would take longer than the product.
    """
    degree = common_neighbors.degrees(A)
    if A.device == "cpu":
        return common_neighbors.orient_to_hubs(A, degree)
    order = np.argsort(-degree, kind="stable")
    return select.tril(A[order, order], -1).new()
