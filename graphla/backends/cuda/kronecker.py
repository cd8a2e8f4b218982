"""Kronecker products: C = A ⊗ B. Kernels: kronecker.cu. The host never waits."""

from __future__ import annotations

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import (
    BLOCK,
    NULL,
    blocks,
    csr,
    offset_dtype,
    read,
    repeat_value,
    size,
    tiles,
)
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Csr, is_iso
from semirings.operators import TypedBinaryOp


def kronecker(a: Csr, b: Csr, op: TypedBinaryOp) -> Csr:
    """Return C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m x n."""
    nrows, ncols, nvals = a.nrows * b.nrows, a.ncols * b.ncols, a.nvals * b.nvals
    dtype, offset = op.return_type.np_type, offset_dtype(nvals)
    if not nvals:
        indptr = xp.zeros(nrows + 1, offset)
        return Csr(nrows, ncols, indptr, xp.empty(0, xp.int32), xp.empty(0, dtype))
    indptr = xp.empty(nrows + 1, offset)
    kernel = load("kronecker.cu", "kronecker_sizes", NOTHING, *_offsets(a, b), offset)
    kernel(blocks(nrows), BLOCK, a.indptr, b.indptr, size(b.nrows), size(nrows), indptr)
    xp.cumsum(indptr, dtype=offset, out=indptr)
    x, x_stored, x_kept = read(a.values, op.reads_x)
    y, y_stored, y_kept = read(b.values, op.reads_y)
    spec = (cuda_ops.kronecker, op)
    is_constant = not op.is_positional and not (
        (op.reads_x and not is_iso(a.values)) or (op.reads_y and not is_iso(b.values))
    )
    values = xp.empty(1 if is_constant else nvals, dtype)
    if is_constant:
        load("kronecker.cu", "one_pair", spec, x_stored, x_kept, y_stored, y_kept)(
            1, 1, x, y, values
        )
    indices = xp.empty(nvals, xp.int32)
    parts = (a.indptr.dtype, x_stored, x_kept, b.indptr.dtype, y_stored, y_kept)
    kernel = load("kronecker.cu", "kronecker_entries", spec, *parts, offset, not is_constant)
    kernel(
        tiles(nvals),
        BLOCK,
        *(csr(a, x), csr(b, y), indptr, size(nrows), size(nvals)),
        *(indices, NULL if is_constant else values),
    )
    if is_constant:
        values = repeat_value(values, nvals)
    return Csr(nrows, ncols, indptr, indices, values)


def _offsets(*matrices: Csr) -> tuple[np.dtype, ...]:
    return tuple(matrix.indptr.dtype for matrix in matrices)
