"""Greedy coloring, with the same result as a sequential loop over the vertices in order.

The kernels are in coloring.cu. The host does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, WARP, blocks, card, size, tiles
from graphla.backends.cuda.select import keep_flagged, room_for_flags
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import Array, Csr

FREE = int(enumeration("coloring.cu", "Color").FREE)


@dataclass(frozen=True, slots=True)
class ColoringTuning:
    """Tuning constants: how many vertices a warp takes at a time, and how it waits for colors."""

    block: int = 256  # threads per block
    # A warp takes the first `alone` vertices in the order one at a time. In the default order, by
    # descending degree, these vertices have the longest rows.
    alone: int = 1 << 16
    # A warp takes all later vertices in groups of this many.
    together: int = 4
    held: int = 8  # maximum number of uncolored neighbors that a lane holds
    nap: int = 20  # nanoseconds between two reads of a color that a warp waits for


TUNING = ColoringTuning()


def color(a: Csr, numbers: Array) -> Array:
    """Return an int32 array with the color of each vertex.

    The vertices are colored in an order in which numbers[v] descends. Each vertex gets the smallest
    color that none of its neighbors has at that time.
    """
    n, count, tuning = a.nrows, size(a.nvals), current(TUNING)
    order, places = xp.argsort(-numbers).astype(np.int32), xp.empty(n, np.int32)
    places[order] = xp.arange(n, dtype=np.int32)
    # Build a matrix that contains only those neighbors of each vertex that come before the vertex
    # in the order. A warp that waits for the colors of these neighbors then reads less memory.
    none = xp.broadcast_to(xp.zeros(1, np.int8), (a.nvals,))
    before = Csr(n, n, a.indptr, xp.empty(a.nvals, np.int32), none)
    if a.nvals:
        bits, ends = room_for_flags(a.nvals)
        flag = load("coloring.cu", "flag_earlier", NOTHING, a.indptr.dtype, constants=tuning)
        flags = (bits, ends, size(bits.size), count)
        given = (a.indptr, size(n), a.indices, places, before.indices, *flags)
        flag(tiles(bits.size * WARP), BLOCK, *given)
        before = keep_flagged(before, bits, ends)
    colors, taken = xp.full(n, FREE, np.int32), xp.zeros(1, np.uint64)
    if n:
        kernel = load(
            "coloring.cu", "color_in_order", NOTHING, before.indptr.dtype, constants=tuning
        )
        most = card().multiprocessors * kernel.resident(tuning.block)
        grid = min(blocks(n * WARP, tuning.block), most)
        kernel(grid, tuning.block, before.indptr, before.indices, order, size(n), colors, taken)
    return colors[places]
