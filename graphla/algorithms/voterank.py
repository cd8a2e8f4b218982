"""VoteRank: choose vertices that spread information well, one after another.

J.-X. Zhang et al. (2016) let the vertices vote. In each round, each vertex gives a vote to each of
its neighbors, and the vertex with the most votes is chosen. Afterwards the votes of its neighbors
count less, so the next vertex is chosen in another part of the graph.

Invariants, at the start of each round:
- order lists the chosen vertices;
- ability(v) is the weight of the votes of v. It is 0 for each chosen vertex v, and otherwise max(0,
  1 - c n / m), where c is the number of chosen vertices with an edge to v.
"""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import has_symmetric_values, is_symmetric, self_loops
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.semiring import plus_times


@graph_algorithm()
def voterank(
    A: Matrix,
    number_of_nodes: int | None = None,
    weight: bool | str | None = None,
    *,
    directed: bool | None = None,
) -> list[int]:
    """``argmax A plus.times a`` in each round, where a holds the weights of the votes.

    List vertices in the order in which VoteRank chooses them.

    In a directed graph, j votes for i if there is an edge i -> j. Of several vertices with the same
    number of votes, the smallest is chosen. Takes O(n + m) time per chosen vertex.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        number_of_nodes: the number of vertices to choose; if None, vertices are chosen until no
            other vertex receives a vote.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute,
            each edge counts with its value in A, which must be at least 0.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        list[int]: the chosen vertices; fewer than `number_of_nodes` if no vertex receives a vote.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If `number_of_nodes` is negative, or if a weight is negative or NaN.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import voterank
        >>> A = Matrix.from_coo([0, 0, 0, 3, 4], [1, 2, 3, 4, 5], 1, nrows=6, ncols=6)
        >>> voterank(binary.any(A | A.T))
        [0, 4]

    References:
        J.-X. Zhang et al., *Identifying a Set of Influential Spreaders in Complex Networks*, 2016.
    """
    n = A.nrows
    most = n if number_of_nodes is None else validation.count("number_of_nodes", number_of_nodes, 0)
    directed = not is_symmetric(A) if directed is None else directed
    if validation.weighs("weight", weight):
        validation.nonnegative(A)
        A = A.dup("FP64")
    else:
        A = common_neighbors.pattern(A, 1.0, symmetric=has_symmetric_values(A))
    if not directed and self_loops(A):
        # Both ends of a self-loop are at the same vertex, so its weight counts twice.
        A = binary.plus(A | A.diag().diag()).new()
    ends = A.reduce_scalar(monoid.plus).get(0.0)
    indptr, neighbors, weights = A.to_csr(copy=False)
    ability = np.ones_like(weights, shape=n)
    order: list[int] = []
    while ends > 0 and len(order) < min(most, n):
        # y = A plus.times a
        y = plus_times["FP64"](A @ Vector.from_dense(ability, copy=False)).new()
        votes = y.to_dense(0.0)
        votes[order] = 0.0
        v = int(votes.argmax())
        if not votes[v] > 0:
            break
        order.append(v)
        # a⟨A(v, :)⟩ = max(a - A(v, :) n / m, 0)
        row = slice(int(indptr[v]), int(indptr[v + 1]))
        weaker = ability[neighbors[row]] - weights[row] * (1 / (ends / n))
        ability[neighbors[row]] = np.maximum(weaker, 0.0)
        ability[v] = 0.0
    return order
