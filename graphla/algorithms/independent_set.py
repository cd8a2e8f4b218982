"""A maximal independent set: vertices of which no two are joined, and to which none can be added.

M. Luby, *A Simple Parallel Algorithm for the Maximal Independent Set Problem*, 1986, with one
number left to chance for each vertex (as LAGraph does it), so that rounds are few: each takes the
vertices that come before all their neighbours still in question.

Invariants, at the head of each round:
- no two vertices of the set are joined;
- candidates are the vertices that neither are in the set nor have a neighbour there, each with its
  number, of which no two are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.exceptions import InvalidValue
from semirings.semiring import any_pair, max_second


@graph_algorithm(vertices=("nodes",), undirected=True)
def maximal_independent_set(A: Matrix, nodes: Any = None, seed: Any = None) -> Vector:
    """s with no edge inside, and an edge to it from each vertex outside: true at its vertices.

    An edge is an entry of A, whatever its value; A must be symmetric, and self-loops do not count.
    The set holds the vertices of `nodes`, of which no two may be joined. Which of many such sets it
    is, rests on `seed` alone: None is 0, the same set each time.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import maximal_independent_set
    >>> path = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], True)
    >>> maximal_independent_set(path, nodes=[0]).to_coo()[0].tolist()
    [0, 2]
    """
    n = A.nrows
    numbers = hashed_random.priorities(A, hashed_random.seed_number(seed))
    chosen, candidates = Vector(bool, n), numbers.dup()
    listed = np.unique(validation.vertices("nodes", [] if nodes is None else nodes, n))
    if listed.size:
        winners = Vector.from_coo(listed, True, size=n)
        _refuse_joined(A, winners)
    else:
        winners = _winners(A, candidates)
    while winners.nvals:
        chosen(winners.S) << True
        # candidates lose the winners, and w any.pair A: their neighbours
        near = any_pair["BOOL"](winners @ A).new(mask=candidates.S)
        near(winners.S) << True
        candidates(~near.S, replace=True) << candidates
        winners = _winners(A, candidates)
    return chosen


def _winners(A: Matrix, candidates: Vector) -> Vector:
    """w⟨c ≥ A max.second c⟩ = true: the candidates without a neighbour of a greater number."""
    greatest = max_second(A @ candidates).new(mask=candidates.S)
    beaten = binary.gt(greatest & candidates).new()
    winners = Vector(bool, A.nrows)
    winners(~beaten.V) << binary.pair["BOOL"](candidates & candidates)
    return winners


def _refuse_joined(A: Matrix, chosen: Vector) -> None:
    listed = chosen.to_coo()[0]
    joined = select.offdiag(A[listed, listed].new()).new()
    if joined.nvals:
        i, j, _ = joined.to_coo(values=False)
        raise InvalidValue(
            f"nodes has {vertex_name(int(listed[i[0]]))} and {vertex_name(int(listed[j[0]]))}, "
            "which an edge joins, but an independent set has no two such"
        )
