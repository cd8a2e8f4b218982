"""Breadth-first search that tests all edges in each level, using one kernel launch per level.

The file edge_tuned.cu explains the technique and the compact layout of the edges.
"""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array
from graphla.ladder.card import CardRung
from graphla.ladder.edges import lay_out
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore

LAST = 254
"""The largest level that fits in a byte (255 means unreached)."""
SIDE = 16
"""log2 of the number of rows and of columns in a square of the matrix."""
LEAST = 16
"""Edges are sorted by squares of the matrix and divided into chunks. If the chunks would have fewer
edges than this on average, the edges are sorted by row instead."""


class EdgeTuned(CardRung):
    """f⟨¬p⟩ = f A, edge by edge, where f is the frontier and p the set of reached vertices.

    The edges are sorted by squares of the matrix.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, dtype=xp.uint8)
        self.edges = lay_out(a, SIDE, LEAST)
        self.narrow, self.wide = self.levels, None
        self._keep(self.narrow)

    @property
    def held(self) -> int:
        """The memory for the edges, the one-byte levels and any 32-bit levels, in bytes."""
        wide = 0 if self.wide is None else self.wide.nbytes
        return self.edges.nbytes + self.narrow.nbytes + wide

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self._keep(self.narrow)
        self.begin(source)
        edges, depth, goes_on = self.edges, 0, True
        fixed = edges.words, edges.starts, edges.corners, edges.chunks
        while goes_on:
            depth += 1
            if depth == LAST + 1:
                self._widen()
            args = (*fixed, np.int32(depth), self.levels, self.counters.next())
            self._kernel(*self._shape, *args)
            self.launches += 1
            (goes_on,) = self.counters.read()
        return self.found(depth)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search moves.

        Each step reads every stored edge once, and the level of every vertex once.
        """
        narrow = min(depth, LAST)
        levels = narrow * self.n + (depth - narrow) * 4 * self.n
        return depth * self.edges.words.nbytes + levels

    def _keep(self, levels: Array) -> None:
        """Store the levels in the given array from now on, and load the kernel for its dtype."""
        spec = levels.dtype, self.edges.words.dtype, self.edges.both
        self.levels = levels
        self._kernel = load("edge_tuned.cu", "edge_tuned", NOTHING, *spec)
        self._shape = self.edges.shape(self._kernel)

    def _widen(self) -> None:
        if self.wide is None:
            self.wide = xp.empty(self.n, xp.int32)
        kernel = load("edge_tuned.cu", "widen_levels", NOTHING)
        self.launch(kernel, self.n, self.narrow, np.int64(self.n), self.wide)
        self._keep(self.wide)
