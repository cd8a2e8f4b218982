"""Fold all values of an array into one value, or the values of each row of a matrix into one value
per row. The results are bitwise equal in every run.

The kernels are in reduce.cu. In `reduce`, the host waits for the result. If all values of a bitmap
are equal, the host first waits for the number of values. In `reduce_rows` the host does not wait,
because the number of entries in the result stays on the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.apply import cast_values
from graphla.backends.cuda.launch import (
    ISO,
    NULL,
    WARP,
    blocks,
    counter,
    next_answer,
    number,
    read,
    repeat_value,
    size,
    tiles,
)
from graphla.backends.tuning import current
from graphla.backends.values import count_true
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import Array, BitmapVector, Counted, Csr, SparseVector, is_iso
from semirings.structures import TypedMonoid

STRIP, FOLD_BLOCK = enumeration("reduce.cu", "FoldShape")


@dataclass(frozen=True)
class ReduceTuning:
    """How the values of a fold are divided among blocks.

    The division does not depend on the GPU. So floats are added in the same order on all GPUs.
    """

    part: int = 1 << 13
    """Number of values per block (32 per thread). More blocks with fewer values each would not be
    faster."""
    parts: int = 1024
    """Maximum number of blocks. In one iteration of the kernel's loop, these blocks together read 8
    MiB of values if a value has 8 bytes, and 4 MiB if it is smaller."""


TUNING = ReduceTuning()


def reduce(values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
    """Return the fold of all present values as a scalar, or the identity if there is no value."""
    if not values.size:
        return monoid.identity
    dtype, times = monoid.type.np_type, values.size
    if is_iso(values) and present is not None:
        times = number(count_true(present))
        if not times:
            return monoid.identity
    if monoid.is_any or (monoid.is_idempotent and is_iso(values)):
        if present is None or is_iso(values):
            return _on_host(cast_values(values[:1], dtype))
        return _on_host(cast_values(values[present.argmax().reshape(1)], dtype))
    if is_iso(values):
        result = xp.empty(1, dtype)
        kernel = load("reduce.cu", "fold_repeated", (cuda_ops.reduction, monoid), values.dtype)
        kernel(1, 1, values, size(times), result)
        return _on_host(result)
    tuning = current(TUNING)
    parts = min(tuning.parts, -(-values.size // tuning.part))
    if parts > 1:
        folds = xp.empty(parts, dtype)
        made = _fold_parts(values, monoid, present, parts, folds)
        values, present = folds[:made], None
    answer = next_answer()
    _fold_parts(values, monoid, present, 1, answer.pointer)
    answer.wait()
    return answer.value(0, dtype)


def reduce_rows(a: Csr, monoid: TypedMonoid) -> SparseVector | BitmapVector:
    """Return the vector w in which w(i) is the fold of row i. If row i is empty, w has no entry at
    i."""
    dtype, n = monoid.type.np_type, a.nrows
    if not a.nvals:
        return SparseVector(n, xp.empty(0, np.int32), xp.empty(0, dtype))
    present, found = xp.empty(n, bool), counter()
    x, stored, kept = read(a.values)
    offset, spec = a.indptr.dtype, (cuda_ops.reduction, monoid)
    if kept == ISO and (monoid.is_any or monoid.is_idempotent):
        folds = repeat_value(cast_values(a.values[:1], dtype), n)
        kernel = load("reduce.cu", "note_occupied", NOTHING, offset)
        kernel(tiles(n), FOLD_BLOCK, a.indptr, size(n), present, found)
        return BitmapVector(n, present, folds, Counted(found))
    folds = xp.empty(n, dtype)
    if kept == ISO or monoid.is_any:
        kernel = load("reduce.cu", "fold_rows_at_once", spec, stored, kept, offset)
        kernel(tiles(n), FOLD_BLOCK, a.indptr, size(n), x, folds, present, found)
        return BitmapVector(n, present, folds, Counted(found))
    strips = -(-a.nvals // STRIP)
    tails = xp.empty(strips, dtype)
    kernel = load("reduce.cu", "fold_strips", spec, stored, offset)
    kernel(
        blocks(max(strips * WARP, n)),
        FOLD_BLOCK,
        *(a.indptr, size(n), x, size(a.nvals), folds, tails, present, found),
    )
    if strips > 1:
        kernel = load("reduce.cu", "close_rows", spec, offset)
        kernel(blocks(strips), FOLD_BLOCK, a.indptr, size(n), tails, size(a.nvals), folds)
    return BitmapVector(n, present, folds, Counted(found))


def _fold_parts(
    values: Array, monoid: TypedMonoid, present: Array | None, parts: int, folds: Any
) -> int:
    """Divide the values into at most `parts` parts, and fold each part.

    Store the fold of each part in the array `folds`, in the order of the parts. Return the number
    of parts.
    """
    count, some = values.size, present is not None
    part = -(-count // parts)
    parts = -(-count // part)
    kernel = load("reduce.cu", "fold_parts", (cuda_ops.reduction, monoid), values.dtype, some)
    kernel(parts, FOLD_BLOCK, values, present if some else NULL, size(count), size(part), folds)
    return parts


def _on_host(result: Array) -> Any:
    """Return the only element of an array as a NumPy scalar. The host waits for this element."""
    return xp.asnumpy(result)[0]
