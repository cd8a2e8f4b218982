"""Maximal matching in rounds, heaviest edges first.

Kernels: matching.cu. The host waits once per round, for the number of vertices that still need a
mate.
"""

from __future__ import annotations

from dataclasses import dataclass

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, WARP, blocks, csr, read, size, to_numbers
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import Array, Csr

FREE, NONE = map(int, enumeration("matching.cu", "Mate"))


@dataclass(frozen=True, slots=True)
class MatchingTuning:
    """The maximum length of a row that one warp reads, and the number of threads per block."""

    wide: int = 1 << 11  # maximum number of entries in a row that one warp reads
    block: int = 256  # number of threads per block


TUNING = MatchingTuning()


def match(a: Csr, words: Array) -> Array:
    """Return the mate of each vertex, or a negative number if it has none, as int32[n]."""
    n, tuning = a.nrows, current(TUNING)
    wide, block = tuning.wide, tuning.block
    mates, wanted = xp.full(n, FREE, np.int32), xp.full(n, NONE, np.int32)
    if not a.nvals:
        return mates
    values, dtype, kept = read(a.values)
    matrix, lengths = csr(a, values), xp.diff(a.indptr)
    lists = [
        xp.flatnonzero((lengths > 0) & (lengths <= wide)).astype(np.int32),
        xp.flatnonzero(lengths > wide).astype(np.int32),
    ]
    counts = [each.size for each in lists]
    offset = a.indptr.dtype
    pair = load("matching.cu", "pair_up", NOTHING, offset, constants=tuning)
    while any(counts):
        for is_wide in (False, True):
            if counts[is_wide]:
                types = (offset, dtype, kept, is_wide)
                choose = load("matching.cu", "choose_mates", NOTHING, *types, constants=tuning)
                threads = counts[is_wide] * (block if is_wide else WARP)
                listed = (lists[is_wide], size(counts[is_wide]))
                choose(blocks(threads, block), block, matrix, words, *listed, mates, wanted)
        rest = [xp.empty(sum(counts), np.int32) for _ in counts]
        left = xp.zeros(2, np.int32)
        for each, count in zip(lists, counts, strict=True):
            if count:
                given = (a.indptr, each, size(count), wanted, size(wide), mates, *rest, left)
                pair(blocks(count), BLOCK, *given)
        lists, counts = rest, to_numbers(left)
    return mates
