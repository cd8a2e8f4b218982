"""Arrays that hold entries: iso values, offsets, ranges and sorted keys."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.backends.tuning import current
from graphla.compilers.threads import abandonable
from graphla.formats import Array, Csr, is_iso
from semirings.primitives import to_integer

INT32_END = 1 << 31


@dataclass(frozen=True, slots=True)
class SortTuning:
    """The limits that decide whether SciPy or NumPy sorts the entries of a matrix."""

    scipy: int = 1 << 15  # SciPy sorts at least this many entries faster than NumPy
    # Once NumPy has sorted `importing * scipy` entries, SciPy is imported, which takes 0.1 s.
    importing: int = 32


TUNING = SortTuning()

_sorted = 0
"""The number of entries that NumPy has sorted so far because SciPy was not imported yet."""


def compress(values: Array, flags: Array, count: int) -> Array:
    """Return the values whose flags are true.

    `count` must be the number of true flags. If one stored element represents all values, it also
    represents the returned values.
    """
    return values[:count] if is_iso(values) else values.compress(flags)


def cast_values(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the values cast to a dtype. Iso values (stored as one element) remain iso.

    When floats are cast to an integer dtype, they are truncated and clipped to its range; NaN
    becomes 0.
    """
    have = values.dtype
    if have == dtype:
        return values
    if values.ndim and is_iso(values):
        return np.broadcast_to(cast_values(values[:1].copy(), dtype), values.shape)
    if have.kind != "f":
        return values.astype(dtype)
    if dtype.kind in "iu" and not _is_inside(values, dtype):
        return to_integer(values, dtype.type)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def _is_inside(values: Array, dtype: np.dtype[Any]) -> bool:
    """Return whether all floats are inside the range of an integer dtype. NaN is not."""
    if not values.size:
        return True
    info = np.iinfo(dtype)
    return bool(values.min() > info.min - 1.0 and values.max() < info.max + 1.0)


def index_dtype(most: int) -> Any:
    """Return int32 if it can represent all integers up to `most`, otherwise int64."""
    return np.int32 if most < INT32_END else np.int64


def row_of_entry(a: Csr) -> Array:
    """Return the row of each entry as int32."""
    indptr = a.indptr
    return np.arange(a.nrows, dtype=np.int32).repeat(indptr[1:] - indptr[:-1])


def offsets(counts: Array) -> Array:
    """Return [0, counts[0], counts[0] + counts[1], ...]: the indptr of a matrix whose rows have
    these lengths.

    The dtype is int32 if the sum of all counts fits, otherwise int64.
    """
    ends = counts.cumsum(dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    indptr = np.empty(counts.size + 1, index_dtype(total))
    indptr[0] = 0
    indptr[1:] = ends
    return indptr


def offsets_of_few(rows: Array, nrows: int) -> Array:
    """Return the indptr of a matrix with `nrows` rows and few entries.

    The array `rows` contains the row of each entry, in ascending order. indptr[r] is the number of
    entries in the rows before r. So indptr[r] = k if entry k - 1 is in a row before r, and entry k
    is in row r or a later row. The temporary arrays have two elements more than `rows`, and are
    therefore usually shorter than the indptr.
    """
    bounds = np.empty(rows.size + 2, np.int64)
    bounds[0], bounds[1:-1], bounds[-1] = -1, rows, nrows
    return np.arange(rows.size + 1, dtype=index_dtype(rows.size)).repeat(np.diff(bounds))


def ranges(starts: Array, counts: Array, total: int) -> Array:
    """Return counts[k] consecutive integers from starts[k] for each k, as one array."""
    dtype = starts.dtype if total < INT32_END else np.int64
    shifts = starts.astype(dtype, copy=True)
    shifts[1:] -= counts[:-1].cumsum(dtype=dtype)
    places = shifts.repeat(counts)
    places += np.arange(total, dtype=dtype)
    return places


def sort_order(keys: Array, end: int) -> tuple[Array, Array]:
    """Return the sorted keys, and the position that each of them has in `keys`. The sort is stable.

    All keys must be in 0..end - 1. Sorting keys and positions that are packed into 64 bits is
    several times faster than an argsort.
    """
    size = keys.size
    bits = size.bit_length()
    if end.bit_length() + bits < 64:
        packed = keys.astype(np.int64, copy=True)
        packed <<= bits
        packed |= np.arange(size)
        sort_in_place(packed)
        order = packed & ((1 << bits) - 1)
        packed >>= bits
        return packed, order
    order = argsort(keys)
    return keys[order], order


def scipy_sorts(nrows: int, ncols: int, nvals: int) -> bool:
    """Return whether to sort the entries of a matrix with SciPy.

    SciPy is used if the matrix has many entries but needs no 64-bit indices. NumPy sorts few
    entries faster.
    """
    global _sorted
    tuning = current(TUNING)
    if nvals < tuning.scipy:
        return False
    if "scipy.sparse" not in sys.modules:
        _sorted += nvals
        if _sorted < tuning.importing * tuning.scipy:
            return False
    return max(nrows, ncols) < INT32_END - 1 and nvals < INT32_END - 1


def sort_in_place(keys: Array) -> None:
    """Sort an array that the caller owns. Ctrl-C can interrupt the sort."""
    abandonable(keys.sort, keys.size)


def argsort(keys: Array) -> Array:
    """Return the stable order of keys. Ctrl-C can interrupt the sort."""
    return abandonable(lambda: keys.argsort(kind="stable"), keys.size)


def from_keys(nrows: int, ncols: int, keys: Array, values: Array) -> Csr:
    """Return the matrix whose entries have the increasing keys row * ncols + column."""
    if keys.size < nrows:
        indptr = offsets_of_few(keys // ncols, nrows)
    else:
        starts = np.arange(nrows + 1, dtype=np.int64)
        starts *= ncols
        indptr = keys.searchsorted(starts).astype(index_dtype(keys.size))
        del starts
    indices = np.empty(keys.size, np.int32)
    if keys.size:
        np.remainder(keys, ncols, out=indices, casting="unsafe")
    return Csr(nrows, ncols, indptr, indices, values)


def keys_of(a: Csr) -> Array:
    """Return the key row * ncols + column of each entry as int64, in ascending order."""
    keys = row_of_entry(a).astype(np.int64)
    keys *= a.ncols
    keys += a.indices
    return keys


def is_increasing(keys: Array) -> bool:
    """Return whether each key is larger than the one before it."""
    return keys.size < 2 or bool((keys[1:] > keys[:-1]).all())
