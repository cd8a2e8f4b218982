"""Integers that a multiply takes beyond their dtype, where they wrap around."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from graphla.storage import Array
from semirings.operators import TypedBinaryOp
from semirings.printing import simple_ufunc
from semirings.structures import TypedSemiring

_wrapping = {np.add: "x + y", np.subtract: "x - y", np.multiply: "x * y"}


@lru_cache(maxsize=4096)
def wraps(op: TypedBinaryOp) -> str | None:
    """What op computes, if it is a sum, difference or product of integers: of x and y, as text."""
    if op.return_type.kind not in "iu" or op.is_positional:
        return None
    for names in (("x", "y"), ("y", "x")):
        text = _wrapping.get(simple_ufunc(op.expression, names))  # pyright: ignore
        if text is not None:
            return text if names[0] == "x" else text[::-1]
    return None


def overflowing(semiring: TypedSemiring, x: Array, y: Array, result: Any) -> Array | None:
    """Which results are not what the multiply of x and y comes to; None if all are.

    A float knows the high bits that a wrapped integer has lost, and errs by much less.
    """
    text = wraps(semiring.binaryop)
    if text is None:
        return None
    a, b = x.astype(np.float64), y.astype(np.float64)
    exact = {"+": np.add, "-": np.subtract, "*": np.multiply}[text[2]](a, b)
    exact = -exact if text == "y - x" else exact
    over = np.abs(exact - result.astype(np.float64)) >= 2.0 ** (8 * result.dtype.itemsize - 1)
    return over if bool(over.any()) else None
