"""Core numbers, computed in one launch.

Kernel: cores.cu, which is based on persistent.cuh. The host waits until the launch has finished.
"""

from __future__ import annotations

from dataclasses import dataclass

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, WIDEST_BLOCK
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct
from graphla.formats import Array, Csr

PEELING = Struct("cores.cu", "Peeling")


@dataclass(frozen=True, slots=True)
class CoresTuning:
    """Parameters of the launch for core numbers. One block runs on each multiprocessor, because
    more blocks would slow down the barriers."""

    block: int = WIDEST_BLOCK  # number of threads per block
    # A round with at most this many entries is processed by a single block.
    alone_edges: int = 1024
    own_edges: int = 4096
    """When a warp removes vertices, the degrees of other vertices may fall to k in the same round.
    The warp processes the rows of these vertices itself until it has read about this many entries.
    It queues the remaining rows for all warps."""


TUNING = CoresTuning()


def cores(out: Csr, into: Csr | None) -> Array | None:
    """Return the core number of each vertex as int64[n].

    Return None if `out` has too many entries for 32-bit counts (2^31 - 1 minus a reserve)."""
    n, tuning = out.nrows, current(TUNING)
    if out.nvals >= INT32_END - 1024:
        return None
    left = xp.diff(out.indptr).astype(np.int32)
    if into is not None:
        left += xp.diff(into.indptr).astype(np.int32)
    if not n:
        return left.astype(np.int64)
    peeling = PEELING(
        n=n,
        a_indptr=out.indptr,
        a_indices=out.indices,
        b_indptr=None if into is None else into.indptr,
        b_indices=None if into is None else into.indices,
        left=left,
        lists=xp.empty(2 * n, np.int32),
        queue=xp.empty(n if into is None else 2 * n, np.uint64),
        own_edges=tuning.own_edges,
    )
    kernel = load("cores.cu", "peel_cores", NOTHING, out.indptr.dtype)
    wanted = max(out.nvals, n) // (8 * tuning.block)
    persistent.run(
        kernel,
        min(persistent.grid(kernel, tuning.block, each=1), max(wanted, 1)),
        tuning.block,
        peeling,
        np.uint32(tuning.alone_edges),
        results=1,
        as_struct=True,
    )
    return left.astype(np.int64)
