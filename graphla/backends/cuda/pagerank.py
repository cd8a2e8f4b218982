"""PageRank: each round runs a pull (spmv.cu) and then one kernel of pagerank.cu.

The host waits once per round, for the total change of the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import NULL
from graphla.backends.cuda.spmv import pull
from graphla.backends.requests import PageRank, Ranks
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct, enumeration
from graphla.formats import Array, BitmapVector, Csr, FullVector, Relabeled, is_iso, remember
from semirings.dtypes import lookup_dtype
from semirings.semiring import plus_first, plus_times

WALK, TURNS = Struct("pagerank.cu", "Walk"), enumeration("pagerank.cu", "Turn")


@dataclass(frozen=True, slots=True)
class PageRankTuning:
    """The sizes of blocks and grids, and the limit that decides whether values are copied to shared
    memory."""

    block: int = 256  # number of threads per block
    most_blocks: int = 1024  # maximum number of blocks in a launch; the host adds up their sums
    cached: int = 32 << 20
    """If the values of all vertices take at most this many bytes, the values of hubs are not copied
    to shared memory.

    This limit is used only if the hubs (the vertices with the most edges) come first in the
    numbering. The L2 cache is then fast enough, and a copy in shared memory saves no time.
    """


TUNING = PageRankTuning()


def pagerank(request: PageRank) -> Ranks:
    """Return the ranks after the last round.

    If the matrix has a full plan and no weights are used, the rounds use the plan's numbering of
    the vertices, and the ranks are mapped back to the user's numbering at the end.
    """
    plan = request.plan
    relabeled = None if plan is None or request.is_weighted else plan.relabeled
    rows, old = request.into, None
    if relabeled:
        rows, old = _active_rows(relabeled), relabeled.old
    n, kept, tuning = request.share.size, request.share.dtype, current(TUNING)
    rank, carried = _renumber(request.rank, old).copy(), xp.empty(n, kept)
    (jump, jump_step), (fall, fall_step) = (
        _values_and_step(request.jump, old),
        _values_and_step(request.fall, old),
    )
    walk = WALK(
        n=n,
        rows=rows.nrows,
        share=_renumber(request.share, old),
        jump=jump,
        jump_step=jump_step,
        fall=fall,
        fall_step=fall_step,
        alpha=request.alpha,
        rank=rank,
        carried=carried,
    )
    semiring = (plus_times if request.is_weighted else plus_first)[lookup_dtype(kept)]
    hubs = old is None or carried.nbytes > tuning.cached

    def gather() -> tuple[Array, Array]:
        found = pull(rows, FullVector(n, carried), semiring, "vxm", None, hubs=hubs)
        if isinstance(found, BitmapVector):
            return found.present, found.values
        return xp.zeros(n, bool), carried  # the graph has no edges

    done, change = _settle(walk, request, gather, tuning)
    return Ranks(rank[relabeled.new] if relabeled else rank, done, change)


def _settle(walk: Any, request: PageRank, gather: Any, tuning: PageRankTuning) -> tuple[int, float]:
    """Run the rounds. Return the number of rounds and the total change of the ranks in the last
    round."""
    n, kept = request.share.size, request.share.dtype
    blocks = max(1, min(-(-n // tuning.block), tuning.most_blocks))
    # Each block stores two sums: in sums[0] in even rounds, and in sums[1] in odd rounds. So a
    # round can read the sums of the previous round.
    sums = xp.empty((2, blocks, 2), np.float64)
    start, settle = (
        load("pagerank.cu", "settle_ranks", NOTHING, kept, turn, constants=tuning) for turn in TURNS
    )
    count, change = np.int32(blocks), 0.0
    start(blocks, tuning.block, walk, NULL, NULL, NULL, count, sums[0])
    for done in range(1, request.rounds + 1):
        before, after = sums[(done - 1) % 2], sums[done % 2]
        settle(blocks, tuning.block, walk, *gather(), before, count, after)
        change = float(after.get()[:, 0].sum())
        if change < request.least:
            return done, change
    return request.rounds, change


def _active_rows(relabeled: Relabeled) -> Csr:
    """Return the rows of the vertices that have edges. These are the first rows of the relabeled
    matrix.

    Every call for the same matrix returns the same `Csr`, because `pull` caches row statistics on
    this object.
    """
    a, active = relabeled.into, relabeled.active

    def make() -> Csr:
        return Csr(active, a.ncols, a.indptr[: active + 1], a.indices, a.values)

    return remember(a, ("active rows", active), make)


def _renumber(values: Array, old: Array | None) -> Array:
    return xp.ascontiguousarray(values) if old is None else values[old]


def _values_and_step(values: Array, old: Array | None) -> tuple[Array, int]:
    """Return an array of values and the stride with which a kernel reads it.

    If all values are equal, the stride is 0, so that the kernel reads a single element. Otherwise
    the stride is 1.
    """
    if is_iso(values):
        return values, 0
    return _renumber(values, old), 1
