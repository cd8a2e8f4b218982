"""Layers: the vertices grouped by their distance, in edges, from the sources.

The layers are the levels of a breadth-first search, each as a list of vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bfs import bfs
from graphla.sparse import Matrix


@graph_algorithm(vertices=("sources",))
def layers(A: Matrix, sources: Any) -> list[list[int]]:
    """``L(d) = {v : level(v) = d}``.

    List the vertices by their distance, in edges, from the sources.

    Takes O(n + m) time. NetworkX calls this `bfs_layers`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        sources: one vertex; several vertices as a list, an array or a set; or a Vector with an
            entry at each source.

    Returns:
        list[list[int]]: for each distance d = 0, 1, ... the list of vertices d edges away, in
            ascending order; labels if A is a Graph. Unreached vertices are omitted.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import layers
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1, nrows=5, ncols=5)
        >>> layers(A, 0)
        [[0], [1, 2], [3]]
    """
    validation.sources(sources, A, "sources")
    vertices, level = bfs(A, sources, parents=False).levels.to_coo()
    # Sort by level, then by vertex. For integers of at most 16 bits, NumPy uses a fast radix sort.
    narrow = np.min_scalar_type(level.max(initial=0))
    order = np.argsort(level.astype(narrow), kind="stable")
    ends = np.cumsum(np.bincount(level))
    return [part.tolist() for part in np.split(vertices[order], ends[:-1])] if ends.size else []
