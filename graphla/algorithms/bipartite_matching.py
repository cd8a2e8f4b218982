"""A maximum matching of a bipartite graph, by the algorithm of J. Hopcroft and R. Karp (1973)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bfs import bfs
from graphla.algorithms.components import connected_components
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue


@graph_algorithm(vertices=("top",), gives=("",), undirected=True)
def hopcroft_karp_matching(A: Matrix, top: Any = None) -> Vector:
    """``m(i) = j`` and ``m(j) = i`` for each edge {i, j} of the matching.

    Find a maximum matching of a bipartite graph: a largest set of edges without common vertices.

    Takes O(m √n) time. Runs on the CPU; a Matrix on a GPU is copied.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        top: the vertices on one side of the graph; each edge must join one of them to another
            vertex. None means that the function finds the two sides.

    Returns:
        Vector: the mates, a Vector of size n and dtype INT64, without entries at vertices that are
            not matched.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If A is a directed Graph or is not symmetric, or if an edge joins two vertices
            on the same side.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import hopcroft_karp_matching
        >>> path = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> hopcroft_karp_matching(path).to_dict()
        {0: 1, 1: 0, 2: 3, 3: 2}

    References:
        J. Hopcroft and R. Karp, *An n^(5/2) Algorithm for Maximum Matchings in Bipartite Graphs*,
            1973.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if A.device != "cpu":
        return hopcroft_karp_matching(A.to("cpu"), top).to(A.device)
    n = A.nrows
    is_top = (
        _find_side(A) if top is None else np.isin(np.arange(n), validation.distinct("top", top, n))
    )
    indptr, indices, _ = A.to_csr(copy=False)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    wrong = np.flatnonzero(is_top[rows] == is_top[indices])
    if wrong.size:
        i, j = int(rows[wrong[0]]), int(indices[wrong[0]])
        raise InvalidValue(
            f"A has an edge {vertex_name(i)} -> {vertex_name(j)} within one side, but the edges of "
            "a bipartite graph join the two sides"
        )
    # SciPy expects a matrix with a row for each vertex on one side, and a column for each vertex on
    # the other side.
    kept = is_top[rows]
    counts = np.where(is_top, np.diff(indptr), 0)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    ones = np.ones(int(kept.sum()), np.int8)
    biadjacency = csr_array((ones, indices[kept].astype(np.int32), starts), shape=(n, n))
    mates = maximum_bipartite_matching(biadjacency, perm_type="column").astype(np.int64)
    matched = np.flatnonzero(mates >= 0)
    ends = np.concatenate([matched, mates[matched]]), np.concatenate([mates[matched], matched])
    return Vector.from_coo(*ends, size=n, dtype="INT64")


def _find_side(A: Matrix) -> np.ndarray:
    """Return which vertices have an even distance from the smallest vertex of their component."""
    labels = connected_components(A).to_dense()
    levels = bfs(A, np.flatnonzero(np.bincount(labels))).levels
    return levels.to_dense(0) % 2 == 0
