"""Entries in order by any comparison: our own merge sort, stable. Kernels: sort.cu.

Waits: of a matrix of more than a tile, once for how many merges its longest row takes.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, INT32_END, NULL, blocks, counter, number, size
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import load
from graphla.formats import Array
from semirings.operators import TypedBinaryOp

THREADS = 256
"""Threads that sort a tile; a power of two."""
ITEMS = {1: 17, 2: 17, 4: 17, 8: 11}
"""Keys of so many bytes to each of them: odd, so that threads meet different banks of memory.

On an H200 2^24 FP32 take 1.74 ms with 17, 1.92 with 15, 1.99 with 11; by 128 threads 1.84, by 512
2.14.
"""
FEW = 64
"""Entries to a thread that nearly always has nothing to do."""
SLACK = 8
"""Of a tile of a matrix the part is kept for ends of rows, which would be cut otherwise."""


def sort_by(values: Array, indptr: Array | None, op: TypedBinaryOp) -> tuple[Array, Array]:
    """values in order within each segment (None: all are one), and the place (int32 below 2^31
    entries, else int64) that each had among all entries.
    """
    count = values.size
    place = np.dtype(np.int32 if count < INT32_END else np.int64)
    ordered_values, places = xp.empty(count, values.dtype), xp.empty(count, place)
    if not count:
        return ordered_values, places
    spec, items = (cuda_ops.comparing, op), ITEMS[values.dtype.itemsize]
    tile = THREADS * items
    stride = tile if indptr is None else tile - tile // SLACK
    tiles = -(-count // stride)
    rows, levels = _seams(indptr, count, tiles, tile, stride)
    results = [(ordered_values, places)]
    results.append(
        (xp.empty_like(ordered_values), xp.empty_like(places)) if levels else (NULL, NULL)
    )
    buffers = (*results[0], *results[1])
    offset = np.dtype(np.int32) if indptr is None else indptr.dtype
    where = (size(count), NULL if indptr is None else indptr, rows)
    shape = (spec, place, offset, THREADS, items, stride)
    load("sort.cu", "sort_tiles", *shape)(tiles, THREADS, values, *where, *buffers)
    if not levels:
        return ordered_values, places
    contradicted = counter()
    merge = load("sort.cu", "merge_tiles", *shape)
    for level in range(levels):
        merge(tiles, THREADS, *where, np.int32(level), *buffers, contradicted)
    leave = load("sort.cu", "leave_as_they_came", spec, place)
    leave(blocks(-(-count // FEW)), BLOCK, contradicted, values, size(count), *results[0])
    return ordered_values, places


def _seams(indptr: Array | None, count: int, tiles: int, tile: int, stride: int) -> tuple[Any, int]:
    """The row around each seam between tiles, and how many merges of tiles a row takes at most."""
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
