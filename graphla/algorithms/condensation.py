"""The condensation of a directed graph: its strong components, and the edges between them."""

from __future__ import annotations

from typing import NamedTuple

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import number_values, selection
from graphla.algorithms.strong_components import strong_components
from graphla.sparse import Matrix, Vector
from semirings import select
from semirings.semiring import lor_pair


class Condensation(NamedTuple):
    """The result of `condensation`.

    Attributes:
        matrix: a BOOL Matrix of shape (k, k), where k is the number of strong components. It is
            true at (c, d) if an edge leads from component c to component d. These edges form no
            cycle.
        component: a full INT64 Vector with the number of each vertex's component, from 0 to k - 1.
    """

    matrix: Matrix
    component: Vector


@graph_algorithm()
def condensation(A: Matrix) -> Condensation:
    """``C = Pᵀ lor.pair A lor.pair P``, where P(v, c) is true if vertex v is in component c.

    Contract each strong component to one vertex.

    Takes as long as `strong_components`, plus O(n + m) time for the products.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Condensation: (matrix, component). Components are numbered by their smallest vertex, in
            ascending order. Rows and columns of `matrix` are components, so it has no labels.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import condensation
        >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 1, 0], 1, nrows=4, ncols=4)
        >>> matrix, component = condensation(A)
        >>> component.to_dense().tolist()
        [0, 1, 1, 2]
        >>> matrix.to_dicts()
        {0: {1: True}, 2: {0: True}}
    """
    component, count = number_values(strong_components(A))
    P = selection(component, count)
    # C = Pᵀ lor.pair (A lor.pair P), without the edges inside components
    between = lor_pair(P.T @ lor_pair(A @ P).new()).new()
    return Condensation(select.offdiag(between).new(), component)
