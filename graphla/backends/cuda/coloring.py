"""Colours and mates of vertices, as a loop over one order would give them. Kernels: coloring.cu.

Waits: none for colours; once a round for mates, for how many vertices are left.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, blocks, card, read, size, tiles, to_numbers
from graphla.backends.cuda.select import WORD, keep_flagged, room_for_flags
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr

FREE, NONE = -1, -2  # as in coloring.cu
WIDE = 1 << 11
"""The longest row that a warp reads alone."""


def coloured(a: Csr, numbers: Array) -> Array:
    """The least colour that no neighbour of a greater number has, int32."""
    n, count = a.nrows, size(a.nvals)
    order, places = xp.argsort(-numbers).astype(np.int32), xp.empty(n, np.int32)
    places[order] = xp.arange(n, dtype=np.int32)
    # Each row keeps only the places of earlier neighbors, so that a waiting warp reads little.
    none = xp.broadcast_to(xp.zeros(1, np.int8), (a.nvals,))
    before = Csr(n, n, a.indptr, xp.empty(a.nvals, np.int32), none)
    if a.nvals:
        bits, ends = room_for_flags(a.nvals)
        flag = load("coloring.cu", "flag_earlier", NOTHING, a.indptr.dtype)
        flags = (bits, ends, size(bits.size), count)
        given = (a.indptr, size(n), a.indices, places, before.indices, *flags)
        flag(tiles(bits.size * WORD), BLOCK, *given)
        before = keep_flagged(before, bits, ends)
    colours, taken = xp.full(n, FREE, np.int32), xp.zeros(1, np.uint64)
    if n:
        kernel = load("coloring.cu", "colour_in_order", NOTHING, before.indptr.dtype)
        grid = min(blocks(n * 32), _resident(kernel))
        kernel(grid, BLOCK, before.indptr, before.indices, order, size(n), colours, taken)
    return colours[places]


def matched(a: Csr, words: Array) -> Array:
    """The mate of each vertex, int32, or below 0."""
    n = a.nrows
    mates, wanted = xp.full(n, FREE, np.int32), xp.full(n, NONE, np.int32)
    if not a.nvals:
        return mates
    values, dtype, kept = read(a.values)
    lengths = xp.diff(a.indptr)
    lists = [
        xp.flatnonzero((lengths > 0) & (lengths <= WIDE)).astype(np.int32),
        xp.flatnonzero(lengths > WIDE).astype(np.int32),
    ]
    counts = [each.size for each in lists]
    offset = a.indptr.dtype
    pair = load("coloring.cu", "pair_up", NOTHING, offset)
    while any(counts):
        for is_wide in (False, True):
            if counts[is_wide]:
                want = load("coloring.cu", "want_dearest", NOTHING, offset, dtype, kept, is_wide)
                threads = counts[is_wide] * (BLOCK if is_wide else 32)
                given = (a.indptr, a.indices, values, words, lists[is_wide])
                want(blocks(threads), BLOCK, *given, size(counts[is_wide]), mates, wanted)
        rest = [xp.empty(sum(counts), np.int32) for _ in counts]
        left = xp.zeros(2, np.int32)
        for each, count in zip(lists, counts, strict=True):
            if count:
                given = (a.indptr, each, size(count), wanted, size(WIDE), mates, *rest, left)
                pair(blocks(count), BLOCK, *given)
        lists, counts = rest, to_numbers(left)
    return mates


def _resident(kernel: Any) -> int:
    """Blocks that the card runs at a time."""
    return card().multiprocessors * kernel.resident(BLOCK)
