"""Shortest paths where weights may lie below 0, and the cycles that leave none.

As algebra it is `sssp`: the least d with d = d min (d min.+ A) and d = 0 at the source. R. Bellman,
*On a routing problem*, 1958; L. R. Ford, *Network Flow Theory*, 1956. What went down is multiplied
again, round by round. Around a cycle of negative weight distances would go down for ever: it is
found in the parents, which form a forest as long as no such cycle has been gone around.
"""

from __future__ import annotations

from typing import Any, Literal, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.sssp import ShortestPaths, lengths_of
from graphla.graph import Graph
from graphla.graph.labels import vertex_name
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal.closure import solve
from graphla.traversal.cycles import EndlessCycle
from semirings.exceptions import InvalidValue
from semirings.semiring import min_plus


@overload
def bellman_ford(
    A: Matrix | Graph,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[None]: ...


@overload
def bellman_ford(
    A: Matrix | Graph,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Vector]: ...


@overload
def bellman_ford(
    A: Matrix | Graph,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="weight")
def bellman_ford(
    A: Matrix,
    source: Any,
    *,
    weight: bool | str | None = True,
    parents: bool = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]:
    """d = d min (d min.+ A), until no distance goes down: shortest paths, of negative edges too.

    As `sssp` otherwise, which is quicker where no weight is below 0. InvalidValue tells of a cycle
    of negative weight that the source reaches, by a vertex of it; `negative_cycle` gives it whole.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import bellman_ford
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, -2], nrows=4, ncols=4)
    >>> bellman_ford(A, 0).to_dict()
    {0: 0, 1: 1, 2: -1}
    """
    A, dtype = lengths_of(A, weight)
    # d(s) = 0
    start = validation.starts(source, A, 0, dtype)
    try:
        # d = d ⊕ d min.+ A ⊕ d min.+ A² ...
        distances, before = solve(start, A, min_plus[dtype], mask=mask, parents=parents)
    except EndlessCycle as error:
        raise no_solution(error, ", which the source reaches") from error
    return ShortestPaths(distances, before)


@graph_algorithm(vertices=("source",), lengths="A")
def negative_cycle(A: Matrix, source: Any = None) -> list[int] | None:
    """d = d min (d min.+ A) has no solution: a cycle of negative weight, or None.

    A list of vertices in the order of the edges, of which the last is the first again. `source`:
    only one that this vertex (or one of several) reaches. Where there is none NetworkX raises
    instead. An undirected edge of negative weight is such a cycle, there and back. A cycle whose
    weights add up to about 0 is refused if rounded lengths keep decreasing around it.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import negative_cycle
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 1, 0], [1, 2, -3, 1], nrows=4, ncols=4)
    >>> sorted(set(negative_cycle(A)))
    [1, 2]
    """
    A, dtype = lengths_of(A, True)
    if source is None:
        # d = 0 everywhere: a path may begin at any vertex
        start = Vector.from_scalar(0, A.nrows, dtype)
    else:
        start = validation.starts(source, A, 0, dtype)
    try:
        solve(start, A, min_plus[dtype])
    except EndlessCycle as error:
        if error.is_rounded:
            raise no_solution(error) from error
        return [*error.cycle, error.cycle[0]]
    return None


def no_solution(error: EndlessCycle, reached: str = "") -> InvalidValue:
    """Return the error for lengths that decrease around a cycle without end."""
    vertex = vertex_name(error.cycle[0])
    if error.is_rounded:
        return InvalidValue(
            f"A has a cycle through vertex {vertex} whose weights add up to about 0, and rounded "
            "lengths go down around it: scale the weights to integers"
        )
    return InvalidValue(
        f"A has a cycle of negative weight through vertex {vertex}{reached}: so there is no "
        "shortest path (negative_cycle gives the cycle)"
    )
