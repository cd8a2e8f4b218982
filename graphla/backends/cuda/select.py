"""Entries kept where they are flagged, in order: select and keep. Kernels: select.cu, flags.cuh.

Waits: once for the number of flagged entries, in `keep` and `select`.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cpu.arrays.layout import scalar
from graphla.backends.cuda.launch import (
    BLOCK,
    ISO,
    NO_PLACES,
    NULL,
    blocks,
    number,
    offset_dtype,
    places,
    read,
    size,
    tiles,
)
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, SparseVector
from semirings.operators import TypedSelectOp

WORD = 32
"""Flags in a word."""
ONE_BLOCK = 1 << 14
"""Words that one block scans sooner (a launch, 4 us) than CuPy's scan is called (19 us)."""
WIDEST_BLOCK = 1024


def keep(a: Any, flags: Array) -> Any:
    """The entries that are flagged."""
    if not a.nvals:
        return a
    at, stored, kept = read(flags)
    bits, ends = room_for_flags(a.nvals)
    kernel = load("select.cu", "flag_given", NOTHING, stored, kept)
    kernel(blocks(bits.size * WORD), BLOCK, at, bits, ends, size(bits.size), size(a.nvals))
    return keep_flagged(a, bits, ends)


def select(a: Any, op: TypedSelectOp, thunk: Any) -> Any:
    """The entries where op(x, i, j, thunk) holds."""
    if not a.nvals:
        return a
    x, stored, kept = read(a.values, op.reads_x)
    indptr, nrows, indices, where, offset = places(a) if op.is_positional else NO_PLACES
    bits, ends = room_for_flags(a.nvals)
    kernel = load("select.cu", "flag_entries", (cuda_ops.mapping, op), stored, kept, where, offset)
    kernel(
        tiles(bits.size * WORD),
        BLOCK,
        *(indptr, nrows, indices, x, scalar(thunk, op.thunk_type.np_type)),
        *(bits, ends, size(bits.size), size(a.nvals)),
    )
    return keep_flagged(a, bits, ends)


def room_for_flags(entries: int) -> tuple[Array, Array]:
    """`bits` and `ends` of flags.cuh, for a kernel to fill with flags and counts."""
    words = entries // WORD + 1
    return xp.empty(words, np.uint32), xp.empty(words, np.int64)


def count_flags(ends: Array) -> int:
    """Makes sums of the counts that lie in `ends`, and waits for how many flags there are."""
    add_up(ends)
    return number(ends[-1])


def add_up(ends: Array) -> None:
    """Makes sums of the counts (int64, one or more) that lie in `ends`."""
    if ends.size <= ONE_BLOCK:
        load("select.cu", "scan_counts", NOTHING)(1, WIDEST_BLOCK, ends, size(ends.size))
    else:
        xp.cumsum(ends, out=ends)


def keep_flagged(a: Any, bits: Array, ends: Array) -> Any:
    """The entries whose flags lie in `bits`, with counts in `ends`."""
    count = count_flags(ends)
    if count == a.nvals:
        return a
    values, _, kept = read(a.values)
    word = np.dtype(f"u{a.values.dtype.itemsize}")
    has_values = kept != ISO
    indices = xp.empty(count, np.int32)
    new = xp.empty(count, a.values.dtype) if has_values else a.values[:count]
    indptr, nrows, columns, _, offset = places(a)
    rows, new_offset = NULL, offset
    if isinstance(a, Csr):
        new_offset = offset_dtype(count)
        rows = xp.empty(a.nrows + 1, new_offset)
    kernel = load("select.cu", "move_flagged", NOTHING, word, has_values, offset, new_offset)
    kernel(
        tiles(max(a.nvals, int(nrows) + 1)),
        BLOCK,
        *(bits, ends, indptr, nrows, columns, values, size(a.nvals)),
        *(rows, indices, new if has_values else NULL),
    )
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, new, a.is_sorted)
    return Csr(a.nrows, a.ncols, rows, indices, new)
