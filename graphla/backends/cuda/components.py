"""Weak components by union-find, with the kernels in components.cu. The host never waits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, WARP, blocks, counters, size
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.formats import Array, Csr


@dataclass(frozen=True, slots=True)
class ComponentsTuning:
    """Parameters for sampling vertices, and for dividing long rows into parts."""

    # Number of sampled vertices. One block finds the most frequent root among them.
    samples: int = 1024
    longest: int = 256  # maximum number of entries in a row that is not divided into parts
    part: int = 512  # number of entries in a part of a long row
    # The sampled edges are joined in three stages. The first stage processes the first `few`
    # vertices.
    few: int = 1 << 12
    more: int = 1 << 17  # total number of vertices in the first two stages


TUNING = ComponentsTuning()


def components(out: Csr, into: Csr | None) -> Array:
    """Return the smallest vertex of each vertex's component, as int64[n]."""
    n, tuning = out.nrows, current(TUNING)
    parent, labels = xp.empty(n, np.int32), xp.empty(n, np.int64)
    if not n:
        return labels
    offset, rows, count = out.indptr.dtype, (out.indptr, out.indices), size(n)

    def launch(name: str, *args: Any, widths: tuple[Any, ...] = ()) -> None:
        _load(name, *widths)(blocks(n), BLOCK, *args)

    launch("hook_first", *rows, count, parent, widths=(offset,))
    launch("shorten", count, parent)
    # Joining all vertices in one launch would make many threads contend for the root of the largest
    # component. So a few vertices are joined first, which hooks most trees onto that root.
    cuts = (0, *(cut for cut in (tuning.few, tuning.more) if cut < n), n)
    join = _load("join_sampled", offset)
    for first, last in pairwise(cuts):
        join(blocks(last - first), BLOCK, *rows, size(first), size(last), parent)
    launch("shorten", count, parent)
    numbers = counters(3)
    if into is not None:
        find = _load("find_largest")
        find(1, tuning.samples, count, parent, numbers[0])
    for k, form in enumerate((out,) if into in (None, out) else (out, into)):
        _join_rest(form, parent, numbers[0], numbers[k + 1], tuning)
    launch("name_components", count, parent, labels)
    return labels


def _load(name: str, *widths: Any) -> Kernel:
    return load("components.cu", name, NOTHING, *widths, constants=current(TUNING))


def _join_rest(
    a: Csr, parent: Array, largest: Array, listed: Array, tuning: ComponentsTuning
) -> None:
    """Join each vertex outside the largest component with all neighbors in its row of `a`."""
    n, offset, longest = a.nrows, a.indptr.dtype, tuning.longest
    parts = xp.empty(a.nvals // (longest + 1) + a.nvals // tuning.part + 1, np.uint64)
    rows, part = (a.indptr, a.indices), np.int32(tuning.part)
    join = _load("join_rest", offset)
    cut = (np.int32(longest), part)
    join(blocks(n), BLOCK, *rows, size(n), largest, *cut, parent, parts, listed)
    if parts.size > 1:
        join = _load("join_parts", offset)
        join(blocks(parts.size * WARP), BLOCK, *rows, part, parts, listed, parent)
