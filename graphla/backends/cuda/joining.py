"""Weak components by union-find. Kernels: components.cu. Waits: never."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launching import BLOCK, blocks, counters, size
from graphla.kernels.cuda import NOTHING, load
from graphla.storage import Array, Csr

SAMPLES = 1024  # as in components.cu
LONGEST = 256
"""A longer row is no matter of its vertex's warp, but listed in parts."""
PART = 512
"""Entries of a part."""
FEW, MORE = 1 << 12, 1 << 17
"""Vertices whose first entries are joined before others are: when all come at once, the trees of
the largest component are hooked already, and not by everybody at the same place."""


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


def strong_components(out: Csr) -> None:
    """By the algebra."""
