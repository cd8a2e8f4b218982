"""Small frontier: one block for level after level of few vertices, told in small_frontier.cu."""

from __future__ import annotations

import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.privatised_queue import PrivatisedQueue
from graphla.stores import MatrixStore

THREADS = 1024
"""Of the one block. A search of a road network takes 3.0 ms with 1,024, 4.2 with 512."""
ROOM = 4096
"""Vertices that its queue holds, of which there are two: 32 KB. With 1,024, less than the broadest
levels of a mesh have, a search there takes half as long again.
"""
FEW = 4096
"""Vertices of a level at which the block takes over: ROOM at most."""
MOST = 1 << 14
"""Levels of one launch: some 0.1 s, after which the host hears Ctrl-C."""


class SmallFrontier(PrivatisedQueue):
    """f⟨¬p⟩ = f A until f is empty, in one launch while f is small."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, each=2)
        offset = self.rows.indptr.dtype
        self.alone = load("small_frontier.cu", "small_frontier", NOTHING, offset, ROOM)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """As if no list left shared memory."""
        return (4 + 2 * self.rows.indptr.itemsize) * vertices + 8 * edges

    def expand(self, count: int, depth: int) -> tuple[int, int]:
        """As many levels as the block can by itself, or one by the privatised queue."""
        if count > FEW:
            return super().expand(count, depth)
        args = (self.rows.indptr, self.rows.indices, self.frontier, np.int64(count))
        args += (np.int32(depth + 1), np.int32(MOST), self.levels, self.following)
        self.launch(self.alone, THREADS, *args, self.counters.next(), block=THREADS)
        found, levels = self.counters.read()
        return found, levels
