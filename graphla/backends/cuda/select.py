"""Keep some entries of a vector or a matrix, without changing their order.

`keep` keeps the entries whose flags are set, and `select` keeps the entries for which an operator
is true. The host waits once, for the number of entries that remain. The host does not wait if
`select` is called for a vector with few entries. Kernels: select.cu, flags.cuh.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import (
    BLOCK,
    INT32,
    ISO,
    NO_PLACES,
    NULL,
    WARP,
    WIDEST_BLOCK,
    OutputBuffer,
    PendingCount,
    blocks,
    next_answer,
    number,
    offset_dtype,
    places,
    read,
    size,
    tiles,
)
from graphla.backends.tuning import current
from graphla.backends.values import scalar
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import Array, Csr, PendingVector, SparseVector, is_iso
from semirings.operators import TypedSelectOp

FEW = WARP * enumeration("select.cu", "FewShape").FEW_WORDS - 1
"""If a vector has at most this many entries, `select` uses a single block."""


@dataclass(frozen=True)
class SelectTuning:
    """The limit on the number of counts whose running sums a single block computes."""

    one_block: int = 1 << 14
    """Maximum number of counts whose running sums are computed by a single block.

    Launching one block takes 4 us; calling CuPy's scan takes 19 us.
    """


TUNING = SelectTuning()


def keep(a: Any, flags: Array) -> Any:
    """Return the entries whose flags are set, as a vector or matrix."""
    if not a.nvals:
        return a
    at, stored, kept = read(flags)
    bits, ends = room_for_flags(a.nvals)
    kernel = load("select.cu", "flag_given", NOTHING, stored, kept)
    kernel(blocks(bits.size * WARP), BLOCK, at, bits, ends, size(bits.size), size(a.nvals))
    return keep_flagged(a, bits, ends)


def select(a: Any, op: TypedSelectOp, thunk: Any) -> Any:
    """Return the entries for which op(x, i, j, thunk) is true."""
    if not a.nvals:
        return a
    x, stored, kept = read(a.values, op.reads_x)
    if isinstance(a, SparseVector) and a.nvals <= FEW:
        return _select_few(a, op, thunk)
    indptr, nrows, indices, where, offset = places(a) if op.is_positional else NO_PLACES
    bits, ends = room_for_flags(a.nvals)
    kernel = load("select.cu", "flag_entries", (cuda_ops.mapping, op), stored, kept, where, offset)
    kernel(
        tiles(bits.size * WARP),
        BLOCK,
        *(indptr, nrows, indices, x, scalar(thunk, op.thunk_type.np_type)),
        *(bits, ends, size(bits.size), size(a.nvals)),
    )
    return keep_flagged(a, bits, ends)


def _select_few(v: SparseVector, op: TypedSelectOp, thunk: Any) -> SparseVector:
    """Select from a vector with few entries, in one launch."""
    x, stored, kept = read(v.values, op.reads_x)
    has_values, word = not is_iso(v.values), np.dtype(f"u{v.values.dtype.itemsize}")
    buffer = OutputBuffer(v.nvals, v.values.dtype)
    count, spec = PendingCount(), (cuda_ops.mapping, op)
    kernel = load("select.cu", "select_few", spec, stored, kept, word, has_values)
    outputs = [np.uint64(address) for address in (buffer.indices, buffer.values, count.address)]
    thunk = scalar(thunk, op.thunk_type.np_type)
    values = v.values if has_values else NULL
    kernel(1, WIDEST_BLOCK, v.indices, x, thunk, values, size(v.nvals), *outputs)
    take = buffer if has_values else partial(_cut_values, buffer, v.values)
    whole = (v.indices, v.values)
    return PendingVector(v.size, is_sorted=v.is_sorted, count=count, take=take, whole=whole)


def _cut_values(buffer: OutputBuffer, values: Array, entries: int) -> tuple[Array, Array]:
    """Return the first `entries` indices in `buffer`, and the first `entries` elements of
    `values`."""
    return buffer(entries)[0], values[:entries]


def room_for_flags(entries: int) -> tuple[Array, Array]:
    """Return two uninitialized arrays for the flags of `entries` entries: `bits` with one bit per
    entry, and `ends` with one count per word of `bits` (see flags.cuh)."""
    words = entries // WARP + 1
    return xp.empty(words, np.uint32), xp.empty(words, np.int64)


def scan_and_count(ends: Array) -> int:
    """Replace the counts in the nonempty int64 array `ends` with their running sums, and return the
    last sum."""
    if ends.size > current(TUNING).one_block:
        add_up(ends)
        return number(ends[-1])
    answer = next_answer()
    _scan(ends, answer.pointer, NULL)
    return answer.wait()


def scan_offsets(ends: Array) -> tuple[Array, int]:
    """Replace the counts in the array `ends` with their running sums. Return the array `indptr` of
    a matrix, which contains these sums in the dtype of offsets, and the last sum."""
    if ends.size > current(TUNING).one_block:
        nvals = scan_and_count(ends)
        return ends.astype(offset_dtype(nvals)), nvals
    answer, narrow = next_answer(), xp.ndarray(ends.size, INT32)
    _scan(ends, answer.pointer, narrow)
    nvals = answer.wait()
    return (narrow if offset_dtype(nvals) == narrow.dtype else ends), nvals


def add_up(ends: Array) -> None:
    """Replace the counts in the nonempty int64 array `ends` with their running sums."""
    if ends.size <= current(TUNING).one_block:
        _scan(ends, NULL, NULL)
    else:
        xp.cumsum(ends, out=ends)


def _scan(ends: Array, answer: Any, narrow: Any) -> None:
    kernel = load("select.cu", "scan_counts", NOTHING)
    kernel(1, WIDEST_BLOCK, ends, size(ends.size), narrow, answer)


def keep_flagged(a: Any, bits: Array, ends: Array) -> Any:
    """Return the entries of `a` whose flags are set. The array `bits` holds one flag per entry. The
    array `ends` holds the number of flags set in each word of `bits`. This function replaces these
    numbers with their running sums."""
    count = scan_and_count(ends)
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
