"""T of the operations that move entries: extract, transpose, diag, reposition, broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.forms import HUGE, MatrixForms, ScalarForms, VectorForms
from graphla.operations.operation import Operation
from graphla.storage import Csr, SparseVector
from semirings.operators import TypedBinaryOp

Places = np.ndarray | None  # which rows or columns: None for all, in order


def _extract_vector(v: VectorForms, indices: Places) -> VectorForms:
    """w(k) = v(I(k)); an index may be repeated."""
    if indices is None:
        return v
    do = backend(v.device)
    w = do.extract_vector(v.sparse(), do.asarray(indices))
    return VectorForms(v.device, v.dtype, w)


def _extract_matrix(a: MatrixForms, rows: Places, columns: Places) -> MatrixForms:
    """C(k, l) = A(I(k), J(l)); an index may be repeated."""
    if rows is None and columns is None:
        return a
    do = backend(a.device)
    if rows is None and a.has_csc and not a.has_csr:
        return _extract_matrix(a.T, columns, None).T
    i = None if rows is None else do.asarray(rows)
    j = None if columns is None else do.asarray(columns)
    return MatrixForms(a.device, a.dtype, do.extract_matrix(a.csr, i, j))


def _extract_row(a: MatrixForms, i: int, columns: Places) -> VectorForms:
    """w(l) = A(i, J(l))."""
    csr = a.csr
    begin, end = int(csr.indptr[i]), int(csr.indptr[i + 1])
    row = SparseVector(csr.ncols, csr.indices[begin:end], csr.values[begin:end])
    return _extract_vector(VectorForms(a.device, a.dtype, row), columns)


def _extract_column(a: MatrixForms, rows: Places, j: int) -> VectorForms:
    """w(k) = A(I(k), j)."""
    if a.ncols > HUGE and not a.has_csc and a.nvals * 16 < a.ncols:
        column = _extract_matrix(a, rows, backend(a.device).xp.asarray([j]))
        places, _, values = coordinates(column)
        w = SparseVector(column.nrows, places.astype("int32"), values)
        return VectorForms(a.device, a.dtype, w)
    return _extract_row(a.T, j, rows)


def _vector_element(v: VectorForms, i: int) -> ScalarForms:
    """s = v(i), or nothing."""
    if v.has_dense:
        w = v.at_hand
        there = v.nvals == v.size or bool(w.present[i])  # pyright: ignore[reportAttributeAccessIssue]
        return ScalarForms(v.device, v.dtype, w.values[i] if there else None)
    w = v.sparse()
    return ScalarForms(v.device, v.dtype, _find(w.indices, w.values, i))


def _matrix_element(a: MatrixForms, i: int, j: int) -> ScalarForms:
    """s = A(i, j), or nothing."""
    if not a.has_csr:
        return _matrix_element(a.T, j, i)
    csr = a.csr
    row = slice(int(csr.indptr[i]), int(csr.indptr[i + 1]))
    return ScalarForms(a.device, a.dtype, _find(csr.indices[row], csr.values[row], j))


def _find(indices: Any, values: Any, i: int) -> Any:
    k = int(indices.searchsorted(i))
    return values[k] if k < indices.size and indices[k] == i else None


def _transpose(a: MatrixForms) -> MatrixForms:
    """C = Aᵀ: the same forms, swapped."""
    return a.T


def coordinates(a: MatrixForms) -> tuple[Any, Any, Any]:
    """The row, column and value of each entry, row by row."""
    csr = a.csr
    return row_of_each(a.device, csr), csr.indices, csr.values


def row_of_each(device: str, a: Csr) -> Any:
    """The row of each entry, int32."""
    xp = backend(device).xp
    return xp.repeat(xp.arange(a.nrows, dtype=xp.int32), xp.diff(a.indptr))


def from_coordinates(
    device: str, dtype: Any, nrows: int, ncols: int, rows: Any, columns: Any, values: Any
) -> MatrixForms:
    """The matrix of these entries, which do not repeat."""
    a = backend(device).build_matrix(nrows, ncols, rows, columns, values, None)
    return MatrixForms(device, dtype, a)


def as_row(v: VectorForms) -> MatrixForms:
    """The 1 x n matrix of a vector."""
    xp = backend(v.device).xp
    w = v.sparse()
    indptr = xp.asarray([0, w.indices.size], xp.int32)
    return MatrixForms(v.device, v.dtype, Csr(1, w.size, indptr, w.indices, w.values))


def _diag(a: MatrixForms, k: int) -> VectorForms:
    """w(i) = A(i, i + k), or A(i - k, i) for a negative k."""
    i0, j0 = max(0, -k), max(0, k)
    size = max(0, min(a.nrows - i0, a.ncols - j0))
    rows, columns, values = coordinates(a)
    on = columns.astype("int64") - rows == k
    w = SparseVector(size, (rows[on] - i0).astype("int32"), values[on])
    return VectorForms(a.device, a.dtype, w)


def _from_diag(v: VectorForms, k: int) -> MatrixForms:
    """C(i, i + k) = v(i), in a square matrix that just holds it."""
    w = v.sparse()
    size = w.size + abs(k)
    return from_coordinates(
        v.device, v.dtype, size, size, w.indices + max(0, -k), w.indices + max(0, k), w.values
    )


def with_diagonal(a: MatrixForms, k: int, v: VectorForms) -> MatrixForms:
    """A with v in place of its diagonal k."""
    i0, j0, w = max(0, -k), max(0, k), v.sparse()
    rows, columns, values = coordinates(a)
    off = columns.astype("int64") - rows != k
    xp = backend(a.device).xp
    return from_coordinates(
        a.device,
        a.dtype,
        a.nrows,
        a.ncols,
        xp.concatenate((rows[off], w.indices + i0)),
        xp.concatenate((columns[off], w.indices + j0)),
        xp.concatenate((values[off], w.values)),
    )


def _reposition_vector(v: VectorForms, offset: int, size: int) -> VectorForms:
    """w(i + offset) = v(i), where that is an index of w."""
    w = v.sparse()
    places = w.indices.astype("int64") + offset
    stay = (places >= 0) & (places < size)
    t = SparseVector(size, places[stay].astype("int32"), w.values[stay])
    return VectorForms(v.device, v.dtype, t)


def _reposition_matrix(a: MatrixForms, down: int, right: int, shape: Any) -> MatrixForms:
    """C(i + down, j + right) = A(i, j), where that is a place of C."""
    rows, columns, values = coordinates(a)
    rows, columns = rows.astype("int64") + down, columns.astype("int64") + right
    stay = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    nrows, ncols = shape
    kept = rows[stay], columns[stay], values[stay]
    return from_coordinates(a.device, a.dtype, nrows, ncols, *kept)


def _outer(u: VectorForms, v: VectorForms, op: TypedBinaryOp) -> MatrixForms:
    """C(i, j) = op(u(i), v(j))."""
    do = backend(u.device)
    t = do.kronecker(as_row(u).csc, as_row(v).csr, op)
    return MatrixForms(u.device, op.return_type, t)


extract_vector = Operation("extract", _extract_vector)
extract_matrix = Operation("extract", _extract_matrix)
extract_row = Operation("extract", _extract_row)
extract_column = Operation("extract", _extract_column)
vector_element = Operation("extract", _vector_element)
matrix_element = Operation("extract", _matrix_element)
transpose = Operation("transpose", _transpose)
diag = Operation("diag", _diag)
from_diag = Operation("diag", _from_diag)
reposition_vector = Operation("reposition", _reposition_vector)
reposition_matrix = Operation("reposition", _reposition_matrix)
outer = Operation("outer", _outer)
