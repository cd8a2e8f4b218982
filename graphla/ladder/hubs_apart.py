"""Separate hubs: one queue for vertices, and one queue for pieces of hubs' rows. See
hubs_apart.cu."""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.compilers.cuda import NOTHING, load
from graphla.ladder.card import CardRung, nbytes
from graphla.ladder.rung import Search
from graphla.stores import MatrixStore

FILE = "hubs_apart.cu"

HUB, PIECE = 64, 256
"""Minimum degree of a hub, and number of edges in a piece, which one warp reads. With these values
a search of kron-20 takes 0.78 ms. It takes 0.83 ms with 32 and 32, 0.84 ms with 128 and 128, 0.93
ms with 256 and 1024, 1.5 ms with 1024 and 1024, and 32 ms if no vertex counts as a hub.
"""

WARP = 32


class HubsApart(CardRung):
    """f⟨¬p⟩ = f A by rows of A, where f is the frontier and p the set of reached vertices.

    The frontier consists of two lists. One list contains the vertices of low degree. The other list
    contains pieces of the rows of hubs, which are the vertices of high degree.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a, each=2)
        self.rows = a.csr
        # Each vertex is queued once. The row of a hub is cut into pieces of PIECE edges, and at
        # most one shorter piece. There are at most nvals // HUB hubs.
        room = self.rows.nvals // PIECE + self.rows.nvals // HUB + 1
        self.vertices = [xp.empty(self.n, xp.int32) for _ in range(2)]
        self.pieces = [xp.empty(room, xp.uint64) for _ in range(2)]
        constants = self.rows.indptr.dtype, HUB, PIECE
        self.first = load(FILE, "hubs_begin", NOTHING, *constants)
        self.kernel = load(FILE, "hubs_apart", NOTHING, *constants)

    @property
    def held(self) -> int:
        """Total size in bytes of the rows, the levels, two vertex queues and two piece queues."""
        return nbytes(self.rows, self.levels, *self.vertices, *self.pieces)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search reads and writes.

        Per reached vertex, the search moves 4 bytes for the level, and 4 bytes each for writing and
        for reading the vertex number in a queue. The two row offsets of the vertex are read twice:
        first for its degree, when the vertex is queued, and later to find its edges. Per edge, the
        search moves 4 bytes each for the index of the neighbor and for the neighbor's level.
        """
        return (12 + 4 * self.rows.indptr.itemsize) * vertices + 8 * edges

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        indptr, indices = self.rows.indptr, self.rows.indices
        queues = list(zip(self.vertices, self.pieces, strict=True))
        start = indptr, np.int32(source), *queues[0], self.counters.next()
        self.launch(self.first, 1, *start, block=WARP)
        depth, (count, pieces) = 0, self.counters.read()
        while count or pieces:
            depth += 1
            of, following = queues
            args = (indptr, indices, of[0], np.int64(count), of[1], np.int64(pieces))
            args += (np.int32(depth), self.levels, *following, self.counters.next())
            self.launch(self.kernel, count + WARP * pieces, *args)
            queues.reverse()
            count, pieces = self.counters.read()
        return self.found(depth)
