"""Convert to and from arrays of `scipy.sparse`, and of `cupyx.scipy.sparse` on a GPU.

A SciPy array is copied to or from a GPU with one transfer for each of its arrays. Arrays of cupyx
are converted on their GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.formats import is_iso
from graphla.io.entries import forms_of, held_once
from graphla.operations.indexing import as_row
from graphla.operations.moving import move_store
from graphla.operations.operation import perform
from graphla.operations.values import is_on_card
from graphla.sparse import Matrix, Vector
from graphla.sparse.vector import ReadableVector
from graphla.stores import VectorStore
from semirings.dtypes import lookup_dtype
from semirings.exceptions import DeviceMismatch, DomainMismatch, DuplicateEntry, InvalidValue

CUPYX_FORMATS = ("csr", "csc", "coo")
CUPYX_DTYPES = ("BOOL", "FP32", "FP64")
_DUPLICATES = "give dup_op, for example 'plus', or call A.sum_duplicates() first"
FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: Any = None) -> Any:
    """Return the Matrix or Vector with the entries that a SciPy sparse array stores.

    Explicit zeros are entries. CSR and CSC arrays that are sorted and have no duplicates are used
    without a copy if their indices are int32; do not modify them afterwards.

    Args:
        A: an array or matrix of `scipy.sparse` or `cupyx.scipy.sparse`; the Matrix of a cupyx
            array is on the GPU of this array.
        dup_op: an operator that combines the values of duplicate entries, which SciPy would add;
            without it, duplicates raise DuplicateEntry.
        name: the name of the result.

    Returns:
        A Matrix, or a Vector for a one-dimensional array.

    Raises:
        InvalidValue: A is not a sparse array with one or two dimensions.
        DuplicateEntry: A has duplicate entries, and `dup_op` is not given.

    Examples:
        >>> from scipy.sparse import csr_array
        >>> from graphla.io import from_scipy_sparse
        >>> from_scipy_sparse(csr_array([[0, 5], [7, 0]])).to_dict()
        {(0, 1): 5, (1, 0): 7}
    """
    if not hasattr(A, "tocoo") or not hasattr(A, "format"):
        raise InvalidValue(f"A is a {type(A).__name__}, but should be an array of scipy.sparse")
    if A.ndim not in (1, 2):
        raise InvalidValue(f"A has {A.ndim} dimensions, but should have one or two")
    dtype = lookup_dtype(A.dtype)
    if is_on_card(getattr(A, "data", None)):
        return _from_cupyx(A, dtype, dup_op, name)
    if A.ndim == 1:
        A = A.tocoo()
        (indices,), data = A.coords, held_once(A.data)
        return Vector.from_coo(indices, data, dtype, size=A.shape[0], dup_op=dup_op, name=name)
    sizes: dict[str, Any] = {"nrows": A.shape[0], "ncols": A.shape[1]}
    if A.format in ("csr", "csc"):
        if not A.has_sorted_indices:
            A = A.sorted_indices()  # a copy, because the caller's A must not change
        if A.has_canonical_format:
            build = Matrix.from_csr if A.format == "csr" else Matrix.from_csc
            data = held_once(A.data)
            return build(A.indptr, A.indices, data, dtype, **sizes, copy=False, name=name)
    A = A.tocoo()
    data = held_once(A.data)
    try:
        return Matrix.from_coo(A.row, A.col, data, dtype, **sizes, dup_op=dup_op, name=name)
    except DuplicateEntry as error:
        raise DuplicateEntry(f"{error}; {_DUPLICATES}") from None


def _from_cupyx(A: Any, dtype: Any, dup_op: Any, name: Any) -> Any:
    sizes: dict[str, Any] = {"nrows": A.shape[0], "ncols": A.shape[1]}
    if A.format in ("csr", "csc") and A.has_canonical_format:
        build = Matrix.from_csr if A.format == "csr" else Matrix.from_csc
        return build(A.indptr, A.indices, A.data, dtype, **sizes, copy=False, name=name)
    A = A.tocoo()
    try:
        return Matrix.from_coo(A.row, A.col, A.data, dtype, **sizes, dup_op=dup_op, name=name)
    except DuplicateEntry as error:
        raise DuplicateEntry(f"{error}; {_DUPLICATES}") from None


def to_cupyx_sparse(A: Any, format: str = "csr", *, copy: bool = True) -> Any:
    """Return a matrix of `cupyx.scipy.sparse` with the entries of A, on the GPU of A.

    Args:
        A: a Matrix or Vector on a GPU, or an expression that yields one. A Vector becomes a row.
        format: "csr", "csc" or "coo".
        copy: if False and the layouts agree, the result shares the memory of A. Do not modify it.

    Returns:
        A `csr_matrix`, `csc_matrix` or `coo_matrix`.

    Raises:
        InvalidValue: the format is not supported.
        DeviceMismatch: A is on the CPU.
        DomainMismatch: the dtype is not BOOL, FP32 or FP64, the only dtypes that cupyx supports.
    """
    if format not in CUPYX_FORMATS:
        raise InvalidValue(f"format is {format!r}, but should be one of {', '.join(CUPYX_FORMATS)}")
    forms = forms_of(A)
    if forms.device == "cpu":
        raise DeviceMismatch('A is on the cpu, but should be on a card: A.to("cuda")')
    if forms.dtype.name not in CUPYX_DTYPES:
        raise DomainMismatch(
            f"cupyx.scipy.sparse holds {', '.join(CUPYX_DTYPES)}, but A is of {forms.dtype}; "
            'cast it, as in A.dup("FP64")'
        )
    return perform("to_cupyx_sparse", _cupyx, forms, format, copy)


def _cupyx(forms: Any, format: str, copy: bool) -> Any:
    from cupyx.scipy import sparse

    if isinstance(forms, VectorStore):
        forms = as_row(forms)
    a = forms.csc if format == "csc" else forms.csr
    arrays = [x.copy() if copy or is_iso(x) else x for x in (a.values, a.indices, a.indptr)]
    if format == "csc":
        return sparse.csc_matrix(tuple(arrays), shape=(a.ncols, a.nrows))
    S = sparse.csr_matrix(tuple(arrays), shape=(a.nrows, a.ncols))
    return S if format == "csr" else S.tocoo()


def to_scipy_sparse(A: Any, format: str = "csr", *, copy: bool = True) -> Any:
    """Return an array of `scipy.sparse` with the entries of A.

    Args:
        A: a Matrix or Vector, or an expression that yields one. A Vector becomes a row (a column in
            CSC).
        format: "csr", "csc", "coo", "bsr", "lil", "dia" or "dok".
        copy: if False, a CSR or CSC array shares the memory of A, provided that the layouts agree
            and A is on the CPU; a shared array is read-only.

    Returns:
        A sparse array in host memory.

    Raises:
        InvalidValue: the format is not supported.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.io import to_scipy_sparse
        >>> to_scipy_sparse(Matrix.from_coo([0], [1], [5], nrows=2, ncols=2)).toarray().tolist()
        [[0, 5], [0, 0]]
    """
    from scipy import sparse

    if str(format).lower() not in FORMATS:
        raise InvalidValue(f"format is {format!r}, but should be one of {', '.join(FORMATS)}")
    format = format.lower()
    forms = move_store(forms_of(A), "cpu")
    if isinstance(A, ReadableVector):
        v, ends = forms.sparse(), np.array([0, A.nvals], np.int32)
        if format == "csc":
            S = sparse.csc_array((_expand(v.values), v.indices, ends), shape=(A.size, 1))
        else:
            S = sparse.csr_array((_expand(v.values), v.indices, ends), shape=(1, A.size))
    elif format == "csc":
        csc = forms.csc
        arrays = (_expand(csc.values), _freeze(csc.indices), _freeze(csc.indptr))
        S = sparse.csc_array(arrays, shape=(A.nrows, A.ncols))
    else:
        csr = forms.csr
        arrays = (_expand(csr.values), _freeze(csr.indices), _freeze(csr.indptr))
        S = sparse.csr_array(arrays, shape=(A.nrows, A.ncols))
    return S.copy() if copy and format in ("csr", "csc") else S.asformat(format, copy=copy)


def _expand(values: Any) -> Any:
    """Store one value per entry, because SciPy's C code cannot read arrays with stride 0."""
    return np.ascontiguousarray(values) if is_iso(values) else _freeze(values)


def _freeze(array: Any) -> Any:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
