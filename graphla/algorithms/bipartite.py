"""Bipartite graphs: with two colors, no edge needs to join vertices of the same color.

D. Kőnig (1916) showed that these are the graphs without a cycle of odd length. One breadth-first
search starts from the smallest vertex of each component. The graph is bipartite if and only if no
edge joins two vertices of the same level. If there is such an edge {u, v}, it forms an odd cycle
together with the tree paths from u and v to their lowest common ancestor.
"""

from __future__ import annotations

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import vertex_numbers
from graphla.algorithms.bfs import bfs
from graphla.algorithms.components import connected_components
from graphla.graph.cached_properties import both_ways, degrees, is_symmetric
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.exceptions import InvalidValue


class NotBipartite(InvalidValue):
    """Raised if a graph has no coloring with two colors.

    Args:
        message: the text of the error.
        edge: the numbers of two adjacent vertices on a cycle of odd length.
    """

    def __init__(self, message: str, edge: tuple[int, int]):
        super().__init__(message)
        self.edge = edge


@graph_algorithm()
def two_color(A: Matrix) -> Vector:
    """``c(u) ≠ c(v)`` for each edge u -> v.

    Color the vertices with 0 and 1 such that no edge joins two vertices of the same color.

    The direction of edges is ignored. The smallest vertex of each component with edges gets color
    1, and isolated vertices get color 0. Takes about O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: the colors, a full Vector of size n and dtype INT64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        NotBipartite: If the graph has a cycle of odd length, for example a self-loop.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import two_color
        >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=5, ncols=5)
        >>> two_color(A).to_dense().tolist()
        [1, 0, 1, 0, 0]

    References:
        D. Kőnig, *Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre*, 1916.
    """
    colors, edge = search(A)
    if edge is not None:
        u, v = map(vertex_name, edge)
        raise NotBipartite(
            f"A has a cycle of odd length through the edge {u} -> {v}, "
            "so its vertices need more than two colors",
            edge,
        )
    return colors


@graph_algorithm()
def is_bipartite(A: Matrix) -> bool:
    """``c(u) ≠ c(v)`` for each edge u -> v, for some coloring c with two colors.

    Return whether the graph is bipartite, that is, has no cycle of odd length.

    The direction of edges is ignored. Takes about O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        bool: whether the graph is bipartite.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import is_bipartite
        >>> is_bipartite(Matrix.from_coo([0, 1, 2], [1, 2, 0], 1))
        False
    """
    return search(A)[1] is None


def search(A: Matrix) -> tuple[Vector, tuple[int, int] | None]:
    """Return a coloring, found by a search from one vertex per component.

    Also return an edge between two vertices of the same color, or None if there is no such edge.
    """
    U = A if is_symmetric(A) else both_ways(A)
    vertices = vertex_numbers(U)
    # r⟨f(i) = i⟩ = true: the smallest vertex of each component
    is_root = binary.eq(connected_components(U) & vertices).new()
    levels = bfs(U, is_root.dup(mask=is_root.V), parents=False).levels
    parity = levels.to_dense(0, copy=False) & 1
    rows, columns, _ = U.to_coo(values=False, copy=False)
    equal = (parity[rows] == parity[columns]).nonzero()[0]
    edge = (int(rows[equal[0]]), int(columns[equal[0]])) if equal.size else None
    has_edges = degrees(U).to_dense(copy=False) > 0
    colors = Vector.from_dense((has_edges & (parity == 0)).astype("int64"), copy=False)
    return colors, edge
