"""Functions for arrays of values, on any device. NumPy functions call CuPy for arrays on a GPU (NEP
18)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.formats import Array, BitmapVector, Csr, FullVector, SparseVector, is_iso
from semirings.exceptions import DuplicateEntry


def scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value as a NumPy scalar of a dtype, converted as `astype` does."""
    if getattr(value, "dtype", None) == dtype and isinstance(value, np.generic):
        return value
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype, copy=False)[()]


def with_values(a: Any, values: Array) -> Any:
    """Return a matrix or vector in the format of `a`, with the same pattern and the given
    values."""
    if isinstance(a, Csr):
        return Csr(a.nrows, a.ncols, a.indptr, a.indices, values)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, a.indices, values, a.is_sorted)
    if isinstance(a, BitmapVector):
        return BitmapVector(a.size, a.present, values, a.count)
    return FullVector(a.size, values)


def repeat_value(value: Array, size: int) -> Array:
    """Return an array of length `size`, all of whose elements refer to the single element of
    `value`."""
    if type(value) is not np.ndarray:
        return np.broadcast_to(value, (size,))
    # For NumPy arrays, this is ten times as fast as np.broadcast_to.
    repeated = np.ndarray((size,), value.dtype, value, strides=(0,))
    repeated.flags.writeable = False
    return repeated


def gather(values: Array, places: Array) -> Array:
    """Return the values at the given positions. Iso values (stored as one element) stay iso."""
    if not is_iso(values):
        return values[places]
    size = places.size
    return values[:size] if size <= values.size else repeat_value(values[:1], size)


# When CuPy first reduces BOOL values on a machine, it compiles a kernel for 4 to 5 s. The following
# functions use reductions that are part of CuPy's binaries.


def is_any(flags: Array) -> bool:
    """Return whether at least one element of a BOOL array is true."""
    if type(flags) is np.ndarray:
        return bool(flags.any())
    return flags.size > 0 and bool(flags.view(np.uint8).max())


def are_all(flags: Array) -> bool:
    """Return whether all elements of a BOOL array are true."""
    if type(flags) is np.ndarray:
        return bool(flags.all())
    return flags.size == 0 or bool(flags.view(np.uint8).min())


def count_true(flags: Array) -> Any:
    """Return the number of true elements of a BOOL array as a scalar on the device of the array."""
    return flags.sum() if type(flags) is np.ndarray else flags.astype(np.int64).sum()


def duplicate_entry(place: Any) -> DuplicateEntry:
    """Return the error to raise if a position occurs more than once and no dup_op is given."""
    return DuplicateEntry(
        f"entry {place} is given more than once, so dup_op must say how to combine its values"
    )


def as_contiguous(values: Array) -> Array:
    """Return the values as a contiguous array, copied only if necessary."""
    return values if values.flags.c_contiguous else values.copy()
