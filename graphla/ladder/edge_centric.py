"""Edge-centric: one kernel launch per level processes all edges. See edge_centric.cu."""

from __future__ import annotations

import numpy as np

from graphla.backends.cuda.launch import rows_of
from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore


class EdgeCentric(CardRung):
    """f⟨¬p⟩ = f A, edge by edge, where f is the dense frontier and p the set of reached
    vertices."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.sources, self.targets = rows_of(a.csr), a.csr.indices
        self.kernel = load("edge_centric.cu", "edge_centric", NOTHING)

    @property
    def held(self) -> int:
        """Memory in bytes for the two ends of each edge and for the level of each vertex."""
        return nbytes(self.sources, self.targets, self.levels)

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        m, depth, goes_on = self.targets.size, 0, True
        while goes_on:
            depth += 1
            args = (self.sources, self.targets, np.int64(m), np.int32(depth), self.levels)
            self.launch(self.kernel, max(m, 1), *args, self.counters.next())
            (goes_on,) = self.counters.read()
        return self.found(depth)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search moves.

        Each launch reads both ends of every edge, and the level of every vertex.
        """
        return depth * (8 * self.targets.size + 4 * self.n)
