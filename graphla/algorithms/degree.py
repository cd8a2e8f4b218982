"""Degree centrality: the fraction of the other vertices to which a vertex has an edge."""

from __future__ import annotations

from functools import partial

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.power_iteration import full
from graphla.graph.cached_properties import is_symmetric
from graphla.operations.accelerate import Degrees, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, unary
from semirings.dtypes import FP64
from semirings.semiring import plus_pair


@graph_algorithm()
def degree(A: Matrix, *, directed: bool | None = None) -> Vector:
    """``c(v) = deg(v) / (n - 1)``.

    Compute the degree centrality of each vertex.

    deg(v) counts the edges into and out of v. In an undirected graph it counts each edge once and a
    self-loop twice. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Vector: a full Vector of size n and dtype FP64. As in NetworkX, the value is 1 if the graph
            has only one vertex.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import degree
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> degree(A).to_dict()
        {0: 0.5, 1: 1.0, 2: 0.5}

    References:
        L. Freeman, *Centrality in Social Networks: Conceptual Clarification*, 1978.
    """
    ends = edges_out(A)
    if not is_symmetric(A) if directed is None else directed:
        # deg = (A plus.pair 1) + (1 plus.pair A)
        ends(binary.plus) << edges_in(A)
    else:
        # deg = (A plus.pair 1), plus 1 for each self-loop
        ends(binary.plus) << A.diag().apply(unary.one).new(FP64)
    return _divide_by_others(ends)


@graph_algorithm()
def in_degree(A: Matrix) -> Vector:
    """``c(v) = d(v) / (n - 1)``, where d(v) counts the edges into v.

    Compute the in-degree centrality of each vertex.

    Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: a full Vector of size n and dtype FP64. As in NetworkX, the value is 1 if the graph
            has only one vertex.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import in_degree
        >>> in_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
        {0: 0.0, 1: 0.0, 2: 1.0}
    """
    return _divide_by_others(edges_in(A))


@graph_algorithm()
def out_degree(A: Matrix) -> Vector:
    """``c(v) = d(v) / (n - 1)``, where d(v) counts the edges out of v.

    Compute the out-degree centrality of each vertex.

    Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: a full Vector of size n and dtype FP64. As in NetworkX, the value is 1 if the graph
            has only one vertex.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import out_degree
        >>> out_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
        {0: 0.5, 1: 0.5, 2: 0.0}
    """
    return _divide_by_others(edges_out(A))


def edges_out(A: Matrix) -> Vector:
    """``deg = A plus.pair 1``: return the number of entries in each row, in FP64."""
    return accelerated(Degrees(A), partial(definition, A))


def edges_in(A: Matrix) -> Vector:
    """``deg = 1 plus.pair A``: return the number of entries in each column, in FP64."""
    return accelerated(Degrees(A, of_columns=True), partial(definition, A, of_columns=True))


def definition(A: Matrix, of_columns: bool = False) -> Vector:
    """Count the entries in each row, or in each column, with one matrix product."""
    deg, ones = full(0.0, A.nrows), full(1.0, A.nrows)
    # deg = deg + (A plus.pair 1), or deg = deg + (1 plus.pair A) for columns
    deg(binary.plus) << (plus_pair["FP64"](ones @ A) if of_columns else plus_pair["FP64"](A @ ones))
    return deg


def _divide_by_others(ends: Vector) -> Vector:
    """Return the degrees divided by n - 1, or ones if n is 1."""
    if ends.size < 2:
        return full(1.0, ends.size)
    return ends.apply(binary.truediv, right=ends.size - 1).new()
