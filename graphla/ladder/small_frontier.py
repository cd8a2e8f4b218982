"""Small frontier: one block runs consecutive levels with few vertices. See small_frontier.cu."""

from __future__ import annotations

import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.privatised_queue import PrivatisedQueue
from graphla.stores import MatrixStore

THREADS = 1024
"""Threads of the block. A search of a road network takes 3.0 ms with 1,024, and 4.2 ms with 512."""
ROOM = 4096
"""Capacity of each of the block's two queues, in vertices: 32 KB in total. With a capacity of
1,024, which is too small for the broadest levels of a mesh, a search of the mesh takes 1.5 times as
long.
"""
FEW = 4096
"""At a level with at most this many vertices, a single block takes over from the whole GPU.

The value must not exceed ROOM.
"""
MOST = 1 << 14
"""Maximum number of levels per launch.

A launch with this number of levels takes about 0.1 s. Between two launches, the host can handle
Ctrl-C.
"""


class SmallFrontier(PrivatisedQueue):
    """f⟨¬p⟩ = f A until f is empty; f is the frontier, and p the set of reached vertices.

    One launch processes successive levels as long as f is small.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, each=2)
        offset = self.rows.indptr.dtype
        self.alone = load("small_frontier.cu", "small_frontier", NOTHING, offset, ROOM)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search moves.

        This minimum assumes that the queues of all levels fit in shared memory.
        """
        return (4 + 2 * self.rows.indptr.itemsize) * vertices + 8 * edges

    def expand(self, count: int, depth: int) -> tuple[int, int]:
        """Process one or more levels. Return the size of the new frontier and the number of levels.

        If the frontier is small, one block processes as many levels as it can. Otherwise the whole
        GPU processes one level with a privatized queue.
        """
        if count > FEW:
            return super().expand(count, depth)
        args = (self.rows.indptr, self.rows.indices, self.frontier, np.int64(count))
        args += (np.int32(depth + 1), np.int32(MOST), self.levels, self.following)
        self.launch(self.alone, THREADS, *args, self.counters.next(), block=THREADS)
        found, levels = self.counters.read()
        return found, levels
