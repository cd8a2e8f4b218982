"""Convert between the entries listed in a file and a matrix.

In a symmetric file, an entry (i, j) also stands for (j, i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.formats import is_iso
from graphla.operations.moving import move_store
from graphla.sparse import Matrix
from graphla.sparse.readable_matrix import ReadableMatrix
from graphla.sparse.vector import ReadableVector
from semirings.dtypes import DataType
from semirings.exceptions import InvalidValue

MIRROR = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # A(j, i) = MIRROR * A(i, j)


def assemble(
    i: Any,
    j: Any,
    values: Any,
    dtype: DataType,
    shape: tuple[int, int],
    *,
    symmetry: str = "general",
    dup_op: Any = None,
    name: Any = None,
) -> Matrix:
    """A(i, j) = values. If `symmetry` is not "general", A(j, i) gets the mirrored value.

    If `values` is an array and several entries have the same position (or the same mirrored
    position), `dup_op` combines their values; without `dup_op`, DuplicateEntry is raised. If
    `values` is a scalar, duplicates are ignored.
    """
    sizes: dict[str, Any] = {"nrows": shape[0], "ncols": shape[1]}
    sign = MIRROR[symmetry]
    values = held_once(values)
    if sign == 0:
        A = Matrix.from_coo(i, j, values, dtype, **sizes, dup_op=dup_op, name=name)
        return A if dup_op is None else _with_iso_values(A, name)
    # Move all entries to the lower triangle, where `dup_op` combines (i, j) and (j, i). The
    # triangle is mirrored afterwards.
    if dup_op is not None:
        if sign < 0:
            values = np.where(i < j, np.negative(values), values)
        i, j = np.maximum(i, j), np.minimum(i, j)
        half = Matrix.from_coo(i, j, values, dtype, **sizes, dup_op=dup_op)
        i, j, values = half.to_coo()
    off = i != j
    i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    if np.ndim(values):
        mirrored = values[off] if sign > 0 else -values[off]
        values = held_once(np.concatenate([values, mirrored]))
    return Matrix.from_coo(i, j, values, dtype, **sizes, symmetric=sign > 0, name=name)


def _with_iso_values(A: Matrix, name: Any) -> Matrix:
    rows = by_rows(A)
    values = held_once(rows.values)
    if values is rows.values:
        return A
    arrays = (rows.indptr, rows.columns, values)
    return Matrix.from_csr(*arrays, A.dtype, ncols=A.ncols, copy=False, name=name)


def held_once(values: Any) -> Any:
    """Return the values, but as a broadcast of a single stored element if all are bitwise equal."""
    if np.ndim(values) == 0 or values.size == 0 or is_iso(values):
        return values
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    return np.broadcast_to(values[0], values.shape) if (bits == bits[0]).all() else values


def first_duplicate(i: Any, j: Any, symmetry: str = "general") -> int:
    """Return the smallest k such that (i[k], j[k]) also occurs before position k."""
    if MIRROR[symmetry]:
        i, j = np.maximum(i, j), np.minimum(i, j)
    order = np.lexsort((j, i))  # lexsort is stable, so equal positions keep their order
    i, j = i[order], j[order]
    again = (i[1:] == i[:-1]) & (j[1:] == j[:-1])
    return int(order[1:][again].min())


@dataclass(frozen=True, slots=True)
class Rows:
    """The CSR arrays of a Matrix, or of a Vector as an n x 1 matrix; they are read-only."""

    indptr: Any
    columns: Any
    values: Any
    shape: tuple[int, int]
    is_symmetric: bool  # whether the matrix is known to be symmetric

    def numbers(self, part: slice) -> Any:
        """Return the row number of each entry in a slice of the entries."""
        return np.searchsorted(self.indptr, np.arange(part.start, part.stop), side="right") - 1


def by_rows(A: Any) -> Rows:
    """Return the entries of A in CSR on the host, without a copy if they are already there.

    If A stores equal values as a single element, so does the result.
    """
    forms = move_store(forms_of(A), "cpu")
    if isinstance(A, ReadableVector):
        v = forms.sparse()
        indptr = np.searchsorted(v.indices, np.arange(A.size + 1))
        return Rows(indptr, np.zeros(v.nvals, np.int32), v.values, (A.size, 1), False)
    csr = forms.csr
    return Rows(csr.indptr, csr.indices, csr.values, (A.nrows, A.ncols), forms.is_symmetric)


def forms_of(A: Any) -> Any:
    """Return the store of a Matrix, a Vector, or an expression that yields one."""
    if not isinstance(A, ReadableMatrix | ReadableVector):
        raise InvalidValue(f"A is a {type(A).__name__}, but should be a Matrix or a Vector")
    return A._read()


def has_symmetry(rows: Rows, symmetry: str) -> bool:
    """Return whether the matrix is symmetric or skew-symmetric, as `symmetry` demands.

    The values are compared exactly. If `symmetry` is "general", the result is always true.
    """
    if symmetry == "general" or (symmetry == "symmetric" and rows.is_symmetric):
        return True
    if rows.shape[0] != rows.shape[1]:
        return False
    from scipy.sparse import csr_array

    position = np.arange(rows.columns.size)
    across = csr_array((position, rows.columns, rows.indptr), shape=rows.shape).tocsc()
    same = np.array_equal(across.indptr, rows.indptr)
    if not same or not np.array_equal(across.indices, rows.columns):
        return False
    return _are_mirrored(rows.values, across.data, MIRROR[symmetry])


def _are_mirrored(values: Any, mirror: Any, sign: int) -> bool:
    if sign > 0 and is_iso(values):
        return True
    if sign < 0:
        if values.dtype.kind == "i" and values.size and values.min() == np.iinfo(values.dtype).min:
            # The negative of the smallest integer does not fit in the dtype.
            return False
        return bool((values[mirror] == -values).all())
    same = values[mirror] == values
    if values.dtype.kind == "f":
        same &= np.signbit(values[mirror]) == np.signbit(values)
        same |= np.isnan(values[mirror]) & np.isnan(values)
    return bool(same.all())
