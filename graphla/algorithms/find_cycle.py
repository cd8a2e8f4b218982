"""A cycle of a graph.

If a directed graph has a cycle, some vertices are never removed by Kahn's algorithm (see
`topological_sort`). Each remaining vertex has an in-edge from a remaining vertex. So a walk against
these edges never ends, and the first vertex that the walk visits twice is on a cycle. In an
undirected graph, an edge that does not belong to the tree of a breadth-first search closes a cycle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import vertex_numbers
from graphla.algorithms.bfs import bfs
from graphla.algorithms.components import connected_components
from graphla.algorithms.reachable import reachable
from graphla.graph.cached_properties import loops
from graphla.graph.labels import as_labels
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.exceptions import GraphblasException
from semirings.semiring import min_first


class HasCycle(GraphblasException, ValueError):
    """Raised if an algorithm needs a graph without cycles.

    Args:
        message: the text of the error.
        cycle: the vertices of one cycle in the order of its edges, each listed once. The attribute
            `cycle` has their labels if the algorithm was called with a Graph.
    """

    def __init__(self, message: str, cycle: list[int]):
        super().__init__(message)
        self.cycle: list[Any] = as_labels(cycle)


@graph_algorithm(vertices=("source",))
def find_cycle(A: Matrix, source: Any = None, *, directed: bool | None = None) -> list[int] | None:
    """``v, p(v), p(p(v)), ...`` in reverse order, where p holds a predecessor of each vertex.

    Find a cycle.

    If there is no cycle, this function returns None, whereas NetworkX raises an error. Takes O(n +
    m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        source: a vertex or several vertices; only cycles that they reach are found. If None, the
            cycle may be anywhere in the graph.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as directed. In an undirected graph, a cycle is a self-loop or has at
            least three vertices.

    Returns:
        list[int] | None: the vertices of a cycle in the order of its edges, with the first vertex
            repeated at the end; None if there is no cycle; labels if A is a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.
        InvalidValue: If `directed` is False but A is not symmetric.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import find_cycle
        >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 1], 1, nrows=3, ncols=3)
        >>> find_cycle(A)
        [1, 2, 1]
    """
    from graphla.algorithms.topological_sort import count_generations

    if source is not None:
        # A = A⟨r, r⟩, where r has entries at the vertices that the sources reach
        seen = reachable(A, source)
        A = binary.second(seen & binary.first(A & seen).new()).new()
    if directed is False:
        validation.symmetric(A)
        return _find_undirected(A)
    generations = count_generations(A)
    if generations.nvals == A.nrows:
        return None
    cycle = find_remaining_cycle(A, generations)
    return [*cycle, cycle[0]]


def find_remaining_cycle(A: Matrix, removed: Vector) -> list[int]:
    """Return the vertices of a cycle of A in path order, starting from the smallest vertex.

    `removed` has entries at the vertices that Kahn's algorithm has removed.
    """
    # b⟨¬removed⟩ = v min.first A: the smallest remaining predecessor of each remaining vertex
    rest = vertex_numbers(A).dup(mask=~removed.S)
    before = min_first(rest @ A).new(mask=~removed.S).to_dense(-1)
    v, seen = int(np.argmax(before >= 0)), {}
    path = []
    while v not in seen:
        seen[v] = len(path)
        path.append(v)
        v = int(before[v])
    cycle = path[seen[v] :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def _find_undirected(A: Matrix) -> list[int] | None:
    """Return a cycle of a symmetric matrix, with the first vertex repeated at the end."""
    own = loops(A)
    if own.nvals:
        v = int(own.to_coo()[0][0])
        return [v, v]
    # Search from the smallest vertex of each component.
    labels = connected_components(A).to_dense()
    tree = bfs(A, np.flatnonzero(labels == np.arange(A.nrows)))
    levels, parents = tree.levels.to_dense(-1), tree.parents.to_dense(-1)
    rows, columns, _ = select.triu(A, 1).new().to_coo()
    others = (parents[rows] != columns) & (parents[columns] != rows)
    if not others.any():
        return None
    k = int(np.argmax(others))
    i, j = int(rows[k]), int(columns[k])
    front, back = [i], [j]
    while front[-1] != back[-1]:
        side = front if levels[front[-1]] >= levels[back[-1]] else back
        side.append(int(parents[side[-1]]))
    return [*front[::-1], *back[:-1], front[-1]]
