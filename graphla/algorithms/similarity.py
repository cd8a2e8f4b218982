"""Similarity of vertices by the number of their common neighbors.

The Jaccard similarity is due to P. Jaccard (1901), and the overlap coefficient to D. Szymkiewicz
and G. Simpson. The cosine compares two rows of A as vectors of zeros and ones (G. Salton). D.
Liben-Nowell and J. Kleinberg (2004) compare such measures.

As in NetworkX, the common neighbors of u and v exclude u and v themselves, so self-loops affect
only the number of neighbors. In a directed graph, the neighbors are the targets of out-edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors, vertex_pairs
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import is_symmetric, self_loops
from graphla.sparse import Matrix
from semirings import select
from semirings.semiring import plus_pair

_Scale = Callable[[Any, Any, Any], Any]


@graph_algorithm(pairs=("ebunch",))
def jaccard(A: Matrix, ebunch: Any = None) -> Matrix:
    """``J = C / |N(u) ∪ N(v)|``: the fraction of all neighbors of u and v that are common to both.

    Compute the Jaccard similarity of pairs of vertices.

    C(u, v) is the number of common neighbors of u and v, not counting u and v themselves, and d(u)
    is the degree of u. In a directed graph the neighbors are the targets of out-edges; NetworkX
    raises an error for such a graph. Without `ebunch` the result has up to Σ d(v)² entries of 12
    bytes each, and computing it takes about three times the memory of the result.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
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

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import jaccard
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> A = binary.any(A | A.T).new()
        >>> round(jaccard(A)[0, 1].value, 3), jaccard(A, [(0, 3)])[0, 3].value
        (0.333, 0.5)

    References:
        P. Jaccard, *Distribution de la flore alpine*, 1901.
        D. Liben-Nowell and J. Kleinberg, *The Link Prediction Problem for Social Networks*, 2004.
    """
    return _similarity(A, ebunch, lambda both, of_u, of_v: of_u + of_v - both)


@graph_algorithm(pairs=("ebunch",))
def overlap(A: Matrix, ebunch: Any = None) -> Matrix:
    """``O = C / min(d(u), d(v))``.

    Compute the overlap coefficient of pairs of vertices.

    C(u, v) is the number of common neighbors of u and v, not counting u and v themselves, and d(u)
    is the degree of u. In a directed graph the neighbors are the targets of out-edges; NetworkX
    raises an error for such a graph. Without `ebunch` the result has up to Σ d(v)² entries of 12
    bytes each, and computing it takes about three times the memory of the result.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
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

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import overlap
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> overlap(binary.any(A | A.T), [(0, 3)])[0, 3].value
        1.0

    References:
        D. Liben-Nowell and J. Kleinberg, *The Link Prediction Problem for Social Networks*, 2004.
    """
    return _similarity(A, ebunch, lambda both, of_u, of_v: np.minimum(of_u, of_v))


@graph_algorithm(pairs=("ebunch",))
def cosine(A: Matrix, ebunch: Any = None) -> Matrix:
    """``K = C / √(d(u) d(v))``.

    Compute the cosine similarity of pairs of vertices: of their rows in A, as vectors of 0 and 1.

    C(u, v) is the number of common neighbors of u and v, not counting u and v themselves, and d(u)
    is the degree of u. In a directed graph the neighbors are the targets of out-edges; NetworkX
    raises an error for such a graph. Without `ebunch` the result has up to Σ d(v)² entries of 12
    bytes each, and computing it takes about three times the memory of the result.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
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

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import cosine
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> round(cosine(binary.any(A | A.T), [(0, 3)])[0, 3].value, 3)
        0.707

    References:
        D. Liben-Nowell and J. Kleinberg, *The Link Prediction Problem for Social Networks*, 2004.
    """
    return _similarity(A, ebunch, lambda both, of_u, of_v: np.sqrt(of_u * of_v * 1.0))


def _similarity(A: Matrix, ebunch: Any, scale: _Scale) -> Matrix:
    """Return the similarity of each pair of vertices in `ebunch`.

    None stands for all pairs with a common neighbor. The similarity is the number of common
    neighbors divided by a number that the function `scale` computes. If both numbers are 0, the
    similarity is 0.
    """
    degree, symmetric = common_neighbors.degrees(A), is_symmetric(A)
    N = common_neighbors.drop_loops(A)
    if ebunch is None and common_neighbors.is_tiny(A):
        return _similarity_densely(A, N, degree, scale)
    N = common_neighbors.pattern(N, symmetric=symmetric)
    A = common_neighbors.pattern(A, symmetric=symmetric) if self_loops(A) else N
    if ebunch is None:
        into = N if symmetric else N.T.new()
        return vertex_pairs.concatenate(
            [
                _similarity_in_rows(A, N, rows, degree, scale)
                for rows in common_neighbors.row_batches(N, into)
            ]
        )
    pairs = vertex_pairs.read(ebunch, A)
    C = vertex_pairs.count_common(N, pairs)
    return _scale_entries(
        C, C if A is N else vertex_pairs.count_common(A, pairs), degree, degree, scale
    )


def _similarity_densely(A: Matrix, N: Matrix, degree: np.ndarray, scale: _Scale) -> Matrix:
    """Return the similarity of all pairs of vertices of a tiny graph, from dense arrays."""
    D = common_neighbors.dense_array(N)
    C = common_neighbors.multiply_densely(D, D.T)
    np.fill_diagonal(C, 0)
    u, v = C.nonzero()
    common = C[u, v]
    if self_loops(A):
        D = common_neighbors.dense_array(A)
        common_of_all = common_neighbors.multiply_densely(D, D.T)[u, v]
    else:
        common_of_all = common
    below = scale(common_of_all.astype(np.int64), degree[u], degree[v])
    ends = np.searchsorted(u, np.arange(A.nrows + 1)).astype(np.int32)
    values = common / np.maximum(below, 1)
    return Matrix.from_csr(ends, v.astype(np.int32), values, ncols=A.ncols, copy=False)


def _similarity_in_rows(A: Matrix, N: Matrix, rows: slice, degree: Any, scale: _Scale) -> Matrix:
    """Return the similarity of each vertex in `rows` to each vertex that shares a neighbor with it.

    The similarity is the number of common neighbors divided by a number that `scale` computes.
    """
    # C = N plus.pair Nᵀ, without the diagonal: the number of common neighbors of each pair
    C = select.offdiag(plus_pair["INT64"](N[rows, :].new() @ N.T), rows.start).new()
    both = C if A is N else plus_pair["INT64"](A[rows, :].new() @ A.T).new(mask=C.S)
    return _scale_entries(C, both, degree[rows], degree, scale)


def _scale_entries(C: Matrix, both: Matrix, of_rows: Any, of_columns: Any, scale: _Scale) -> Matrix:
    """Divide each entry of C by a number that the function `scale` computes.

    The arguments of `scale` are the entry of `both` at the same position, the degree of the row,
    and the degree of the column. C and `both` have entries at the same positions. A divisor below 1
    is replaced by 1.
    """
    u, v, common = C.to_coo(copy=False)
    below = scale(both.to_coo(copy=False)[2], of_rows[u], of_columns[v])
    return common_neighbors.pattern(C, common / np.maximum(below, 1))
