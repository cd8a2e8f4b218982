"""Triangle counting: how many triples of vertices are joined by three edges.

Each triangle is found once, from its edge between the two vertices of lesser degree (T. Schank and
D. Wagner, *Finding, Counting and Listing All Triangles in Large Graphs*, 2005). The masked product
is that of A. Azad, A. Buluç and J. Gilbert, *Parallel Triangle Counting and Enumeration Using
Matrix Algebra*, 2015.

Invariant: each edge {i, j} of the graph is one entry of F, directed from the vertex that comes
first by (degree, index); so a row of F has at most sqrt(2 · edges) entries, hubs included.
"""

from __future__ import annotations

import numpy as np

from graphla.algorithms import arguments
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select
from semirings.semiring import any_first, any_second, plus_pair


def triangle_count(A: Matrix) -> int:
    """Σ (F plus.pair Fᵀ)⟨F⟩: the number of triangles of an undirected graph.

    An edge is an entry of A, whatever its value; A must be symmetric, and self-loops do not count.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import triangle_count
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
    >>> triangle_count(binary.any(A | A.T))
    1
    """
    A = arguments.adjacency(A)
    arguments.symmetric(A)
    forward = _forward(A)
    # C⟨F⟩ = F plus.pair Fᵀ: for each edge, the third vertices that both its ends point at
    common = plus_pair(forward @ forward.T).new(mask=forward.S)
    return int(common.reduce_scalar(monoid.plus).get(0))


def _forward(A: Matrix) -> Matrix:
    """F = the edges of A that point from the end of lesser rank to the other."""
    n = A.nrows
    rank = np.empty(n, np.int64)
    rank[np.argsort(np.diff(A.to_csr()[0]), kind="stable")] = np.arange(n)
    R = Vector.from_dense(rank).diag()
    # F(i, j) is there where rank(i) < rank(j): (R any.first A) < (A any.second R), kept where true
    before = binary.lt(any_first(R @ A) & any_second(A @ R))
    return select.valueeq(before, True).new()
