"""The incidence matrix, which relates vertices and edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import is_symmetric
from graphla.sparse import Matrix
from semirings import select, unary


@graph_algorithm(plain=True)
def incidence_matrix(
    A: Matrix,
    weight: bool | str | None = None,
    oriented: bool = False,
    *,
    directed: bool | None = None,
) -> Matrix:
    """``E(i, k) = E(j, k) = w`` for the k-th edge i -> j, with weight w.

    Compute the incidence matrix, which has one column per edge.

    Edges are numbered in order of (i, j); an undirected edge is numbered once, with i ≤ j. The
    column of a self-loop is empty. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        oriented: whether the entry of the source i is -w instead of w.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Matrix: a Matrix of shape (n, number of edges). Its dtype is that of A, or INT64 if A has
            unsigned or BOOL values or `weight` is None. It has no labels; row i stands for the
            i-th vertex of a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import incidence_matrix
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1)
        >>> incidence_matrix(A, oriented=True).to_dense(0).tolist()
        [[-1, 0], [1, -1], [0, 1]]
    """
    W = validation.signed_weights(A, weight)
    is_directed = not is_symmetric(A) if directed is None else directed
    edges = W if is_directed else select.triu(W).new()
    shape: dict[str, Any] = {"nrows": A.nrows, "ncols": edges.nvals}
    rows, columns, weights = edges.to_coo()
    numbers = np.arange(edges.nvals, like=rows)
    kept = rows != columns
    rows, columns, weights, numbers = (x[kept] for x in (rows, columns, weights, numbers))
    sources = Matrix.from_coo(rows, numbers, weights, W.dtype, **shape)
    targets = Matrix.from_coo(columns, numbers, weights, W.dtype, **shape)
    if oriented:
        sources = unary.ainv(sources).new()
    # The sources and the targets have no position in common, because self-loops were removed.
    return (sources + targets).new()
