"""PageRank: a pull, and one kernel more, each round.

Kernels: pull.cu, ranks.cu.
Waits: once a round, for how much it changed.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launching import NULL, size
from graphla.backends.cuda.pulling import pull
from graphla.backends.traversals import Ranks
from graphla.kernels.cuda import NOTHING, load
from graphla.storage import Array, BitmapVector, Csr, FullVector, is_iso
from semirings.dtypes import lookup_dtype
from semirings.semiring import plus_first, plus_times

BLOCK = 256
"""Threads of a block, as in ranks.cu."""
MOST_BLOCKS = 1024
"""Whose sums the host adds up."""
AT_START, IN_ROUND = 0, 1  # as in ranks.cu


def ranked(
    into: Csr,
    share: Array,
    rank: Array,
    jump: Array,
    fall: Array,
    *,
    alpha: float,
    least: float,
    rounds: int,
    is_weighted: bool,
) -> Ranks | None:
    """Rounds until one changes less than `least`, or so many."""
    n, kept = into.nrows, share.dtype
    semiring = (plus_times if is_weighted else plus_first)[lookup_dtype(kept)]
    share, rank = xp.ascontiguousarray(share), rank.astype(kept)
    carried = xp.empty(n, kept)
    blocks = max(1, min(-(-n // BLOCK), MOST_BLOCKS))
    sums = xp.empty((2, blocks, 2), np.float64)  # rounds take them by turns
    landing = (*_landing(jump), *_landing(fall), np.float64(alpha))
    kernels = [load("ranks.cu", "settle_ranks", NOTHING, kept, turn) for turn in (0, 1)]
    rest = np.int32(blocks), rank, carried
    kernels[AT_START](blocks, BLOCK, size(n), NULL, NULL, share, *landing, NULL, *rest, sums[0])
    change = 0.0
    for done in range(1, rounds + 1):
        found = pull(into, FullVector(n, carried), semiring, "vxm", None)
        if isinstance(found, BitmapVector):
            arrived = found.present, found.values
        else:  # there is no edge
            arrived = xp.zeros(n, bool), carried
        before, after = sums[(done - 1) % 2], sums[done % 2]
        operands = (*arrived, share, *landing, before)
        kernels[IN_ROUND](blocks, BLOCK, size(n), *operands, *rest, after)
        change = float(after.get()[:, 0].sum())
        if change < least:
            return Ranks(rank, done, change)
    return Ranks(rank, rounds, change)


def _landing(values: Array) -> tuple[Array, np.int64]:
    """The values, and how far the next one is."""
    return values, size(0 if is_iso(values) else 1)
