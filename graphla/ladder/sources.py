"""Where the searches of a comparison begin."""

from __future__ import annotations

import numpy as np

from graphla.algorithms import bfs
from graphla.backends import backend
from graphla.sparse import Matrix


def drawn(A: Matrix, degrees: np.ndarray, count: int, seed: int) -> np.ndarray:
    """`count` vertices with an out-edge, at random, distinct where there are as many; int64.

    At first of those that lead to the vertex of most out-edges: from each of them a search reaches
    at least what that one does. In a web or a citation graph others soon end, and their speed would
    tell of the time to begin alone. `degrees` are those of the rows of A, on the host.
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(degrees))
    leads = np.zeros(degrees.size, bool)
    reached, _ = bfs(A.T.new(), int(np.argmax(degrees))).levels.to_coo()
    leads[backend(A.device).to_host(reached)] = True
    return np.resize(np.concatenate((order[leads[order]], order[~leads[order]])), count)
