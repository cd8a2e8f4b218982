"""Density: the number of edges, relative to the largest possible number."""

from __future__ import annotations

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import is_symmetric, self_loops
from graphla.sparse import Matrix


@graph_algorithm()
def density(A: Matrix, *, directed: bool | None = None) -> float:
    """``d = m / (n (n - 1))``, or twice that for an undirected graph.

    Compute the fraction of the possible edges that exist in the graph.

    The possible edges do not include self-loops. So the density of a graph with self-loops may
    exceed 1, as in NetworkX. The density is 0 if the graph has no edges.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        float: the density.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import density
        >>> density(Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3))
        0.3333333333333333
    """
    n, entries = A.nrows, A.nvals
    if entries == 0 or n < 2:
        return 0.0
    if not is_symmetric(A) if directed is None else directed:
        return entries / (n * (n - 1))
    # Each edge of an undirected graph has two entries, except for self-loops.
    return (entries + self_loops(A)) / (n * (n - 1))
