"""The modularity matrix: the edges of a graph minus the edges expected at random.

M. Newman (2006) defined the matrix, and E. Leicht and M. Newman (2008) extended it to directed
graphs.
"""

from __future__ import annotations

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Matrix
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue


@graph_algorithm()
def modularity_matrix(A: Matrix, weight: bool | str | None = None) -> Matrix:
    """``B = A - out inᵀ / m``, where ``out`` and ``in`` hold the row and column sums of A.

    Compute the modularity matrix, which compares each edge with its expected weight.

    The expected weight is that of a random graph with the same degrees, and m is the sum of all
    values of A. Takes O(n²) time and memory.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.

    Returns:
        Matrix: a full Matrix with the shape of A and dtype FP64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If the weights add up to 0, or their sum is not finite.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import modularity_matrix
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1)
        >>> modularity_matrix(A).to_dense().tolist()
        [[-0.25, 0.5, -0.25], [0.5, -1.0, 0.5], [-0.25, 0.5, -0.25]]

    References:
        M. Newman, *Modularity and Community Structure in Networks*, 2006.
        E. Leicht and M. Newman, *Community Structure in Directed Networks*, 2008.
    """
    W = A.dup("FP64") if validation.weighs("weight", weight) else unary.one["FP64"](A).new()
    total = validation.finite_sum(W)
    if total == 0:
        raise InvalidValue("A has weights that add up to 0, but their sum must not be 0")
    out, into = (power_iteration.full(0.0, A.nrows) for _ in range(2))
    out(binary.plus) << W.reduce_rowwise(monoid.plus)
    into(binary.plus) << W.reduce_columnwise(monoid.plus)
    # E(i, j) = out(i) in(j) / m
    E = binary.truediv(out.outer(into).new(), total).new()
    return binary.plus(W | unary.ainv(E).new()).new()
