"""Elementwise operations on a matrix and a vector.

A vector on the right stands for a matrix whose rows all equal the vector. A vector on the left
stands for a matrix whose columns all equal the vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import gather, repeat_value
from graphla.formats import BitmapVector, Csr, is_iso
from graphla.operations import entrywise
from graphla.operations.operation import Operation
from graphla.stores import MatrixStore, VectorStore
from semirings.operators import TypedBinaryOp


def _broadcast_mult(
    a: MatrixStore | VectorStore, b: MatrixStore | VectorStore, op: TypedBinaryOp
) -> MatrixStore:
    """Compute op(A(i, j), v(j)) or op(u(i), B(i, j)) at each position where both operands have an
    entry."""
    if isinstance(a, VectorStore):
        assert isinstance(b, MatrixStore)
        return entrywise.ewise_mult.compute(_along_rows(a, b.T).T, b, op)
    assert isinstance(b, VectorStore)
    return entrywise.ewise_mult.compute(a, _along_rows(b, a), op)


def _broadcast_add(a: Any, b: Any, op: TypedBinaryOp) -> MatrixStore:
    """Compute op(A(i, j), v(j)) or op(u(i), B(i, j)). If only one of the two entries exists, copy
    it."""
    return entrywise.ewise_add.compute(*_both_matrices(a, b), op)


def _broadcast_union(a: Any, b: Any, op: TypedBinaryOp, left: Any, right: Any) -> MatrixStore:
    """Return the elementwise union of a matrix and a vector, broadcast to the matrix's shape."""
    return entrywise.ewise_union.compute(*_both_matrices(a, b), op, left, right)


def _both_matrices(a: Any, b: Any) -> tuple[MatrixStore, MatrixStore]:
    if isinstance(a, VectorStore):
        return _every_row(a, b.ncols).T, b
    return a, _every_row(b, a.nrows)


def _along_rows(v: VectorStore, a: MatrixStore) -> MatrixStore:
    """Return the matrix B(i, j) = v(j).

    B has an entry at each position (i, j) where A has an entry and v has an entry at j.
    """
    do, csr = backend(a.device), a.csr
    if v.stays_sparse:
        met = do.extract_vector(v.sparse(), csr.indices)
        dense = do.to_bitmap(met)
        values = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, dense.values)
        return MatrixStore(a.device, v.dtype, do.keep(values, dense.present))
    dense = v.any_form if v.has_dense else v.bitmap()
    values = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, gather(dense.values, csr.indices))
    if isinstance(dense, BitmapVector):
        values = do.keep(values, dense.present[csr.indices])
    return MatrixStore(a.device, v.dtype, values)


def _every_row(v: VectorStore, nrows: int) -> MatrixStore:
    """Return a matrix B whose rows all equal v."""
    w = v.sparse()
    k = w.indices.size
    indptr = backend(v.device).arange(nrows + 1, np.int64) * k
    if nrows * k < 1 << 31:
        indptr = indptr.astype(np.int32)
    values = repeat_value(w.values[:1], nrows * k) if is_iso(w.values) else None
    values = np.tile(w.values, nrows) if values is None else values
    b = Csr(nrows, w.size, indptr, np.tile(w.indices, nrows), values)
    return MatrixStore(v.device, v.dtype, b)


broadcast_mult = Operation("ewise_mult", _broadcast_mult)
broadcast_add = Operation("ewise_add", _broadcast_add)
broadcast_union = Operation("ewise_union", _broadcast_union)
