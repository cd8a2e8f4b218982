"""Conversions between formats: sorted, sparse and bitmap vectors. Kernels: convert.cu.

When `to_sparse` converts a bitmap whose number of entries is unknown on the host, the host waits
for this number.
"""

from __future__ import annotations

from functools import cache
from sys import getrefcount
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import BLOCK, NULL, WARP, blocks, repeat_value, size
from graphla.backends.cuda.select import add_up, scan_and_count
from graphla.backends.cuda.streams import Stamp, add_stamp, wait_for
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import AnyVector, Array, BitmapVector, FullVector, SparseVector, is_iso, known

MERGE_PRICE = 1 << 22
"""The fixed cost of merging sparse vectors, in units of the cost of writing one entry. It covers
the kernel launches and the one or two times that the host waits."""
CHUNK = enumeration("choose.cuh", "ChunkShape").CHUNK
"""Number of consecutive items that one warp processes."""


def asarray(values: Any, dtype: Any = None) -> Array:
    """Return `values` as a CuPy array, copied only if necessary."""
    return xp.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """Return the array as a NumPy array; the host waits for it."""
    return xp.asnumpy(array)


def full(size: int, value: Any, dtype: Any) -> Array:
    """Return a new array of `size` elements that are all equal to `value`."""
    array = xp.ndarray(size, dtype)
    if array.dtype.kind == "f" and value == 0 and np.signbit(value):
        # store the bits of -0.0 as an integer, because `fill(-0.0)` stores 0.0
        width = array.dtype.itemsize
        array.view(f"u{width}").fill(1 << (8 * width - 1))
    else:
        array.fill(value)  # takes half as long as `xp.full`
    return array


UnownedMemory: Any = xp.cuda.memory.UnownedMemory
_constants: dict[tuple[int, str, bytes], tuple[Array, tuple[Stamp, ...], Array]] = {}
"""The data of `repeat`, keyed by GPU, dtype and bytes of the value: an array with one element, the
stamps that a stream must wait for before it reads the element, and the iso array that was requested
last.

The memory of the arrays is never freed, because any stream may be reading it.
"""

MOST_CONSTANTS = 1024


def repeat(value: Any, size: int) -> Array:
    """Return `size` copies of a NumPy scalar as an iso array, which callers must not modify.

    An iso array stores one element for all its positions. The array is cached, so if the same value
    was requested before, no kernel is launched.
    """
    # The owner of an array of length 1 may write to it, so the array must not share the cached
    # element.
    if size == 1:
        return full(1, value, value.dtype)
    key = (xp.cuda.runtime.getDevice(), value.dtype.char, value.tobytes())
    found = _constants.get(key)
    if found is None:
        one = full(1, value, value.dtype)
        if len(_constants) >= MOST_CONSTANTS:
            return repeat_value(one, size)
        # `add_stamp` records an event at once, so the stamp stays valid after the stream has been
        # destroyed. If another thread has stored an entry for this key first, use that entry,
        # because any stream may be reading its array.
        found = _constants.setdefault(key, (one, add_stamp(()), repeat_value(one, size)))
    one, stamps, array = found
    wait_for(stamps)
    if array.size != size:
        array = repeat_value(one, size)
        _constants[key] = one, stamps, array
    return array


def arange(size: int, dtype: Any) -> Array:
    """Return the array 0, 1, ..., size - 1."""
    return xp.arange(size, dtype=dtype)


def owns(array: Array) -> bool:
    """Return whether no other array uses the memory of this array.

    The result is False for a view and for an array that was imported from another library.

    Two arrays may share an allocation although neither refers to the other. So this function also
    counts the references to the allocation.
    """
    if array.base is not None or is_iso(array) or isinstance(array.data.mem, UnownedMemory):
        return False
    return _holders(array) == _holders_when_alone()


def _holders(array: Array) -> tuple[int, int]:
    """Return the reference counts of the array's pointer and of the allocation that it points
    into."""
    pointer = array.data
    return getrefcount(pointer), getrefcount(pointer.mem)


