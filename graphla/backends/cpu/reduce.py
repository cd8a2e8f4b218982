"""Folds of rows and of values: the host side of `loops/reduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends.cpu.operands import even_parts, row_parts, spread, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import Array, Csr, SparseVector

if TYPE_CHECKING:
    from semirings.structures import TypedMonoid

STRETCH = 1 << 14
"""Values that `reduce` folds in order, before it folds what they gave: the same for any threads."""


def reduce_rows(a: Csr, monoid: TypedMonoid, threads: int) -> SparseVector:
    """w(i) = ⊕ over j of A(i, j), for the rows that have an entry."""
    values, step = values_of(a.values, wanted=monoid.type)
    totals = np.empty(a.nrows, monoid.type.np_type)
    arrays = (a.indptr, values, totals)
    loop = load("reduce.rows", (numba_ops.folding, monoid), arrays)
    spread(loop, arrays, (step,), row_parts(a.indptr, threads), threads)
    indices = np.flatnonzero(a.indptr[1:] > a.indptr[:-1]).astype(np.int32)
    return SparseVector(a.nrows, indices, totals if indices.size == a.nrows else totals[indices])


def reduce(values: Array, monoid: TypedMonoid, threads: int) -> Any:
    """⊕ over all values; the monoid's identity for none."""
    while True:
        taken, step = values_of(values, wanted=monoid.type)
        count = max(1, -(-values.size // STRETCH))
        totals = np.empty(count, monoid.type.np_type)
        arrays = (taken, totals)
        loop = load("reduce.stretches", (numba_ops.folding, monoid), arrays)
        parts = even_parts(count, values.size, threads)
        spread(loop, arrays, (step, values.size, STRETCH), parts, threads)
        if count == 1:
            return totals[0]
        values = totals
