"""Lowest common ancestors in a directed graph without cycles.

Let rank(k) be the position of vertex k in a topological order. Each descendant of a vertex has a
larger rank. So no descendant of the common ancestor with the largest rank is a common ancestor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.topological_sort import sort_by_generation
from graphla.operations.values import exact_array
from graphla.sparse import Matrix, Vector
from graphla.traversal import many
from semirings.exceptions import InvalidValue
from semirings.semiring import any_second, max_first


@graph_algorithm(pairs=("pairs",))
def lowest_common_ancestors(
    A: Matrix, pairs: Iterable[tuple[Any, Any]] | None = None
) -> np.ndarray:
    """``L⟨P⟩ = R D max.first Rᵀ`` for pairs P, where R holds ancestors and D holds their ranks.

    Find a lowest common ancestor of each of the given pairs of vertices.

    A vertex is an ancestor of itself. If a pair has several lowest common ancestors, the result
    contains the one that comes last in `topological_sort`. The ancestors of each vertex in `pairs`
    are found first, in O(n + m) time and O(n) memory per vertex; then each pair takes O(n) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, the pairs refer
            to vertices by their labels. The values of A are ignored.
        pairs: a list of pairs of vertices, or an array of shape (k, 2). None means all pairs (i, j)
            with i <= j, in lexicographic order.

    Returns:
        numpy.ndarray: for each pair, the number of a lowest common ancestor, or -1 if the pair has
            no common ancestor.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a pair has an element that is not a vertex of the graph.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.
        InvalidValue: If `pairs` is not a list of pairs.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import lowest_common_ancestors
        >>> A = Matrix.from_coo([0, 0, 1, 1], [1, 2, 3, 4], 1, nrows=5, ncols=5)
        >>> lowest_common_ancestors(A, [(3, 4), (3, 2), (1, 4)]).tolist()
        [1, 0, 1]
    """
    n = A.nrows
    if pairs is None:
        rows, columns = np.triu_indices(n)
    else:
        if not np.iterable(pairs):
            raise TypeError(f"pairs must be a list of pairs of vertices, not {pairs!r}")
        try:
            ends = exact_array(pairs if isinstance(pairs, np.ndarray) else list(pairs))
        except (TypeError, ValueError):  # `pairs` cannot be converted to an array
            ends = np.empty((1, 1))
        if ends.size and (ends.ndim != 2 or ends.shape[1] != 2):
            raise InvalidValue(f"pairs must be a list of pairs of vertices, not {pairs!r}")
        rows, columns = validation.vertices("pairs", ends.ravel(), n).reshape(-1, 2).T
    order, _ = sort_by_generation(A)
    if not rows.size:
        return np.empty(0, np.int64)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    # R(i, k) = true if k is an ancestor of the i-th vertex of the pairs
    ends, numbers = np.unique(np.concatenate((rows, columns)), return_inverse=True)
    rows, columns = numbers.reshape(2, -1)
    R = many.pairs(A.T.new(), ends)
    # X = R D: the rank of each ancestor
    X = any_second["INT64"](R @ Vector.from_dense(rank).diag()).new()
    shape: dict[str, Any] = {"nrows": ends.size, "ncols": ends.size}
    P = Matrix.from_coo(rows, columns, True, dup_op="lor", **shape)
    L = max_first["INT64"](X @ R.T).new(mask=P.S)
    found_rows, found_columns, ranks = L.to_coo()
    keys = found_rows.astype(np.int64) * ends.size + found_columns
    wanted = rows * ends.size + columns
    place = np.searchsorted(keys, wanted)
    place[place == keys.size] = 0
    has = keys[place] == wanted if keys.size else np.zeros(wanted.size, bool)
    found = np.full(wanted.size, -1, np.int64)
    found[has] = order[ranks[place[has]]]
    return found
