"""Export entries as coordinates, compressed arrays, dense arrays and dicts.

The arrays are new NumPy arrays with int64 indices. Functions with a parameter `copy` return the
stored arrays on their device if `copy` is False; the caller must not write to them.

The host waits for the GPU whenever an array is copied to the host. With copy=False, `to_dense`
waits only for the number of entries.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.formats import Csr, is_iso
from graphla.operations import indexing
from graphla.operations.entrywise import cast
from graphla.operations.moving import move_store
from graphla.operations.values import fit
from graphla.sparse.building import is_rowwise
from graphla.sparse.expressions import bound
from graphla.sparse.placing import own
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import DataType, lookup_dtype, unify
from semirings.exceptions import InvalidValue


def vector_coo(
    forms: VectorStore, dtype: Any, indices: bool, values: bool, sort: bool, copy: bool
) -> tuple[Any, Any]:
    """Return (indices, values) of the entries."""
    forms = _in_dtype(forms, dtype, copy)
    v = forms.sparse(sorted=sort)
    return (
        _indices(forms.device, v.indices, copy) if indices else None,
        _values(forms.device, v.values, dtype, copy) if values else None,
    )


def matrix_coo(
    forms: MatrixStore,
    dtype: Any,
    rows: bool,
    columns: bool,
    values: bool,
    sort: bool,
    copy: bool,
) -> tuple[Any, Any, Any]:
    """Return (rows, columns, values) of the entries, in row order.

    If `sort` is False and the matrix is stored only as CSC, the entries are in column order.
    """
    forms = _in_dtype(forms, dtype, copy)
    device, by_columns = forms.device, not sort and not forms.has_csr
    a = forms.csc if by_columns else forms.csr
    want_outer, want_inner = (columns, rows) if by_columns else (rows, columns)
    outer = _indices(device, indexing.row_of_each(device, a), copy) if want_outer else None
    inner = _indices(device, a.indices, copy) if want_inner else None
    i, j = (inner, outer) if by_columns else (outer, inner)
    return i, j, _values(device, a.values, dtype, copy) if values else None


def require_sorted(name: str, sort: bool) -> None:
    """Raise an error unless `sort` is True.

    The exports that call this function always sort the indices of each row or column. `name` is the
    name of the export.
    """
    if sort is not True:
        raise InvalidValue(f"sort is {sort!r}, but {name} always sorts, so it must be True")


def to_compressed(
    forms: MatrixStore, dtype: Any, by_columns: bool, copy: bool = True
) -> tuple[Any, Any, Any]:
    """Return (indptr, indices, values), by rows or by columns."""
    forms = _in_dtype(forms, dtype, copy)
    a, device = forms.csc if by_columns else forms.csr, forms.device
    return (
        _indices(device, a.indptr, copy),
        _indices(device, a.indices, copy),
        _values(device, a.values, dtype, copy),
    )


def doubly_compressed(
    forms: MatrixStore, dtype: Any, by_columns: bool
) -> tuple[Any, Any, Any, Any]:
    """Return the entries in doubly compressed form, as new arrays.

    The arrays are (rows, indptr, indices, values), where `rows` lists the nonempty rows. If
    `by_columns` is True, the same arrays are returned with the roles of rows and columns exchanged.
    """
    indptr, indices, values = to_compressed(forms, dtype, by_columns)
    lines = np.flatnonzero(np.diff(indptr))
    return lines, np.append(indptr[lines], indptr[-1]), indices, values


def vector_dense(forms: VectorStore, fill_value: Any, dtype: Any, copy: bool) -> Any:
    """Return a 1-d array with the fill value at indices without an entry."""
    wanted, fill = _resolve_fill(forms.size, forms, fill_value, dtype)
    do, np_type = backend(forms.device), wanted.np_type
    if forms.nvals == forms.size:
        values = do.cast(forms.dense(), np_type).values
        return _values(forms.device, values, None, copy)
    v = forms.sparse()
    array = do.full(forms.size, fill, np_type)
    array[v.indices] = do.cast(v, np_type).values
    return do.to_host(array) if copy else array


def matrix_dense(forms: MatrixStore, fill_value: Any, dtype: Any) -> np.ndarray:
    """Return a 2-d array with the fill value at positions without an entry."""
    shape = forms.nrows, forms.ncols
    wanted, fill = _resolve_fill(int(np.prod(shape, dtype=object)), forms, fill_value, dtype)
    array = np.full(shape, fill, wanted.np_type)
    rows, columns, values = matrix_coo(forms, None, True, True, True, True, True)
    with np.errstate(all="ignore"):
        array[rows, columns] = values
    return array


def dicts(forms: MatrixStore, order: str) -> dict[int, dict[int, Any]]:
    """Return {row: {column: value}}, or {column: {row: value}} if `order` is columnwise."""
    arrays = to_compressed(forms, None, not is_rowwise(order))
    indptr, indices, values = (array.tolist() for array in arrays)
    return {
        line: dict(zip(indices[begin:end], values[begin:end], strict=True))
        for line, (begin, end) in enumerate(pairwise(indptr))
        if begin < end
    }


def vector_pieces(forms: VectorStore) -> tuple[Any, ...]:
    """Return the data with which a vector is pickled.

    These are its dtype, its size, the indices of its entries (None if it is full), and its values.
    """
    forms = move_store(forms, "cpu")
    v = forms.sparse()
    full = forms.nvals == forms.size
    return forms.dtype.name, forms.size, None if full else v.indices, _one_if_iso(v.values)


def matrix_pieces(forms: MatrixStore) -> tuple[Any, ...]:
    """Return the data with which a matrix is pickled.

    These are its dtype, the arrays of each format (CSR and CSC) that exists, and whether it is
    symmetric.
    """
    forms = move_store(forms, "cpu")

    def parts(a: Csr) -> tuple[Any, ...]:
        return a.nrows, a.ncols, a.indptr, a.indices, _one_if_iso(a.values)

    csr = parts(forms.csr) if forms.has_csr else None
    csc = parts(forms.csc) if forms.has_csc and not forms.is_symmetric else None
    return forms.dtype.name, csr, csc, forms.is_symmetric


def _one_if_iso(values: Any) -> Any:
    return values[:1].copy() if is_iso(values) else values


def _resolve_fill(places: int, forms: Any, fill_value: Any, dtype: Any) -> tuple[DataType, Any]:
    """Return the dtype of a dense array, and the fill value for elements without an entry."""
    wanted = lookup_dtype(dtype) if dtype is not None else forms.dtype
    if fill_value is None:
        if forms.nvals < places:
            raise TypeError(
                f"fill_value must be given: {places - forms.nvals} of {places} places have no entry"
            )
        return wanted, 0
    fill_value, found = bound(fill_value, wanted, "fill_value")
    if dtype is None:
        wanted = unify(wanted, found)
    return wanted, fit(fill_value, wanted, "fill_value")


def _in_dtype(forms: Any, dtype: Any, copy: bool) -> Any:
    """Return the store for an export with values of `dtype`.

    If `copy` is False, the values are cast now, so that the arrays of the store can be returned. If
    `copy` is True, the store itself is returned, because the values are cast while they are copied.
    """
    return forms if copy or dtype is None else cast(forms, lookup_dtype(dtype))


def _indices(device: str, indices: Any, copy: bool) -> Any:
    if copy:
        return backend(device).to_host(indices).astype(np.int64)
    return lend(indices)


def _values(device: str, values: Any, dtype: Any, copy: bool) -> Any:
    if not copy:
        return lend(values)
    host = backend(device).to_host(values)
    with np.errstate(all="ignore"):
        return host.astype(host.dtype if dtype is None else lookup_dtype(dtype).np_type)


def lend(array: Any) -> Any:
    """Return an array that can be given to the caller, who must not modify it.

    For a NumPy array, this is a read-only view. A CuPy array cannot be made read-only, so the array
    itself is returned. An exception is an iso-valued CuPy array, in which all elements share one
    stored element. Other vectors may share this element, too, so the result repeats a copy of the
    element.
    """
    if not isinstance(array, np.ndarray):
        return own(array) if is_iso(array) else array
    array = array.view()
    array.flags.writeable = False
    return array
