"""Build a vector or a matrix from entries that are given in any order.

Entries at the same position are duplicates. An operator combines them; without an operator they
raise an error. The entries are sorted by keys: an entry's key is its index in a vector, and its row
and column in a matrix. Then the runs of equal keys are counted, and each run becomes one entry.

In addition to the inputs and the result, building needs memory for two keys per entry; a key has 4
or 8 bytes. If the values must be reordered with their keys, it needs about 32 more bytes per entry.
The host waits for two results: whether the keys are already increasing, and the number of distinct
positions. Kernels: convert.cu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.convert import add_up_sizes, chunks, move, repeat_iso, room_for_counts
from graphla.backends.cuda.launch import BLOCK, NULL, blocks, counter, number, offset_dtype, size
from graphla.backends.cuda.reduce import reduce_rows
from graphla.backends.cuda.select import scan_and_count
from graphla.backends.tuning import current
from graphla.backends.values import duplicate_entry
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr, SparseVector, is_iso
from semirings import binary
from semirings.operators import TypedBinaryOp

NO_OFFSET = np.dtype(np.int32)
INDEX_BITS = 31


@dataclass(frozen=True)
class BuildTuning:
    """Tuning parameters for combining entries at the same position."""

    large: int = 1 << 20
    """If there are at least this many entries, the kernels that reduce the rows of a matrix combine
    the runs of duplicates. These kernels let several warps work on one long run."""


TUNING = BuildTuning()


def build_vector(
    length: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
) -> SparseVector:
    """Build a vector from indices and values. If dup_op is None, duplicate indices raise an error;
    otherwise dup_op combines their values, from left to right."""
    if is_increasing(indices):
        return SparseVector(length, indices.astype(xp.int32), values)
    keys, order = _sort(indices.astype(xp.int32), values)
    ends, runs = _count_runs(keys)
    if runs == keys.size:
        return SparseVector(length, keys, values if order is None else move(values, order))
    if dup_op is None:
        raise duplicate_entry(_first_duplicate(keys))
    needs_starts = _needs_starts(values, dup_op)
    places, starts = _unpack_runs(keys.view(xp.uint32), ends, runs, INDEX_BITS, NULL, needs_starts)
    folded = repeat_iso(values, runs) if starts is None else fold(values, order, starts, dup_op)
    return SparseVector(length, places, folded)


def build_matrix(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Build a matrix from rows, columns and values. If dup_op is None, duplicate positions raise an
    error; otherwise dup_op combines their values, from left to right."""
    count = rows.size
    if not count:
        sizes = xp.zeros(nrows + 1, xp.int32)
        return Csr(nrows, ncols, sizes, xp.empty(0, xp.int32), values)
    bits = bits_of(ncols)
    keys = xp.empty(count, key_dtype(nrows, ncols))
    falls = counter()
    kernel = load("convert.cu", "pack_places", NOTHING, rows.dtype, columns.dtype, keys.dtype)
    kernel(blocks(count), BLOCK, rows, columns, np.int32(bits), keys, size(count), falls)
    del rows, columns
    if not number(falls):
        return from_keys(nrows, ncols, keys, values)
    keys, order = _sort(keys, values)
    return _fold_sorted(nrows, ncols, keys, order, values, dup_op)


def from_keys(nrows: int, ncols: int, keys: Array, values: Array) -> Csr:
    """Return the matrix whose entries have the given keys. The keys are increasing; the key of an
    entry is row << bits | column."""
    count = keys.size
    sizes = xp.zeros(nrows + 1, offset_dtype(count))
    indices = xp.empty(count, xp.int32)
    if count:
        kernel = load("convert.cu", "unpack_keys", NOTHING, keys.dtype, sizes.dtype)
        kernel(blocks(count), BLOCK, keys, size(count), np.int32(bits_of(ncols)), indices, sizes)
    add_up_sizes(sizes)
    return Csr(nrows, ncols, sizes, indices, values)


def is_increasing(keys: Array) -> bool:
    """Return whether the array `keys` is strictly increasing. The host waits for the result."""
    if keys.size < 2:
        return True
    falls = counter()
    kernel = load("convert.cu", "look_for_falls", NOTHING, keys.dtype)
    kernel(blocks(keys.size), BLOCK, keys, size(keys.size), falls)
    return not number(falls)


