"""Check all invariants of `graphla.formats` on the arrays of a Matrix, Vector or Scalar.

`strategies.read` calls `verify` on every object that a test compares with its oracle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.formats import AnyVector, BitmapVector, Csr, SparseVector
from graphla.stores import MatrixStore, ScalarStore, VectorStore

LEAST_WIDE = 1 << 31


def verify(noun: Any) -> None:
    """Assert that each stored form of the object is well formed, and that all forms agree."""
    forms = noun._read()
    if isinstance(forms, MatrixStore):
        _verify_matrix(forms)
    elif isinstance(forms, VectorStore):
        _verify_vector(forms)
    else:
        assert isinstance(forms, ScalarStore)
        value, dtype = forms.value, forms.dtype.np_type
        assert value is None or value.dtype == dtype, f"the value is {value.dtype}, not {dtype}"


def _verify_matrix(forms: MatrixStore) -> None:
    dtype, do = forms.dtype.np_type, backend(forms.device)
    csr = _host_csr(do, forms.csr, dtype) if forms.has_csr else None
    csc = _host_csr(do, forms.csc, dtype) if forms.has_csc else None
    if csr is not None and csc is not None:
        assert (csr.nrows, csr.ncols) == (csc.ncols, csc.nrows), "CSR and CSC differ in shape"
        assert csr.nvals == csc.nvals, "CSR and CSC differ in their number of entries"
        rows = np.repeat(np.arange(csr.nrows), np.diff(csr.indptr))
        order = np.lexsort((rows, csr.indices))
        columns = np.repeat(np.arange(csc.nrows), np.diff(csc.indptr))
        assert (csr.indices[order] == columns).all(), "CSR and CSC differ in their columns"
        assert (rows[order] == csc.indices).all(), "CSR and CSC differ in their rows"
        assert _equal(csr.values[order], csc.values), "CSR and CSC differ in their values"


def _host_csr(do: Any, csr: Csr, dtype: Any) -> Csr:
    """Check that the rows are well formed, and return them as NumPy arrays."""
    assert csr.nrows >= 0 and csr.ncols >= 0
    wide = csr.nvals >= LEAST_WIDE
    assert csr.indptr.dtype == (np.int64 if wide else np.int32), f"indptr is {csr.indptr.dtype}"
    assert csr.indptr.shape == (csr.nrows + 1,), f"indptr has shape {csr.indptr.shape}"
    indptr, indices = do.to_host(csr.indptr), do.to_host(csr.indices)
    assert indptr[0] == 0 and indptr[-1] == indices.size, f"indptr ends at {indptr[-1]}"
    assert (indptr[1:] >= indptr[:-1]).all(), "indptr falls"
    _verify_indices(indices, csr.ncols)
    rows = np.repeat(np.arange(csr.nrows), np.diff(indptr))
    same_row = rows[1:] == rows[:-1]
    assert (indices[1:] > indices[:-1])[same_row].all(), "a row's indices are not sorted and unique"
    values = _host_values(do, csr.values, indices.size, dtype)
    return Csr(csr.nrows, csr.ncols, indptr, indices, values)


def _verify_vector(forms: VectorStore) -> None:
    dtype, do = forms.dtype.np_type, backend(forms.device)
    held = [v for v in (forms._full, forms._bitmap, forms._sparse) if v is not None]
    assert held, "the vector holds no form"
    assert forms._full is None or len(held) == 1, "a full form is kept alone"
    assert all(v.size == forms.size for v in held)
    found = [_entries(do, forms._ready(v), dtype, forms._counted) for v in held]
    if forms.host_entries is not None:
        assert forms.device != "cpu" and forms._full is None
        found.append(_entries_on_host(forms.host_entries, forms.size, dtype))
    for indices, values in found:
        assert (indices == found[0][0]).all(), "the forms differ in where their entries are"
        assert _equal(values, found[0][1]), "the forms differ in their values"


def _entries_on_host(entries: dict[int, Any], size: int, dtype: Any) -> tuple[Any, Any]:
    """Check the vector entries that are kept in host memory, and return them sorted by index."""
    assert all(value.dtype == dtype for value in entries.values())
    places = sorted(entries)
    indices = np.array(places, np.int32)
    _verify_indices(indices, size)
    return indices, np.array([entries[i] for i in places], dtype)


def _entries(do: Any, v: AnyVector, dtype: Any, is_counted: bool) -> tuple[Any, Any]:
    """Check that the entries are well formed, and return them sorted by index."""
    if isinstance(v, SparseVector):
        indices = do.to_host(v.indices)
        _verify_indices(indices, v.size)
        values = _host_values(do, v.values, indices.size, dtype)
        order = np.argsort(indices, kind="stable")
        if v.is_sorted:
            assert (order == np.arange(indices.size)).all(), "the indices are not sorted"
        indices = indices[order]
        assert (indices[1:] > indices[:-1]).all(), "an index occurs twice"
        return indices, values[order]
    values = _host_values(do, v.values, v.size, dtype)
    if not isinstance(v, BitmapVector):
        return np.arange(v.size), values
    present = do.to_host(v.present)
    assert present.dtype == bool and present.shape == (v.size,), "the flags are not bool[size]"
    indices = present.nonzero()[0]
    if is_counted:
        assert v.nvals == indices.size, f"the bitmap counts {v.nvals} entries of {indices.size}"
    return indices, values[indices]


def _verify_indices(indices: Any, size: int) -> None:
    assert indices.dtype == np.int32, f"indices are {indices.dtype}"
    assert indices.ndim == 1
    assert ((indices >= 0) & (indices < size)).all(), f"an index lies outside of 0 to {size - 1}"


def _host_values(do: Any, values: Any, count: int, dtype: Any) -> Any:
    assert values.shape == (count,), f"{count} entries have values of shape {values.shape}"
    assert values.dtype == dtype, f"values are {values.dtype}, the dtype is {dtype}"
    if count > 1 and values.strides[0] == 0 and isinstance(values, np.ndarray):
        assert not values.flags.writeable, "the one value of an iso array may be written"
    return do.to_host(values)


def _equal(a: Any, b: Any) -> bool:
    """Return whether the values are equal or both are NaN."""
    return bool(((a == b) | ((a != a) & (b != b))).all())
