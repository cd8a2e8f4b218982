"""Find the hubs of a matrix A, the columns with the most entries, to speed up products A u.

In a skewed graph a few thousand columns hold a third of all entries. A product that reads every
entry is limited by the throughput of the L2 cache. If each block keeps the elements of u at these
columns in shared memory, the product reads a third fewer elements of u from the L2 cache. The
columns are found from a sample of the entries. Kernels: hot_columns.cu.

The host waits once per large matrix and stream, for the number of sampled entries in the hubs.
Without enough of them, the product does not use hubs.
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
    """Parameters that choose the hubs of a matrix A.

    In a product A u, the elements of u at the hubs are kept in shared memory.
    """

    slots: int = 1 << 15
    """Maximum number of hubs, a power of two; fewer are used if shared memory has less room."""
    entries: int = 1 << 26
    """Minimum number of entries of A for which a product A u is faster with hubs."""
    samples: int = 1 << 21
    """Number of entries of A that are sampled to find the columns with the most entries."""
    share: float = 1 / 8
    """Minimum fraction of the entries of A that must be in the columns of the hubs.

    Below this fraction, the test whether an entry is in such a column costs more time than the
    faster reads save.
    """


TUNING = HotColumnsTuning()


@dataclass(frozen=True, slots=True)
class Hubs:
    """The hubs of a matrix A, which are some of its columns.

    In a product A u, the kernel keeps u(k) in shared memory for each hub k. Slot s of shared memory
    belongs to the hub tags[s] * 2^bits + s.
    """

    tags: Array
    bits: int
    shared: int
    multiprocessors: int
    block: int


def hubs_of(a: Csr, values: Array, reserved: int = 8192) -> Hubs | None:
    """Return the hubs of a matrix, or None if the product is faster without hubs.

    `values` are the values of u. Only their dtype matters: it limits the number of hubs. The kernel
    uses up to `reserved` bytes of shared memory for other purposes.
    """
    tuning = current(TUNING)
    if a.nvals < tuning.entries or a.ncols > a.nvals:
        return None
    each = values.dtype.itemsize + 2
    bits = min(tuning.slots, (card().shared - reserved) // each).bit_length() - 1
    if a.ncols < 4 << bits or a.ncols > 1 << (bits + 16):
        return None
    # Each stream has its own array `tags` (see `Hubs`). When such an array is freed, CuPy may reuse
    # its memory for later work on the stream that allocated it, although kernels on another stream
    # may still be reading the array.
    stream = xp.cuda.get_current_stream().ptr
    place = (bits, stream, get_ident() if stream == PER_THREAD else 0)
    return remember(a, ("hubs", each, *place), lambda: _find_hubs(a, bits, each << bits))


def _find_hubs(a: Csr, bits: int, shared: int) -> Hubs | None:
    """Return the 2^bits hubs of a matrix, or None if these columns contain too few of its entries.

    The minimum fraction of entries is `HotColumnsTuning.share`.
    """
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
