"""Scores that predict missing links from the common neighbors or the degrees of two vertices.

D. Liben-Nowell and J. Kleinberg (2004) compare such scores. L. Adamic and E. Adar (2003) weight
each common neighbor by the inverse logarithm of its degree, and T. Zhou, L. Lü and Y.-C. Zhang
(2009) by its inverse degree. As in NetworkX, the common neighbors of u and v exclude u and v
themselves, and a self-loop counts twice in the degree of its vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors as neighbors
from graphla.algorithms._shared import vertex_pairs
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import loops, self_loops
from graphla.sparse import Matrix
from semirings import select
from semirings.semiring import plus_first, plus_pair


@graph_algorithm(pairs=("ebunch",), undirected=True)
def common_neighbors(A: Matrix, ebunch: Any = None) -> Matrix:
    """``C = N plus.pair N``, where N is A without self-loops.

    Count the common neighbors of pairs of vertices.

    The common neighbors of u and v do not include u and v themselves.
    Without `ebunch` the result has up to Σ d(v)² entries of 12 bytes each, where d(v) is the degree
    of v, and computing it takes about three times the memory of the result.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        ebunch: a list of pairs (u, v), or a Matrix with an entry for each pair. None means all
            pairs with a common neighbor, whether adjacent or not; each pair appears as (u, v) and
            as (v, u).

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype INT64, with an entry for each pair in `ebunch`,
            even if its value is 0.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Matrix of pairs has a different shape.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Matrix of pairs are not on the same device.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import common_neighbors
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> common_neighbors(binary.any(A | A.T), [(0, 3), (0, 1)]).to_dict()
        {(0, 1): 1, (0, 3): 1}

    References:
        D. Liben-Nowell and J. Kleinberg, *The Link Prediction Problem for Social Networks*, 2004.
    """
    return _sum_common(A, ebunch, None)


@graph_algorithm(pairs=("ebunch",), undirected=True)
def adamic_adar(A: Matrix, ebunch: Any = None) -> Matrix:
    """``S(u, v) = Σ 1 / log d(w)`` over the common neighbors w of u and v.

    Compute the Adamic-Adar index of pairs of vertices.

    d(w) is the degree of w. The common neighbors of u and v do not include u and v themselves. The
    index of a pair (u, u) is infinite if a neighbor of u has degree 1.
    Without `ebunch` the result has up to Σ d(v)² entries of 12 bytes each, where d(v) is the degree
    of v, and computing it takes about three times the memory of the result.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        ebunch: a list of pairs (u, v), or a Matrix with an entry for each pair. None means all
            pairs with a common neighbor, whether adjacent or not; each pair appears as (u, v) and
            as (v, u).

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype FP64, with an entry for each pair in `ebunch`,
            even if its value is 0.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Matrix of pairs has a different shape.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Matrix of pairs are not on the same device.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import adamic_adar
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> round(adamic_adar(binary.any(A | A.T), [(0, 3)])[0, 3].value, 3)
        0.91

    References:
        L. Adamic and E. Adar, *Friends and Neighbors on the Web*, 2003.
    """
    return _sum_common(A, ebunch, _inverse_logarithm)


@graph_algorithm(pairs=("ebunch",), undirected=True)
def resource_allocation(A: Matrix, ebunch: Any = None) -> Matrix:
    """``S(u, v) = Σ 1 / d(w)`` over the common neighbors w of u and v.

    Compute the resource allocation index of pairs of vertices.

    d(w) is the degree of w. The common neighbors of u and v do not include u and v themselves.
    Without `ebunch` the result has up to Σ d(v)² entries of 12 bytes each, where d(v) is the degree
    of v, and computing it takes about three times the memory of the result.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        ebunch: a list of pairs (u, v), or a Matrix with an entry for each pair. None means all
            pairs with a common neighbor, whether adjacent or not; each pair appears as (u, v) and
            as (v, u).

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype FP64, with an entry for each pair in `ebunch`,
            even if its value is 0.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Matrix of pairs has a different shape.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Matrix of pairs are not on the same device.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import resource_allocation
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> round(resource_allocation(binary.any(A | A.T), [(0, 3)])[0, 3].value, 3)
        0.333

    References:
        T. Zhou, L. Lü and Y.-C. Zhang, *Predicting Missing Links via Local Information*, 2009.
    """
    return _sum_common(A, ebunch, lambda degree: 1 / np.maximum(degree, 1))


@graph_algorithm(pairs=("ebunch",), undirected=True)
def preferential_attachment(A: Matrix, ebunch: Any = None) -> Matrix:
    """``S(u, v) = d(u) d(v)``, where d holds the degrees.

    Compute the preferential attachment score of pairs of vertices.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        ebunch: a list of pairs (u, v), or a Matrix with an entry for each pair. None means all
            pairs with a common neighbor, whether adjacent or not; each pair appears as (u, v) and
            as (v, u). Other pairs are omitted, although their scores may also be above 0.

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype INT64, with an entry for each pair in `ebunch`,
            even if its value is 0.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Matrix of pairs has a different shape.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Matrix of pairs are not on the same device.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import preferential_attachment
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> preferential_attachment(binary.any(A | A.T), [(0, 3), (0, 2)]).to_dict()
        {(0, 2): 6, (0, 3): 2}

    References:
        A.-L. Barabási and R. Albert, *Emergence of Scaling in Random Networks*, 1999.
    """
    pairs = common_neighbors(A) if ebunch is None else vertex_pairs.read(ebunch, A)
    degree = degrees_with_loops(A)
    u, v, _ = pairs.to_coo(values=False, copy=False)
    return neighbors.pattern(pairs, degree[u] * degree[v])


def degrees_with_loops(A: Matrix) -> Any:
    """Return the degrees of a symmetric matrix as an INT64 array; self-loops count twice."""
    degree = neighbors.degrees(A)
    return degree + loops(A).to_dense(0, copy=False) if self_loops(A) else degree


def _inverse_logarithm(degree: Any) -> Any:
    """Return 1 / log of each degree; the result for degree 1 is infinity."""
    with np.errstate(divide="ignore"):
        return 1 / np.log(np.maximum(degree, 1))


def _sum_common(A: Matrix, ebunch: Any, weigh: Callable[[Any], Any] | None) -> Matrix:
    """Return the sum of the weights of the common neighbors of each pair of vertices in `ebunch`.

    The weight of a neighbor is a function of its degree, or 1 if `weigh` is None.
    """
    N = neighbors.pattern(neighbors.drop_loops(A), symmetric=True)
    if weigh is None:
        W, multiply = N, plus_pair["INT64"]
    else:
        # W(u, w) = weigh(d(w))
        weights = weigh(degrees_with_loops(A))[N.to_csr(copy=False)[1]]
        W, multiply = neighbors.pattern(N, weights), plus_first["FP64"]
    if ebunch is not None:
        pairs = vertex_pairs.read(ebunch, A)
        if weigh is None:
            return vertex_pairs.count_common(N, pairs)
        return vertex_pairs.sum_common(W, N, pairs)
    # C = W plus.first N, without the diagonal
    return vertex_pairs.concatenate(
        [
            select.offdiag(multiply(W[rows, :].new() @ N), rows.start).new()
            for rows in neighbors.row_batches(N, N)
        ]
    )
