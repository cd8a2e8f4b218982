"""Check the arguments and build the results of `sort`, `argsort` and `top_k`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from graphla.operations.ordering import sort_columns, sort_rows, sort_vector
from graphla.sparse.building import is_rowwise
from graphla.sparse.expressions import dimension
from graphla.sparse.operators import binary_of
from graphla.stores import MatrixStore, VectorStore
from semirings import binary
from semirings.dtypes import BOOL, DataType
from semirings.exceptions import DomainMismatch, InvalidValue
from semirings.operators import TypedBinaryOp
from semirings.trace import logical_and, logical_not


def of_vector(v: VectorStore, op: Any, most: Any = None) -> tuple[Any, Any]:
    """Return up to `most` entries of v in sorted order, and their indices."""
    return sort_vector(v, comparison(op, v.dtype), _limit(most))


def of_matrix(a: MatrixStore, op: Any, order: str, most: Any = None) -> tuple[Any, Any]:
    """Sort each row (or each column) of a matrix.

    Return two matrices. The first contains the first `most` entries of each row (or column) in
    sorted order. The second contains the original column (or row) of each of these entries. If
    `most` is None, there is no limit.
    """
    sort = sort_rows if is_rowwise(order) else sort_columns
    return sort(a, comparison(op, a.dtype), _limit(most))


def comparison(op: Any, dtype: DataType) -> TypedBinaryOp:
    """Return the operator that decides whether x comes before y.

    For a non-strict order such as `<=`, the result is its strict part, `<`.
    """
    typed = binary_of(op, dtype, dtype)
    if typed.is_positional:
        raise InvalidValue(f"op is {typed!r}, but sort compares values, not their places")
    if typed.return_type is not BOOL:
        raise DomainMismatch(
            f"op is {typed!r}, which gives {typed.return_type}, but it should say whether x goes "
            "before y, as binary.lt does (BOOL)"
        )
    if typed.type is not typed.type2:
        raise DomainMismatch(
            f"op is {typed!r}, but it should compare two values of one dtype, as {typed.op!r}"
            f"[{typed.type}] does"
        )
    if dtype.is_float and not typed.type.is_float:
        raise DomainMismatch(
            f"op is {typed!r}, but it should compare {dtype}: NaN is no {typed.type}"
        )
    return _strict(typed)


@lru_cache(maxsize=4096)
def _strict(typed: TypedBinaryOp) -> TypedBinaryOp:
    """Return the strict form of an order: `op(x, y) and not op(y, x)`.

    If op(x, x) is false, the order is already strict, and the result is `op` itself. If `op` is an
    order, op(x, x) does not depend on x, so testing a few values of x is enough.
    """
    for loose, strict in ((binary.le, binary.lt), (binary.ge, binary.gt)):
        if typed.expression == loose[typed.type].expression:
            return strict[typed.type]
    two = np.arange(2).astype(typed.type.np_type)
    if not np.any(typed.numpy(two, two)):
        return typed

    def before(x: Any, y: Any) -> Any:
        return logical_and(typed.trace(x, y), logical_not(typed.trace(y, x)))

    return binary.register_anonymous(before, typed.name)[typed.type]


def _limit(k: Any) -> int | None:
    return None if k is None else dimension(k, "k")
