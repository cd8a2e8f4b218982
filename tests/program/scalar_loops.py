"""Loops whose scalar results are compared with Python's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from graphla import Vector

LEAST, MOST = -(1 << 63), (1 << 63) - 1


def whole(u: Vector, which: int, x: int, y: int) -> Any:
    """Return the value of function number `which` at the ints x and y."""
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
        elif which == 14:
            z = math.gcd(x, y)
        elif which == 15:
            z = math.lcm(x, y)
        elif which == 16:
            z = math.isqrt(x)
        elif which == 17:
            z = math.comb(x % 100, y % 100)
        elif which == 18:
            z = math.perm(x % 40, y % 40)
        elif which == 19:
            z = math.factorial(x % 30 - 3)
        elif which == 20:
            z = math.comb(x, y & 15)
        elif which == 21:
            z = math.perm(x, y & 15)
        elif which == 22:
            z = sum((x, y, 1))
        elif which == 23:
            z = math.gcd(x, y, 12) + math.trunc(x)
        elif which == 24:
            z = divmod(x, y)[1]
        elif which == 25:
            z = math.comb(x, -3)
        elif which == 26:
            z = math.perm(y, x & 15)
        elif which == 27:
            z = round(x, 2)  # noqa: RUF057
        elif which == 28:
            z = x / y
    return z


WHOLE = 29


def real(u: Vector, which: int, x: float, y: float) -> Any:
    """Return the value of function number `which` at the floats x and y."""
    z = 0.0
    for _ in range(1):
        u[0] = 1
        if which == 0:
            z = math.log1p(x)
        elif which == 1:
            z = math.expm1(x)
        elif which == 2:
            z = math.exp2(x)
        elif which == 3:
            z = math.cbrt(x)
        elif which == 4:
            z = math.erf(x)
        elif which == 5:
            z = math.erfc(x)
        elif which == 6:
            z = math.gamma(x)
        elif which == 7:
            z = math.lgamma(x)
        elif which == 8:
            z = math.asinh(x)
        elif which == 9:
            z = math.acosh(x)
        elif which == 10:
            z = math.atanh(x)
        elif which == 11:
            z = math.degrees(x)
        elif which == 12:
            z = math.radians(x)
        elif which == 13:
            z = math.sqrt(x)
        elif which == 14:
            z = math.exp(x)
        elif which == 15:
            z = math.log(x)
        elif which == 16:
            z = math.log2(x)
        elif which == 17:
            z = math.log10(x)
        elif which == 18:
            z = math.sin(x)
        elif which == 19:
            z = math.cos(x)
        elif which == 20:
            z = math.tan(x)
        elif which == 21:
            z = math.asin(x)
        elif which == 22:
            z = math.acos(x)
        elif which == 23:
            z = math.atan(x)
        elif which == 24:
            z = math.sinh(x)
        elif which == 25:
            z = math.cosh(x)
        elif which == 26:
            z = math.tanh(x)
        elif which == 27:
            z = math.fabs(x)
        elif which == 28:
            z = math.ulp(x)
        elif which == 29:
            z = math.fmod(x, y)
        elif which == 30:
            z = math.remainder(x, y)
        elif which == 31:
            z = math.pow(x, y)
        elif which == 32:
            z = math.atan2(x, y)
        elif which == 33:
            z = math.hypot(x, y)
        elif which == 34:
            z = math.copysign(x, y)
        elif which == 35:
            z = math.nextafter(x, y)
        elif which == 36:
            z = math.log(x, y)
        elif which == 37:
            z = math.modf(x)[0]
        elif which == 38:
            z = math.modf(x)[1]
        elif which == 39:
            z = math.hypot(x, y, 2)
        elif which == 40:
            z = 1.0 if math.isclose(x, y) else 2.0
        elif which == 41:
            z = 1.0 if math.isclose(x, y, rel_tol=0.1, abs_tol=y) else 2.0
        elif which == 42:
            z = x // y
        elif which == 43:
            z = x % y
        elif which == 44:
            z = x / y
        elif which == 45:
            z = divmod(x, y)[0]
        elif which == 46:
            z = x * math.pi + math.e + math.tau
        elif which == 47:
            z = sum((x, y))
        elif which == 48:
            z = min(x, math.inf, y)
        elif which == 49:
            z = float(math.isfinite(x)) + math.isnan(y)
        elif which == 50:
            z = abs(-x) + y
        elif which == 51:
            z = math.ldexp(x, int(max(-5000.0, min(5000.0, y))))
        elif which == 52:
            z = math.frexp(x)[0]
        elif which == 53:
            z = math.frexp(x)[1]
        elif which == 54:
            z = math.prod((x, y, 2)) + math.prod((3, 4), start=2)
        elif which == 55:
            z = math.dist((x, 1), (y, 2.5))
    return z


REAL = 56


edges = st.sampled_from([0, 1, LEAST, MOST, 1 << 31, -(1 << 31), 1 << 32, 3037000500])
whole_numbers = st.builds(
    lambda x, d, sign: max(LEAST, min(MOST, sign * x + d)),
    edges | st.integers(LEAST, MOST) | st.integers(-100, 100),
    st.integers(-3, 3),
    st.sampled_from([1, -1]),
)


special = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, math.inf, -math.inf, math.nan, 5e-324]
)
real_numbers = special | st.integers(-5, 5).map(float) | st.floats(-30, 30) | st.floats()


SIZE = 5000
"""The size of the vector. An int argument equal to it would require compiling another program."""


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call with its type, or the type of the exception."""
    try:
        found = function(Vector(int, SIZE), *arguments)
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


def check_real(function: Any, which: int, x: float, y: float) -> None:
    """Compare a function of two floats with Python's. `function` is `real` under `gl.jit`."""
    expected, found = outcome(real, which, x, y), outcome(function, which, x, y)
    assert same(found, expected), (found, expected)


def check_whole(function: Any, which: int, x: int, y: int) -> None:
    """Compare a function of two ints with Python's. `function` is `whole` under `gl.jit`."""
    expected, found = outcome(whole, which, x, y), outcome(function, which, x, y)
    if which in (12, 13, 15, 22) and OverflowError in (expected, found):
        return  # an intermediate result may be outside the range of INT64
    assert found == expected


class Counting:
    """An engine that counts the programs that it runs."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.runs = engine, 0

    def run(self, program: Any, arguments: Any) -> Any:
        self.runs += 1
        return self.engine.run(program, arguments)
