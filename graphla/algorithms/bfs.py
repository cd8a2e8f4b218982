"""Breadth-first search: how many edges away each vertex is, and from which vertex it was reached.

The loop is LAGraph's: each round multiplies the frontier by A under a mask that hides what is
reached already. The product runs by push or by pull, whichever reads less (Beamer, Asanović and
Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012); that is decided below it.

Invariants, at the head of each round:
- levels and parents have their entries at the same vertices: those fewer than `depth` edges away;
- frontier has its entries at the vertices `depth` edges away, each holding a neighbour of its own
  that is `depth - 1` edges away (the source holds itself).
"""

from __future__ import annotations

from typing import NamedTuple

from graphla.algorithms import arguments
from graphla.expression import replace
from graphla.sparse import Matrix, Vector
from semirings.semiring import any_secondi


class Traversal(NamedTuple):
    """What a BFS finds. A vertex that is not reached has no entry in either vector."""

    levels: Vector
    parents: Vector


@arguments.beside_its_graph
def bfs(A: Matrix, source: int, *, limit: int | None = None) -> Traversal:
    """f⟨¬p, r⟩ = f any.secondi A, until f is empty: levels and parents of a breadth-first search.

    An edge i -> j is an entry A(i, j), whatever its value. The source has level 0 and is its own
    parent; of several possible parents any may be given. `limit` ends the search that many edges
    away from the source.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import bfs
    >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 1, nrows=5, ncols=5)
    >>> levels, parents = bfs(A, 0)
    >>> levels.to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    """
    A = arguments.adjacency(A)
    n = A.nrows
    source = arguments.vertex(source, n)
    limit = n if limit is None else arguments.count("limit", limit, least=0)

    levels, parents, frontier = Vector(int, n), Vector(int, n), Vector(int, n)
    frontier[source] = source
    depth = 0
    while frontier.nvals:
        # p⟨f⟩ = f
        parents(frontier.S) << frontier
        # l⟨f⟩ = depth
        levels(frontier.S) << depth
        if depth == limit:
            break
        # f⟨¬p, r⟩ = f any.secondi A
        frontier(~parents.S, replace) << any_secondi(frontier @ A)
        depth += 1
    return Traversal(levels, parents)
