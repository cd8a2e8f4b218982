"""Projection of a bipartite graph: join vertices of one side that have a common neighbor.

M. Newman (2001) gives a common neighbor less weight if it has many neighbors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph import cached_properties
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.exceptions import InvalidValue
from semirings.semiring import any_first, any_pair, any_second, plus_pair, plus_second

MEASURES = ("common", "collaboration", "jaccard", "overlap")


@graph_algorithm(vertices=("nodes",))
def projected_graph(A: Matrix, nodes: Any, measure: str | None = None) -> Matrix:
    """``P = A any.pair A``, in the rows and columns of `nodes`, without the diagonal.

    Join any two of the given vertices that have a common neighbor.

    The common neighbors of u and v are the vertices w with edges u -> w and w -> v. Takes
    O(Σ degree(w)²) time, summed over the neighbors w of the given vertices.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        nodes: a list or array of vertices: one side of a bipartite graph.
        measure: None for a graph without weights; otherwise the measure that gives the weight of
            each edge u -> v of the result: "common" is the number of common neighbors;
            "collaboration" is the sum of 1 / (d(w) - 1) over the common neighbors w of out-degree
            d(w) > 1; "jaccard" is the number of common neighbors, divided by the number of vertices
            w with an edge u -> w or w -> v; "overlap" is the number of common neighbors, divided by
            the smaller of the out-degree of u and the in-degree of v.

    Returns:
        Matrix: a Matrix of shape (n, n) with entries between vertices of `nodes`. The dtype is BOOL
            if `measure` is None, INT64 if it is "common", and otherwise FP64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If `measure` is not one of the values above.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import projected_graph
        >>> A = Matrix.from_coo([0, 1, 1, 2], [3, 3, 4, 4], 1, nrows=5, ncols=5)
        >>> projected_graph(binary.any(A | A.T), [0, 1, 2]).to_dicts()
        {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}

    References:
        M. Newman, *Scientific Collaboration Networks. II*, 2001.
    """
    if measure is not None and not (isinstance(measure, str) and measure in MEASURES):
        raise InvalidValue(f"measure is {measure!r}, but must be None or {', '.join(MEASURES)}")
    chosen = validation.distinct("nodes", nodes, A.nrows)
    S = Vector.from_coo(chosen, True, size=A.nrows).diag()
    # P S: the columns of P that belong to the given vertices
    return any_first(join_by_neighbors(A, chosen, measure) @ S).new()


def join_by_neighbors(A: Matrix, chosen: np.ndarray, measure: str | None) -> Matrix:
    """Return P = S A any.pair A without its diagonal, where S selects the rows `chosen`.

    The weights are those of `measure`. P may have entries in any column.
    """
    S = Vector.from_coo(chosen, True, size=A.nrows).diag()
    # R = S A: the rows of A that belong to the given vertices
    R = any_second(S @ A).new()
    if measure is None:
        return select.offdiag(any_pair["BOOL"](R @ A).new()).new()
    if measure == "collaboration":
        d = cached_properties.degrees(A).dup("FP64")
        # f(w) = 1 / (d(w) - 1), or 0 if d(w) is 1
        f = binary.times(d, 0.0).new()
        more = binary.minus(d.select(">", 1).new(), 1.0).new()
        f(more.S) << binary.truediv(1.0, more)
        P = plus_second["FP64"](R @ any_first(f.diag() @ A).new()).new()
        return select.offdiag(P).new()
    P = select.offdiag(plus_pair["INT64"](R @ A).new()).new()
    if measure == "common":
        return P
    rows, columns, common = P.to_coo(copy=False)
    out = common_neighbors.degrees(A)[rows]
    into = common_neighbors.degrees(A.T.new())[columns]
    most = out + into - common if measure == "jaccard" else np.minimum(out, into)
    return common_neighbors.pattern(P, common / most)
