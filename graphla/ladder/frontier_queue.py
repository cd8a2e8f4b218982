"""Frontier queue: one launch per level over a list of vertices. See frontier_queue.cu."""

from __future__ import annotations

import cupy as xp
import numpy as np
from cupy.cuda import runtime

from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore


class FrontierQueue(CardRung):
    """f⟨¬p⟩ = f A by rows, where f is the frontier and p the set of reached vertices.

    Two arrays hold the current and the next frontier as lists. The host reads the length of the
    next list, and launches one thread per vertex in it.
    """

    def __init__(self, a: MatrixStore, each: int = 1) -> None:
        super().__init__(a, each)
        self.rows = a.csr
        self.frontier = xp.empty(self.n, xp.int32)
        self.following = xp.empty(self.n, xp.int32)
        self._first = xp.cuda.alloc_pinned_memory(4)
        self.kernel = self.compiled()

    def compiled(self) -> Kernel:
        """Return the kernel that runs a level."""
        return load("frontier_queue.cu", "frontier_queue", NOTHING, self.rows.indptr.dtype)

    @property
    def held(self) -> int:
        """Size of the matrix, the levels, and the lists of both frontiers, in bytes."""
        return nbytes(self.rows, self.levels, self.frontier, self.following)

    def moves(self, vertices: int, edges: int, depth: int) -> int | None:
        """Return the minimum number of bytes that a search moves.

        For each vertex, a list entry is written and read, its level is written, and two offsets are
        read. For each edge, the index and the level of a neighbor are read.
        """
        return (12 + 2 * self.rows.indptr.itemsize) * vertices + 8 * edges

    def begin(self, source: int) -> None:
        """Set the frontier to the source, at level 0."""
        super().begin(source)
        np.frombuffer(self._first, np.int32, 1)[0] = source
        stream, place = xp.cuda.get_current_stream().ptr, self.frontier.data.ptr
        runtime.memcpyAsync(place, self._first.ptr, 4, runtime.memcpyHostToDevice, stream)

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        count, depth = 1, 0
        while count:
            count, levels = self.expand(count, depth)
            depth += levels
            self.frontier, self.following = self.following, self.frontier
        return self.found(depth)

    def expand(self, count: int, depth: int) -> tuple[int, int]:
        """Expand the `count` vertices of the frontier, whose level is `depth`; list the newly found
        vertices in `following`.

        Return the number of vertices listed, and the number of levels processed.
        """
        args = (self.rows.indptr, self.rows.indices, self.frontier, np.int64(count))
        args += (np.int32(depth + 1), self.levels, self.following, self.counters.next())
        self.launch(self.kernel, count, *args)
        return self.counters.read()[0], 1
