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

from graphla.backends.cuda.launch import BLOCK, WIDEST_BLOCK, blocks, card, number, size
from graphla.backends.cuda.streams import PER_THREAD
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, remember


@dataclass(frozen=True)
class HotColumnsTuning:
    """When the values of hot columns are kept in shared memory, and of how many."""

    slots: int = 1 << 15
    """Number of columns, on a card that has room for them: a power of two."""
    entries: int = 1 << 26
    """Entries of the smallest product whose values are worth gathering."""
    samples: int = 1 << 21
    """Entries of A that are counted."""
    share: float = 1 / 8
    """Share of the entries that hot columns must have, to be worth a test of each entry."""


TUNING = HotColumnsTuning()


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
    tuning = current(TUNING)
    if a.nvals < tuning.entries or a.ncols > a.nvals:
        return None
    each = values.dtype.itemsize + 2
    bits = min(tuning.slots, (card().shared - 8192) // each).bit_length() - 1
    if a.ncols < 4 << bits or a.ncols > 1 << (bits + 16):
        return None
    # Memory is in the order of the stream that it was taken on: each stream has tags of its own.
    stream = xp.cuda.get_current_stream().ptr
    place = (bits, stream, get_ident() if stream == PER_THREAD else 0)
    return remember(a, ("hubs", each, *place), lambda: _find_hubs(a, bits, each << bits))


def _find_hubs(a: Csr, bits: int, shared: int) -> Hubs | None:
    """The tags of 1 << bits slots, if their columns have the share of entries that makes it pay."""
    slots, samples = 1 << bits, min(current(TUNING).samples, a.nvals)
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
    if number(held[0]) < current(TUNING).share * samples:
        return None
    return Hubs(tags, bits, shared, card().multiprocessors, WIDEST_BLOCK)
