"""Core numbers, in one launch. Kernel: cores.cu, on persistent.cuh. Waits: for the launch."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, NULL, size
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr

BLOCK = 1024
EACH = 1
"""Blocks of a multiprocessor: with more of smaller ones their barrier takes much longer."""
ALONE_EDGES = 1024
"""Entries of a round that one block takes by itself."""
OWN_EDGES = 4096
"""Number of entries after which a warp stops peeling, in the same round, vertices it removed."""


def cores(out: Csr, into: Csr | None) -> Array | None:
    """Return the core number of each vertex as int64[n], or None if there are too many entries."""
    n, both = out.nrows, into is not None
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
    wanted = max(out.nvals // (8 * BLOCK), n // (8 * BLOCK), 1)
    persistent.run(
        kernel,
        min(persistent.grid(kernel, BLOCK, each=EACH), wanted),
        BLOCK,
        *(size(n), *rows, left, lists, queue, np.uint32(ALONE_EDGES), np.uint32(OWN_EDGES)),
        results=1,
    )
    return left.astype(np.int64)
