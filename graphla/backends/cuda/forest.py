"""Spanning forests by Borůvka's algorithm, in rounds.

Kernels: forest.cu. The host waits once per round, for the number of edges between trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, blocks, flag, rows_of, size
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, is_iso

NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True)
class ForestTuning:
    """The limit on the number of edges for keys of 64 bits that hold both a weight and a
    position."""

    narrow: int = 1 << 32  # the positions of fewer than this many entries fit in 32 bits


TUNING = ForestTuning()


def forest(upper: Csr, is_maximum: bool) -> Array:
    """Return which entries are edges of the forest, as bool[nvals]."""
    n, indices, offset = upper.nrows, upper.indices, upper.indptr.dtype
    step, values = size(0 if is_iso(upper.values) else 1), upper.values
    wide = values.dtype.itemsize == 8 or upper.nvals >= current(TUNING).narrow
    flags = xp.zeros(upper.nvals, bool)
    rows, places = rows_of(upper), xp.arange(upper.nvals, dtype=offset)
    label = xp.arange(n, dtype=np.int32)
    bits = NONE if wide else np.uint64(0xFFFFFFFF)

    def launch(name: str, items: int, *args: Any, types: tuple[Any, ...] = ()) -> None:
        load("forest.cu", name, NOTHING, *types)(blocks(items), BLOCK, *args)

    while rows.size:
        best = first = xp.full(n, NONE, np.uint64)
        edges = (rows, places, size(rows.size), indices, values, step, flag(is_maximum), label)
        launch("find_least", rows.size, *edges, best, types=(offset, values.dtype, wide))
        if wide:
            first = xp.full(n, NONE, np.uint64)
            launch("find_first", rows.size, *edges, best, first, types=(offset, values.dtype))
        parent = label.copy()
        tree = (upper.indptr, size(n), indices, first, bits, label, parent, flags)
        launch("hook_trees", n, *tree, types=(offset,))
        launch("climb", n, size(n), parent)
        label = parent
        apart = label[rows] != label[indices[places]]
        rows, places = rows[apart], places[apart]
    return flags
