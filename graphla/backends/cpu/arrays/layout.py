"""How entries lie, one way made from another: iso values, ranges, sorting, transposing."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from graphla.compilers.threads import abandonable
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector, is_iso

INT32_END = 1 << 31

V = TypeVar("V", SparseVector, Csr)
Stored = TypeVar("Stored", bound=AnyVector | Csr)


# --- values -------------------------------------------------------------------------------------


def repeat_value(value: Array, size: int) -> Array:
    """`size` times the one element of `value`, iso."""
    return np.broadcast_to(value, (size,))


def gather(values: Array, places: Array) -> Array:
    """values[places], iso where they are."""
    if not is_iso(values):
        return values[places]
    size = places.size
    return values[:size] if size <= values.size else repeat_value(values[:1], size)


def compress(values: Array, flags: Array, count: int) -> Array:
    """The `count` values that are flagged, iso where they are."""
    return values[:count] if is_iso(values) else values.compress(flags)


def cast(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values `astype` of a dtype, iso where they are; nothing warns."""
    have = values.dtype
    if have == dtype:
        return values
    if values.ndim and is_iso(values):
        return np.broadcast_to(cast(values[:1].copy(), dtype), values.shape)
    if have.kind != "f":
        return values.astype(dtype)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value as a NumPy scalar of a dtype, as `astype` does it."""
    return cast(np.asarray(value), dtype)[()]


def with_values(a: Any, values: Array) -> Any:
    """The same places as `a`, holding other values."""
    if isinstance(a, Csr):
        return Csr(a.nrows, a.ncols, a.indptr, a.indices, values)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, a.indices, values, a.is_sorted)
    if isinstance(a, BitmapVector):
        return BitmapVector(a.size, a.present, values, a.count)
    return FullVector(a.size, values)


def cast_storage(a: Stored, dtype: Any) -> Stored:
    """The same entries, with values of another dtype."""
    values = cast(a.values, np.dtype(dtype))
    return a if values is a.values else with_values(a, values)


# --- ranges and orders --------------------------------------------------------------------------


def index_dtype(most: int) -> Any:
    """int32 where numbers up to `most` fit it, else int64."""
    return np.int32 if most < INT32_END else np.int64


def row_of_entry(a: Csr) -> Array:
    """The row of each entry, int32."""
    indptr = a.indptr
    return np.arange(a.nrows, dtype=np.int32).repeat(indptr[1:] - indptr[:-1])


def offsets(counts: Array) -> Array:
    """0, counts[0], counts[0] + counts[1], ...: an indptr, int32 where the sum fits."""
    ends = counts.cumsum(dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    indptr = np.empty(counts.size + 1, index_dtype(total))
    indptr[0] = 0
    indptr[1:] = ends
    return indptr


def offsets_of_few(rows: Array, nrows: int) -> Array:
    """Return the indptr of `nrows` rows; `rows` is the sorted row of each entry.

    indptr[r] is the number of entries in rows before r. It equals k for every r after the row of
    entry k - 1, up to the row of entry k. No temporary array is as long as the indptr.
    """
    bounds = np.empty(rows.size + 2, np.int64)
    bounds[0], bounds[1:-1], bounds[-1] = -1, rows, nrows
    return np.arange(rows.size + 1, dtype=index_dtype(rows.size)).repeat(np.diff(bounds))


def ranges(starts: Array, counts: Array, total: int) -> Array:
    """starts[0], starts[0] + 1, ..., counts[0] of them, then the same for starts[1], and so on."""
    dtype = starts.dtype if total < INT32_END else np.int64
    shifts = starts.astype(dtype, copy=True)
    shifts[1:] -= counts[:-1].cumsum(dtype=dtype)
    places = shifts.repeat(counts)
    places += np.arange(total, dtype=dtype)
    return places


def sort_order(keys: Array, end: int) -> tuple[Array, Array]:
    """The keys (of 0..end - 1) sorted, and the order that sorts them, equal ones as they come.

    One sort of key and position packed into 64 bits is several times as fast as an argsort.
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


def sort_in_place(keys: Array) -> None:
    """Sort an array that the caller owns. Ctrl-C can interrupt the sort."""
    abandonable(keys.sort, keys.size)


def argsort(keys: Array) -> Array:
    """Return the stable order of keys. Ctrl-C can interrupt the sort."""
    return abandonable(lambda: keys.argsort(kind="stable"), keys.size)


# --- vectors ------------------------------------------------------------------------------------


def sort(v: SparseVector) -> SparseVector:
    """The entries in order of index."""
    if v.is_sorted:
        return v
    indices, order = sort_order(v.indices, v.size)
    return SparseVector(v.size, indices.astype(np.int32), gather(v.values, order))


def to_sparse(v: AnyVector) -> SparseVector:
    """The entries alone, sorted unless they were sparse and were not."""
    if isinstance(v, SparseVector):
        return v
    if isinstance(v, FullVector):
        return SparseVector(v.size, np.arange(v.size, dtype=np.int32), v.values)
    indices = v.present.nonzero()[0]
    return SparseVector(v.size, indices.astype(np.int32), gather(v.values, indices))


def to_bitmap(v: AnyVector) -> BitmapVector:
    """Presence and a value at each index."""
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


# --- matrices -----------------------------------------------------------------------------------


def from_keys(nrows: int, ncols: int, keys: Array, values: Array) -> Csr:
    """The matrix with entries at row * ncols + column = keys, increasing."""
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
    """row * ncols + column of each entry, int64, increasing."""
    keys = row_of_entry(a).astype(np.int64)
    keys *= a.ncols
    keys += a.indices
    return keys


def transpose(a: Csr) -> Csr:
    """The same entries by columns."""
    columns, order = sort_order(a.indices, a.ncols)
    if columns.size < a.ncols:
        indptr = offsets_of_few(columns, a.ncols).astype(a.indptr.dtype, copy=False)
    else:
        indptr = columns.searchsorted(np.arange(a.ncols + 1)).astype(a.indptr.dtype)
    indices = row_of_entry(a)[order]
    return Csr(a.ncols, a.nrows, indptr, indices, gather(a.values, order))


def is_increasing(keys: Array) -> bool:
    """Whether each key is larger than the one before."""
    return keys.size < 2 or bool((keys[1:] > keys[:-1]).all())
