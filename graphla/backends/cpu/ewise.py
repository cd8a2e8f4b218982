"""Union and intersection, of vectors or of matrices: the host side of `loops/entrywise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends.cpu.operands import (
    PARALLEL,
    PARTS,
    UNREAD,
    Parts,
    offsets,
    row_parts,
    spread,
    values_of,
)
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import Array, Csr, SparseVector

if TYPE_CHECKING:
    from semirings.operators import TypedBinaryOp

    V = SparseVector | Csr


def intersection(a: Any, b: Any, op: TypedBinaryOp, threads: int) -> Any:
    """op(A, B) where both have an entry."""
    a_indptr, b_indptr, parts = _rows(a, b, threads)
    counts = _count_both(a_indptr, a.indices, b_indptr, b.indices, parts, threads)
    indptr = offsets(counts)
    indices, values = np.empty(int(indptr[-1]), np.int32), _empty(int(indptr[-1]), op)
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(b.values, op.reads_y, wanted=op.type2)
    arrays = (a_indptr, a.indices, a_values, b_indptr, b.indices, b_values, indptr, indices, values)
    spec = (numba_ops.entry_by_entry, op, isinstance(a, SparseVector), False, False)
    loop = load("ewise.intersect", spec, arrays)
    spread(
        loop,
        arrays,
        (
            a_step,
            b_step,
        ),
        parts,
        threads,
    )
    return _like(a, indptr, indices, values)


def union(a: Any, b: Any, op: TypedBinaryOp, left: Any, right: Any, threads: int) -> Any:
    """op(A, B) where both have an entry; one alone passes, or meets left or right where given."""
    a_indptr, b_indptr, parts = _rows(a, b, threads)
    counts = _count_both(a_indptr, a.indices, b_indptr, b.indices, parts, threads)
    np.subtract(np.diff(a_indptr) + np.diff(b_indptr), counts, out=counts)
    indptr = offsets(counts)
    indices, values = np.empty(int(indptr[-1]), np.int32), _empty(int(indptr[-1]), op)
    lone = op.return_type  # what an entry of one side alone is cast to, without op
    a_values, a_step = values_of(a.values, wanted=lone if op.type is lone else None)
    b_values, b_step = values_of(b.values, wanted=lone if op.type2 is lone else None)
    fills = (_fill(left, op.type.np_type), _fill(right, op.type2.np_type))
    entries = (a_indptr, a.indices, a_values, b_indptr, b.indices, b_values, *fills)
    arrays = (*entries, indptr, indices, values)
    is_vector = isinstance(a, SparseVector)
    spec = (numba_ops.entry_by_entry, op, is_vector, left is not None, right is not None)
    loop = load("ewise.unite", spec, arrays)
    spread(
        loop,
        arrays,
        (
            a_step,
            b_step,
        ),
        parts,
        threads,
    )
    return _like(a, indptr, indices, values)


def _rows(a: Any, b: Any, threads: int) -> tuple[Array, Array, Parts]:
    """Both as rows, and the rows cut into parts. A vector is cut into stretches, one a part."""
    if isinstance(a, Csr):
        return a.indptr, b.indptr, row_parts((a if a.nvals > b.nvals else b).indptr, threads)
    parallel = threads > 1 and a.nvals + b.nvals > PARALLEL
    count = threads * PARTS if parallel else 1
    longer = a.indices if a.nvals > b.nvals else b.indices
    ends = longer[np.arange(1, count) * longer.size // count]
    a_indptr, b_indptr = (
        np.array([0, *np.searchsorted(v.indices, ends).tolist(), v.nvals], np.int32) for v in (a, b)
    )
    return a_indptr, b_indptr, [(part, part + 1) for part in range(count)]


def _count_both(
    a_indptr: Array, a_indices: Array, b_indptr: Array, b_indices: Array, parts: Parts, threads: int
) -> Array:
    counts = np.empty(a_indptr.size - 1, np.int64)
    arrays = (a_indptr, a_indices, b_indptr, b_indices, counts)
    loop = load("ewise.count_both", (numba_ops.nothing,), arrays)
    spread(loop, arrays, (), parts, threads)
    return counts


def _empty(size: int, op: TypedBinaryOp) -> Array:
    return np.empty(size, op.return_type.np_type)


def _fill(value: Any, dtype: Any) -> Array:
    return UNREAD if value is None else np.array([value], dtype)


def _like(a: V, indptr: Array, indices: Array, values: Array) -> V:
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, values)
    return Csr(a.nrows, a.ncols, indptr, indices, values)
