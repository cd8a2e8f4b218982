"""Weak components by union-find, and strong components in one launch.

Kernels: components.cu, and strong_components.cu on persistent.cuh. Waits: only
for strong components.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import BLOCK, INT32_END, blocks, counters, size
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr

SAMPLES = 1024  # as in components.cu
LONGEST = 256
"""A longer row is no matter of its vertex's warp, but listed in parts."""
PART = 512
"""Entries of a part."""
FEW, MORE = 1 << 12, 1 << 17
"""Vertices whose first entries are joined before others are: when all come at once, the trees of
the largest component are hooked already, and not by everybody at the same place."""
STRONG_BLOCK = 1024
ALONE_EDGES = 4096
"""One block works alone in a round of strong components with at most this many entries."""


def components(out: Csr, into: Csr | None) -> Array:
    """int64[n]: the least vertex of each one's component."""
    n = out.nrows
    parent, labels = xp.empty(n, np.int32), xp.empty(n, np.int64)
    if not n:
        return labels
    offset, rows, count = out.indptr.dtype, (out.indptr, out.indices), size(n)

    def launch(name: str, *args: Any, widths: tuple[Any, ...] = ()) -> None:
        load("components.cu", name, NOTHING, *widths)(blocks(n), BLOCK, *args)

    launch("hook_first", *rows, count, parent, widths=(offset,))
    launch("shorten", count, parent)
    cuts = (0, *(cut for cut in (FEW, MORE) if cut < n), n)
    join = load("components.cu", "join_sampled", NOTHING, offset)
    for first, last in pairwise(cuts):
        join(blocks(last - first), BLOCK, *rows, size(first), size(last), parent)
    launch("shorten", count, parent)
    numbers = counters(3)
    if into is not None:
        find = load("components.cu", "find_largest", NOTHING)
        find(1, SAMPLES, count, parent, numbers[0])
    for k, form in enumerate((out,) if into in (None, out) else (out, into)):
        _join_rest(form, parent, numbers[0], numbers[k + 1])
    launch("name_components", count, parent, labels)
    return labels


def _join_rest(a: Csr, parent: Array, largest: Array, listed: Array) -> None:
    """Joins the vertices outside the largest component with all that their rows say."""
    n, offset = a.nrows, a.indptr.dtype
    parts = xp.empty(a.nvals // (LONGEST + 1) + a.nvals // PART + 1, np.uint64)
    rows = (a.indptr, a.indices)
    join = load("components.cu", "join_rest", NOTHING, offset)
    cut = (np.int32(LONGEST), np.int32(PART))
    join(blocks(n), BLOCK, *rows, size(n), largest, *cut, parent, parts, listed)
    if parts.size > 1:
        join = load("components.cu", "join_parts", NOTHING, offset)
        join(blocks(parts.size * 32), BLOCK, *rows, np.int32(PART), parts, listed, parent)


def strong_components(out: Csr, columns: Callable[[], Csr]) -> Array | None:
    """Return, for each vertex, the least vertex of its strong component, as int64[n].

    Return None if the matrix has too many entries.
    """
    n = out.nrows
    if out.nvals >= INT32_END - 1024:
        return None
    labels = xp.empty(n, np.int64)
    if not n:
        return labels
    into = columns()
    keys, queue = xp.empty(n, np.uint64), xp.empty(4 * n, np.uint64)
    ahead, stamps = xp.empty(2 * n, np.uint32), xp.empty(2 * n, np.uint32)
    owners, lists = xp.empty(n, np.int32), xp.empty(2 * n, np.int32)
    kernel = load("strong_components.cu", "find_strong", NOTHING, out.indptr.dtype)
    wanted = max(out.nvals, n) // (8 * STRONG_BLOCK)
    persistent.run(
        kernel,
        min(persistent.grid(kernel, STRONG_BLOCK, each=1), max(wanted, 1)),
        STRONG_BLOCK,
        *(size(n), out.indptr, out.indices, into.indptr, into.indices),
        *(keys, ahead, stamps, owners, lists, queue, labels, np.uint32(ALONE_EDGES)),
        results=1,
    )
    return labels
