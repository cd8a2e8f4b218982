"""Square clustering: how many of the squares that a vertex could be a corner of there are.

P. Lind, M. González and H. Herrmann, *Cycles and Clustering in Bipartite Networks*, 2005; what
squares there could be is counted as in P. Zhang and others, *Clustering Coefficient and Community
Structure of Bipartite Networks*, 2008. Each square is found once, from the wedges out of its corner
of greatest degree (K. Wang and others, *Vertex Priority Based Butterfly Counting*, 2019).

Invariants, with the vertices numbered by falling degree:
- F = triu(N): from each vertex its neighbours of lesser degree
- P(u, w), for w > u, is the number of wedges u - v - w with v > u: two of them are a square, of
  which u is the least corner and w the one opposite
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import degrees
from graphla.sparse import Matrix
from semirings import monoid, select
from semirings.semiring import plus_first, plus_pair, plus_second


@graph_algorithm(vertices=("nodes",), undirected=True)
def square_clustering(A: Matrix, nodes: Any = None) -> Any:
    """c = squares / (Σ (degree u + degree w - 2) - 2 triangles - squares), over pairs u, w joined.

    The sum is over the pairs u, w of a vertex's neighbours, and takes what could be the fourth
    corner for each; c is 0 where nothing could. Of all vertices, or a Vector with entries at the
    `nodes` listed; of one vertex a number. A must be symmetric, and self-loops do not count.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import square_clustering
    >>> A = Matrix.from_coo([0, 1, 2, 3, 3], [1, 2, 3, 0, 4], 1, nrows=5, ncols=5)
    >>> square_clustering(binary.any(A | A.T)).to_dense().round(2).tolist()
    [0.5, 1.0, 0.5, 0.33, 0.0]
    """
    chosen = common_neighbors.vertex_list(nodes, A)
    N = common_neighbors.pattern(common_neighbors.drop_loops(A), symmetric=True)
    degree = common_neighbors.degrees(N)
    t = common_neighbors.triangles_per_vertex(N, chosen)
    squares = _squares(N, degree) if chosen is None else _squares_of(N, degree, chosen)
    # s(v) = Σ of the degrees of the neighbours of v
    s = common_neighbors.dense(plus_second["INT64"](N @ degrees(N)))
    if chosen is not None:
        s, degree = s[chosen], degree[chosen]
    possible = (s - degree) * (degree - 1) - 2 * t - squares
    c = squares * (possible > 0) / np.maximum(possible, 1)
    return common_neighbors.as_answer(c, chosen, nodes, A.nrows)


def _squares(N: Matrix, degree: Any) -> Any:
    """How many squares each vertex is a corner of."""
    order = np.argsort(-degree, kind="stable")
    N = common_neighbors.pattern(N[order, order].new(), symmetric=True)
    F = select.triu(N, 1).new()
    squares = np.zeros_like(degree)
    for rows in common_neighbors.row_batches(F, N):
        G = F[rows, :].new()
        # P = triu(F plus.pair N)
        P = select.triu(plus_pair["INT64"](G @ N), rows.start + 1).new()
        p = P.to_csr(copy=False)[2]
        corners = common_neighbors.pattern(P, p * (p - 1) // 2)
        squares[order[rows]] += common_neighbors.dense(corners.reduce_rowwise(monoid.plus))
        squares[order] += common_neighbors.dense(corners.reduce_columnwise(monoid.plus))
        # Q⟨F⟩ = (P - 1) plus.first N: a wedge u - v - w is in a square with each other one
        between = plus_first["INT64"](common_neighbors.pattern(P, p - 1) @ N).new(mask=G.S)
        squares[order] += common_neighbors.dense(between.reduce_columnwise(monoid.plus))
    return squares


def _squares_of(N: Matrix, degree: Any, chosen: np.ndarray) -> Any:
    """The same of some vertices v: Σ P (P - 1) / 2 of row v but for v, where P = N plus.pair N."""
    R = N[chosen, :].new()
    squares = np.zeros_like(degree, shape=(chosen.size,))
    for rows in common_neighbors.row_batches(R, N):
        P = plus_pair["INT64"](R[rows, :].new() @ N).new()
        row, column, p = P.to_coo(copy=False)
        others = p * (column != chosen[rows][row])
        squares[rows] = common_neighbors.dense(
            common_neighbors.pattern(P, others * (p - 1) // 2).reduce_rowwise()
        )
    return squares
