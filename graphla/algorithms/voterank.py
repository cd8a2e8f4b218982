"""VoteRank: choose vertices that spread information well, one after another.

J.-X. Zhang et al. (2016) let the vertices vote. In each round, each vertex gives a vote to each of
its neighbors, and the vertex with the most votes is chosen. The votes of its neighbors then count
less, so the next vertex is chosen in another part of the graph.

Invariants, at the start of each round:
- ability(v) is the weight of the votes of v: 0 for each chosen vertex; for another vertex 1, minus
  n / m for each chosen vertex that has an edge to it, but at least 0;
- chosen has an entry for each chosen vertex.
"""

from __future__ import annotations

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.power_iteration import full
from graphla.graph.cached_properties import is_symmetric, self_loops
from graphla.sparse import Matrix, Vector
from semirings import binary, unary
from semirings.semiring import plus_second


@graph_algorithm()
def voterank(
    A: Matrix, number_of_nodes: int | None = None, *, directed: bool | None = None
) -> list[int]:
    """``argmax A plus.second a`` in each round, where a holds the weights of the votes.

    List vertices in the order in which VoteRank chooses them.

    In a directed graph, the vertices to which a vertex has edges vote for it. Of several vertices
    with the same number of votes, the smallest is chosen. Takes O(n + m) time per vertex.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. With a Graph, arguments and
            results name vertices by their labels. The values of A do not matter.
        number_of_nodes: the number of vertices to choose; None chooses vertices until none of the
            others receives a vote.
        directed: whether the graph is directed. None uses `A.directed` for a Graph, and treats a
            Matrix as undirected if it is symmetric.

    Returns:
        list[int]: the chosen vertices; fewer than `number_of_nodes` if no vertex receives a vote.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If `number_of_nodes` is negative.

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
    # The number of edge ends counts each undirected edge twice, and so also a self-loop.
    ends = A.nvals + (0 if directed else self_loops(A))
    ability, chosen, order = full(1.0, n), Vector(bool, n), []
    while ends and len(order) < min(most, n):
        # y⟨¬chosen⟩ = A plus.second a
        y = plus_second["FP64"](A @ ability).new(mask=~chosen.S)
        if not directed and self_loops(A):
            y(~chosen.S, binary.plus) << binary.second(A.diag() & ability)
        votes = y.to_dense(0.0, copy=False)
        v = int(votes.argmax())
        if not votes[v] > 0:
            break
        order.append(v)
        chosen[v] << True
        ability[v] << 0.0
        # a⟨A(v, :)⟩ = max(a - n / m, 0)
        row = A[v, :].new()
        weaker = unary.identity(ability).new(mask=row.S)
        ability(row.S) << binary.max(binary.minus(weaker, 1 / (ends / n)).new(), 0.0)
    return order
