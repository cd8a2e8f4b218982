"""Direction-optimised: push or pull, level by level. Told in direction_optimised.cu."""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore

ALPHA, BETA = 4, 24
"""Of the rule: its authors chose 14 and 24, on CPUs. Here a pull lasts as long as the longest row
of what is not reached, so that it must be worth more: by 14, 4 and 2 a search of cnr-2000, where
rows are up to 18,235 long, takes 18.9, 7.8 and 4.3 ms; of kron-20 3.5, 3.6 and 7.6.
"""


class DirectionOptimised(CardRung):
    """f⟨¬p⟩ = f A by rows or by columns, with a dense frontier.

    An undirected graph has one form for both.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, each=3)
        self.rows, self.columns = a.csr, a.csc
        offset = self.rows.indptr.dtype
        self.push = load("vertex_push.cu", "vertex_push", NOTHING, offset)
        self.pull = load("vertex_pull.cu", "vertex_pull", NOTHING, offset)
        self.count = load("direction_optimised.cu", "count_level", NOTHING, offset)
        self.widest = int(xp.diff(self.rows.indptr).max()) if self.n else 0
        """Edges out of the vertex that has most."""

    @property
    def held(self) -> int:
        """Bytes of the forms and the levels."""
        columns = 0 if self.columns is self.rows else nbytes(self.columns)
        return nbytes(self.rows, self.levels) + columns

    def search(self, source: int) -> Search:
        """The levels of all that edges lead to from `source`."""
        self.begin(source)
        depth, count, before, pulls = 0, 1, 0, False
        left = self.rows.nvals  # at least so many edges leave what is not reached
        while count:
            most = count * self.widest  # so many leave the frontier
            left -= most
            if pulls:
                pulls = count >= before or count * BETA >= self.n
            elif most * ALPHA > left:
                count, edges, left = self.counted(depth)
                pulls = count > before and edges * ALPHA > left
            depth, before = depth + 1, count
            kernel, form = (self.pull, self.columns) if pulls else (self.push, self.rows)
            args = (form.indptr, form.indices, np.int64(self.n), np.int32(depth), self.levels)
            self.launch(kernel, self.n, *args, self.counters.next())
            count = self.counters.read()[0]
        return self.found(depth)

    def counted(self, level: int) -> list[int]:
        """Vertices of a level, edges out of them, and those out of vertices not reached."""
        args = (self.levels, self.rows.indptr, np.int64(self.n), np.int32(level))
        self.launch(self.count, self.n, *args, self.counters.next())
        return self.counters.read()
