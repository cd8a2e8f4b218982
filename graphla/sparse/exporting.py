"""What users take out: coordinates, compressed and dense arrays, dicts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.forms import MatrixForms, VectorForms
from graphla.operations import indexing
from graphla.operations.values import fit
from graphla.sparse.building import is_rowwise
from graphla.sparse.expressions import bound
from graphla.storage import Csr, is_iso
from semirings.dtypes import lookup_dtype, unify


def vector_coo(
    forms: VectorForms, dtype: Any, indices: bool, values: bool, sort: bool
) -> tuple[Any, Any]:
    """(indices, values), fresh arrays."""
    v = forms.sparse(sorted=sort)
    return (
        _indices(forms.device, v.indices) if indices else None,
        _values(forms.device, v.values, dtype) if values else None,
    )


def matrix_coo(
    forms: MatrixForms, dtype: Any, rows: bool, columns: bool, values: bool
) -> tuple[Any, Any, Any]:
    """(rows, columns, values), fresh arrays, row by row."""
    csr, device = forms.csr, forms.device
    return (
        _indices(device, indexing.row_of_each(device, csr)) if rows else None,
        _indices(device, csr.indices) if columns else None,
        _values(device, csr.values, dtype) if values else None,
    )


def compressed(a: Csr, dtype: Any) -> tuple[Any, Any, Any]:
    """(indptr, indices, values), fresh arrays."""
    return _indices("cpu", a.indptr), _indices("cpu", a.indices), _values("cpu", a.values, dtype)


def doubly_compressed(a: Csr, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """(rows that have entries, indptr, indices, values), fresh arrays."""
    indptr, indices, values = compressed(a, dtype)
    lines = np.flatnonzero(np.diff(indptr))
    return lines, np.append(indptr[lines], indptr[-1]), indices, values


def vector_dense(forms: VectorForms, fill_value: Any, dtype: Any) -> np.ndarray:
    """An array, with the fill value where there is no entry."""
    array = _filled((forms.size,), forms, fill_value, dtype)
    v = forms.sparse()
    array[backend(forms.device).to_host(v.indices)] = _values(forms.device, v.values, None)
    return array


def matrix_dense(forms: MatrixForms, fill_value: Any, dtype: Any) -> np.ndarray:
    """A 2-d array, with the fill value where there is no entry."""
    array = _filled((forms.nrows, forms.ncols), forms, fill_value, dtype)
    rows, columns, values = matrix_coo(forms, None, True, True, True)
    array[rows, columns] = values
    return array


def dicts(forms: MatrixForms, order: str) -> dict[int, dict[int, Any]]:
    """{row: {column: value}}, or {column: {row: value}}."""
    a = forms.csr if is_rowwise(order) else forms.csc
    indptr, indices, values = (array.tolist() for array in compressed(a, None))
    return {
        line: dict(zip(indices[begin:end], values[begin:end], strict=True))
        for line, (begin, end) in enumerate(pairwise(indptr))
        if begin < end
    }


def vector_pieces(forms: VectorForms) -> tuple[Any, ...]:
    """What a pickle keeps of a vector."""
    v = forms.sparse()
    full = forms.nvals == forms.size
    return forms.dtype.name, forms.size, None if full else v.indices, _one_if_iso(v.values)


def matrix_pieces(forms: MatrixForms) -> tuple[Any, ...]:
    """What a pickle keeps of a matrix: the forms that are there."""

    def parts(a: Csr) -> tuple[Any, ...]:
        return a.nrows, a.ncols, a.indptr, a.indices, _one_if_iso(a.values)

    csr = parts(forms.csr) if forms.has_csr else None
    csc = parts(forms.csc) if forms.has_csc and not forms.is_symmetric else None
    return forms.dtype.name, csr, csc, forms.is_symmetric


def _one_if_iso(values: Any) -> Any:
    return values[:1].copy() if is_iso(values) else values


def _filled(shape: tuple[int, ...], forms: Any, fill_value: Any, dtype: Any) -> np.ndarray:
    wanted = lookup_dtype(dtype) if dtype is not None else forms.dtype
    places = int(np.prod(shape, dtype=object))
    if fill_value is None:
        if forms.nvals < places:
            raise TypeError(
                f"fill_value must be given: {places - forms.nvals} of {places} places have no entry"
            )
        return np.empty(shape, wanted.np_type)
    fill_value, found = bound(fill_value, wanted, "fill_value")
    if dtype is None:
        wanted = unify(wanted, found)
    return np.full(shape, fit(fill_value, wanted, "fill_value"))


def _indices(device: str, indices: Any) -> np.ndarray:
    return backend(device).to_host(indices).astype(np.int64)


def _values(device: str, values: Any, dtype: Any) -> np.ndarray:
    host = backend(device).to_host(values)
    with np.errstate(all="ignore"):
        return host.astype(host.dtype if dtype is None else lookup_dtype(dtype).np_type)
