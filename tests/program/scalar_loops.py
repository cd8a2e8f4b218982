"""Loops whose scalars are compared with Python's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from graphla import Vector

LEAST, MOST = -(1 << 63), (1 << 63) - 1


def whole(u: Vector, which: int, x: int, y: int) -> Any:
    """Return one function of two ints."""
    z = 0
    for _ in range(1):
        u[0] = 1
        if which == 0:
            z = x + y
        elif which == 1:
            z = x - y
        elif which == 2:
            z = x * y
        elif which == 3:
            z = x // y
        elif which == 4:
            z = x % y
        elif which == 5:
            z = -x
        elif which == 6:
            z = abs(x)
        elif which == 7:
            z = x << (y & 127)
        elif which == 8:
            z = x >> (y & 127)
        elif which == 9:
            z = x ** (y & 127)
        elif which == 10:
            z = x << y if y < 0 else ~x
        elif which == 11:
            z = x >> y if y < 0 else x ^ y
        elif which == 12:
            z = x * y + x * 1000003 - y
        elif which == 13:
            z = (x + 1) * (y - 1) // 3
    return z


WHOLE = 14

edges = st.sampled_from([0, 1, LEAST, MOST, 1 << 31, -(1 << 31), 1 << 32, 3037000500])
whole_numbers = st.builds(
    lambda x, d, sign: max(LEAST, min(MOST, sign * x + d)),
    edges | st.integers(LEAST, MOST) | st.integers(-100, 100),
    st.integers(-3, 3),
    st.sampled_from([1, -1]),
)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call with its type, or the type of the exception."""
    try:
        found = function(Vector(int, 2), *arguments)
    except (ArithmeticError, ValueError) as error:
        return type(error)
    if type(found) is int and not LEAST <= found <= MOST:
        return OverflowError
    return type(found), found


def same(x: Any, y: Any) -> bool:
    """Return whether two outcomes are equal, apart from the last bits of a float."""
    if not (isinstance(x, tuple) and isinstance(y, tuple)):
        return x is y
    if x[0] is not float or y[0] is not float:
        return x == y
    a, b = x[1], y[1]
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


def check_whole(function: Any, which: int, x: int, y: int) -> None:
    """Compare a function of two ints with Python's. `function` is `whole` under `gl.jit`."""
    expected, found = outcome(whole, which, x, y), outcome(function, which, x, y)
    if which in (12, 13) and OverflowError in (expected, found):
        return  # an intermediate result may leave INT64
    assert found == expected


