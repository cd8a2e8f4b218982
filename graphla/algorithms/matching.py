"""A maximal matching: no two of its edges share a vertex, and no edge can be added.

Each round takes every edge that is the heaviest at both of its ends, and continues with the
unmatched vertices (R. Preis, 1999; in rounds: F. Manne and R. Bisseling, 2007). Edges are compared
by weight, and edges of equal weight by their positions in a random order. So every method returns
the same matching as the greedy loop over the sorted edges.

Invariant of `definition` at the start of each round: `free` has entries at the vertices that may
still get a mate. If an edge joins two vertices without a mate, both of them are in `free`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphla.algorithms._shared import hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import vertex_numbers
from graphla.expression import replace
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import Matching, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, indexunary
from semirings.exceptions import InvalidValue
from semirings.semiring import max_first


@graph_algorithm(gives=("",), undirected=True)
def maximal_matching(
    A: Matrix, weight: bool | str | None = None, seed: int | np.random.Generator | None = None
) -> Vector:
    """``m(i) = j`` and ``m(j) = i`` for each edge {i, j} of the matching.

    Find a maximal matching: a set of edges without common vertices to which no edge can be added.

    Self-loops are ignored. With weights, heavier edges are taken first. If no weight is negative,
    the result has at least half the weight of any matching. Takes O(m log m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels.
        weight: if None or False, edges are taken in random order; if True, or the name of an edge
            attribute as in NetworkX, they are taken in descending order of the values of A, and
            edges of equal weight in random order.
        seed: determines the random order: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`. The same seed always gives the same result.

    Returns:
        Vector: the mates, a Vector of size n and dtype INT64, without entries at vertices that are
            not matched.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric, if `weight` is set and A(i, j)
            differs from A(j, i) or is NaN, or if `seed` is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import maximal_matching
        >>> path = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], [1, 1, 5, 5, 1, 1])
        >>> maximal_matching(path, weight=True).to_dict()
        {1: 2, 2: 1}

    References:
        R. Preis, *Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General
            Graphs*, 1999.
        F. Manne and R. Bisseling, *A Parallel Approximation Algorithm for the Weighted Maximum
            Matching Problem*, 2007.
    """
    is_weighted = validation.weighs("weight", weight)
    if is_weighted:
        _refuse_unequal(A)
    drawn = hashed_random.seed_number(seed)
    define = partial(definition, A, is_weighted, drawn)
    return accelerated(Matching(A, is_weighted, drawn), define).select(">=", 0).new()


def definition(A: Matrix, is_weighted: bool, seed: int) -> Vector:
    """Compute the mate of each vertex in rounds of matrix-vector products.

    N(i, j) = n·k + j for the edge {i, j} at position k of the edge order; this fits in INT64 if n·m
    is below 2^63. Of two edges with a common vertex, the matching prefers the edge at the higher
    position.
    """
    n = A.nrows
    upper = hashed_random.edge_order(A, is_weighted, seed)
    R = binary.any(upper | upper.T).new()
    N = binary.plus(binary.times(R, n).new() & indexunary.colindex(R).new()).new()
    vertices = vertex_numbers(A)
    mates, best, is_mutual = Vector(int, n), Vector(int, n), Vector(bool, n)
    free, partner = vertices.dup(), vertices.dup()
    while free.nvals:
        # best⟨free, r⟩ = max over the free j of N(i, j)
        best(free.S, replace) << max_first(N @ free)
        # p(i) = the other end of the last edge from i to a free vertex, or i if there is none
        partner << vertices
        partner(best.S) << binary.mod(best, n)
        # The last edge of i is also the last edge of p(i) if p(p(i)) = i.
        is_mutual(best.S, replace) << binary.eq(partner[partner] & vertices)
        mates(is_mutual.V) << partner
        # A vertex stays free if it has a free neighbor, and no mate.
        free(best.S & ~is_mutual.V, replace) << free
    return mates


def _refuse_unequal(A: Matrix) -> None:
    """Raise an error if the two directions of an edge differ in weight, or if a weight is NaN."""
    unlike = binary.ne(A & A.T).new().select("==", True).new()
    if unlike.nvals:
        rows, columns, _ = unlike.to_coo(values=False)
        i, j = int(rows[0]), int(columns[0])
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {vertex_name(i)} -> {vertex_name(j)} and "
            f"{A[j, i].value} on {vertex_name(j)} -> {vertex_name(i)}, "
            "but the weights of an undirected graph must be symmetric, and numbers"
        )
