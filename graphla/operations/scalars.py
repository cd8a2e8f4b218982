"""Entrywise operations on scalars, which are like vectors with a single index."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.operations.values import as_type
from graphla.stores import ScalarStore
from semirings.exceptions import DomainMismatch


def join(how: str, a: ScalarStore, b: ScalarStore, op: Any, defaults: tuple[Any, ...]) -> Any:
    """Return op(a, b) for two scalars, which may be empty.

    If both scalars are empty, the result is empty. If only one is empty, the result depends on
    `how`. For "intersection", it is empty. For "union", it is the other scalar or, if `defaults` is
    not empty, op(a, b) with the default in place of the empty scalar. `defaults` has one default
    for `a` and one for `b`.
    """
    x, y = a.value, b.value
    if how == "union":
        if x is None and y is None:
            return _scalar(a, op.return_type)
        if not defaults and (x is None or y is None):
            return _scalar(a, op.return_type, as_type(x if y is None else y, op.return_type))
        left, right = defaults or (x, y)
        x, y = left if x is None else x, right if y is None else y
    if x is None or y is None:
        return _scalar(a, op.return_type)
    _refuse_positional(op)
    return _scalar(a, op.return_type, op.numpy(as_type(x, op.type), as_type(y, op.type2)))


def apply(a: ScalarStore, op: Any) -> ScalarStore:
    """Return op(a), or an empty scalar if `a` is empty."""
    if a.value is None:
        return _scalar(a, op.return_type)
    _refuse_positional(op)
    return _scalar(a, op.return_type, op.numpy(as_type(a.value, op.type)))


def bind(a: ScalarStore, op: Any, scalar: Any, side: str) -> ScalarStore:
    """Return op(scalar, a) if `side` is "left", otherwise op(a, scalar).

    If the scalar `a` is empty, the result is an empty scalar.
    """
    b = ScalarStore(a.device, a.dtype, scalar)
    return join("intersection", *((b, a) if side == "left" else (a, b)), op, ())


def by_place(a: ScalarStore, op: Any, thunk: Any) -> Any:
    """Return the value op(a, 0, 0, thunk), or None if `a` is empty. `a` has the
    position (0, 0)."""
    if a.value is None:
        return None
    zero = np.int64(0)
    return op.numpy(as_type(a.value, op.type), zero, zero, as_type(thunk, op.thunk_type))


def apply_index(a: ScalarStore, op: Any, thunk: Any) -> ScalarStore:
    """Return op(a, 0, 0, thunk), or an empty scalar if `a` is empty."""
    return _scalar(a, op.return_type, by_place(a, op, thunk))


def select(a: ScalarStore, op: Any, thunk: Any) -> ScalarStore:
    """Return the scalar `a` if op(a, 0, 0, thunk) is true, otherwise an empty scalar."""
    return a if by_place(a, op, thunk) else _scalar(a, a.dtype)


def _scalar(a: ScalarStore, dtype: Any, value: Any = None) -> ScalarStore:
    return ScalarStore(a.device, dtype, None if value is None else dtype.np_type.type(value))


def _refuse_positional(op: Any) -> None:
    if op.is_positional:
        raise DomainMismatch(f"{op!r} looks at places, which a Scalar has none of")
