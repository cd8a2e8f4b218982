"""Direction-optimized: push or pull, chosen at each level. See direction_optimised.cu."""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore

ALPHA, BETA = 4, 24
"""Parameters of the rule that chooses between push and pull. Pulls begin when the frontier grows
and ALPHA times the number of edges out of it exceeds the number of edges out of unreached vertices.
Pulls end when the frontier shrinks and contains fewer than 1 / BETA of all vertices. The authors of
the rule chose 14 and 24, for CPUs. On a GPU a pull takes as long as the longest row of an unreached
vertex, so pulls should begin later. With ALPHA = 14, 4 and 2, a search of cnr-2000 (rows of up to
18,235 entries) takes 18.9, 7.8 and 4.3 ms respectively, and a search of kron-20 takes 3.5, 3.6 and
7.6 ms.
"""


class DirectionOptimised(CardRung):
    """f⟨¬p⟩ = f A, where f is the frontier and p the set of reached vertices.

    Each level is either a push, which reads the rows of A, or a pull, which reads its columns. The
    frontier f is dense. An undirected graph needs only one matrix, because its rows are also its
    columns.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, each=3)
        self.rows, self.columns = a.csr, a.csc
        offset = self.rows.indptr.dtype
        self.push = load("vertex_push.cu", "vertex_push", NOTHING, offset)
        self.pull = load("vertex_pull.cu", "vertex_pull", NOTHING, offset)
        self.count = load("direction_optimised.cu", "count_level", NOTHING, offset)
        self.widest = int(xp.diff(self.rows.indptr).max()) if self.n else 0
        """Maximum out-degree of a vertex."""

    @property
    def held(self) -> int:
        """Total size of the CSR and CSC arrays of A and of the levels, in bytes."""
        columns = 0 if self.columns is self.rows else nbytes(self.columns)
        return nbytes(self.rows, self.levels) + columns

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        depth, count, before, pulls = 0, 1, 0, False
        left = self.rows.nvals  # lower bound on the number of edges out of unreached vertices
        while count:
            most = count * self.widest  # upper bound on the number of edges out of the frontier
            left -= most
            if pulls:
                pulls = count >= before or count * BETA >= self.n
            elif most * ALPHA > left:
                count, edges, left = self.measure_level(depth)
                pulls = count > before and edges * ALPHA > left
            depth, before = depth + 1, count
            kernel, form = (self.pull, self.columns) if pulls else (self.push, self.rows)
            args = (form.indptr, form.indices, np.int64(self.n), np.int32(depth), self.levels)
            self.launch(kernel, self.n, *args, self.counters.next())
            count = self.counters.read()[0]
        return self.found(depth)

    def measure_level(self, level: int) -> list[int]:
        """Count the vertices of a level, the edges out of them, and the edges out of unreached
        vertices."""
        args = (self.levels, self.rows.indptr, np.int64(self.n), np.int32(level))
        self.launch(self.count, self.n, *args, self.counters.next())
        return self.counters.read()
