"""Sort the entries of a vector, or of each row or column of a matrix.

Each function returns two vectors or matrices. The first contains the entries in sorted order,
starting at index 0. The second contains the original index of each of these entries.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import as_contiguous
from graphla.formats import Array, Csr, FullVector, SparseVector, is_iso
from graphla.operations.indexing import row_of_each
from graphla.operations.operation import note, perform
from graphla.settings import recorders
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import INT64, DataType
from semirings.operators import TypedBinaryOp

Sorted = tuple[Any, Any]


def sort_vector(v: VectorStore, op: TypedBinaryOp, most: int | None = None) -> Sorted:
    """Return w and p: w(k) is the k-th entry of v in the order of op, and p(k) is its index in v.

    If `most` is given, return only the first `most` entries; w and p then have size `most`.
    """
    return perform("sort", _run_and_record, _sort_vector, v, op, most)


def sort_rows(a: MatrixStore, op: TypedBinaryOp, most: int | None = None) -> Sorted:
    """Return C and P: C(i, k) is the k-th entry of row i, and P(i, k) is its column in A.

    If `most` is given, return only the first `most` entries of each row.
    """
    return perform("sort", _run_and_record, _sort_rows, a, op, most)


def sort_columns(a: MatrixStore, op: TypedBinaryOp, most: int | None = None) -> Sorted:
    """Return C and P: C(k, j) is the k-th entry of column j, and P(k, j) is its row in A."""
    c, p = sort_rows(a.T, op, most)
    return c.T, p.T


def _run_and_record(compute: Any, a: Any, op: TypedBinaryOp, most: int | None) -> Sorted:
    if not recorders():
        return compute(a, op, most)
    start = perf_counter()
    result = compute(a, op, most)
    note("sort", (a, op), result[0].nvals, perf_counter() - start)
    return result


def _sort_vector(v: VectorStore, op: TypedBinaryOp, most: int | None) -> Sorted:
    held = v.any_form
    w = held if isinstance(held, FullVector) else v.sparse()
    values, places = _sort_values(v.device, w.values, None, op)
    size = w.size
    if most is not None:
        size = most
        # Copy the first entries, so that the memory of the full arrays can be freed.
        if most < places.size:
            places = places[:most].copy()
            values = values[:most] if is_iso(values) else values[:most].copy()
    origins = (places if isinstance(w, FullVector) else w.indices[places]).astype("int64")
    count = origins.size
    front = None if count == size else backend(v.device).arange(count, np.int32)

    def forms(dtype: DataType, values: Array) -> VectorStore:
        whole = FullVector(size, values) if front is None else SparseVector(size, front, values)
        return VectorStore(v.device, dtype, whole)

    return forms(v.dtype, values), forms(INT64, origins)


def _sort_rows(a: MatrixStore, op: TypedBinaryOp, most: int | None) -> Sorted:
    csr, do = a.csr, backend(a.device)
    values, places = _sort_values(a.device, csr.values, csr.indptr, op)
    ranks = do.arange(csr.nvals, csr.indptr.dtype)
    ranks -= csr.indptr[row_of_each(a.device, csr)]
    front = Csr(csr.nrows, csr.ncols, csr.indptr, ranks.astype("int32", copy=False), places)
    if most is not None:
        front = replace(do.keep(front, front.indices < most), ncols=most)
        places = front.values
        values = values[: places.size] if is_iso(values) else csr.values[places]
    origins = csr.indices[places].astype("int64")
    c, p = replace(front, values=values), replace(front, values=origins)
    return MatrixStore(a.device, a.dtype, c), MatrixStore(a.device, INT64, p)


def _sort_values(
    device: str, values: Array, indptr: Array | None, op: TypedBinaryOp
) -> tuple[Array, Array]:
    """Return the values sorted in the order of op, and the original position of each value.

    Values are cast to the dtype of op before they are compared.
    """
    do, size = backend(device), values.size
    if size < 2 or is_iso(values):
        return values, do.arange(size, np.int32 if size < 1 << 31 else np.int64)
    keys = do.cast(FullVector(size, values), op.type.np_type).values
    ordered, places = do.sort_by(as_contiguous(keys), indptr, op)
    return (ordered if keys is values else values[places]), places


def rank_entries(x: Any, *, are_distinct: bool = False) -> Any:
    """Return the rank of each entry: the number of entries that come before it in sorted order.

    The order is ascending by value. Entries with equal values keep their order. If `are_distinct`
    is set, the caller guarantees that all values are different, so the sort need not be stable.

    x is a full vector or a matrix. The result has the same pattern as x, and INT64 values.
    """
    values = _stored(x).values
    order = np.argsort(values, kind=None if are_distinct else "stable")
    ranks = np.empty_like(order, np.int64)
    ranks[order] = np.arange(order.size, dtype=np.int64, like=order)
    return _with_values(x, INT64, ranks)


def number_values(x: Any) -> tuple[Any, int]:
    """Return the rank of each value among the distinct values, and the number of distinct values.

    x is a full vector or a matrix. The ranks count from 0, in ascending order of value. The result
    holds them as INT64 values, with the same pattern as x.
    """
    distinct, numbers = np.unique(_stored(x).values, return_inverse=True)
    return _with_values(x, INT64, numbers.reshape(-1)), distinct.size


def _stored(x: Any) -> Any:
    return x.dense() if isinstance(x, VectorStore) else x.csr


def _with_values(x: Any, dtype: DataType, values: Array) -> Any:
    if isinstance(x, VectorStore):
        return VectorStore(x.device, dtype, FullVector(x.size, values))
    return MatrixStore(x.device, dtype, replace(x.csr, values=values))
