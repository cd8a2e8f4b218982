"""Choose the vertices at which the searches of a comparison start."""

from __future__ import annotations

import numpy as np

from graphla.algorithms import bfs
from graphla.backends import backend
from graphla.sparse import Matrix


def drawn(A: Matrix, degrees: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Draw `count` vertices with an out-edge at random, as int64; distinct if there are enough.

    Vertices that reach the vertex with the most out-edges come first: a search from them covers at
    least what that vertex reaches. In a web or citation graph other searches end soon, so
    their speed would only measure the cost of the start. `degrees` holds the out-degrees, on the
    host.
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(degrees))
    leads = np.zeros(degrees.size, bool)
    reached, _ = bfs(A.T.new(), int(np.argmax(degrees))).levels.to_coo()
    leads[backend(A.device).to_host(reached)] = True
    return np.resize(np.concatenate((order[leads[order]], order[~leads[order]])), count)
