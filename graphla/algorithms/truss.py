"""k-truss: the largest subgraph in which each edge is in enough triangles.

The k-truss is due to J. Cohen (2005). The definition is a loop of masked products. The loop follows
LAGraph (T. Davis, 2018), except that it processes each edge only once.

Invariants, at the start of each round:
- N holds the remaining edges: it is symmetric, without self-loops, and all its values are true
- F holds each edge of N once, in the row of the end with the larger degree in the original graph
- S(u, v), for (u, v) in F, is the number of triangles in N on the edge {u, v}; an edge without
  triangles has no entry
- every edge of the k-truss is in N
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.operations.accelerate import Truss, TrussNumbers, accelerated
from graphla.sparse import Matrix
from semirings import binary, select
from semirings.semiring import plus_pair

FEW = 4
"""If a round removes at most 1/FEW of the edges, subtract the lost triangles; otherwise recount."""


@graph_algorithm(undirected=True)
def k_truss(A: Matrix, k: int) -> Matrix:
    """``N = (N plus.pair N ≥ k - 2)⟨N⟩``, until N does not change.

    Return the edges of the largest subgraph in which each edge is in at least k - 2 triangles.

    Self-loops are dropped; NetworkX raises an error for them. Each round takes at most O(m √m)
    time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels.
        k: an integer of at least 0. If k is at most 2, all edges are kept.

    Returns:
        Matrix: a symmetric Matrix with the shape and dtype of A that holds the remaining edges,
            with their values in A.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric, or `k` is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_truss
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> k_truss(binary.any(A | A.T), 3).nvals  # {2, 3} has no triangle
        6

    References:
        J. Cohen, *Trusses: Cohesive Subgraphs for Social Network Analysis*, 2005.
        T. Davis, *Graph Algorithms via SuiteSparse:GraphBLAS: Triangle Counting and K-Truss*, 2018.
    """
    k = min(validation.count("k", k, least=0), A.nrows + 1)  # for any k > n, the k-truss is empty
    A = common_neighbors.drop_loops(A)
    if k <= 2:
        return A.dup()
    return accelerated(Truss(A, k), lambda: A.dup(mask=_peel(_all_edges(A), k).N.S))


@graph_algorithm(undirected=True)
def truss_numbers(A: Matrix) -> Matrix:
    """``K(u, v) = max {k : the k-truss has the edge {u, v}}``.

    Compute the truss number of each edge.

    The truss number of an edge that is in no triangle is 2. Self-loops are dropped. Each round
    takes at most O(m √m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Matrix: a symmetric Matrix with the shape of A and dtype INT64, with an entry for each edge.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import truss_numbers
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> K = truss_numbers(binary.any(A | A.T))
        >>> K[0, 1].value, K[2, 3].value
        (3, 2)

    References:
        J. Cohen, *Trusses: Cohesive Subgraphs for Social Network Analysis*, 2005.
        T. Davis, *Graph Algorithms via SuiteSparse:GraphBLAS: Triangle Counting and K-Truss*, 2018.
    """
    A = common_neighbors.drop_loops(A)
    return accelerated(TrussNumbers(A), partial(definition, A))


def definition(A: Matrix) -> Matrix:
    """Return truss_numbers(A) for a matrix without self-loops."""
    edges, k = _all_edges(A), 2
    K = Matrix("INT64", A.nrows, A.ncols)
    while edges.F.nvals:
        # K⟨F⟩ = k, because F now holds the edges of the k-truss
        K(edges.F.S) << k
        edges, k = _peel(edges, k + 1), k + 1
    return binary.max(K | K.T).new()


class _Edges(NamedTuple):
    """The matrices N, F and S of the remaining edges, as described in the module docstring."""

    N: Matrix
    F: Matrix
    S: Matrix


def _all_edges(A: Matrix) -> _Edges:
    """Return the matrices N, F and S (see the module docstring) for all edges of A."""
    N = common_neighbors.pattern(A, symmetric=True)
    F = common_neighbors.orient_edges(N, common_neighbors.degrees(N))
    return _Edges(N, F, common_neighbors.triangles_per_edge(N, F))


def _peel(edges: _Edges, k: int) -> _Edges:
    """Remove edges until only the edges of the k-truss remain, and return the remaining edges."""
    while True:
        left = select.valuege(edges.S, k - 2).new()
        if left.nvals == edges.F.nvals:
            return edges
        edges = _keep_edges(edges, left)


def _keep_edges(edges: _Edges, S: Matrix) -> _Edges:
    """Keep only the edges at which S has an entry, and return these edges.

    S holds the old number of triangles on each of these edges; the result holds the new numbers.
    """
    N, F = edges.N, common_neighbors.pattern(S)
    X = edges.F.dup(mask=~F.S)
    X = common_neighbors.pattern(binary.any(X | X.T).new(), symmetric=True)
    rest = common_neighbors.pattern(N.dup(mask=~X.S), symmetric=True)
    if X.nvals * FEW > N.nvals:
        return _Edges(rest, F, common_neighbors.triangles_per_edge(rest, F))
    # S⟨F⟩ -= X plus.pair N + (N - X) plus.pair X
    S(binary.minus) << plus_pair["INT64"](X @ N.T).new(mask=F.S)
    S(binary.minus) << plus_pair["INT64"](rest @ X.T).new(mask=F.S)
    return _Edges(rest, F, S)
