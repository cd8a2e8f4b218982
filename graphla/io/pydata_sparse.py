"""Convert to and from the arrays of PyData's `sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.io.entries import forms_of
from graphla.sparse import Matrix, Vector
from semirings.dtypes import lookup_dtype
from semirings.exceptions import InvalidValue

FORMATS = ("coo", "dok", "gcxs")


def to_pydata_sparse(A: Any, format: str = "coo") -> Any:
    """Return the entries of A as an array of PyData's `sparse`.

    Args:
        A: a Matrix, a Vector, or an expression that yields one.
        format: "coo", "dok" or "gcxs".

    Returns:
        A `sparse.COO`, `sparse.DOK` or `sparse.GCXS` with fill value 0, which represents the
        missing entries of A.

    Raises:
        ImportError: `sparse` is not installed.
        InvalidValue: the format is not supported.
    """
    sparse = _sparse()
    forms_of(A)
    if str(format).lower() not in FORMATS:
        raise InvalidValue(f"format is {format!r}, but should be one of {', '.join(FORMATS)}")
    *places, values = A.to_coo()
    coords = np.stack([np.asarray(part, np.int64) for part in places])
    values = np.ascontiguousarray(values)
    found = sparse.COO(coords, values, shape=A.shape, has_duplicates=False, sorted=True)
    return found.asformat(str(format).lower())


def from_pydata_sparse(s: Any, *, dup_op: Any = None, name: str | None = None) -> Any:
    """Return a Matrix (or a Vector, if s is one-dimensional) with the entries that s stores.

    Args:
        s: a `sparse.COO`, `sparse.DOK` or `sparse.GCXS` with one or two dimensions and fill value
            0. Explicit zeros become entries.
        dup_op: an operator that combines the values of duplicate entries; without it, duplicates
            raise DuplicateEntry.
        name: the name of the result.

    Returns:
        A Matrix, or a Vector for a one-dimensional array.

    Raises:
        ImportError: `sparse` is not installed.
        TypeError: s is not an array of `sparse`.
        InvalidValue: s has more than two dimensions, or a fill value other than 0.
    """
    sparse = _sparse()
    if not isinstance(s, sparse.SparseArray):
        raise TypeError(f"s is a {type(s).__name__}, but should be an array of PyData's sparse")
    if s.ndim not in (1, 2):
        raise InvalidValue(f"s has {s.ndim} dimensions, but should have one or two")
    if s.fill_value != 0:
        raise InvalidValue(f"s has the fill value {s.fill_value}, but should have 0")
    dtype, kept = lookup_dtype(s.dtype), s.asformat("coo")
    coords: Any = kept.coords
    values = kept.data
    options: dict[str, Any] = {"dup_op": dup_op, "name": name}
    if s.ndim == 1:
        return Vector.from_coo(coords[0], values, dtype, size=s.shape[0], **options)
    nrows, ncols = s.shape
    return Matrix.from_coo(coords[0], coords[1], values, dtype, nrows=nrows, ncols=ncols, **options)


def _sparse() -> Any:
    try:
        import sparse
    except ImportError:
        raise ImportError("this needs PyData's sparse: pip install sparse") from None
    return sparse
