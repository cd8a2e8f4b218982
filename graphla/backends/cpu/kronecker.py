"""Kronecker product: C = A ⊗ B."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.layout import offsets
from graphla.backends.cpu.terms import combine
from graphla.formats import Csr
from semirings.operators import TypedBinaryOp


def kronecker(a: Csr, b: Csr, op: TypedBinaryOp) -> Csr:
    """C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m by n."""
    a_degrees, b_degrees = a.indptr[1:] - a.indptr[:-1], b.indptr[1:] - b.indptr[:-1]
    # Row i·m + k of C holds a copy of row k of B for each entry of row i of A.
    rows_i = np.arange(a.nrows).repeat(b.nrows)
    rows_k = np.tile(np.arange(b.nrows), a.nrows)
    counts = a_degrees.astype(np.int64)[rows_i] * b_degrees[rows_k]
    indptr = offsets(counts)
    total = int(indptr[-1])
    rows = np.arange(counts.size).repeat(counts)
    nth = np.arange(total) - indptr[:-1].astype(np.int64).repeat(counts)
    i, k = rows_i[rows], rows_k[rows]
    width = b_degrees[k] if total else b_degrees[:0]
    in_a = a.indptr[i] + nth // width
    in_b = b.indptr[k] + nth % width
    j, l_ = a.indices[in_a], b.indices[in_b]
    values = combine(op, (a.values, in_a), (b.values, in_b), (i, j), (k, l_))
    indices = (j.astype(np.int64) * b.ncols + l_).astype(np.int32)
    return Csr(a.nrows * b.nrows, a.ncols * b.ncols, indptr, indices, values)
