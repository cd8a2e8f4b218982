"""Reductions of rows and of all values by a monoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.folding import fold_runs, halve, ignore_overflow
from graphla.backends.cpu.layout import cast_values
from graphla.backends.cpu.operands import even_parts, row_parts, spread, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import Array, Csr, FullVector, SparseVector, is_iso
from graphla.settings import config
from semirings.structures import TypedMonoid

FAST = 64
"""Factor by which `config.compile_threshold` is multiplied if the monoid's operator is a NumPy
ufunc.

The factor is large because compilation saves little: even for short rows, a ufunc takes at most
twice as long as a compiled loop in one thread.
"""
SHORT = 32
"""Maximum average length of rows for which a compiled loop is faster than a ufunc."""
STRETCH = 1 << 14
"""Number of consecutive values that `_reduce_numba` combines into one partial result.

This number is constant, so that the result does not depend on the number of threads.
"""


def reduce_rows(a: Csr, monoid: TypedMonoid) -> SparseVector | FullVector:
    """w(i) = ⊕_j A(i, j). If row i has no entries, w has no entry at i."""
    if monoid.ufunc is None:
        threads = compiles(a.nvals, monoid)
    elif a.nvals > SHORT * a.nrows or (monoid.is_idempotent and is_iso(a.values)):
        threads = 0
    else:
        threads = compiles(a.nvals // FAST, monoid)
    if threads and a.nvals:
        return _reduce_rows_numba(a, monoid, threads)
    return _reduce_rows_numpy(a, monoid)


def reduce(values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
    """Return ⊕ over all values, or over the values that `present` flags, as a scalar.

    If there are no values, return the identity.
    """
    values = values if present is None else values[present]
    if monoid.ufunc is None and compiles(values.size, monoid):
        return _reduce_numba(values, monoid, config.threads)
    return reduce_numpy(values, monoid)


def _reduce_rows_numpy(a: Csr, monoid: TypedMonoid) -> SparseVector:
    """Reduce each row with NumPy."""
    starts = a.indptr[:-1]
    rows = (a.indptr[1:] > starts).nonzero()[0]
    starts = starts[rows] if rows.size < a.nrows else starts
    values = fold_runs(a.values, starts, monoid)
    return SparseVector(a.nrows, rows.astype(np.int32), values)


def reduce_numpy(values: Array, monoid: TypedMonoid) -> Any:
    """Return ⊕_k values[k] as a scalar. If there are no values, return the identity."""
    if not values.size:
        return monoid.identity
    if monoid.is_any or (monoid.is_idempotent and is_iso(values)):
        return cast_values(values[:1].copy(), monoid.type.np_type)[0]
    values = cast_values(values, monoid.type.np_type)
    if monoid.ufunc is not None:
        with ignore_overflow(values):
            return monoid.ufunc.reduce(values, dtype=values.dtype)
    return halve(values, np.zeros(1, np.int64), monoid)[0]


def _reduce_rows_numba(a: Csr, monoid: TypedMonoid, threads: int) -> SparseVector | FullVector:
    """Reduce each row with Numba."""
    values, step = values_of(a.values, wanted=monoid.type)
    totals = np.empty(a.nrows, monoid.type.np_type)
    arrays = (a.indptr, values, totals)
    loop = load("reduce.rows", (numba_ops.reduction, monoid), arrays)
    spread(loop, arrays, (step,), row_parts(a.indptr, threads), threads)
    has_entries = a.indptr[1:] > a.indptr[:-1]
    if has_entries.all():
        return FullVector(a.nrows, totals)
    indices = np.flatnonzero(has_entries)
    return SparseVector(a.nrows, indices.astype(np.int32), totals[indices])


def _reduce_numba(values: Array, monoid: TypedMonoid, threads: int) -> Any:
    """Reduce all values with Numba; without values, return the identity."""
    while True:
        taken, step = values_of(values, wanted=monoid.type)
        count = max(1, -(-values.size // STRETCH))
        totals = np.empty(count, monoid.type.np_type)
        arrays = (taken, totals)
        loop = load("reduce.stretches", (numba_ops.reduction, monoid), arrays)
        parts = even_parts(count, values.size, threads)
        spread(loop, arrays, (step, values.size, STRETCH), parts, threads)
        if count == 1:
            return totals[0]
        values = totals
