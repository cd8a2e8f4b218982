"""Reciprocity: how many of the edges of a directed graph have an opposite edge.

M. Newman, S. Forrest and J. Balthrop (2002) measure the reciprocity of networks in this way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.graph.cached_properties import degrees, self_loops
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_pair


@overload
def reciprocity(A: GraphLike, nodes: None = None) -> Vector: ...


@overload
def reciprocity(A: GraphLike, nodes: int | str) -> float | None: ...


@overload
def reciprocity(A: GraphLike, nodes: Iterable[Any]) -> Vector: ...


@overload
def reciprocity(A: GraphLike, nodes: Any) -> Vector | float | None: ...


@graph_algorithm(vertices=("nodes",))
def reciprocity(A: Matrix, nodes: Any = None) -> Vector | float | None:
    """``r(v) = 2 b(v) / (in(v) + out(v))``, where b(v) counts the neighbors with edges both ways.

    Compute the fraction of the edges of each vertex that have an opposite edge.

    A self-loop counts as an out-edge and an in-edge that are opposite to each other. Takes O(n + m)
    time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        nodes: a single vertex, a list or array of vertices, or None for all vertices. (In NetworkX,
            None returns the overall reciprocity.)

    Returns:
        Vector | float | None: a float if `nodes` is one vertex, None if this vertex has no edges;
            otherwise a Vector of size n and dtype FP64, with entries at those vertices of `nodes`
            that have edges.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import reciprocity
        >>> A = Matrix.from_coo([0, 1, 1], [1, 0, 2], 1, nrows=4, ncols=4)
        >>> reciprocity(A).to_dense(-1).round(2).tolist()
        [1.0, 0.67, 0.0, -1.0]

    References:
        M. Newman, S. Forrest and J. Balthrop, *Email Networks and the Spread of Computer Viruses*,
            2002.
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    # e = (A plus.pair 1) + (1 plus.pair A): the number of out-edges and in-edges
    ones = Vector.from_scalar(1, A.nrows)
    e = binary.plus(degrees(A) | plus_pair["INT64"](ones @ A).new()).new()
    # b = (A pair Aᵀ) plus.pair 1: the number of neighbors with edges in both directions
    both = binary.pair["INT64"](A & A.T).new().reduce_rowwise(monoid.plus).new()
    r = binary.truediv(binary.times(both, 2).new().dup("FP64") & e.select(">", 0).new()).new()
    # r⟨e > 0⟩ = 0: this remains the value at a vertex whose edges have no reverse edges
    known = Vector("FP64", A.nrows)
    known(e.select(">", 0).new().S) << 0.0
    known(r.S) << r
    if chosen is None:
        return known
    if not isinstance(nodes, Iterable) or isinstance(nodes, str):
        return known.get(int(chosen[0]))
    wanted = Vector.from_coo(chosen, True, size=A.nrows)
    return known.dup(mask=wanted.S)


@graph_algorithm()
def overall_reciprocity(A: Matrix) -> float:
    """``r = |A ∘ Aᵀ| / |A|``, where the numerator counts only entries off the diagonal.

    Compute the fraction of the edges that have an opposite edge.

    As in NetworkX, a self-loop has no opposite edge. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        float: the fraction.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If the graph has no edges.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import overall_reciprocity
        >>> overall_reciprocity(Matrix.from_coo([0, 1, 1, 1], [1, 0, 2, 3], 1, nrows=4, ncols=4))
        0.5
    """
    if A.nvals == 0:
        raise InvalidValue("A has no edges, so their reciprocity is not defined")
    both = binary.pair["INT64"](A & A.T).new().nvals - self_loops(A)
    return both / A.nvals
