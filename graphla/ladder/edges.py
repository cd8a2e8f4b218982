"""The edges of a graph in the layout that the tuned kernels read.

See edge_tuned.cu and edges.cuh for the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import WARP, card, rows_of
from graphla.compilers.cuda import Kernel
from graphla.compilers.declarations import enumeration
from graphla.formats import Array
from graphla.stores import MatrixStore

LANE_BYTES, BLOCK = enumeration("edges.cuh", "EdgeShape")
CHUNK = LANE_BYTES * WARP
"""Number of bytes of edges that a warp reads at once."""
FEW_THREADS = 256
"""Number of threads per block for small graphs: larger blocks would leave half of the GPU idle."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a graph, in one of two layouts.

    In the first layout the matrix is divided into squares, the edges are sorted by square, and an
    edge is a 32-bit word with its position in the square. In the second layout the edges are sorted
    by row, and an edge is a 64-bit word with its row and column. The edges are divided into chunks.
    """

    # One uint32 or uint64 per edge: the upper half is the source, the lower half the target.
    words: Array
    starts: Array  # int64[chunks + 1]
    corners: Array  # uint64[chunks]: for each chunk, the first column and row of its square
    both: bool  # whether a stored edge stands for both directions of the edge
    weights: Array | None  # the weight of each edge, in the same order as `words`

    @property
    def count(self) -> int:
        """Number of stored edges."""
        return self.words.size

    @property
    def chunks(self) -> np.int64:
        """The number of chunks, as an integer of the type that the kernels expect."""
        return np.int64(self.corners.size)

    @property
    def nbytes(self) -> int:
        """Size of all arrays, in bytes."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.words.nbytes + self.starts.nbytes + self.corners.nbytes + weights

    def shape(self, kernel: Kernel) -> tuple[int, int]:
        """Return the number of blocks of a launch, and the number of threads per block.

        The GPU can hold all these blocks at the same time. Each block processes consecutive chunks
        of edges. There are at most as many blocks as are needed to give each chunk its own warp.
        """
        processors = card().multiprocessors
        chunks = self.corners.size
        block = FEW_THREADS if 2 * chunks < processors * (BLOCK // WARP) else BLOCK
        most = kernel.resident(block) * processors
        return max(1, min(most, -(-chunks // (block // WARP)))), block


def lay_out(
    a: MatrixStore, side: int, least: float, weights: Any = None, loops: bool = False
) -> Edges:
    """Return the edges of a matrix in the layout of the tuned kernels.

    Each undirected edge is stored only once. The matrix is divided into squares of 2^side rows and
    columns, where side <= 16. The edges are sorted by square, and a chunk consists of edges of one
    square. If the chunks would have fewer than `least` edges on average, the edges are sorted by
    row instead. `weights` is the dtype of the weights, or None to store no weights. Self-loops are
    stored only if `loops` is True.
    """
    sources, targets = rows_of(a.csr), a.csr.indices
    keep = sources < targets if a.is_symmetric else sources != targets
    if loops:
        keep |= sources == targets
    values = None
    if weights is not None:
        values = xp.ascontiguousarray(a.csr.values[keep].astype(weights))
    ends = sources[keep], targets[keep], values, a.is_symmetric
    found = _in_squares(a.nrows, side, *ends)
    if a.nrows > 1 << side and found.corners.size * least > found.count:
        return _by_rows(*ends)
    return found


def _by_rows(sources: Array, targets: Array, values: Array | None, both: bool) -> Edges:
    words = (sources.astype(xp.uint64) << 32) | targets.astype(xp.uint64)
    each = CHUNK // words.itemsize
    starts = xp.arange(0, words.size + each, each, dtype=xp.int64)
    starts[-1] = words.size
    return Edges(words, starts, xp.zeros(starts.size - 1, xp.uint64), both, values)


def _in_squares(
    n: int, side: int, sources: Array, targets: Array, values: Array | None, both: bool
) -> Edges:
    mask, blocks = (1 << side) - 1, -(-n >> side)
    keys = (targets >> side).astype(xp.int64)
    keys *= blocks
    keys += sources >> side
    keys <<= side
    keys |= sources & mask
    keys <<= side
    keys |= targets & mask
    if values is None:
        keys.sort()
    else:
        order = keys.argsort()
        keys, values = keys[order], values[order]
    words = ((((keys >> side) & mask) << 16) | (keys & mask)).astype(xp.uint32)
    keys >>= 2 * side
    starts, squares = _chunks(keys, CHUNK // words.itemsize)
    corners = ((squares // blocks) << (32 + side)) | ((squares % blocks) << side)
    return Edges(words, starts, corners.astype(xp.uint64), both, values)


def _chunks(squares: Array, each: int) -> tuple[Array, Array]:
    """Divide the edges into chunks of at most `each` edges of the same square.

    `squares` contains the square of each edge, in ascending order. Return two arrays. The first
    array contains the position of the first edge of each chunk, followed by the total number of
    edges. The second array contains the square of each chunk.
    """
    m = squares.size
    if not m:
        return xp.zeros(1, xp.int64), squares
    first = xp.concatenate((xp.zeros(1, xp.int64), xp.flatnonzero(squares[1:] != squares[:-1]) + 1))
    ends = xp.concatenate((first[1:], xp.full(1, m, xp.int64)))
    counts = (ends - first + (each - 1)) // each
    through = counts.cumsum()
    total = int(through[-1])
    which = xp.searchsorted(through, xp.arange(total), side="right")
    starts = first[which] + each * (xp.arange(total) - (through - counts)[which])
    return xp.concatenate((starts, xp.full(1, m, xp.int64))), squares[first[which]]
