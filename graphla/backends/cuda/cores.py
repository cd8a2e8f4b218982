"""Core numbers, in one launch. Kernel: cores.cu, on persistent.cuh. Waits: for the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, NULL, size
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr


@dataclass(frozen=True, slots=True)
class CoresTuning:
    """The shape of the launch. Several smaller blocks per multiprocessor make barriers slow."""

    block: int = 1024  # threads of a block; one block per multiprocessor
    alone_edges: int = 1024  # a round with at most this many entries is done by one block
    own_edges: int = 4096
    """Number of entries after which a warp stops peeling, in the same round, vertices it removed."""


TUNING = CoresTuning()


def cores(out: Csr, into: Csr | None) -> Array | None:
    """Return the core number of each vertex as int64[n], or None if there are too many entries."""
    n, both, tuning = out.nrows, into is not None, current(TUNING)
    if out.nvals >= INT32_END - 1024:
        return None
    left = xp.diff(out.indptr).astype(np.int32)
    if into is not None:
        left += xp.diff(into.indptr).astype(np.int32)
    if not n:
        return left.astype(np.int64)
    rows: tuple[Any, ...] = (out.indptr, out.indices)
    rows += (NULL, NULL) if into is None else (into.indptr, into.indices)
    lists, queue = xp.empty(2 * n, np.int32), xp.empty(n << both, np.uint64)
    kernel = load("cores.cu", "peel_cores", NOTHING, out.indptr.dtype)
    wanted = max(out.nvals, n) // (8 * tuning.block)
    persistent.run(
        kernel,
        min(persistent.grid(kernel, tuning.block, each=1), max(wanted, 1)),
        tuning.block,
        *(
            size(n),
            *rows,
            left,
            lists,
            queue,
            np.uint32(tuning.alone_edges),
            np.uint32(tuning.own_edges),
        ),
        results=1,
    )
    return left.astype(np.int64)
