"""The columns of a matrix that most of its entries lie in: a pull keeps u's values of them at hand.

In a skewed graph a few thousand columns hold a third of all entries. A product that reads every
entry is bound by what the L2 cache serves: it serves a third less if each block keeps these values
in shared memory. Kernels: hot_columns.cu. A sample of the entries says which they are.
Waits: once for each matrix (and stream) that is large, for how much of the sample they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import get_ident

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, blocks, card, number, size
from graphla.backends.cuda.streams import PER_THREAD
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, remember

WIDEST = 1 << 15
"""Slots for hubs, on a card that has room for them."""
ENTRIES = 1 << 26
"""In a product of fewer the values are not worth gathering."""
SAMPLES = 1 << 21
SHARE = 1 / 8
"""The share of entries that hubs must have, to be worth the look at each other entry."""
THREADS = 1024


@dataclass(frozen=True, slots=True)
class Hubs:
    """Who stands in which slot, and how a kernel that keeps their values is launched."""

    tags: Array
    bits: int
    shared: int
    multiprocessors: int
    block: int


def hubs_of(a: Csr, values: Array) -> Hubs | None:
    """The hubs of a matrix for such values of u, where it pays to keep those at hand."""
    if a.nvals < ENTRIES or a.ncols > a.nvals:
        return None
    each = values.dtype.itemsize + 2
    bits = min(WIDEST, (card().shared - 8192) // each).bit_length() - 1
    if a.ncols < 4 << bits or a.ncols > 1 << (bits + 16):
        return None
    # Memory is in the order of the stream that it was taken on: each stream has tags of its own.
    stream = xp.cuda.get_current_stream().ptr
    place = (bits, stream, get_ident() if stream == PER_THREAD else 0)
    return remember(a, ("hubs", each, *place), lambda: _find_hubs(a, bits, each << bits))


def _find_hubs(a: Csr, bits: int, shared: int) -> Hubs | None:
    """The tags of 1 << bits slots, if their columns have the share of entries that makes it pay."""
    slots, samples = 1 << bits, min(SAMPLES, a.nvals)
    counts, best = xp.zeros(a.ncols, np.uint32), xp.zeros(slots, np.uint64)
    tags, held = xp.empty(slots, np.uint16), xp.zeros(1, np.uint64)
    load("hot_columns.cu", "sample_columns", NOTHING)(
        blocks(samples), BLOCK, a.indices, size(a.nvals), size(samples), counts
    )
    load("hot_columns.cu", "rank_columns", NOTHING)(
        blocks(a.ncols), BLOCK, counts, size(a.ncols), np.int32(bits), best
    )
    load("hot_columns.cu", "name_hubs", NOTHING)(
        blocks(slots), BLOCK, best, size(slots), tags, held
    )
    if number(held[0]) < SHARE * samples:
        return None
    return Hubs(tags, bits, shared, card().multiprocessors, THREADS)
