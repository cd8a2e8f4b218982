"""Create NumPy arrays, sort the entries of vectors, and convert vectors between formats."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.layout import sort_order
from graphla.backends.cpu.operands import values_of
from graphla.backends.values import gather, repeat_value
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import AnyVector, Array, BitmapVector, FullVector, SparseVector, is_iso

MERGE_PRICE = 0
"""Fixed cost of merging two sparse vectors. The unit is the cost of rewriting one entry."""


def asarray(values: Any, dtype: Any = None) -> Array:
    """Return `values` as a NumPy array; copy only if necessary."""
    return np.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """Return the array itself, because all arrays of this backend are in host memory."""
    return array


def full(size: int, value: Any, dtype: Any) -> Array:
    """Return a new array that repeats one value `size` times."""
    array = np.empty(size, dtype)
    array.fill(value)  # np.full would take 1 us longer
    return array


def repeat(value: Any, size: int) -> Array:
    """Return an array of `size` elements that all equal a NumPy scalar, which is stored only once.

    The array must not be modified, because all its elements share the same memory.
    """
    return repeat_value(np.full(1, value, value.dtype), size)


def arange(size: int, dtype: Any) -> Array:
    """Return the array 0, 1, ..., size - 1."""
    return np.arange(size, dtype=dtype)


def owns(array: Array) -> bool:
    """Return whether the array owns its memory and may be written."""
    return array.flags.owndata and array.flags.writeable


def sort(v: SparseVector) -> SparseVector:
    """Return the entries in order of index."""
    if v.is_sorted:
        return v
    indices, order = sort_order(v.indices, v.size)
    return SparseVector(v.size, indices.astype(np.int32), gather(v.values, order))


def to_sparse(v: AnyVector) -> SparseVector:
    """Return v in sparse form. Only an unsorted SparseVector gives an unsorted result."""
    if isinstance(v, BitmapVector) and not is_iso(v.values) and compiles(v.size):
        return _to_sparse_numba(v)
    return _to_sparse_numpy(v)


def _to_sparse_numpy(v: AnyVector) -> SparseVector:
    """Return v in sparse form. Only an unsorted SparseVector gives an unsorted result."""
    if isinstance(v, SparseVector):
        return v
    if isinstance(v, FullVector):
        return SparseVector(v.size, np.arange(v.size, dtype=np.int32), v.values)
    indices = v.present.nonzero()[0]
    return SparseVector(v.size, indices.astype(np.int32), gather(v.values, indices))


def _to_sparse_numba(v: BitmapVector) -> SparseVector:
    """Return the entries of a bitmap in order of index, with a compiled loop."""
    indices, values = np.empty(v.nvals, np.int32), np.empty(v.nvals, v.values.dtype)
    taken, step = values_of(v.values)
    arrays = (v.present, taken, indices, values)
    load("assign.to_list", (numba_ops.nothing,), arrays)(*arrays, step)
    return SparseVector(v.size, indices, values)


def to_bitmap(v: AnyVector) -> BitmapVector:
    """Return v in bitmap form: a presence flag and a value for each index."""
    if isinstance(v, BitmapVector):
        return v
    if isinstance(v, FullVector):
        return BitmapVector(v.size, np.ones(v.size, bool), v.values, v.size)
    size, indices = v.size, v.indices
    present = np.zeros(size, bool)
    present[indices] = True
    if is_iso(v.values):
        return BitmapVector(size, present, repeat_value(v.values[:1], size), indices.size)
    values = np.zeros(size, v.values.dtype)
    values[indices] = v.values
    return BitmapVector(size, present, values, indices.size)
