"""Hierarchical queue: queues of groups of lanes, of blocks, and of all, told in its .cu."""

from __future__ import annotations

from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.ladder.frontier_queue import FrontierQueue

GROUPS = 4
"""Of the threads of a block, by their index modulo this, which divides 256. With 1, 2, 4 or 8 a
search takes the same within 4 % on an H200, which adds up the lanes that meet at a counter.
"""
ROOM = 512
"""Vertices that a group's queue holds."""
BLOCK_ROOM = 2048
"""Vertices that a block's queue holds: 16 KB with those of the groups."""


class HierarchicalQueue(FrontierQueue):
    """f⟨¬p⟩ = f A by rows, what is found gathered in three stages."""

    def compiled(self) -> Kernel:
        """The kernel of a level."""
        sizes = self.rows.indptr.dtype, GROUPS, ROOM, BLOCK_ROOM
        return load("hierarchical_queue.cu", "hierarchical_queue", NOTHING, *sizes)
