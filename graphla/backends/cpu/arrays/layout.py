"""How entries lie, one way made from another: iso values, ranges, sorting, transposing."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from graphla.compilers.threads import abandonable
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector, is_iso

INT32_END = 1 << 31

V = TypeVar("V", SparseVector, Csr)
Stored = TypeVar("Stored", bound=AnyVector | Csr)


# --- values -------------------------------------------------------------------------------------


def repeat_value(xp: ModuleType, value: Array, size: int) -> Array:
    """`size` times the one element of `value`, iso."""
    return xp.broadcast_to(value, (size,))


def gather(xp: ModuleType, values: Array, places: Array) -> Array:
    """values[places], iso where they are."""
    if not is_iso(values):
        return values[places]
    size = places.size
    return values[:size] if size <= values.size else repeat_value(xp, values[:1], size)


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


def index_dtype(xp: ModuleType, most: int) -> Any:
    """int32 where numbers up to `most` fit it, else int64."""
    return xp.int32 if most < INT32_END else xp.int64


def row_of_entry(xp: ModuleType, a: Csr) -> Array:
    """The row of each entry, int32."""
    indptr = a.indptr
    return xp.arange(a.nrows, dtype=xp.int32).repeat(indptr[1:] - indptr[:-1])


def offsets(xp: ModuleType, counts: Array) -> Array:
    """0, counts[0], counts[0] + counts[1], ...: an indptr, int32 where the sum fits."""
    ends = counts.cumsum(dtype=xp.int64)
    total = int(ends[-1]) if ends.size else 0
    indptr = xp.empty(counts.size + 1, index_dtype(xp, total))
    indptr[0] = 0
    indptr[1:] = ends
    return indptr


def offsets_of_few(xp: ModuleType, rows: Array, nrows: int) -> Array:
    """Return the indptr of `nrows` rows; `rows` is the sorted row of each entry.

    indptr[r] is the number of entries in rows before r. It equals k for every r after the row of
    entry k - 1, up to the row of entry k. No temporary array is as long as the indptr.
    """
    bounds = xp.empty(rows.size + 2, xp.int64)
    bounds[0], bounds[1:-1], bounds[-1] = -1, rows, nrows
    return xp.arange(rows.size + 1, dtype=index_dtype(xp, rows.size)).repeat(xp.diff(bounds))


def ranges(xp: ModuleType, starts: Array, counts: Array, total: int) -> Array:
    """starts[0], starts[0] + 1, ..., counts[0] of them, then the same for starts[1], and so on."""
    dtype = starts.dtype if total < INT32_END else xp.int64
    shifts = starts.astype(dtype, copy=True)
    shifts[1:] -= counts[:-1].cumsum(dtype=dtype)
    places = shifts.repeat(counts)
    places += xp.arange(total, dtype=dtype)
    return places


def sort_order(xp: ModuleType, keys: Array, end: int) -> tuple[Array, Array]:
    """The keys (of 0..end - 1) sorted, and the order that sorts them, equal ones as they come.

    One sort of key and position packed into 64 bits is several times as fast as an argsort.
    """
    size = keys.size
    bits = size.bit_length()
    if end.bit_length() + bits < 64:
        packed = keys.astype(xp.int64, copy=True)
        packed <<= bits
        packed |= xp.arange(size)
        sort_in_place(xp, packed)
        order = packed & ((1 << bits) - 1)
        packed >>= bits
        return packed, order
    order = argsort(xp, keys)
    return keys[order], order


def sort_in_place(xp: ModuleType, keys: Array) -> None:
    """Sort an array that the caller owns. On the CPU, Ctrl-C can interrupt the sort."""
    if xp is np:
        abandonable(keys.sort, keys.size)
    else:
        keys.sort()


def argsort(xp: ModuleType, keys: Array) -> Array:
    """Return the stable order of keys. On the CPU, Ctrl-C can interrupt the sort."""
    if xp is np:
        return abandonable(lambda: keys.argsort(kind="stable"), keys.size)
    return keys.argsort(kind="stable")


# --- vectors ------------------------------------------------------------------------------------


def sort(xp: ModuleType, v: SparseVector) -> SparseVector:
    """The entries in order of index."""
    if v.is_sorted:
        return v
    indices, order = sort_order(xp, v.indices, v.size)
    return SparseVector(v.size, indices.astype(xp.int32), gather(xp, v.values, order))


def to_sparse(xp: ModuleType, v: AnyVector) -> SparseVector:
    """The entries alone, sorted unless they were sparse and were not."""
    if isinstance(v, SparseVector):
        return v
    if isinstance(v, FullVector):
        return SparseVector(v.size, xp.arange(v.size, dtype=xp.int32), v.values)
    indices = v.present.nonzero()[0]
    return SparseVector(v.size, indices.astype(xp.int32), gather(xp, v.values, indices))


def to_bitmap(xp: ModuleType, v: AnyVector) -> BitmapVector:
    """Presence and a value at each index."""
    if isinstance(v, BitmapVector):
        return v
    if isinstance(v, FullVector):
        return BitmapVector(v.size, xp.ones(v.size, bool), v.values, v.size)
    size, indices = v.size, v.indices
    present = xp.zeros(size, bool)
    present[indices] = True
    if is_iso(v.values):
        return BitmapVector(size, present, repeat_value(xp, v.values[:1], size), indices.size)
    values = xp.zeros(size, v.values.dtype)
    values[indices] = v.values
    return BitmapVector(size, present, values, indices.size)


# --- matrices -----------------------------------------------------------------------------------


def from_keys(xp: ModuleType, nrows: int, ncols: int, keys: Array, values: Array) -> Csr:
    """The matrix with entries at row * ncols + column = keys, increasing."""
    if keys.size < nrows:
        indptr = offsets_of_few(xp, keys // ncols, nrows)
    else:
        starts = xp.arange(nrows + 1, dtype=xp.int64)
        starts *= ncols
        indptr = keys.searchsorted(starts).astype(index_dtype(xp, keys.size))
        del starts
    indices = xp.empty(keys.size, xp.int32)
    if keys.size:
        xp.remainder(keys, ncols, out=indices, casting="unsafe")
    return Csr(nrows, ncols, indptr, indices, values)


def keys_of(xp: ModuleType, a: Csr) -> Array:
    """row * ncols + column of each entry, int64, increasing."""
    keys = row_of_entry(xp, a).astype(xp.int64)
    keys *= a.ncols
    keys += a.indices
    return keys


def transpose(xp: ModuleType, a: Csr) -> Csr:
    """The same entries by columns."""
    columns, order = sort_order(xp, a.indices, a.ncols)
    if columns.size < a.ncols:
        indptr = offsets_of_few(xp, columns, a.ncols).astype(a.indptr.dtype, copy=False)
    else:
        indptr = columns.searchsorted(xp.arange(a.ncols + 1)).astype(a.indptr.dtype)
    indices = row_of_entry(xp, a)[order]
    return Csr(a.ncols, a.nrows, indptr, indices, gather(xp, a.values, order))


def is_increasing(keys: Array) -> bool:
    """Whether each key is larger than the one before."""
    return keys.size < 2 or bool((keys[1:] > keys[:-1]).all())
