"""Descendants and ancestors: the vertices that a vertex reaches, and those that reach it."""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.reachable import reachable
from graphla.sparse import Matrix, Vector


@graph_algorithm(vertices=("source",))
def descendants(A: Matrix, source: Any) -> Vector:
    """``r⟨¬s⟩ = s ∨ sA ∨ sA² ∨ ...``, where s is true only at the source.

    Find the vertices, other than the source itself, that can be reached from the source.

    Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        source: one vertex.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the descendants and without entries
            elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If the source is not a vertex of the graph.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import descendants
        >>> A = Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
        >>> descendants(A, 0).to_dict()
        {1: True, 2: True}
    """
    source = validation.vertex(source, A.nrows)
    found = reachable(A, source).dup()
    del found[source]
    return found


@graph_algorithm(vertices=("source",))
def ancestors(A: Matrix, source: Any) -> Vector:
    """``r⟨¬s⟩ = s ∨ sAᵀ ∨ sAᵀ² ∨ ...``, where s is true only at the source.

    Find the vertices, other than the source itself, from which the source can be reached.

    Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        source: one vertex.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the ancestors and without entries
            elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If the source is not a vertex of the graph.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import ancestors
        >>> A = Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
        >>> ancestors(A, 1).to_dict()
        {0: True, 3: True}
    """
    return descendants(A.T.new(), source)
