"""A stable merge sort of entries with an arbitrary comparison function. Kernels: sort.cu.

If the entries of a matrix fill more than one tile, the host waits once, for the number of merges
that the longest row needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, INT32_END, NULL, blocks, counter, number, size
from graphla.backends.tuning import current
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import load
from graphla.formats import Array
from semirings.operators import TypedBinaryOp


@dataclass(frozen=True)
class SortTuning:
    """The size of a tile, and how tiles and rows are processed.

    On an H200, sorting 2^24 FP32 values takes 1.74 ms with 17 keys per thread, 1.92 ms with 15 and
    1.99 ms with 11. With 128 threads it takes 1.84 ms, and with 512 threads 2.14 ms.
    """

    threads: int = 256
    """Number of threads that sort a tile; a power of two."""
    items: int = 17
    """Number of keys per thread if a key has at most 4 bytes.

    The number is odd, so that threads access different banks of shared memory.
    """
    wide_items: int = 11
    """Number of keys per thread if a key has 8 bytes; odd for the same reason as `items`."""
    checked: int = 64
    """Number of entries per thread in the kernel that restores the original order if the comparison
    contradicted itself.

    Contradictions are rare, so this last kernel is launched with few threads.
    """
    slack: int = 8
    """For a matrix, 1 / slack of the entries of each tile are reserved for the end of the tile's
    last row.

    Therefore a row that is not larger than this reserve is never divided between two tiles.
    """

    def tile_shape(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """Return the number of threads per tile, and the number of keys per thread."""
        return self.threads, self.items if dtype.itemsize <= 4 else self.wide_items


TUNING = SortTuning()


def sort_by(values: Array, indptr: Array | None, op: TypedBinaryOp) -> tuple[Array, Array]:
    """Return the values sorted within each segment, and the original position of each value.

    Without `indptr` all values are one segment. Positions are int32 if there are fewer than 2^31
    entries, otherwise int64.
    """
    count = values.size
    place = np.dtype(np.int32 if count < INT32_END else np.int64)
    ordered_values, places = xp.empty(count, values.dtype), xp.empty(count, place)
    if not count:
        return ordered_values, places
    tuning = current(TUNING)
    spec, (threads, items) = (cuda_ops.comparison, op), tuning.tile_shape(values.dtype)
    tile = threads * items
    stride = tile if indptr is None else tile - tile // tuning.slack
    tiles = -(-count // stride)
    rows, levels = _seams(indptr, count, tiles, tile, stride)
    results = [(ordered_values, places)]
    results.append(
        (xp.empty_like(ordered_values), xp.empty_like(places)) if levels else (NULL, NULL)
    )
    buffers = (*results[0], *results[1])
    offset = np.dtype(np.int32) if indptr is None else indptr.dtype
    where = (size(count), NULL if indptr is None else indptr, rows)
    shape = (spec, place, offset, threads, items, stride)
    load("sort.cu", "sort_tiles", *shape)(tiles, threads, values, *where, *buffers)
    if not levels:
        return ordered_values, places
    contradicted = counter()
    merge = load("sort.cu", "merge_tiles", *shape)
    for level in range(levels):
        merge(tiles, threads, *where, np.int32(level), *buffers, contradicted)
    leave = load("sort.cu", "leave_as_they_came", spec, place)
    leave(
        blocks(-(-count // tuning.checked)), BLOCK, contradicted, values, size(count), *results[0]
    )
    return ordered_values, places


def _seams(indptr: Array | None, count: int, tiles: int, tile: int, stride: int) -> tuple[Any, int]:
    """Return the row at each tile boundary, and the maximum number of merges that a row needs."""
    if indptr is None:
        return NULL, (tiles - 1).bit_length()
    rows, levels = xp.empty(tiles + 1, xp.int32), counter()
    kernel = load("sort.cu", "find_seams", (cuda_ops.nothing,), indptr.dtype, tile, stride)
    kernel(
        blocks(tiles + 1),
        BLOCK,
        *(indptr, size(indptr.size - 1), size(count), size(tiles), rows, levels),
    )
    return rows, number(levels) if tiles > 1 else 0
