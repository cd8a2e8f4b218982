"""Between the entries that a file lists and a matrix, where one entry may stand for two places."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.sparse import Matrix, Vector
from graphla.storage import is_iso
from semirings.dtypes import DataType

MIRROR = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # A(j, i) = MIRROR * A(i, j)


def assemble(
    i: Any,
    j: Any,
    values: Any,
    dtype: DataType,
    shape: tuple[int, int],
    *,
    symmetry: str = "general",
    dup_op: Any = None,
    name: Any = None,
) -> Matrix:
    """A(i, j) = values, and its mirror image where the symmetry says so.

    `values` is an array, or one scalar for all. Raises DuplicateEntry where a place, or a place
    and its mirror image, comes twice and there is no `dup_op`.
    """
    values = held_once(values)
    sizes: dict[str, Any] = {"nrows": shape[0], "ncols": shape[1]}
    sign = MIRROR[symmetry]
    if sign == 0:
        return Matrix.from_coo(i, j, values, dtype, **sizes, dup_op=dup_op, name=name)
    if dup_op is not None:  # (i, j) and (j, i) are one place: join below the diagonal, then mirror
        if sign < 0:
            values = np.where(i < j, np.negative(values), values)
        i, j = np.maximum(i, j), np.minimum(i, j)
        i, j, values = Matrix.from_coo(i, j, values, dtype, **sizes, dup_op=dup_op).to_coo()
        values = held_once(values)
    off = i != j
    i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    if np.ndim(values):
        values = np.concatenate([values, values[off] if sign > 0 else -values[off]])
    return Matrix.from_coo(i, j, values, dtype, **sizes, symmetric=sign > 0, name=name)


def held_once(values: Any) -> Any:
    """The one value if all are equal to the bit, else the values."""
    if np.ndim(values) == 0 or values.size == 0:
        return values
    if is_iso(values):
        return values[0]
    bits = np.ascontiguousarray(values).view(f"u{values.itemsize}")
    return values[0] if (bits == bits[0]).all() else values


def first_duplicate(i: Any, j: Any, symmetry: str = "general") -> int:
    """The first k whose place came before, in the order given."""
    if MIRROR[symmetry]:
        i, j = np.maximum(i, j), np.minimum(i, j)
    order = np.lexsort((j, i))  # stable: equal places stay in their order
    i, j = i[order], j[order]
    again = (i[1:] == i[:-1]) & (j[1:] == j[:-1])
    return int(order[1:][again].min())


def by_rows(A: Any) -> tuple[Any, Any, Any, tuple[int, int]]:
    """`indptr, columns, values, shape` of a Matrix, or of a Vector as n x 1."""
    if isinstance(A, Vector):
        indices, values = A.to_coo()
        indptr = np.searchsorted(indices, np.arange(A.size + 1))
        return indptr, np.zeros(indices.size, np.int32), values, (A.size, 1)
    indptr, columns, values = A.to_csr()
    return indptr, columns, values, (A.nrows, A.ncols)


def has_symmetry(rows: tuple[Any, Any, Any, tuple[int, int]], symmetry: str) -> bool:
    """Whether half of the entries say all, to the bit."""
    indptr, columns, values, shape = rows
    if symmetry == "general":
        return True
    if shape[0] != shape[1]:
        return False
    from scipy.sparse import csr_array

    position = np.arange(columns.size)
    across = csr_array((position, columns, indptr), shape=shape).tocsc()
    if not (np.array_equal(across.indptr, indptr) and np.array_equal(across.indices, columns)):
        return False
    return _are_mirrored(values, across.data, MIRROR[symmetry])


def _are_mirrored(values: Any, mirror: Any, sign: int) -> bool:
    if sign > 0 and is_iso(values):
        return True
    if sign < 0:
        if values.dtype.kind == "i" and values.size and values.min() == np.iinfo(values.dtype).min:
            return False  # it has no negative
        return bool((values[mirror] == -values).all())
    same = values[mirror] == values
    if values.dtype.kind == "f":
        same &= np.signbit(values[mirror]) == np.signbit(values)
        same |= np.isnan(values[mirror]) & np.isnan(values)
    return bool(same.all())
