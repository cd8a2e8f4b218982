"""Direction-optimised: push or pull, level by level. Told in direction_optimised.cu."""

from __future__ import annotations

import numpy as np

from graphla.forms import MatrixForms
from graphla.kernels.cuda import NOTHING, Kernel, load
from graphla.ladder.card import nbytes
from graphla.ladder.frontier_queue import FrontierQueue
from graphla.ladder.rung import Search

FILE = "direction_optimised.cu"

ALPHA, BETA = 14, 24
"""Of the rule, as its authors chose them."""


class DirectionOptimised(FrontierQueue):
    """f⟨¬p⟩ = f A by rows with f a list, or by columns with f dense.

    An undirected graph has one form for both.
    """

    def __init__(self, a: MatrixForms) -> None:
        super().__init__(a, each=2)
        self.columns = a.csc
        self.pull = load(FILE, "pull_and_count", NOTHING, self.columns.indptr.dtype)
        self.list = load(FILE, "list_level", NOTHING)

    def compiled(self) -> Kernel:
        """The kernel of a level by push."""
        return load(FILE, "push_and_count", NOTHING, self.rows.indptr.dtype)

    @property
    def held(self) -> int:
        """Bytes of the forms, the levels and both lists."""
        columns = 0 if self.columns is self.rows else nbytes(self.columns)
        return super().held + columns

    def moves(self, vertices: int, edges: int, depth: int) -> int | None:
        """A pull ends where it finds a neighbour."""
        return None

    def search(self, source: int) -> Search:
        """The levels of all that edges lead to from `source`."""
        self.begin(source)
        n = np.int64(self.n)
        depth, count, edges, before, pulls = 0, 1, 0, 0, False
        unexplored = self.rows.nvals  # edges out of vertices not reached (and of the source)
        while count:
            unexplored -= edges
            if not pulls:
                pulls = count > before and edges * ALPHA > unexplored
            elif count < before and count * BETA < self.n:
                self.launch(
                    self.list,
                    self.n,
                    *(self.levels, n, np.int32(depth), self.frontier),
                    self.counters.next(),
                )
                pulls = False
            depth, before = depth + 1, count
            place, level = self.counters.next(), np.int32(depth)
            if pulls:
                into = self.columns.indptr, self.columns.indices
                args = (*into, self.rows.indptr, n, level, self.levels, place)
                self.launch(self.pull, self.n, *args)
            else:
                out = self.rows.indptr, self.rows.indices
                args = (*out, self.frontier, np.int64(count), level, self.levels)
                self.launch(self.kernel, count, *args, self.following, place)
                self.frontier, self.following = self.following, self.frontier
            count, edges = self.counters.read()
        return self.found(depth)