@cache
def _holders_when_alone() -> tuple[int, int]:
    return _holders(xp.empty(1, bool))


def sort(v: SparseVector) -> SparseVector:
    """Return the vector with its entries sorted by index."""
    if v.is_sorted:
        return v
    if is_iso(v.values) or v.nvals < 2:
        return SparseVector(v.size, xp.sort(v.indices), v.values)
    order = v.indices.argsort()
    return SparseVector(v.size, v.indices[order], v.values[order])


def to_sparse(v: AnyVector) -> SparseVector:
    """Convert a vector to sparse form. A sparse vector is returned unchanged, even if it is not
    sorted."""
    if isinstance(v, SparseVector):
        return v
    if isinstance(v, FullVector):
        return SparseVector(v.size, xp.arange(v.size, dtype=xp.int32), v.values)
    count = known(v.count)
    if count == 0 or not v.size:
        return SparseVector(v.size, xp.empty(0, xp.int32), v.values[:0])
    ends = room_for_counts(v.size)
    load("convert.cu", "count_flags", NOTHING)(chunks(v.size), BLOCK, v.present, size(v.size), ends)
    if count is None:
        count = scan_and_count(ends)
    else:
        add_up(ends)
    indices, values, listed, has_values = xp.empty(count, xp.int32), *room_for_values(v, count)
    if count:
        kernel = load("convert.cu", "list_flags", NOTHING, v.values.dtype, has_values)
        kernel(chunks(v.size), BLOCK, v.present, v.values, size(v.size), ends, indices, listed)
    return SparseVector(v.size, indices, values)


def to_bitmap(v: AnyVector) -> BitmapVector:
    """Convert a vector to a bitmap."""
    if isinstance(v, BitmapVector):
        return v
    if isinstance(v, FullVector):
        return BitmapVector(v.size, xp.ones(v.size, bool), v.values, v.size)
    present, has_values = xp.zeros(v.size, bool), not is_iso(v.values)
    values = xp.zeros(v.size, v.values.dtype) if has_values else repeat_iso(v.values, v.size)
    if v.nvals:
        kernel = load("convert.cu", "spread_entries", NOTHING, v.values.dtype, has_values)
        spread = values if has_values else NULL
        kernel(blocks(v.nvals), BLOCK, v.indices, v.values, size(v.nvals), present, spread)
    return BitmapVector(v.size, present, values, v.nvals)


# --- functions that other modules use -----------------------------------------------------------


def chunks(items: int) -> int:
    """Return the grid size, in blocks, for a kernel in which one warp processes each chunk."""
    return blocks(-(-items // CHUNK) * WARP)


def room_for_counts(items: int) -> Array:
    """Return an uninitialized int64 array with one element for every CHUNK items."""
    return xp.empty(-(-items // CHUNK), xp.int64)


def room_for_values(a: Any, count: int) -> tuple[Array, Any, bool]:
    """Allocate an array for `count` values that a kernel copies from the matrix or vector `a`.

    Return the array, the argument for the kernel, and whether the kernel must write values. If `a`
    is iso-valued, the array already contains the value, and the argument is NULL. Otherwise the
    argument is the array.
    """
    if is_iso(a.values):
        return repeat_iso(a.values, count), NULL, False
    values = xp.empty(count, a.values.dtype)
    return values, values, True


def repeat_iso(values: Array, count: int) -> Array:
    """Return an iso-valued array of length `count` with the value of the iso-valued array
    `values`."""
    return values[:count] if count <= values.size else repeat_value(values[:1], count)


def add_up_sizes(sizes: Array) -> None:
    """Replace row sizes with their running sums, which are the array `indptr` of a CSR matrix.

    `sizes` contains 0, followed by the size of each row.
    """
    xp.cumsum(sizes, out=sizes)


def move(values: Array, places: Array) -> Array:
    """Return the values at the positions `places`. If `values` is iso-valued, so is the result."""
    return repeat_iso(values, places.size) if is_iso(values) else values[places]
