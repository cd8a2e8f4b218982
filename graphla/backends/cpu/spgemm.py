"""Matrix times matrix: the host side of `loops/mxm` and `loops/marks`.

A product at a pattern known beforehand (a mask) is computed straight away; for any other, the
pattern is found first, which asks nothing of the semiring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from graphla.backends.cpu.operands import (
    PARALLEL,
    count_parts,
    cut,
    even_parts,
    offsets,
    spread,
    values_of,
)
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import Array, Csr, MatrixMask

if TYPE_CHECKING:
    from semirings.structures import TypedSemiring

ROOM = 1 << 20
"""Columns that a part of the search for a pattern may find, beyond those of its last row."""
PRODUCTS = 4
"""Number of products that weigh as much as one column: a part makes at most PRODUCTS * ROOM."""

_word = np.dtype(np.uint64)
_byte = np.dtype(np.uint8)
_index = np.dtype(np.int32)


def mxm(
    a: Csr, b: Csr, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None, threads: int
) -> Csr:
    """C⟨mask⟩ = A ⊕.⊗ B."""
    products = _products(a, b.indptr, threads)
    if mask is None or mask.complement:
        excluded = None if mask is None else mask.pattern
        pattern = _reached(a, b, excluded, products, threads)
        return _saxpy(a, b, semiring, pattern, products, threads)
    pattern = mask.pattern
    products[pattern.indptr[:-1] == pattern.indptr[1:]] = 0
    if bt is not None:
        along_mask = _products(pattern, bt.indptr, threads)
        if int(along_mask.sum()) + a.nvals < int(products.sum()) + pattern.nvals:
            return _dot(a, bt, semiring, pattern, along_mask, threads)
    return _saxpy(a, b, semiring, pattern, products, threads)


def _products(a: Csr, b_indptr: Array, threads: int) -> Array:
    """How many products each row of A times B is made of."""
    products = np.empty(a.nrows, np.int64)
    arrays = (a.indptr, a.indices, b_indptr, products)
    loop = load("marks.weigh", (numba_ops.nothing,), arrays)
    spread(loop, arrays, (), even_parts(a.nrows, a.nvals, threads), threads)
    return products


def _reached(a: Csr, b: Csr, excluded: Csr | None, products: Array, threads: int) -> Csr:
    """The pattern of A times B less what is excluded; it has no values."""
    size = b.ncols
    words = (size + 63) >> 6
    most = np.minimum(products, size)
    counts = np.empty(a.nrows, np.int64)
    mask = excluded or a
    entries = (a.indptr, a.indices, b.indptr, b.indices, mask.indptr, mask.indices)

    def find(start: int, stop: int) -> Array:
        columns = scratch.take("columns", int(most[start:stop].sum()), _index)
        bits = scratch.take("bits", words, _word)
        summary = scratch.take("summary", (words + 63) >> 6, _word)
        arrays = (*entries, bits, summary, columns, counts)
        loop = load("marks.reach", (numba_ops.nothing,), arrays)
        found = columns[: loop(*arrays, excluded is not None, size, start, stop)].copy()
        scratch.give("summary", summary)
        scratch.give("bits", bits)
        scratch.give("columns", columns)
        return found

    threads = _worth(products, threads)
    weights = most + products // PRODUCTS
    total = int(weights.sum())
    found = run(find, cut(weights, max(total // ROOM, count_parts(total, threads))), threads)
    indices = np.concatenate(found) if found else np.empty(0, np.int32)
    return Csr(a.nrows, size, offsets(counts), indices, indices[:0])


def _saxpy(
    a: Csr, b: Csr, semiring: TypedSemiring, pattern: Csr, products: Array, threads: int
) -> Csr:
    """The product at a pattern, along the rows of B."""
    dtype, op = semiring.return_type.np_type, semiring.binaryop
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(b.values, op.reads_y, wanted=op.type2)
    present, values = np.empty(pattern.nvals, np.bool_), np.empty(pattern.nvals, dtype)
    entries = (a.indptr, a.indices, a_values, b.indptr, b.indices, b_values)
    entries = (*entries, pattern.indptr, pattern.indices)

    def compute(start: int, stop: int) -> int:
        states = scratch.take("states", pattern.ncols, _byte)
        sums = scratch.take("values", pattern.ncols, dtype)
        arrays = (*entries, states, sums, present, values)
        loop = load("spgemm.saxpy", (numba_ops.matrix_matrix, semiring), arrays)
        count = loop(*arrays, a_step, b_step, start, stop)
        scratch.give("values", sums)
        scratch.give("states", states)
        return count

    return _compressed(pattern, present, values, compute, products, threads)


def _dot(
    a: Csr, bt: Csr, semiring: TypedSemiring, pattern: Csr, products: Array, threads: int
) -> Csr:
    """The product at a pattern, along the rows of B's transpose."""
    dtype, op = semiring.return_type.np_type, semiring.binaryop
    a_values, a_step = values_of(a.values, op.reads_x, wanted=op.type)
    b_values, b_step = values_of(bt.values, op.reads_y, wanted=op.type2)
    present, values = np.empty(pattern.nvals, np.bool_), np.empty(pattern.nvals, dtype)
    entries = (a.indptr, a.indices, a_values, bt.indptr, bt.indices, b_values)
    entries = (*entries, pattern.indptr, pattern.indices)

    def compute(start: int, stop: int) -> int:
        places = scratch.take("places", a.ncols, _index)
        arrays = (*entries, places, present, values)
        loop = load("spgemm.dot", (numba_ops.matrix_matrix, semiring), arrays)
        count = loop(*arrays, a_step, b_step, start, stop)
        scratch.give("places", places)
        return count

    return _compressed(pattern, present, values, compute, products, threads)


def _compressed(
    pattern: Csr,
    present: Array,
    values: Array,
    compute: Callable[[int, int], int],
    products: Array,
    threads: int,
) -> Csr:
    """What `compute` finds at the entries of a pattern, without those that it does not find."""
    threads = _worth(products, threads)
    weights = products + np.diff(pattern.indptr)
    parts = cut(weights, count_parts(int(weights.sum()), threads))
    found = sum(run(compute, parts, threads))
    indptr, indices = pattern.indptr, pattern.indices
    if found < indices.size:
        before = np.concatenate(([0], np.cumsum(present, dtype=np.int64)))
        indptr = before[indptr].astype(indptr.dtype)
        indices, values = indices[present], values[present]
    return Csr(pattern.nrows, pattern.ncols, indptr, indices, values)


def _worth(products: Array, threads: int) -> int:
    """How many threads so many products are worth."""
    return threads if int(products.sum()) + products.size > PARALLEL else 1
