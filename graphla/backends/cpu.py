"""The CPU: the array code on NumPy, and SciPy's counting sorts where there is much to sort."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphla.backends import counting
from graphla.backends.arrays import (
    building,
    entries,
    folding,
    indices,
    layout,
    products,
    writing,
)
from graphla.backends.arrays import (
    mxm as products_of_matrices,
)
from graphla.storage import Array, Csr
from semirings.operators import TypedBinaryOp

xp = np

LARGE = 1 << 15
"""Entries from which importing and calling SciPy to sort them pays."""


def asarray(values: Any, dtype: Any = None) -> Array:
    """`values` as a NumPy array, copied only if it must be."""
    return np.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """The array itself."""
    return array


def transpose(a: Csr) -> Csr:
    """The same entries by columns."""
    if a.nvals < LARGE or not counting.fits(a.nrows, a.ncols, a.nvals):
        return layout.transpose(np, a)
    return counting.transpose(a)


def build_matrix(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Entries in any order, equal places folded by dup_op from the left, or refused."""
    if values.size < LARGE or not counting.fits(nrows, ncols, values.size):
        return building.build_matrix(np, nrows, ncols, rows, columns, values, dup_op)
    return counting.build_matrix(nrows, ncols, rows, columns, values, dup_op)


sort = partial(layout.sort, np)
to_sparse = partial(layout.to_sparse, np)
to_bitmap = partial(layout.to_bitmap, np)
cast = layout.cast_storage
build_vector = partial(building.build_vector, np)
pull = partial(products.pull, np)
push = partial(products.push, np)
mxm = partial(products_of_matrices.mxm, np)
kronecker = partial(products_of_matrices.kronecker, np)
union = partial(entries.union, np)
intersection = partial(entries.intersection, np)
apply = partial(entries.apply, np)
apply_bound = partial(entries.apply_bound, np)
apply_index = partial(entries.apply_index, np)
select = partial(entries.select, np)
keep = partial(entries.keep, np)
reduce_rows = partial(entries.reduce_rows, np)
reduce = partial(folding.reduce, np)
extract_vector = partial(indices.extract_vector, np)
extract_matrix = partial(indices.extract_matrix, np)
write_vector = partial(writing.write_vector, np)
write_matrix = partial(writing.write_matrix, np)
