"""Strong components, in one launch.

Kernel: strong_components.cu. The host waits until the launch has finished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, WIDEST_BLOCK
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct
from graphla.formats import Array, Csr

STRONG = Struct("strong_components.cu", "Strong")


@dataclass(frozen=True, slots=True)
class StrongComponentsTuning:
    """The shape of the launch, and a limit for rounds that a single block runs."""

    block: int = WIDEST_BLOCK  # number of threads per block
    alone_edges: int = 4096  # a single block runs rounds with at most this many entries


TUNING = StrongComponentsTuning()


def strong_components(out: Csr, columns: Callable[[], Csr]) -> Array | None:
    """Return an int64 array with the smallest vertex of the strong component of each vertex.

    Return None if the matrix has too many entries.
    """
    n, tuning = out.nrows, current(TUNING)
    if out.nvals >= INT32_END - 1024:
        return None
    labels = xp.empty(n, np.int64)
    if not n:
        return labels
    into = columns()
    graph = STRONG(
        n=n,
        a_indptr=out.indptr,
        a_indices=out.indices,
        b_indptr=into.indptr,
        b_indices=into.indices,
        keys=xp.empty(n, np.uint64),
        ahead=xp.empty(2 * n, np.uint32),
        stamps=xp.empty(2 * n, np.uint32),
        owners=xp.empty(n, np.int32),
        lists=xp.empty(2 * n, np.int32),
        queue=xp.empty(4 * n, np.uint64),
        labels=labels,
    )
    kernel = load("strong_components.cu", "find_strong", NOTHING, out.indptr.dtype)
    wanted = max(out.nvals, n) // (8 * tuning.block)
    persistent.run(
        kernel,
        min(persistent.grid(kernel, tuning.block, each=1), max(wanted, 1)),
        tuning.block,
        graph,
        np.uint32(tuning.alone_edges),
        results=1,
        as_struct=True,
    )
    return labels
