"""How operands are handed to a loop, and how a loop is cut into parts for threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphla.backends.cpu.arrays.layout import cast
from graphla.compilers.numba import Loop
from graphla.compilers.threads import run
from graphla.formats import Array, VectorMask
from semirings.dtypes import DataType

PARALLEL = 1 << 15
"""Entries from which a loop is worth waking another thread for."""
PARTS = 8
"""Parts a thread gets of a loop whose parts cannot be made equal beforehand."""
GRAIN = 1 << 22
"""Most entries of a part, unless one row has more: Ctrl-C can interrupt between two parts."""

Parts = list[tuple[int, int]]

UNREAD = np.zeros(1, np.bool_)
"""Stands for an array that a loop does not read."""
UNREAD.flags.writeable = False


def values_of(
    values: Array, is_read: bool = True, *, wanted: DataType | None = None
) -> tuple[Array, int]:
    """Values as loops take them: unread as nothing, iso as one element with a step of 0.

    Floating values that are `wanted` as integers are cast here: for one that does not fit, machine
    code gives something else than NumPy does.
    """
    if not is_read:
        return UNREAD, 0
    if wanted is not None and values.dtype.kind == "f" and wanted.kind in "iu":
        values = cast(values, wanted.np_type)
    stride = values.strides[0]
    if stride == values.itemsize:
        return values, 1
    if stride == 0:
        return values[:1], 0
    return np.ascontiguousarray(values), 1


def allowed_by(mask: VectorMask | None) -> tuple[Array, int, int]:
    """What a loop tests: output o is allowed where `array[o * step] != forbidden`."""
    if mask is None:
        return UNREAD, 0, 1
    present = mask.present
    if present is None:
        present = np.zeros(mask.size, np.bool_)
        present[mask.indices] = True
    return present, 1, int(mask.complement)


def spread(loop: Loop, arrays: tuple, integers: tuple, parts: Parts, threads: int) -> list[Any]:
    """What the loop returns for each part."""
    if len(parts) == 1:
        return [loop(*arrays, *integers, *parts[0])]
    return run(lambda *part: loop(*arrays, *integers, *part), parts, threads)


def count_parts(work: int, threads: int) -> int:
    """Return the number of parts for a loop over `work` entries."""
    least = threads * PARTS if threads > 1 and work > PARALLEL else 1
    return max(least, -(-work // GRAIN))


def even_parts(size: int, work: int, threads: int) -> Parts:
    """0..size cut evenly, into one part if there is little work."""
    parts = count_parts(work, threads)
    cuts = [size * part // parts for part in range(parts + 1)]
    return between(cuts)


def row_parts(indptr: Array, threads: int) -> Parts:
    """Rows cut so that each part has about as many entries."""
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
    """0..weights.size cut into up to `count` parts of about the same weight."""
    ends = np.cumsum(weights, dtype=np.int64)
    size = weights.size
    if not size:
        return []
    shares = [int(ends[-1]) * part // count for part in range(1, count)]
    cuts = [0, *(np.searchsorted(ends, shares) + 1).tolist(), size]
    return between(cuts)


def offsets(counts: Array) -> Array:
    """Where each row begins, given how many entries each has: an indptr."""
    total = int(counts.sum(dtype=np.int64))
    indptr = np.zeros(counts.size + 1, np.int32 if total < 2**31 else np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr


def between(cuts: list[int]) -> Parts:
    """The stretches from each cut to the next, without the empty ones."""
    return [(start, stop) for start, stop in pairwise(cuts) if start < stop]
