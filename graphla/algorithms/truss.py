"""k-truss: the part of a graph whose edges hold each other by triangles.

J. Cohen, *Trusses: Cohesive Subgraphs for Social Network Analysis*, 2005; the loop of masked
products is LAGraph's (T. Davis, *Graph Algorithms via SuiteSparse:GraphBLAS: Triangle Counting and
K-Truss*, 2018), each edge found once.

Invariants, at the head of each round:
- N is the graph of the edges left: symmetric, without self-loops, true
- F has each edge of N once, in the row of the end that had the greater degree at the start
- every edge of the k-truss is in N
"""

from __future__ import annotations

from graphla.algorithms import arguments, wedges
from graphla.sparse import Matrix
from semirings import binary, select


@arguments.of_graph(undirected=True)
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
    k = arguments.count("k", k, least=0)
    A = wedges.loopless(A)
    if k <= 2:
        return A.dup()
    N = wedges.pattern(A, symmetric=True)
    F = wedges.each_once(N, wedges.degrees(N))
    left = _peeled(F, k)
    return A.dup(mask=_both_ways(left).S)


@arguments.of_graph(undirected=True)
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
    N = wedges.pattern(wedges.loopless(A), symmetric=True)
    F = wedges.each_once(N, wedges.degrees(N))
    K, k = Matrix("INT64", A.nrows, A.ncols), 2
    while F.nvals:
        # K⟨F⟩ = k, as all of F is in the k-truss
        K(F.S) << k
        F, k = _peeled(F, k + 1), k + 1
    return binary.max(K | K.T).new()


def _peeled(F: Matrix, k: int) -> Matrix:
    """The edges of F that are left in the k-truss, each once; their values are of no account."""
    while F.nvals:
        # S⟨F⟩ = N plus.pair N
        S = wedges.on_edges(_both_ways(F), F)
        left = select.valuege(S, k - 2).new()
        if left.nvals == F.nvals:
            break
        F = wedges.pattern(left)
    return F


def _both_ways(F: Matrix) -> Matrix:
    """N = F ∨ Fᵀ."""
    return wedges.pattern(binary.any(F | F.T).new(), symmetric=True)
