"""Sequential: breadth-first search with a queue, on one thread of the CPU.

Algebra  With frontier f and reached vertices p: f⟨¬p⟩ = f A over the Boolean semiring: a sparse
         matrix times a sparse vector, computed serially.
A level  reads the offsets and edges of the vertices in the frontier, and the levels of their
         neighbors. Two arrays hold the last and the next level; they are swapped after each
         level.
Wins     on small and deep graphs, where starting a GPU's threads takes longer than their work.
Source   E. F. Moore, The shortest path through a maze, 1959; C. Y. Lee, 1961.
"""

from __future__ import annotations

import numpy as np

from graphla.backends import backend
from graphla.compilers import numba
from graphla.compilers.numba_ops import nothing
from graphla.ladder.rung import Rung, Search
from graphla.settings import config
from graphla.stores import MatrixStore


class Sequential(Rung):
    """A search compiled by Numba if it is installed, otherwise in plain Python."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        csr, do = a.csr, backend(a.device)
        self._indptr, self._indices = do.to_host(csr.indptr), do.to_host(csr.indices)
        self._levels = np.empty(self.n, np.int32)
        self._queues = np.empty(self.n, np.int32), np.empty(self.n, np.int32)
        arrays = (self._indptr, self._indices, self._levels, *self._queues)
        self._arrays = arrays
        self._loop = (
            numba.load("sequential.search", (nothing,), arrays)
            if config.compiled and numba.is_installed()
            else None
        )
        self.warms_up = self._loop is not None

    @property
    def held(self) -> int:
        """Size of the rows, the levels and both queues, in bytes."""
        return sum(array.nbytes for array in self._arrays)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search reads and writes.

        Per reached vertex, the search moves 4 bytes for the level, 4 bytes each for writing and for
        reading the vertex number in a queue, and the two offsets of its row. Per edge, it moves 4
        bytes each for the index of the neighbor and for the neighbor's level.
        """
        return (12 + 2 * self._indptr.itemsize) * vertices + 8 * edges

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        if self._loop is not None:
            return Search(self._levels, int(self._loop(*self._arrays, source)))
        return Search(self._levels, self._by_python(source))

    def _by_python(self, source: int) -> int:
        indptr, indices = self._indptr.tolist(), self._indices
        levels = [-1] * self.n
        levels[source] = 0
        depth, frontier = 0, [source]
        while frontier:
            self.look_at_clock()
            depth += 1
            following = []
            for v in frontier:
                for w in indices[indptr[v] : indptr[v + 1]].tolist():
                    if levels[w] < 0:
                        levels[w] = depth
                        following.append(w)
            frontier = following
        self._levels[:] = levels
        return depth
