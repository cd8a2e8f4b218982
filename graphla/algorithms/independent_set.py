"""A maximal independent set: no edge joins two of its vertices, and no vertex can be added.

The algorithm is due to M. Luby (1986). As in LAGraph, each vertex has one random number. Each round
adds the candidates whose numbers are larger than those of all neighboring candidates. A few rounds
suffice.

Invariants at the start of each round:
- no edge joins two vertices of the set;
- candidates holds the random number of each vertex that is not in the set and has no neighbor in
  the set; all numbers are distinct.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.expression import replace
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import GreedyColoring
from graphla.program.jit import PLAIN, jit_if_large
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.exceptions import InvalidValue
from semirings.semiring import any_pair, max_second


@graph_algorithm(vertices=("nodes",), undirected=True)
def maximal_independent_set(
    A: Matrix, nodes: Any = None, seed: int | np.random.Generator | None = None
) -> Vector:
    """``s ∧ (A lor.land s) = false`` and ``s ∨ (A lor.land s) = true``.

    Find a maximal independent set s: no edge joins two vertices of s, and each other vertex has a
    neighbor in s.

    Self-loops are ignored. Takes an expected O(log n) rounds of O(m) time each.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        nodes: a list or array of vertices that the set must contain; no edge may join two of them.
            With None, no vertex is required.
        seed: determines which of the possible sets is found: None (the same as 0), a non-negative
            integer, or a `numpy.random.Generator`. The same seed always gives the same result.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the vertices of the set and without
            entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If A is a directed Graph or is not symmetric, if an edge joins two vertices of
            `nodes`, or if `seed` is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import maximal_independent_set
        >>> path = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], True)
        >>> maximal_independent_set(path, nodes=[0]).to_coo()[0].tolist()
        [0, 2]

    References:
        M. Luby, *A Simple Parallel Algorithm for the Maximal Independent Set Problem*, 1986.
    """
    n = A.nrows
    numbers = hashed_random.priorities(A, hashed_random.seed_number(seed))
    if nodes is None and A.device == "cpu" and A.nvals < PLAIN * config.compile_threshold:
        # A greedy coloring in descending order of these numbers gives color 0 to exactly the
        # vertices of this independent set.
        colors = GreedyColoring(A, numbers).run()
        if colors is not None:
            return Vector.from_dense(colors.to_dense(copy=False) == 0, missing_value=False)
    candidates, chosen = numbers.dup(), Vector(bool, n)
    listed = np.unique(validation.vertices("nodes", [] if nodes is None else nodes, n))
    if listed.size:
        chosen = Vector.from_coo(listed, True, size=n)
        _refuse_joined(A, chosen)
        # c⟨¬s ∧ ¬near, r⟩ = c
        near = any_pair["BOOL"](chosen @ A).new()
        candidates(~chosen.S & ~near.S, replace) << candidates
    return _extend(A, chosen, candidates)


@jit_if_large
def _extend(A: Matrix, chosen: Vector, candidates: Vector) -> Vector:
    """Add vertices to the set `chosen` until there are no candidates.

    For each candidate v, the entry candidates(v) is the random number of v.
    """
    n = A.nrows
    greatest, beaten = Vector(int, n), Vector(bool, n)
    winners, near = Vector(bool, n), Vector(bool, n)
    while candidates.nvals:
        # w⟨c > A max.second c⟩ = true: the candidates whose random numbers are larger than those of
        # all neighboring candidates
        greatest(candidates.S, replace) << max_second(A @ candidates)
        beaten << binary.gt(greatest & candidates)
        winners(~beaten.V, replace) << binary.pair["BOOL"](candidates & candidates)
        chosen(winners.S) << True
        # near(v) is true at the candidates v that are adjacent to a winner.
        near(candidates.S, replace) << any_pair["BOOL"](winners @ A)
        candidates(~winners.S & ~near.S, replace) << candidates
    return chosen


def _refuse_joined(A: Matrix, chosen: Vector) -> None:
    """Raise an error if an edge joins two of the chosen vertices."""
    listed = chosen.to_coo()[0]
    joined = select.offdiag(A[listed, listed].new()).new()
    if joined.nvals:
        i, j, _ = joined.to_coo(values=False)
        raise InvalidValue(
            f"nodes has {vertex_name(int(listed[i[0]]))} and {vertex_name(int(listed[j[0]]))}, "
            "which an edge joins, but no edge may join two vertices of an independent set"
        )
