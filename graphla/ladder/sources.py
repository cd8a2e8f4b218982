"""Choose the vertices at which the searches of a comparison start."""

from __future__ import annotations

import numpy as np

from graphla.algorithms import bfs
from graphla.backends import backend
from graphla.sparse import Matrix


def drawn(A: Matrix, degrees: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return `count` random vertices that have an out-edge, as an int64 array.

    The vertices are distinct if there are at least `count` vertices with an out-edge.

    Let h be the vertex with the most out-edges. Vertices that reach h come first, because a search
    from such a vertex also reaches every vertex that h reaches. In a web or citation graph,
    searches from other vertices soon end, so their speed would only measure the fixed cost of a
    search. `degrees` contains the out-degrees, as a host array.
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(degrees))
    leads = np.zeros(degrees.size, bool)
    reached, _ = bfs(A.T.new(), int(np.argmax(degrees))).levels.to_coo()
    leads[backend(A.device).to_host(reached)] = True
    return np.resize(np.concatenate((order[leads[order]], order[~leads[order]])), count)
