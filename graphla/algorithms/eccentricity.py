"""Eccentricity: how far away the farthest vertex is."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments
from graphla.sparse import Matrix, Vector
from graphla.traversal import many


@arguments.beside_its_graph
def eccentricity(A: Matrix, vertices: Any = None) -> Vector:
    """e(v) = max over u of the edges on a shortest path from v to u.

    A vertex from which some vertex cannot be reached has no entry: its eccentricity is infinite.
    The least entry is the graph's radius, the greatest, where there are n, its diameter.
    `vertices`: only for these.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import eccentricity
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> eccentricity(A).to_dict()
    {0: 2, 1: 1, 2: 2}
    """
    A = arguments.adjacency(A)
    chosen = np.unique(arguments.vertices("vertices", vertices, A.nrows))
    found = many.reach(A, chosen)
    reaches_all = found.count == A.nrows
    return Vector.from_coo(
        chosen[reaches_all], found.farthest[reaches_all], size=A.nrows, dtype="INT64"
    )
