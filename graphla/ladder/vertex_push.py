"""Vertex push: one launch per level over all vertices. See vertex_push.cu."""

from __future__ import annotations

import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore


class VertexPush(CardRung):
    """f⟨¬p⟩ = f A by rows, where f is the dense frontier and p the set of reached vertices."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.rows = a.csr
        self.kernel = load("vertex_push.cu", "vertex_push", NOTHING, self.rows.indptr.dtype)

    @property
    def held(self) -> int:
        """Size of the rows and the levels, in bytes."""
        return nbytes(self.rows, self.levels)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search reads and writes.

        Each step of the search reads the levels of all vertices. For each reached vertex, the
        search reads the two offsets of its row and writes its level. For each edge, it reads the
        index of the neighbor and the neighbor's level.
        """
        offsets = 2 * self.rows.indptr.itemsize
        return depth * 4 * self.n + (4 + offsets) * vertices + 8 * edges

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        n, depth, found = np.int64(self.n), 0, 1
        while found:
            depth += 1
            args = (self.rows.indptr, self.rows.indices, n, np.int32(depth), self.levels)
            self.launch(self.kernel, self.n, *args, self.counters.next())
            (found,) = self.counters.read()
        return self.found(depth)
