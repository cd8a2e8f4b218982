"""Assign and subassign: write a value T to a region of C.

- assign, C⟨M, replace⟩(I, J) = accum(C(I, J), A): first a matrix Z is computed. It equals C outside
  the region, and A (or accum(C, A)) inside it. Then Z is written to C. The mask has the shape of C,
  and `mask` and `replace` apply to all of C.
- subassign, C(I, J)⟨M, replace⟩ = accum(C(I, J), A): the write rule applies to C(I, J) only, and
  the mask has the shape of this region. The rest of C does not change.
- a row or a column: the mask is a vector with one element per position of the row or column, and
  applies only to it.

The value is the store of a vector or matrix, or a scalar (ScalarStore), which becomes an entry at
every position of the region; an empty scalar deletes entries.

I and J contain no duplicate indices, unless `is_joined` is True. In that case accum is the operator
of a commutative and associative monoid on the dtype of C, and accum combines all values that are
assigned to the same position into one entry of T.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import are_all, count_true, is_any
from graphla.formats import (
    BitmapVector,
    Counted,
    Csr,
    FullVector,
    MatrixMask,
    SparseVector,
    VectorMask,
)
from graphla.operations import indexing
from graphla.operations.entrywise import cast
from graphla.operations.indexing import Places
from graphla.operations.moving import on_host
from graphla.operations.values import is_on_card
from graphla.operations.write import write_matrix, write_vector
from graphla.stores import (
    MOST_HOST_ENTRIES,
    MatrixStore,
    ScalarStore,
    VectorStore,
    take_in_place,
)
from semirings import binary
from semirings.operators import TypedBinaryOp


class Box:
    """Holds the store of a temporary vector or matrix, so that functions can write to it."""

    __slots__ = ("_store",)

    def __init__(self, forms: Any):
        self._store = forms


def assign_vector(
    owner: Any,
    indices: Places,
    value: VectorStore | ScalarStore,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    is_joined: bool = False,
) -> None:
    """w⟨m, replace⟩(I) = accum(w(I), value)."""
    size = owner._store.size
    if indices is None:
        t, honors_mask = _fill_vector(value, size, mask), mask is None
        if isinstance(value, ScalarStore) and mask is not None:
            honors_mask = not mask.complement
        write_vector(owner, t, mask, accum, replace, honors_mask)
        return
    is_sorted = is_increasing(indices)
    places = indexing.locate(owner._store.device, indices).astype(np.int32)
    t = _place_vector(value, size, places, is_sorted, accum if is_joined else None)
    if accum is not None:
        write_vector(owner, t, mask, accum, replace, False)
        return
    if mask is None and t.nvals == indices.size:  # T covers all indices, so nothing is deleted
        within: Any = t.mask(True, False)
    else:
        within = _within(owner._store.device, places, is_sorted, size, mask)
    write_vector(owner, t, within, None, False, False)
    if replace and mask is not None:
        write_vector(owner, owner._store, mask, None, True, False)


def subassign_vector(
    owner: Any,
    indices: Places,
    value: VectorStore | ScalarStore,
    mask: VectorMask,
    accum: TypedBinaryOp | None,
    replace: bool,
    is_joined: bool = False,
) -> None:
    """w(I)⟨m, replace⟩ = accum(w(I), value). `is_joined` and `replace` are never both True."""
    if indices is None:
        assign_vector(owner, None, value, mask, accum, replace)
        return
    if is_joined:
        device, dtype = owner._store.device, owner._store.dtype
        allowed = Box(VectorStore.empty(device, dtype, indices.size))
        assign_vector(allowed, None, value, mask, None, False)
        assign_vector(owner, indices, allowed._store, None, accum, False, True)
        return
    part = Box(indexing.extract_vector.compute(owner._store, indices))
    assign_vector(part, None, value, mask, accum, replace)
    assign_vector(owner, indices, part._store, None, None, False)


def assign_matrix(
    owner: Any,
    rows: Places,
    columns: Places,
    value: MatrixStore | ScalarStore,
    mask: MatrixMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    is_joined: bool = False,
) -> None:
    """C⟨M, replace⟩(I, J) = accum(C(I, J), value)."""
    c: MatrixStore = owner._store
    if is_joined:
        assert accum is not None
        t, honors_mask = _join_matrix(value, c, rows, columns, accum), mask is None
    elif isinstance(value, ScalarStore):
        t, honors_mask = _fill_matrix(value, c, rows, columns, mask)
    else:
        t, honors_mask = _place_matrix(value, c, rows, columns), mask is None
    if accum is None and not (rows is None and columns is None):
        outside = _keep(c, ~_in_region(c, rows, columns))
        if mask is None or replace or not honors_mask or mask.complement:
            t, honors_mask = _disjoint_union(cast(t, c.dtype), outside), mask is None
        else:
            mask = _mask_within(c.device, mask, rows, columns)
    write_matrix(owner, t, mask, accum, replace, honors_mask)


def subassign_matrix(
    owner: Any,
    rows: Places,
    columns: Places,
    value: MatrixStore | ScalarStore,
    mask: MatrixMask,
    accum: TypedBinaryOp | None,
    replace: bool,
    is_joined: bool = False,
) -> None:
    """C(I, J)⟨M, replace⟩ = accum(C(I, J), value). `is_joined` and `replace` are never both
    True."""
    if rows is None and columns is None:
        assign_matrix(owner, None, None, value, mask, accum, replace)
        return
    if is_joined:
        c: MatrixStore = owner._store
        nrows = c.nrows if rows is None else rows.size
        ncols = c.ncols if columns is None else columns.size
        allowed = Box(MatrixStore.empty(c.device, c.dtype, nrows, ncols))
        assign_matrix(allowed, None, None, value, mask, None, False)
        assign_matrix(owner, rows, columns, allowed._store, None, accum, False, True)
        return
    part = Box(indexing.extract_matrix.compute(owner._store, rows, columns))
    assign_matrix(part, None, None, value, mask, accum, replace)
    assign_matrix(owner, rows, columns, part._store, None, None, False)


def assign_row(
    owner: Any,
    i: int,
    columns: Places,
    value: VectorStore | ScalarStore,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    submask: bool,
    is_joined: bool = False,
) -> None:
    """C⟨m, replace⟩(i, J) = accum(C(i, J), value); with `submask`, C(i, J)⟨m, replace⟩ = ..."""
    row = Box(indexing.extract_row.compute(owner._store, i, None))
    if submask:
        assert mask is not None
        subassign_vector(row, columns, value, mask, accum, replace, is_joined)
    else:
        assign_vector(row, columns, value, mask, accum, replace, is_joined)
    owner._store = _with_row(owner._store, i, row._store)


def assign_column(
    owner: Any,
    rows: Places,
    j: int,
    value: VectorStore | ScalarStore,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    submask: bool,
    is_joined: bool = False,
) -> None:
    """Compute C⟨m, replace⟩(I, j) = accum(C(I, j), value), as a row of the transpose."""
    flipped = Box(owner._store.T)
    assign_row(flipped, j, rows, value, mask, accum, replace, submask, is_joined)
    owner._store = flipped._store.T


def set_vector_element(owner: Any, i: int, value: Any) -> None:
    """Set w(i) to a value that has the dtype of w; None deletes the entry."""
    entries = owner._store.host_entries
    if entries is not None and (len(entries) < MOST_HOST_ENTRIES or i in entries):
        if value is not None:
            value = owner._store.dtype.np_type.type(value)
        owner._store = owner._store.with_entry(i, value)
        return
    if not owner._store.has_dense:
        if value is not None and not owner._store.nvals:
            v: VectorStore = owner._store
            value = v.dtype.np_type.type(value)
            owner._store = v.successor(backend(v.device).one_entry(v.size, i, value))
            return
        if value is not None:
            owner._store.base_for_write(1)
    taken = take_in_place(owner) if owner._store.has_dense else None
    if taken is None:
        t = ScalarStore(owner._store.device, owner._store.dtype, value)
        assign_vector(owner, np.asarray([i], np.int64), t, None, None, False)
        return
    written = backend(owner._store.device).set_element(taken, i, value)
    owner._store = owner._store.successor(written)


def set_matrix_element(owner: Any, i: int, j: int, value: Any) -> None:
    """Set C(i, j) to a value that has the dtype of C; None deletes the entry."""
    c: MatrixStore = owner._store
    if not c.has_csr:
        flipped = Box(c.T)
        set_matrix_element(flipped, j, i, value)
        owner._store = flipped._store.T
        return
    csr = c.csr
    k, there = backend(c.device).find(csr, i, j)
    if value is None and not there:
        return
    rest = k + there
    do = backend(c.device)
    middle = [] if value is None else [value]
    indices = np.concatenate(
        (csr.indices[:k], do.asarray([j] * len(middle), np.int32), csr.indices[rest:])
    )
    values = np.concatenate(
        (csr.values[:k], do.asarray(middle, csr.values.dtype), csr.values[rest:])
    )
    indptr = csr.indptr.copy()
    indptr[i + 1 :] += len(middle) - there
    written = Csr(csr.nrows, csr.ncols, indptr, indices, values)
    owner._store = MatrixStore(c.device, c.dtype, written)


def _fill_vector(
    value: VectorStore | ScalarStore, size: int, mask: VectorMask | None
) -> VectorStore:
    """Return the vector to be written in an assignment to a whole vector.

    If `value` is a scalar, the vector holds it at every index that the mask may select.
    """
    if isinstance(value, VectorStore):
        return value
    if value.value is None:
        return VectorStore.empty(value.device, value.dtype, size)
    device = value.device
    if mask is None or mask.complement:
        return VectorStore(
            value.device, value.dtype, FullVector(size, backend(device).repeat(value.value, size))
        )
    if mask.indices is not None:
        values = backend(device).repeat(value.value, mask.indices.size)
        t = SparseVector(size, mask.indices, values, mask.is_sorted)
    else:
        present: Any = mask.present
        count = Counted(count_true(present)) if mask.nvals is None else mask.nvals
        t = BitmapVector(size, present, backend(device).repeat(value.value, size), count)
    return VectorStore(value.device, value.dtype, t)


def _place_vector(
    value: VectorStore | ScalarStore,
    size: int,
    places: Any,
    is_sorted: bool,
    join: TypedBinaryOp | None,
) -> VectorStore:
    """Return T with the given size, with value(k) at index places[k].

    `join` combines values that have the same index. If `join` is None, all indices in `places`
    differ.
    """
    device = value.device
    if isinstance(value, ScalarStore):
        if value.value is None:
            return VectorStore.empty(value.device, value.dtype, size)
        indices, values = places, backend(device).repeat(value.value, places.size)
    else:
        value = value if join is None else cast(value, join.type)
        v = value.sparse()
        indices, values = places if v.nvals == v.size else places[v.indices], v.values
    if join is None:
        t = SparseVector(size, indices, values, is_sorted)
    else:
        t = backend(device).build_vector(size, indices, values, join)
    return VectorStore(device, value.dtype, t)


def _within(
    device: str, places: Any, is_sorted: bool, size: int, mask: VectorMask | None
) -> VectorMask:
    """Return a mask that selects the indices in `places` that `mask` selects, too."""
    if mask is not None:
        true = backend(device).repeat(np.bool_(True), places.size)
        listed = SparseVector(size, places, true, is_sorted)
        listed = backend(device).write_vector(listed, listed, mask, None, True, true.dtype)
        places = listed.indices  # pyright: ignore[reportAttributeAccessIssue]
    return VectorMask(size, None, places, False, is_sorted, places.size)


def _place_matrix(value: MatrixStore, c: MatrixStore, rows: Places, columns: Places) -> MatrixStore:
    """Return a matrix with the shape of C that has value(k, l) at (rows[k], columns[l])."""
    if rows is None and columns is None:
        return value
    i, j, values = indexing.coordinates(value)
    if rows is not None:
        i = indexing.locate(c.device, rows)[i]
    if columns is not None:
        j = indexing.locate(c.device, columns)[j]
    return indexing.from_coordinates(c.device, value.dtype, c.nrows, c.ncols, i, j, values)


def _join_matrix(
    value: MatrixStore | ScalarStore,
    c: MatrixStore,
    rows: Places,
    columns: Places,
    accum: TypedBinaryOp,
) -> MatrixStore:
    """Return a matrix with the shape of C that has value(k, l) at (rows[k], columns[l]).

    `accum` combines values at the same position. If `value` is a scalar, value(k, l) is this scalar
    for all k and l.
    """
    do = backend(c.device)
    i = do.arange(c.nrows, np.int64) if rows is None else indexing.locate(c.device, rows)
    j = do.arange(c.ncols, np.int64) if columns is None else indexing.locate(c.device, columns)
    if isinstance(value, ScalarStore):
        if value.value is None:
            return MatrixStore.empty(c.device, c.dtype, c.nrows, c.ncols)
        places = i.repeat(j.size), np.tile(j, i.size)
        values = do.repeat(value.value, i.size * j.size)
    else:
        k, l, values = indexing.coordinates(cast(value, c.dtype))
        places = i[k], j[l]
    t = do.build_matrix(c.nrows, c.ncols, *places, values, accum)
    return MatrixStore(c.device, c.dtype, t)


def _fill_matrix(
    value: ScalarStore, c: MatrixStore, rows: Places, columns: Places, mask: MatrixMask | None
) -> tuple[MatrixStore, bool]:
    """Return a matrix with the scalar at all positions of the region that the mask may allow.

    Also return whether the mask is known to allow all entries of this matrix.
    """
    device, dtype, do = value.device, value.dtype, backend(value.device)
    if value.value is None:
        return MatrixStore.empty(device, dtype, c.nrows, c.ncols), True
    if mask is not None and not mask.complement:
        pattern = mask.pattern
        repeated = backend(device).repeat(value.value, pattern.indices.size)
        t = MatrixStore(
            device,
            dtype,
            Csr(pattern.nrows, pattern.ncols, pattern.indptr, pattern.indices, repeated),
        )
        if rows is None and columns is None:
            return t, True
        return _keep(t, _in_region(t, rows, columns)), True
    i, j = _sorted_places(device, rows, c.nrows), _sorted_places(device, columns, c.ncols)
    degrees = do.full(c.nrows + 1, 0, np.int64)
    degrees[i + 1] = j.size
    indptr = np.cumsum(degrees)
    if i.size * j.size < 1 << 31:
        indptr = indptr.astype(np.int32)
    indices = np.tile(j.astype(np.int32), i.size)
    csr = Csr(c.nrows, c.ncols, indptr, indices, backend(device).repeat(value.value, indices.size))
    return MatrixStore(device, dtype, csr), mask is None


def _sorted_places(device: str, places: Places, size: int) -> Any:
    if places is None:
        return backend(device).arange(size, np.int32)
    return np.sort(indexing.locate(device, places))


def _in_region(c: MatrixStore, rows: Places, columns: Places) -> Any:
    """Return a Boolean array that flags the entries of C in the given rows and columns."""
    do, csr = backend(c.device), c.csr
    inside = do.full(csr.indices.size, True, bool)
    if rows is not None:
        chosen = do.full(csr.nrows, False, bool)
        chosen[indexing.locate(c.device, rows)] = True
        inside &= chosen[do.row_of_entry(csr)]
    if columns is not None:
        chosen = do.full(csr.ncols, False, bool)
        chosen[indexing.locate(c.device, columns)] = True
        inside &= chosen[csr.indices]
    return inside


def _keep(c: MatrixStore, chosen: Any) -> MatrixStore:
    return MatrixStore(c.device, c.dtype, backend(c.device).keep(c.csr, chosen))


def _mask_within(device: str, mask: MatrixMask, rows: Places, columns: Places) -> MatrixMask:
    pattern = MatrixStore(device, None, mask.pattern)  # pyright: ignore[reportArgumentType]
    return MatrixMask(_keep(pattern, _in_region(pattern, rows, columns)).csr, False)


def _disjoint_union(a: MatrixStore, b: MatrixStore) -> MatrixStore:
    """Return the union of two operands that have no positions in common."""
    if not a.nvals or not b.nvals:
        return a if a.nvals else b
    union = backend(a.device).union(a.csr, b.csr, binary.first[a.dtype])
    return MatrixStore(a.device, a.dtype, union)


def _with_row(c: MatrixStore, i: int, row: VectorStore) -> MatrixStore:
    """Return C with row i replaced."""
    csr, v = c.csr, cast(row, c.dtype).sparse()
    begin, end = indexing.bounds(c.device, csr, i)
    indices = np.concatenate((csr.indices[:begin], v.indices, csr.indices[end:]))
    values = np.concatenate((csr.values[:begin], v.values, csr.values[end:]))
    indptr = csr.indptr.copy()
    indptr[i + 1 :] += v.indices.size - (end - begin)
    return MatrixStore(c.device, c.dtype, Csr(csr.nrows, csr.ncols, indptr, indices, values))


def is_increasing(indices: Any) -> bool:
    """Return whether each index is greater than the one before it."""
    return are_all(indices[1:] > indices[:-1])


def first_duplicate(indices: Any) -> int | None:
    """Return the first index that equals an earlier one, or None if all indices differ."""
    ordered = np.sort(indices)
    if not is_any(ordered[1:] == ordered[:-1]):
        return None
    if is_on_card(indices):
        indices = on_host(indices)
    order = indices.argsort(kind="stable")
    ordered = indices[order]
    return int(indices[order[1:][ordered[1:] == ordered[:-1]].min()])
