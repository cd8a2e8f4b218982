"""PageRank: a pull, and one kernel more, each round.

Kernels: spmv.cu, pagerank.cu.
Waits: once a round, for how much it changed.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import NULL, size
from graphla.backends.cuda.spmv import pull
from graphla.backends.traversals import Ranks
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, BitmapVector, Csr, FullVector, Plan, Relabelled, is_iso
from semirings.dtypes import lookup_dtype
from semirings.semiring import plus_first, plus_times

BLOCK = 256
"""Threads of a block, as in pagerank.cu."""
MOST_BLOCKS = 1024
"""Whose sums the host adds up."""
TURNS = 0, 1  # AT_START and IN_ROUND of pagerank.cu
CACHED = 32 << 20
"""Bytes of values that the L2 cache serves as fast as shared memory does, hubs lying together."""


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
    plan: Plan | None,
) -> Ranks | None:
    """Rounds until one changes less than `least`, or so many: in the plan's numbering, if any."""
    relabelled = None if plan is None or is_weighted else plan.relabelled
    rows, old = into, None
    if relabelled:
        rows, old = _active_rows(relabelled), relabelled.old
    share, rank = _renamed(share, old), _renamed(rank, old).copy()
    landing = (*_landing(jump, old), *_landing(fall, old), np.float64(alpha))
    done, change = _settle(rows, share, rank, landing, least, rounds, is_weighted, old is not None)
    return Ranks(rank[relabelled.new] if relabelled else rank, done, change)


def _settle(
    into: Csr,
    share: Array,
    rank: Array,
    landing: tuple[Any, ...],
    least: float,
    rounds: int,
    is_weighted: bool,
    is_renamed: bool,
) -> tuple[int, float]:
    """The rounds, written into `rank`: how many, and what the last changed."""
    n, kept = share.size, share.dtype
    semiring = (plus_times if is_weighted else plus_first)[lookup_dtype(kept)]
    carried = xp.empty(n, kept)
    hubs = not is_renamed or carried.nbytes > CACHED
    blocks = max(1, min(-(-n // BLOCK), MOST_BLOCKS))
    sums = xp.empty((2, blocks, 2), np.float64)  # rounds take them by turns
    start, settle = (load("pagerank.cu", "settle_ranks", NOTHING, kept, turn) for turn in TURNS)
    sizes, rest = (size(n), size(into.nrows)), (np.int32(blocks), rank, carried)
    start(blocks, BLOCK, *sizes, NULL, NULL, share, *landing, NULL, *rest, sums[0])
    change = 0.0
    for done in range(1, rounds + 1):
        found = pull(into, FullVector(n, carried), semiring, "vxm", None, hubs=hubs)
        if isinstance(found, BitmapVector):
            arrived = found.present, found.values
        else:  # there is no edge
            arrived = xp.zeros(n, bool), carried
        before, after = sums[(done - 1) % 2], sums[done % 2]
        settle(blocks, BLOCK, *sizes, *arrived, share, *landing, before, *rest, after)
        change = float(after.get()[:, 0].sum())
        if change < least:
            return done, change
    return rounds, change


_known: WeakKeyDictionary[Csr, Csr] = WeakKeyDictionary()


def _active_rows(relabelled: Relabelled) -> Csr:
    """Those that may have entries; the same object each time, as a pull knows facts about it."""
    rows = _known.get(relabelled.into)
    if rows is None:
        a, active = relabelled.into, relabelled.active
        rows = Csr(active, a.ncols, a.indptr[: active + 1], a.indices, a.values)
        _known[relabelled.into] = rows
    return rows


def _renamed(values: Array, old: Array | None) -> Array:
    return xp.ascontiguousarray(values) if old is None else values[old]


def _landing(values: Array, old: Array | None) -> tuple[Array, np.int64]:
    """The values, and how far the next one is."""
    if is_iso(values):
        return values, size(0)
    return _renamed(values, old), size(1)
