"""The complement of a graph: it joins two vertices exactly if the graph does not join them."""

from __future__ import annotations

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix
from semirings import select


@graph_algorithm()
def complement(A: Matrix) -> Matrix:
    """``C⟨¬A⟩ = 1``, without the diagonal.

    Return the graph with an edge i -> j, for i ≠ j, wherever A has none.

    The result has about n² - m entries.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype BOOL that is true at (i, j) if i -> j is an edge
            of the complement, and has no entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import complement
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> complement(A).to_dicts()
        {0: {2: True}, 2: {0: True}}
    """
    C = Matrix(bool, A.nrows, A.ncols)
    # C⟨¬A⟩ = 1
    C(~A.S) << True
    return select.offdiag(C).new()
