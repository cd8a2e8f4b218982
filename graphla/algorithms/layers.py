"""Layers: the vertices by how many edges away they are.

They are the levels of a breadth-first search, turned about: a list of vertices for each level.
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
    """L(d) = {v : level(v) = d}: the vertices one edge away, two edges away, and so on.

    A list of lists of vertices in ascending order: first the sources (one vertex, several, or a
    Vector with an entry at each), then what edges lead to from them, until nothing new is reached.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import layers
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1, nrows=5, ncols=5)
    >>> layers(A, 0)
    [[0], [1, 2], [3]]
    """
    validation.sources(sources, A, "sources")
    vertices, level = bfs(A, sources, parents=False).levels.to_coo()
    # in the order of their levels, and of their numbers in each (by radix, where levels are short)
    narrow = np.min_scalar_type(level.max(initial=0))
    order = np.argsort(level.astype(narrow), kind="stable")
    ends = np.cumsum(np.bincount(level))
    return [part.tolist() for part in np.split(vertices[order], ends[:-1])] if ends.size else []
