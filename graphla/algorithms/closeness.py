"""Closeness: how near a vertex is to all that can reach it (Freeman; Wasserman and Faust).

As in NetworkX, distances are those of paths that end at the vertex, and are counted in edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments
from graphla.sparse import Matrix, Vector
from graphla.traversal import many


@arguments.beside_its_graph
def closeness(A: Matrix, vertices: Any = None, *, wf_improved: bool = True) -> Vector:
    """c(v) = (r - 1) / Σ d(u, v) over the r vertices u that reach v; 0 where none but v does.

    With `wf_improved` it is scaled by (r - 1) / (n - 1), the part of the graph that reaches v, so
    that vertices of small components do not come out on top. `vertices`: only for these.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import closeness
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> closeness(A).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    """
    A = arguments.adjacency(A)
    n = A.nrows
    chosen = np.unique(arguments.vertices("vertices", vertices, n))
    found = many.reach(A.T.new() if isinstance(A, Matrix) else A, chosen)
    others = (found.count - 1).astype(float)
    values = others / np.maximum(found.total, 1)
    if wf_improved:
        values *= others / max(n - 1, 1)
    return Vector.from_coo(chosen, values, size=n, dtype="FP64")