def _fold_sorted(
    nrows: int,
    ncols: int,
    keys: Array,
    order: Array | None,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Build a matrix from sorted keys, which may contain duplicates.

    The value of keys[k] is values[order[k]], or values[k] if `order` is None. If dup_op is None,
    equal keys raise an error; otherwise dup_op combines their values.
    """
    count, bits = keys.size, bits_of(ncols)
    ends, runs = _count_runs(keys)
    if runs == count:
        del ends
        return from_keys(nrows, ncols, keys, values if order is None else move(values, order))
    if dup_op is None:
        key = _first_duplicate(keys)
        raise duplicate_entry((key >> bits, key & ((1 << bits) - 1)))
    sizes = xp.zeros(nrows + 1, offset_dtype(runs))
    indices, starts = _unpack_runs(keys, ends, runs, bits, sizes, _needs_starts(values, dup_op))
    del keys, ends
    add_up_sizes(sizes)
    folded = repeat_iso(values, runs) if starts is None else fold(values, order, starts, dup_op)
    return Csr(nrows, ncols, sizes, indices, folded)


def _unpack_runs(
    keys: Array, ends: Array, runs: int, bits: int, sizes: Any, needs_starts: bool
) -> tuple[Array, Array | None]:
    """Return the column of each run of equal keys, and the position where each run begins.

    The second result is None if `needs_starts` is False. For a matrix, the function also adds the
    number of runs in each row to the array `sizes`. `runs` is the total number of runs, and `ends`
    holds the running counts from `_count_runs`.
    """
    indices = xp.empty(runs, xp.int32)
    starts = xp.empty(runs, xp.int64) if needs_starts else None
    offset = NO_OFFSET if sizes is NULL else sizes.dtype
    kernel = load("convert.cu", "unpack_runs", NOTHING, keys.dtype, offset)
    kernel(
        chunks(keys.size),
        BLOCK,
        *(keys, size(keys.size), ends, np.int32(bits), size(runs)),
        *(indices, NULL if starts is None else starts, sizes),
    )
    return indices, starts


def _sort(keys: Array, values: Array) -> tuple[Array, Array | None]:
    """Sort the keys. Return the sorted keys, and the permutation that sorts them.

    Equal keys keep their order. If all values are equal, the caller needs no permutation: the keys
    are sorted in place, and the second result is None.
    """
    if is_iso(values):
        keys.sort()
        return keys, None
    order = keys.argsort()
    return keys[order], order


def _count_runs(keys: Array) -> tuple[Array, int]:
    """Return the number of runs of equal keys up to the end of each chunk, and the total."""
    ends = room_for_counts(keys.size)
    kernel = load("convert.cu", "count_first", NOTHING, keys.dtype)
    kernel(chunks(keys.size), BLOCK, keys, size(keys.size), ends)
    return ends, scan_and_count(ends)


def fold(values: Array, order: Array | None, starts: Array, op: TypedBinaryOp) -> Array:
    """Combine the values x0, x1, x2, ... of each run of duplicates to op(...op(op(x0, x1), x2)...).

    Each element of the array `starts` is the position k where a run begins. The value at position k
    is values[order[k]], or values[k] if `order` is None. The result has one value per run and the
    dtype of `values`. If `op` is first, second or any, it only selects a value.
    """
    picks = _pick(op, starts, values.size)
    if picks is not None:
        return move(values, picks if order is None else order[picks])
    monoid, runs = op.monoid, starts.size
    is_associative = monoid is not None and op.type.np_type == values.dtype
    if monoid is not None and is_associative and values.size >= current(TUNING).large:
        indptr = xp.append(starts, values.size)
        moved = values if order is None else move(values, order)
        return reduce_rows(Csr(runs, 1, indptr, moved, moved), monoid).values
    folded = xp.empty(runs, values.dtype)
    spec = (cuda_ops.accumulation, op, values.dtype)
    kernel = load("convert.cu", "fold_runs", spec, values.dtype, is_associative)
    kernel(
        blocks(runs),
        BLOCK,
        *(values, np.int64(0 if is_iso(values) else 1), NULL if order is None else order),
        *(starts, size(runs), size(values.size), folded),
    )
    return folded


def _pick(op: TypedBinaryOp, starts: Array, count: int) -> Array | None:
    """Return the position of the entry that `op` selects from each run of duplicates. If `op`
    computes a new value instead of selecting one, return None."""
    if op.op is binary.first or (op.monoid is not None and op.monoid.is_any):
        return starts
    if op.op is not binary.second:
        return None
    lasts = xp.empty_like(starts)
    lasts[:-1] = starts[1:]
    lasts[-1] = count
    lasts -= 1
    return lasts


def _needs_starts(values: Array, op: TypedBinaryOp) -> bool:
    """Return whether duplicates must be combined with `op`, which needs the start of each run. This
    is not necessary if all values are equal to one value x and op(x, x) = x."""
    monoid = op.monoid
    picks = op.op in (binary.first, binary.second)
    folds_to_itself = monoid is not None and (monoid.is_any or monoid.is_idempotent)
    return not (is_iso(values) and (picks or folds_to_itself))


def _first_duplicate(keys: Array) -> int:
    """Return the smallest key that occurs more than once; `keys` is sorted."""
    return int(keys[int((keys[1:] == keys[:-1]).argmax())])


def key_dtype(nrows: int, ncols: int) -> Any:
    """Return the dtype for keys. 32 bits are used if they suffice, because such keys sort twice as
    fast."""
    return xp.uint32 if bits_of(nrows) + bits_of(ncols) <= 32 else xp.int64


def bits_of(count: int) -> int:
    """Return the number of bits needed for integers below `count`."""
    return max(count - 1, 0).bit_length()
