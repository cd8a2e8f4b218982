"""Reachability: which vertices a path leads to, whatever its length.

It is the least r with r = r ∨ rA and r true at the sources: a closure over truth values.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms import arguments
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings.semiring import lor_first


def reachable(
    A: Matrix, source: Any, *, limit: int | None = None, mask: Mask | Vector | None = None
) -> Vector:
    """r = r lor.first A, until it rests: true at each vertex that the source reaches, itself too.

    An edge i -> j is an entry A(i, j), whatever its value. `source` is a vertex, or several, as in
    `bfs`; `limit` is the greatest number of edges; vertices off the `mask` are not passed.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import reachable
    >>> A = Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
    >>> reachable(A, 1).to_dict()
    {1: True, 2: True}
    """
    A = arguments.adjacency(A)
    # r(s) = true
    start = arguments.starts(source, A, True, "BOOL")
    # r = r ⊕ rA ⊕ rA² ...
    return closure(start, A, lor_first, mask=mask, limit=limit)
