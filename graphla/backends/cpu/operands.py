"""Convert operands to the arguments of a loop, and cut a loop into parts for threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphla.backends.cpu.layout import cast_values, index_dtype
from graphla.backends.cpu.masks import presence
from graphla.backends.tuning import current
from graphla.compilers.numba import Loop
from graphla.compilers.threads import run
from graphla.formats import Array, VectorMask
from semirings.dtypes import DataType


@dataclass(frozen=True, slots=True)
class PartsTuning:
    """Parameters for cutting loops into parts."""

    parallel: int = 1 << 15  # a loop over more entries than this is divided among threads
    parts: int = 8  # number of parts per thread, if the work of each part is unknown
    # Maximum number of entries in a part of a loop; a longer row is a part of its own. After
    # Ctrl-C, the part that is running is completed.
    grain: int = 1 << 22


TUNING = PartsTuning()

Parts = list[tuple[int, int]]

WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""The dtype that loops use for values that they only copy, keyed by the size of a value in
bytes."""

UNREAD = np.zeros(1, np.bool_)
"""The argument passed to a loop in place of an array that the loop does not read."""
UNREAD.flags.writeable = False


def values_of(
    values: Array, is_read: bool = True, *, wanted: DataType | None = None
) -> tuple[Array, int]:
    """Return the arguments (array, step) that pass values to a loop. Value k is array[k * step].

    If a single stored value is shared by all entries, the array has one element and the step is 0.
    If the loop does not read the values (`is_read` is False), the array is UNREAD. If `wanted` is
    an integer dtype, this function casts floating-point values to `wanted` before the loop reads
    them: compiled casts of out-of-range values would differ from NumPy's.
    """
    if not is_read:
        return UNREAD, 0
    if wanted is not None and values.dtype.kind == "f" and wanted.kind in "iu":
        values = cast_values(values, wanted.np_type)
    stride = values.strides[0]
    if stride == values.itemsize:
        return values, 1
    if stride == 0:
        return values[:1], 0
    return np.ascontiguousarray(values), 1


def allowed_by(mask: VectorMask | None) -> tuple[Array, int, int]:
    """Return (array, step, forbidden): output o is allowed if `array[o * step] != forbidden`. The
    value of `forbidden` is 0 or 1."""
    if mask is None:
        return UNREAD, 0, 1
    present = presence(mask) if mask.present is None else mask.present
    return present, 1, int(mask.complement)


def spread(loop: Loop, arrays: tuple, integers: tuple, parts: Parts, threads: int) -> list[Any]:
    """Run the loop on each part, and return a list with one result per part."""
    if len(parts) == 1:
        return [loop(*arrays, *integers, *parts[0])]
    return run(lambda *part: loop(*arrays, *integers, *part), parts, threads)


def join_parts(
    indptr: Array, arrays: tuple[Array, ...], parts: Parts, begins: list[int], ends: list[int]
) -> Array:
    """Close the gaps between the rows that the parts of a loop wrote, and return the new indptr.

    Part k wrote rows parts[k] to positions begins[k]..ends[k] of each of `arrays`. The function
    moves all entries to the front of the arrays, adjusts the positions in `indptr`, and shrinks the
    arrays in place.
    """
    to = 0
    for (start, stop), begin, end in zip(parts, begins, ends, strict=True):
        if begin > to:
            indptr[start:stop] -= begin - to
            for each in arrays:
                each[to : to + end - begin] = each[begin:end]
        to += end - begin
    indptr[-1] = to
    for each in arrays:
        each.resize(to, refcheck=False)
    return indptr.astype(index_dtype(to), copy=False)


def count_parts(work: int, threads: int) -> int:
    """Return the number of parts for a loop over `work` entries."""
    return max(parts_for_threads(work, threads), -(-work // current(TUNING).grain))


def parts_for_threads(work: int, threads: int) -> int:
    """Return the number of parts into which to divide a loop over `work` entries: PartsTuning.parts
    per thread, or only 1 part if there is little work."""
    tuning = current(TUNING)
    return threads * tuning.parts if threads > 1 and work > tuning.parallel else 1


def threads_worth(work: int, threads: int) -> int:
    """Return the number of threads that should process `work` entries: `threads`, or 1 if there is
    little work."""
    return threads if work > current(TUNING).parallel else 1


def even_parts(size: int, work: int, threads: int) -> Parts:
    """Cut the range 0..size into parts of about equal length. If there is little work, there is
    only one part."""
    parts = count_parts(work, threads)
    if parts == 1:
        return [(0, size)]
    return between([size * part // parts for part in range(parts + 1)])


def row_parts(indptr: Array, threads: int) -> Parts:
    """Divide the rows into ranges with about the same number of entries."""
    nrows, nvals = indptr.size - 1, int(indptr[-1])
    if nvals < nrows:
        return even_parts(nrows, nvals + nrows, threads)
    parts = count_parts(nvals + nrows, threads)
    if parts == 1:
        return [(0, nrows)]
    shares = np.array([nvals * part // parts for part in range(1, parts)], indptr.dtype)
    cuts = [0, *np.searchsorted(indptr, shares).tolist(), nrows]
    return between(cuts)


def cut(weights: Array, count: int) -> Parts:
    """Divide the indices of `weights` into at most `count` ranges of about equal total weight."""
    size = weights.size
    if not size:
        return []
    if count == 1:
        return [(0, size)]
    ends = np.cumsum(weights, dtype=np.int64)
    shares = [int(ends[-1]) * part // count for part in range(1, count)]
    cuts = [0, *(np.searchsorted(ends, shares) + 1).tolist(), size]
    return between(cuts)


def between(cuts: list[int]) -> Parts:
    """Return the ranges between successive numbers in `cuts`, without empty ranges."""
    return [(start, stop) for start, stop in pairwise(cuts) if start < stop]
