"""k-truss: the part of a graph whose edges hold each other by triangles.

J. Cohen, *Trusses: Cohesive Subgraphs for Social Network Analysis*, 2005; the loop of masked
products is LAGraph's (T. Davis, *Graph Algorithms via SuiteSparse:GraphBLAS: Triangle Counting and
K-Truss*, 2018), each edge found once.

Invariants, at the head of each round:
- N is the graph of the edges left: symmetric, without self-loops, true
- F has each edge of N once, in the row of the end that had the greater degree at the start
- S(u, v), for (u, v) in F, is the number of triangles of N on the edge, or absent where that is 0
- every edge of the k-truss is in N
"""

from __future__ import annotations

from typing import NamedTuple

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix
from semirings import binary, select
from semirings.semiring import plus_pair

FEW = 4
"""Where edges / FEW or fewer go in a round, the triangles lost are counted, else those left."""


@graph_algorithm(undirected=True)
def k_truss(A: Matrix, k: int) -> Matrix:
    """N = (N plus.pair N >= k - 2)⟨N⟩, until N rests: each edge on at least k - 2 triangles within.

    The edges left, with their values in A. A must be symmetric; self-loops are dropped, where
    NetworkX refuses them.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import k_truss
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
    >>> k_truss(binary.any(A | A.T), 3).nvals  # {2, 3} has no triangle
    6
    """
    k = validation.count("k", k, least=0)
    A = common_neighbors.drop_loops(A)
    if k <= 2:
        return A.dup()
    return A.dup(mask=_peel(_whole(A), k).N.S)


@graph_algorithm(undirected=True)
def truss_numbers(A: Matrix) -> Matrix:
    """K(u, v) = the greatest k whose k-truss has the edge: 2 where it is on no triangle.

    A symmetric Matrix, INT64, with an entry per edge. A must be symmetric; self-loops are dropped.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import truss_numbers
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
    >>> K = truss_numbers(binary.any(A | A.T))
    >>> K[0, 1].value, K[2, 3].value
    (3, 2)
    """
    edges, k = _whole(common_neighbors.drop_loops(A)), 2
    K = Matrix("INT64", A.nrows, A.ncols)
    while edges.F.nvals:
        # K⟨F⟩ = k, as all of F is in the k-truss
        K(edges.F.S) << k
        edges, k = _peel(edges, k + 1), k + 1
    return binary.max(K | K.T).new()


class _Edges(NamedTuple):
    """The edges left."""

    N: Matrix
    F: Matrix
    S: Matrix


def _whole(A: Matrix) -> _Edges:
    N = common_neighbors.pattern(A, symmetric=True)
    F = common_neighbors.orient_edges(N, common_neighbors.degrees(N))
    return _Edges(N, F, common_neighbors.triangles_per_edge(N, F))


def _peel(edges: _Edges, k: int) -> _Edges:
    """Those left in the k-truss."""
    while True:
        left = select.valuege(edges.S, k - 2).new()
        if left.nvals == edges.F.nvals:
            return edges
        edges = _without_others(edges, left)


def _without_others(edges: _Edges, S: Matrix) -> _Edges:
    """The edges of S, of whose triangles those with another edge are lost."""
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
