"""Shortest paths on a GPU. One kernel launch per round relaxes all edges. See edge_paths.cu."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array
from graphla.ladder.card import Counters
from graphla.ladder.edges import lay_out
from graphla.stores import MatrixStore

SIDE = 14
"""log2 of the number of vertices whose distances form a block."""
LEAST = 16
"""Edges are sorted by square only if chunks then hold at least this many edges on average.

A square is a submatrix of the adjacency matrix, with 2^SIDE rows and columns. A chunk is a group of
edges in the same square. Otherwise edges are sorted by row.
"""


class EdgePaths:
    """d = d min (d min.+ A), edge by edge, round by round, where d holds the distances."""

    def __init__(self, a: MatrixStore, dtype: np.dtype[Any], none: Any) -> None:
        self.edges = lay_out(a, SIDE, LEAST, dtype, loops=True)
        self.distances: Array = xp.empty(a.nrows, dtype)
        self._none = none
        self._counters = Counters(3)
        words, both = self.edges.words.dtype, self.edges.both
        self._kernel = load("edge_paths.cu", "edge_paths", NOTHING, dtype, words, both)
        self._shape = self.edges.shape(self._kernel)

    @property
    def held(self) -> int:
        """Memory in bytes for the edges, their weights and the distances."""
        return self.edges.nbytes + self.distances.nbytes

    def begin(self, source: int) -> None:
        """Set the distance of the source to 0, and all other distances to "no distance"."""
        self.distances.fill(self._none)
        self.distances[source] = 0

    def round(self) -> tuple[bool, bool, bool]:
        """Run one round, and return three flags.

        The flags say whether a distance improved, whether a sum was too small for the dtype, and
        whether a sum was too large for the dtype.
        """
        e, told = self.edges, self._counters.next()
        args = (e.words, e.starts, e.corners, e.weights, e.chunks, self.distances, told)
        self._kernel(*self._shape, *args)
        improved, sank, lost = self._counters.read()
        return bool(improved), bool(sank), bool(lost)
