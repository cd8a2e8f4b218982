"""Vertex pull: one launch per level over all vertices. See vertex_pull.cu."""

from __future__ import annotations

import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore


class VertexPull(CardRung):
    """f⟨¬p⟩ = f A, where f is the frontier and p contains the vertices reached so far.

    Each thread reads one column of A. A thread stops at the first neighbor that is in the frontier.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.columns = a.csc
        self.kernel = load("vertex_pull.cu", "vertex_pull", NOTHING, self.columns.indptr.dtype)

    @property
    def held(self) -> int:
        """Total size of the CSC arrays of A and of the levels, in bytes."""
        return nbytes(self.columns, self.levels)

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        n, depth, found = np.int64(self.n), 0, 1
        while found:
            depth += 1
            args = (self.columns.indptr, self.columns.indices, n, np.int32(depth), self.levels)
            self.launch(self.kernel, self.n, *args, self.counters.next())
            (found,) = self.counters.read()
        return self.found(depth)
