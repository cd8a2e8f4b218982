"""To and from the arrays and matrices of `scipy.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.sparse import Matrix, Vector
from graphla.storage import is_iso
from semirings.dtypes import lookup_dtype
from semirings.exceptions import DuplicateEntry, InvalidValue

FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


def from_scipy_sparse(A: Any, *, dup_op: Any = None, name: Any = None) -> Matrix | Vector:
    """The Matrix, or for a one-dimensional array the Vector, of the entries that SciPy stores.

    Explicit zeros are entries. CSR and CSC that are sorted and without duplicates are taken as
    they are, without a copy where the indices are int32: do not write into A after that.
    Duplicates, which SciPy takes for a sum, are refused unless `dup_op` joins them.
    """
    if not hasattr(A, "tocoo") or not hasattr(A, "format"):
        raise InvalidValue(f"A is a {type(A).__name__}, but should be an array of scipy.sparse")
    dtype = lookup_dtype(A.dtype)
    if A.ndim == 1:
        A = A.tocoo()
        (indices,) = A.coords
        return Vector.from_coo(indices, A.data, dtype, size=A.shape[0], dup_op=dup_op, name=name)
    nrows, ncols = A.shape
    if A.format in ("csr", "csc"):
        if not A.has_sorted_indices:
            A = A.sorted_indices()  # a copy: A itself stays as it is
        if A.has_canonical_format:
            if A.format == "csr":
                return Matrix.from_csr(
                    A.indptr, A.indices, A.data, dtype, nrows=nrows, ncols=ncols, name=name
                )
            return Matrix.from_csc(
                A.indptr, A.indices, A.data, dtype, nrows=nrows, ncols=ncols, name=name
            )
    A = A.tocoo()
    try:
        return Matrix.from_coo(
            A.row, A.col, A.data, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name
        )
    except DuplicateEntry as error:
        hint = "give dup_op, for example 'plus', or call A.sum_duplicates() first"
        raise DuplicateEntry(f"{error}; {hint}") from None


def to_scipy_sparse(A: Matrix | Vector, format: str = "csr") -> Any:
    """The array of scipy.sparse with the entries of A; a Vector is a row, or in CSC a column.

    CSR and CSC of a Matrix share its memory where that may be written to by nobody: SciPy then
    refuses to write into them too. `.copy()` makes one that is free.
    """
    from scipy import sparse

    format = format.lower()
    if format not in FORMATS:
        raise InvalidValue(f"format is {format!r}, but should be one of {', '.join(FORMATS)}")
    if isinstance(A, Vector):
        indices, values = A.to_coo()
        values, size, ends = _held(values), A.size, np.array([0, len(indices)])
        if format == "csc":
            return sparse.csc_array((values, indices, ends), shape=(size, 1))
        return sparse.csr_array((values, indices, ends), shape=(1, size)).asformat(format)
    if format == "csc":
        indptr, rows, values = A.to_csc()
        return sparse.csc_array((_held(values), rows, indptr), shape=(A.nrows, A.ncols))
    indptr, columns, values = A.to_csr()
    return sparse.csr_array((_held(values), columns, indptr), shape=(A.nrows, A.ncols)).asformat(
        format
    )


def _held(values: Any) -> Any:
    """A value for each entry, in memory: SciPy's C code knows no stride of 0."""
    return np.ascontiguousarray(values) if is_iso(values) else values
