"""Assortativity: whether edges tend to join similar vertices.

The coefficients are those of M. Newman (2002, 2003): for numbers, the correlation between the
values at the two ends of an edge; for categories, the share of edges within a category, compared
with the share that is expected if the ends of the edges are joined at random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.edge_ends import (
    check_direction,
    is_directed,
    sum_ends,
    weights_of,
)
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.power_iteration import as_vector
from graphla.operations.moving import send
from graphla.sparse import Matrix, Vector
from semirings import unary
from semirings.exceptions import InvalidValue


@graph_algorithm(vertices=("nodes",))
def degree_assortativity(
    A: Matrix,
    x: str = "out",
    y: str = "in",
    weight: bool | str | None = None,
    nodes: Any = None,
    *,
    directed: bool | None = None,
) -> float:
    """``r = Σ (x(u) - x̄) (y(v) - ȳ) / (m σx σy)``, over the edges u -> v.

    Compute the correlation between the degrees of the two ends of an edge.

    In an undirected graph, each edge counts in both directions. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        x: which degree of an edge's source to use in a directed graph: "out" or "in".
        y: which degree of an edge's target to use in a directed graph: "out" or "in".
        weight: how to compute the degrees: None or False counts edges; True, or the name of an edge
            attribute as in NetworkX, sums the values of A. Weights affect only the degrees: in the
            correlation, all edges count equally.
        nodes: a list or array of vertices; only edges between two of them count. None means all
            edges.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        float: the correlation, from -1 to 1; NaN if there are no edges, or if the degrees of all
            sources or of all targets are equal.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If `x` or `y` is not one of the values above.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import degree_assortativity
        >>> A = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> round(degree_assortativity(A), 3)
        -0.5

    References:
        M. Newman, *Assortative Mixing in Networks*, 2002.
    """
    check_direction("x", x, ("out", "in"))
    check_direction("y", y, ("out", "in"))
    W, directed = weights_of(A, validation.weighs("weight", weight)), is_directed(A, directed)
    rows, columns = _edges(A, nodes)
    return correlate(sum_ends(W, x, directed)[rows], sum_ends(W, y, directed)[columns])


@graph_algorithm(vertices=("nodes",), keyed=("values",))
def numeric_assortativity(
    A: Matrix, values: Vector | Mapping[Any, Any], nodes: Any = None
) -> float:
    """``r = Σ (x(u) - x̄) (x(v) - x̄') / (m σ σ')``, over the edges u -> v.

    Compute the correlation between the numbers x at the two ends of an edge: x(u) has the mean x̄
    and the standard deviation σ, and x(v) has x̄' and σ'.

    In an undirected graph, each edge counts in both directions. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        values: the number of each vertex: a Vector of size n, or a mapping from vertex to number.
        nodes: a list or array of vertices; only edges between two of them count. None means all
            edges.

    Returns:
        float: the correlation, from -1 to 1; NaN if there are no edges, or if the numbers of all
            sources or of all targets are equal.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `values` has a size other than n.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and `values` are not on the same device.
        InvalidValue: If an end of an edge has no number.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import numeric_assortativity
        >>> A = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> round(numeric_assortativity(A, {0: 1, 1: 1, 2: 5, 3: 5}), 3)
        0.333

    References:
        M. Newman, *Mixing Patterns in Networks*, 2003.
    """
    rows, columns = _edges(A, nodes)
    x = _values_at_ends("values", values, A, rows, columns)
    return correlate(x[rows], x[columns])


@graph_algorithm(vertices=("nodes",), keyed=("values",))
def attribute_assortativity(
    A: Matrix, values: Vector | Mapping[Any, Any], nodes: Any = None
) -> float:
    """``r = (t - s) / (1 - s)``, where t is the share of edges within a category.

    Compare how many edges join vertices of the same category with the number expected by chance.

    s = Σ a(c) b(c) is the expected share, where a(c) is the share of the edges whose source has the
    category c, and b(c) the share of those whose target has it. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        values: the category of each vertex, a number: a Vector of size n, or a mapping from vertex
            to number.
        nodes: a list or array of vertices; only edges between two of them count. None means all
            edges.

    Returns:
        float: the coefficient, at most 1; NaN if there are no edges, or if all ends of edges have
            the same category.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `values` has a size other than n.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and `values` are not on the same device.
        InvalidValue: If an end of an edge has no category.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import attribute_assortativity
        >>> A = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> round(attribute_assortativity(A, {0: 7, 1: 7, 2: 9, 3: 9}), 3)
        0.333

    References:
        M. Newman, *Mixing Patterns in Networks*, 2003.
    """
    rows, columns = _edges(A, nodes)
    m = int(rows.size)
    if not m:
        return math.nan
    _, categories = np.unique(
        _values_at_ends("values", values, A, rows, columns), return_inverse=True
    )
    u, v = categories[rows], categories[columns]
    # Let T = m t and S = m² s, both of them integers. Then r = (m T - S) / (m² - S). Python ints
    # are exact.
    a, b = (send(np.bincount(c, minlength=int(categories.max()) + 1), "cpu") for c in (u, v))
    s = sum(i * j for i, j in zip(a.tolist(), b.tolist(), strict=True))
    return (m * int((u == v).sum()) - s) / (m * m - s) if m * m > s else math.nan


def correlate(x: Any, y: Any) -> float:
    """Return the correlation of two arrays; NaN if they are empty or an array is constant."""
    if not x.size or x.min() == x.max() or y.min() == y.max():
        return math.nan
    x, y = x - x.mean(dtype=np.float64), y - y.mean(dtype=np.float64)
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def _edges(A: Matrix, nodes: Any) -> tuple[Any, Any]:
    """Return the sources and targets of the edges; if `nodes` is given, of those within `nodes`."""
    rows, columns, _ = A.to_coo(values=False, copy=False)
    if nodes is None:
        return rows, columns
    is_chosen = np.zeros(A.nrows, bool)
    is_chosen[
        validation.vertices("nodes", list(nodes) if np.iterable(nodes) else nodes, A.nrows)
    ] = True
    is_chosen = send(is_chosen, A.device)
    kept = is_chosen[rows] & is_chosen[columns]
    return rows[kept], columns[kept]


def _values_at_ends(name: str, values: Any, A: Matrix, rows: Any, columns: Any) -> Any:
    """Return the given values as a dense array; raise an error if an end has no value."""
    v = as_vector(name, values, A.nrows, None)
    if v.nvals < v.size:
        known = unary.one["BOOL"](v).new().to_dense(False, copy=False)
        if not (known[rows].all() and known[columns].all()):
            raise InvalidValue(f"{name} has no value for some vertex with edges")
    return v.to_dense(0, copy=False)
