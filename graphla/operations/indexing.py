"""Operations that move entries: extract, transpose, diag, reposition, outer, lookup."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.formats import Csr, FullVector, SparseVector
from graphla.operations.moving import on_device
from graphla.operations.operation import Operation
from graphla.operations.values import is_on_card
from graphla.stores import HUGE, MatrixStore, ScalarStore, VectorStore
from semirings.dtypes import BOOL, INT32, DataType
from semirings.operators import TypedBinaryOp

Places = np.ndarray | None  # indices of the selected rows or columns; None selects all


def locate(device: str, indices: Any) -> Any:
    """Copy indices, which may be on any device, to the given device."""
    return on_device(indices, device) if is_on_card(indices) else backend(device).asarray(indices)


def one_entry(a: MatrixStore, i: int, value: Any, dtype: DataType) -> VectorStore:
    """Return a vector of size A.nrows, whose only entry is v(i) = value, on the device of A."""
    one = backend(a.device).one_entry(a.nrows, i, dtype.np_type.type(value))
    return VectorStore(a.device, dtype, one)


def _extract_vector(v: VectorStore, indices: Places) -> VectorStore:
    """Compute w(k) = v(I(k)); indices may be repeated."""
    if indices is None:
        return v
    do = backend(v.device)
    w = do.extract_vector(v.any_form if v.has_dense else v.sparse(), locate(v.device, indices))
    return VectorStore(v.device, v.dtype, w)


def _extract_matrix(a: MatrixStore, rows: Places, columns: Places) -> MatrixStore:
    """Compute C(k, l) = A(I(k), J(l)); indices may be repeated."""
    if rows is None and columns is None:
        return a
    do = backend(a.device)
    if rows is None and a.has_csc and not a.has_csr:
        return _extract_matrix(a.T, columns, None).T
    i = None if rows is None else locate(a.device, rows)
    j = None if columns is None else locate(a.device, columns)
    return MatrixStore(a.device, a.dtype, do.extract_matrix(a.csr, i, j))


def _extract_row(a: MatrixStore, i: int, columns: Places) -> VectorStore:
    """w(l) = A(i, J(l))."""
    csr = a.csr
    begin, end = bounds(a.device, csr, i)
    row = SparseVector(csr.ncols, csr.indices[begin:end], csr.values[begin:end])
    return _extract_vector(VectorStore(a.device, a.dtype, row), columns)


def _extract_column(a: MatrixStore, rows: Places, j: int) -> VectorStore:
    """w(k) = A(I(k), j)."""
    if a.ncols > HUGE and not a.has_csc and a.nvals * 16 < a.ncols:
        column = _extract_matrix(a, rows, backend(a.device).asarray([j]))
        places, _, values = coordinates(column)
        w = SparseVector(column.nrows, places.astype("int32"), values)
        return VectorStore(a.device, a.dtype, w)
    return _extract_row(a.T, j, rows)


def _vector_element(v: VectorStore, i: int) -> ScalarStore:
    """Return s = v(i), which is empty if v has no entry at i."""
    if v.host_entries is not None:
        return ScalarStore(v.device, v.dtype, v.host_entries.get(i))
    stored = v.any_form if v.has_dense else v.sparse()
    return ScalarStore(v.device, v.dtype, backend(v.device).element(stored, i))


def _matrix_element(a: MatrixStore, i: int, j: int) -> ScalarStore:
    """Return s = A(i, j), which is empty if A has no entry at (i, j)."""
    if not a.has_csr:
        return _matrix_element(a.T, j, i)
    return ScalarStore(a.device, a.dtype, backend(a.device).element(a.csr, i, j))


def bounds(device: str, a: Csr, i: int) -> tuple[int, int]:
    """Return the positions at which the entries of row i start and end.

    Both numbers are copied to the host in one transfer, so that the host waits only once.
    """
    begin, end = backend(device).to_host(a.indptr[i : i + 2]).tolist()
    return begin, end


def _transpose(a: MatrixStore) -> MatrixStore:
    """Return C = Aᵀ, which shares the arrays of A with rows and columns swapped."""
    return a.T


def coordinates(a: MatrixStore) -> tuple[Any, Any, Any]:
    """Return the row, column and value of each entry, row by row."""
    csr = a.csr
    return row_of_each(a.device, csr), csr.indices, csr.values


def row_of_each(device: str, a: Csr) -> Any:
    """Return the row of each entry, as int32."""
    return backend(device).row_of_entry(a)


def from_coordinates(
    device: str, dtype: Any, nrows: int, ncols: int, rows: Any, columns: Any, values: Any
) -> MatrixStore:
    """Return the matrix with these entries, which have distinct positions."""
    a = backend(device).build_matrix(nrows, ncols, rows, columns, values, None)
    return MatrixStore(device, dtype, a)


def as_row(v: VectorStore) -> MatrixStore:
    """Return a vector as a 1 x n matrix."""
    w = v.sparse()
    indptr = backend(v.device).asarray([0, w.indices.size], np.int32)
    return MatrixStore(v.device, v.dtype, Csr(1, w.size, indptr, w.indices, w.values))


def _diag(a: MatrixStore, k: int) -> VectorStore:
    """Extract diagonal k: w(i) = A(i, i + k), or A(i - k, i) if k is negative."""
    i0, j0 = max(0, -k), max(0, k)
    size = max(0, min(a.nrows - i0, a.ncols - j0))
    rows, columns, values = coordinates(a)
    on = columns == rows if k == 0 else columns.astype("int64") - rows == k
    w = backend(a.device).keep(SparseVector(a.nrows, rows, values), on)
    w = SparseVector(size, (w.indices - i0).astype("int32"), w.values)
    return VectorStore(a.device, a.dtype, w)


def _from_diag(v: VectorStore, k: int) -> MatrixStore:
    """Return a square matrix of size n + abs(k) with the vector v on diagonal k.

    Diagonal k consists of the positions (i, i + k).
    """
    w = v.sparse()
    size = w.size + abs(k)
    return from_coordinates(
        v.device, v.dtype, size, size, w.indices + max(0, -k), w.indices + max(0, k), w.values
    )


def with_diagonal(a: MatrixStore, k: int, v: VectorStore) -> MatrixStore:
    """Return A with diagonal k replaced by v."""
    i0, j0, w = max(0, -k), max(0, k), v.sparse()
    rows, columns, _ = coordinates(a)
    off = columns.astype("int64") - rows != k
    rest = MatrixStore(a.device, a.dtype, backend(a.device).keep(a.csr, off))
    rows, columns, values = coordinates(rest)
    return from_coordinates(
        a.device,
        a.dtype,
        a.nrows,
        a.ncols,
        np.concatenate((rows, w.indices + i0)),
        np.concatenate((columns, w.indices + j0)),
        np.concatenate((values, w.values)),
    )


def _reposition_vector(v: VectorStore, offset: int, size: int) -> VectorStore:
    """Compute w(i + offset) = v(i); drop entries whose new index is out of range."""
    w = v.sparse()
    places = w.indices.astype("int64") + offset
    w = backend(v.device).keep(w, (places >= 0) & (places < size))
    indices = (w.indices.astype("int64") + offset).astype("int32")
    return VectorStore(v.device, v.dtype, SparseVector(size, indices, w.values))


def _reposition_matrix(a: MatrixStore, down: int, right: int, shape: Any) -> MatrixStore:
    """Compute C(i + down, j + right) = A(i, j); drop entries whose new position is outside C."""
    nrows, ncols = shape
    rows, columns = _shift(a, down, right)
    stay = (rows >= 0) & (rows < nrows) & (columns >= 0) & (columns < ncols)
    kept = MatrixStore(a.device, a.dtype, backend(a.device).keep(a.csr, stay))
    values = kept.csr.values
    return from_coordinates(a.device, a.dtype, nrows, ncols, *_shift(kept, down, right), values)


def _shift(a: MatrixStore, down: int, right: int) -> tuple[Any, Any]:
    """Return the row and column of each entry after a shift by `down` rows and `right` columns."""
    rows, columns, _ = coordinates(a)
    return rows.astype("int64") + down, columns.astype("int64") + right


def _outer(u: VectorStore, v: VectorStore, op: TypedBinaryOp) -> MatrixStore:
    """C(i, j) = op(u(i), v(j))."""
    do = backend(u.device)
    t = do.kronecker(as_row(u).csc, as_row(v).csr, op)
    return MatrixStore(u.device, op.return_type, t)


def lookup(labels: VectorStore, values: VectorStore) -> VectorStore:
    """Compute w(i) = v(l(i)), where l and v are full and the values of l are indices of v."""
    found = values.dense().values[labels.dense().values]
    return VectorStore(labels.device, values.dtype, FullVector(labels.size, found))


def renumber(labels: VectorStore) -> tuple[VectorStore, int]:
    """Map the distinct labels to 0, 1, ... in ascending order, as INT32, and count them.

    `labels` is full and holds integers below its size.
    """
    values = labels.dense().values
    occurs = np.zeros_like(values, bool, shape=labels.size)
    occurs[values] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - 1
    found = FullVector(labels.size, numbers[values].astype(np.int32, copy=False))
    return VectorStore(labels.device, INT32, found), int(numbers[-1]) + 1


def selection(labels: VectorStore, ncols: int) -> MatrixStore:
    """Return S(i, l(i)) = true, where l is full and holds integers below `ncols`.

    The product uS adds up the values u(i) with equal labels l(i).
    """
    values = labels.dense().values
    indices = np.empty_like(values, np.int32, shape=labels.size)
    indices[:] = values  # an iso-valued array has stride 0, but kernels need contiguous indices
    narrow = np.int32 if labels.size < 1 << 31 else np.int64
    indptr = np.arange(labels.size + 1, dtype=narrow, like=indices)
    true = np.broadcast_to(np.ones_like(indices, bool, shape=1), indices.shape)
    csr = Csr(labels.size, ncols, indptr, indices, true)
    return MatrixStore(labels.device, BOOL, csr)


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
