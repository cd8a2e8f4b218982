"""Expressions and their primitives, with code templates for NumPy, Numba and CUDA C++.

The three templates of a primitive give bitwise equal results for every input (any NaN equals any
other), except for transcendental functions. Where a language leaves a result undefined, all three
templates use these definitions:

- integers wrap around; `x // 0` and `x % 0` are 0; `INT_MIN // -1` is INT_MIN;
- truncated division: 0 / 0 is 0, and x / 0 is the largest integer with the sign of x;
- an integer to a negative power is 1 divided by the positive power, truncated (1 / 0 as above);
- a shift by a negative count, or by at least the width of the type, shifts out every bit;
- a cast from float to an integer type truncates, clips to the range of the integer type, and maps
  NaN to 0;
- minimum and maximum propagate NaN; for equal operands, such as 0.0 and -0.0, they return the
  second operand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semirings.dtypes import DataType
from semirings.prelude import LGAMMA_SERIES, LGAMMA_SLOPE

Text = str | dict[str, str]


@dataclass(frozen=True, eq=False, slots=True)
class Primitive:
    """An operation in an expression: one code template per language and kind of first argument.

    A template is expanded by `text.format(arguments, T=type)`. `is_quiet` lists the dtype kinds
    for which NumPy gives no floating-point warning. `numba` is None if the primitive has no Numba
    template.
    """

    name: str
    numpy: Text
    numba: Text | None
    cuda: Text
    is_quiet: str = "biu"
    names: tuple[tuple[str, Any], ...] = ()

    def text(self, language: str, dtype: DataType) -> str:
        """Return the code template for this language and a first argument of this dtype."""
        template = getattr(self, language)
        if isinstance(template, dict):
            return template[dtype.kind]
        return template


class Node:
    """A node of an expression: an argument, a constant, a cast, or a primitive with arguments."""

    __slots__ = ("_hash", "arguments", "dtype", "operation", "value")

    def __init__(
        self,
        operation: Primitive | str,
        arguments: tuple[Node, ...],
        dtype: DataType,
        value: Any = None,
    ):
        self.operation = operation
        self.arguments = arguments
        self.dtype = dtype
        self.value = value  # the name of an argument, or a constant as a NumPy scalar
        self._hash = hash((operation, arguments, dtype.name, self._key))

    @property
    def _key(self) -> Any:
        return self.value.tobytes() if self.operation == "constant" else self.value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Node)
            and self._hash == other._hash
            and self.operation == other.operation
            and self.dtype is other.dtype
            and self._key == other._key
            and self.arguments == other.arguments
        )

    def uses(self) -> set[str]:
        """Return the names of the arguments that the expression depends on."""
        if self.operation == "argument":
            return {self.value}
        return set().union(*(node.uses() for node in self.arguments))


PRIMITIVES: dict[str, Primitive] = {}


def _define(name: str, numpy: Text, numba: Text, cuda: Text, is_quiet: str = "biu") -> None:
    PRIMITIVES[name] = Primitive(name, numpy, numba, cuda, is_quiet)


def _infix(name: str, ufunc: str, symbol: str) -> None:
    """Define an arithmetic operation that wraps around on integers.

    Signed overflow is undefined in C++ and in Numba (LLVM's flag nsw), so signed operands are
    converted to unsigned integers.
    """
    numba, cuda = f"({{0}} {symbol} {{1}})", f"({{T}})(({{U}}){{0}} {symbol} ({{U}}){{1}})"
    wrapping = f"{{T}}(np.uint64({{0}}) {symbol} np.uint64({{1}}))"
    _define(
        name,
        f"np.{ufunc}({{0}}, {{1}})",
        {"i": wrapping, "u": "{T}" + numba, "f": numba},
        {"i": cuda, "u": cuda, "f": numba},
    )


def _comparison(name: str, ufunc: str, symbol: str) -> None:
    text = f"({{0}} {symbol} {{1}})"
    _define(name, f"np.{ufunc}({{0}}, {{1}})", text, text, is_quiet="biuf")


def _bits(name: str, ufunc: str, symbol: str) -> None:
    _define(
        name,
        f"np.{ufunc}({{0}}, {{1}})",
        f"{{T}}({{0}} {symbol} {{1}})",
        f"({{T}})({{0}} {symbol} {{1}})",
    )


_infix("add", "add", "+")
_infix("sub", "subtract", "-")
_infix("mul", "multiply", "*")
_define(
    "neg",
    "np.negative({0})",
    {
        "i": "{T}(np.uint64(0) - np.uint64({0}))",
        "u": "{T}(np.uint64(0) - np.uint64({0}))",
        "f": "(-{0})",
    },
    {"i": "({T})(({U})0 - ({U}){0})", "u": "({T})(({U})0 - ({U}){0})", "f": "(-{0})"},
    is_quiet="biuf",
)
_define(
    "abs",
    "np.abs({0})",
    {"i": "{T}(_abs({0}))", "f": "{T}(np.fabs({0}))"},
    {"i": "({T})({0} < 0 ? ({U})0 - ({U}){0} : ({U}){0})", "f": "fabs{f}({0})"},
    is_quiet="biuf",
)
_define("truediv", "np.true_divide({0}, {1})", "_divide({0}, {1})", "({0} / {1})")
_define(
    "floordiv",
    "np.floor_divide({0}, {1})",
    {
        "i": "{T}(_floordiv_int(np.int64({0}), np.int64({1})))",
        "u": "{T}(_floordiv_uint(np.uint64({0}), np.uint64({1})))",
        "f": "_floordiv_float({0}, {1})",
    },
    {
        "i": "semirings::floordiv_int<{T}>({0}, {1})",
        "u": "semirings::floordiv_uint<{T}>({0}, {1})",
        "f": "semirings::floordiv_float<{T}>({0}, {1})",
    },
    is_quiet="b",
)
_define(
    "mod",
    "np.remainder({0}, {1})",
    {
        "i": "{T}(_mod_int(np.int64({0}), np.int64({1})))",
        "u": "{T}(_mod_uint(np.uint64({0}), np.uint64({1})))",
        "f": "_mod_float({0}, {1})",
    },
    {
        "i": "semirings::mod_int<{T}>({0}, {1})",
        "u": "semirings::mod_uint<{T}>({0}, {1})",
        "f": "semirings::mod_float<{T}>({0}, {1})",
    },
    is_quiet="b",
)
_define(
    "truncdiv",
    "_truncdiv({0}, {1})",
    {
        "i": "{T}(_truncdiv_int(np.int64({0}), np.int64({1}), np.int64({MIN}), np.int64({MAX})))",
        "u": "{T}(_truncdiv_uint(np.uint64({0}), np.uint64({1}), np.uint64({MAX})))",
    },
    {
        "i": "semirings::truncdiv_int<{T}>({0}, {1}, {MIN}, {MAX})",
        "u": "semirings::truncdiv_uint<{T}>({0}, {1}, {MAX})",
    },
    is_quiet="b",
)
_define("fmod", "np.fmod({0}, {1})", "{T}(np.fmod({0}, {1}))", "fmod{f}({0}, {1})")
_define(
    "ieee_remainder",
    "_ieee_remainder({0}, {1})",
    "_ieee_remainder({0}, {1})",
    "semirings::ieee_remainder<{T}>({0}, {1})",
)
_define(
    "pow",
    {"i": "_pow_int({0}, {1})", "u": "np.power({0}, {1})", "f": "np.power({0}, {1})"},
    {
        "i": "{T}(_pow_int(np.int64({0}), np.int64({1}), np.int64({MAX})))",
        "u": "{T}(_pow_uint(np.uint64({0}), np.uint64({1})))",
        "f": "{T}(_pow_float({0}, {1}))",
    },
    {
        "i": "semirings::pow_int<{T}>({0}, {1}, {MAX})",
        "u": "semirings::pow_uint<{T}>({0}, {1})",
        "f": "pow{f}({0}, {1})",
    },
    is_quiet="bu",
)
_comparison("eq", "equal", "==")
_comparison("ne", "not_equal", "!=")
_comparison("lt", "less", "<")
_comparison("le", "less_equal", "<=")
_comparison("gt", "greater", ">")
_comparison("ge", "greater_equal", ">=")
_define("and", "np.logical_and({0}, {1})", "({0} & {1})", "({0} && {1})")
_define("or", "np.logical_or({0}, {1})", "({0} | {1})", "({0} || {1})")
_define("xor", "np.logical_xor({0}, {1})", "({0} != {1})", "({0} != {1})")
_define("not", "np.logical_not({0})", "(not {0})", "(!{0})")
_bits("band", "bitwise_and", "&")
_bits("bor", "bitwise_or", "|")
_bits("bxor", "bitwise_xor", "^")
_define("bnot", "np.invert({0})", "{T}(~{0})", "({T})(~{0})")
_define(
    "shl",
    "np.left_shift({0}, {1})",
    {
        "i": "{T}(_shl(np.int64({0}), np.int64({1}), {BITS}))",
        "u": "{T}(_shl_uint(np.uint64({0}), np.uint64({1}), {BITS}))",
    },
    {
        "i": "semirings::shl_int<{T}, {U}>({0}, {1})",
        "u": "semirings::shl_uint<{T}, {U}>({0}, {1})",
    },
)
_define(
    "shr",
    "np.right_shift({0}, {1})",
    {
        "i": "{T}(_shr(np.int64({0}), np.int64({1}), {BITS}))",
        "u": "{T}(_shr_uint(np.uint64({0}), np.uint64({1}), {BITS}))",
    },
    {
        "i": "semirings::shr_int<{T}>({0}, {1})",
        "u": "semirings::shr_uint<{T}>({0}, {1})",
    },
)
_define("where", "np.where({0}, {1}, {2})", "({1} if {0} else {2})", "({0} ? {1} : {2})", "biuf")
_define(
    "min",
    "np.minimum({0}, {1})",
    {"i": "{T}(_min({0}, {1}))", "u": "{T}(_min({0}, {1}))", "f": "_min_float({0}, {1})"},
    {
        "i": "semirings::minimum<{T}>({0}, {1})",
        "u": "semirings::minimum<{T}>({0}, {1})",
        "f": "semirings::minimum_float<{T}>({0}, {1})",
    },
)
_define(
    "max",
    "np.maximum({0}, {1})",
    {"i": "{T}(_max({0}, {1}))", "u": "{T}(_max({0}, {1}))", "f": "_max_float({0}, {1})"},
    {
        "i": "semirings::maximum<{T}>({0}, {1})",
        "u": "semirings::maximum<{T}>({0}, {1})",
        "f": "semirings::maximum_float<{T}>({0}, {1})",
    },
)
_define("isnan", "np.isnan({0})", "_isnan({0})", "semirings::is_nan({0})", "biuf")
_define("isinf", "np.isinf({0})", "_isinf({0})", "semirings::is_inf({0})", "biuf")
_define("isfinite", "np.isfinite({0})", "_isfinite({0})", "semirings::is_finite({0})", "biuf")
_define(
    "copysign",
    "np.copysign({0}, {1})",
    "{T}(math.copysign({0}, {1}))",
    "copysign{f}({0}, {1})",
    "biuf",
)
_define("ldexp", "np.ldexp({0}, {1})", "{T}(math.ldexp({0}, {1}))", "ldexp{f}({0}, {1})")
_define(
    "frexp_fraction",
    "np.frexp({0})[0]",
    "{T}(_frexp_fraction({0}))",
    "semirings::frexp_fraction({0})",
)
_define(
    "frexp_exponent",
    "_frexp_exponent({0})",
    "{T}(_frexp_exponent({0}))",
    "({T})semirings::frexp_exponent({0})",
)
for _name in ("sqrt", "floor", "ceil", "trunc", "rint"):
    _define(_name, f"np.{_name}({{0}})", f"{{T}}(np.{_name}({{0}}))", f"{_name}{{f}}({{0}})")
for _name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"):
    _define(_name, f"np.{_name}({{0}})", f"{{T}}(np.{_name}({{0}}))", f"{_name}{{f}}({{0}})")
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _define(_name, f"np.{_name}({{0}})", f"{{T}}(np.{_name}({{0}}))", f"{_name}{{f}}({{0}})")
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _numpy = f"np.arc{_name}({{0}})"
    _define(f"a{_name}", _numpy, f"{{T}}({_numpy})", f"a{_name}{{f}}({{0}})")
for _name in ("erf", "erfc"):
    _define(_name, f"_{_name}({{0}})", f"{{T}}(math.{_name}({{0}}))", f"{_name}{{f}}({{0}})")
_define("lgamma", "_lgamma({0})", "{T}(_lgamma(np.float64({0})))", "lgamma{f}({0})")
_define("tgamma", "_tgamma({0})", "{T}(_tgamma({0}))", "tgamma{f}({0})")
_define("hypot", "np.hypot({0}, {1})", "{T}(math.hypot({0}, {1}))", "hypot{f}({0}, {1})")
_define("atan2", "np.arctan2({0}, {1})", "{T}(math.atan2({0}, {1}))", "atan2{f}({0}, {1})")
_define(
    "binom",
    "_binom({0}, {1})",
    "_binom({0}, {1})",
    "semirings::binom({0}, {1})",
)


def limits(dtype: DataType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    info = np.iinfo(dtype.np_type)
    return int(info.min), int(info.max)


def to_integer(x: Any, np_type: Any) -> Any:
    """Truncate to integers and clip to the range of the integer type; NaN becomes 0."""
    info = np.iinfo(np_type)
    x = np.asarray(x)
    is_high = x >= float(info.max)
    is_low = x <= float(info.min)
    is_inside = (x == x) & ~is_high & ~is_low
    inside = np.where(is_inside, x, 0).astype(np_type)
    return np.where(is_high, np_type(info.max), np.where(is_low, np_type(info.min), inside))


def _truncdiv(x: Any, y: Any) -> Any:
    dtype = np.result_type(x, y)
    is_signed = dtype.kind == "i"
    info = np.iinfo(dtype)
    quotient = np.floor_divide(x, y)
    if is_signed:
        is_floored = (np.multiply(quotient, y) != x) & ((x < 0) != (y < 0)) & (y != 0)
        quotient = np.add(quotient, is_floored.astype(dtype))
    by_zero = np.where(np.greater(x, 0), dtype.type(info.max), dtype.type(0))
    if is_signed:
        by_zero = np.where(np.less(x, 0), dtype.type(info.min), by_zero)
    return np.where(np.equal(y, 0), by_zero, quotient)


def _ieee_remainder(x: Any, y: Any) -> Any:
    """Return x - n * y exactly, where n is x / y rounded to nearest, ties to even (fdlibm)."""
    dtype = np.result_type(x, y).type
    divisor = np.abs(y)
    half, two = dtype(0.5), dtype(2)
    is_small = divisor <= np.finfo(dtype).max / two
    rest = np.abs(x)
    rest = np.where(is_small, np.fmod(rest, np.where(is_small, divisor * two, divisor)), rest)
    is_tiny = divisor < np.finfo(dtype).tiny * two

    def _exceeds(rest: Any, or_equal: bool) -> Any:
        compare = np.greater_equal if or_equal else np.greater
        return np.where(is_tiny, compare(rest + rest, divisor), compare(rest, half * divisor))

    is_first = _exceeds(rest, False)
    rest = np.where(is_first, rest - divisor, rest)
    rest = np.where(is_first & _exceeds(rest, True), rest - divisor, rest)
    is_bad = (y == 0) | ~np.isfinite(x) | np.isnan(y)
    rest = np.where(is_bad, dtype(np.nan), np.where(np.isinf(y) & ~is_bad, np.abs(x), rest))
    return np.where(np.signbit(x), -rest, rest)


def _pow_int(x: Any, y: Any) -> Any:
    if not np.any(np.less(y, 0)):
        return np.power(x, y)
    dtype = np.result_type(x, y).type
    result = np.power(x, np.maximum(y, dtype(0)))
    sign = np.where(np.bitwise_and(y, dtype(1)) != 0, dtype(-1), dtype(1))
    inverse = np.where(x == 1, dtype(1), np.where(x == -1, sign, dtype(0)))
    inverse = np.where(x == 0, dtype(np.iinfo(dtype).max), inverse)
    return np.where(np.less(y, 0), inverse, result)


def _frexp_exponent(x: Any) -> Any:
    exponent = np.where(np.isfinite(x), np.frexp(x)[1], 0)
    return exponent.astype(np.asarray(x).dtype)


def _elementwise(function: Callable[..., float]) -> Callable[..., Any]:
    """Apply a function of Python floats to arrays of floats; the result has their dtype."""

    def on_arrays(x: Any) -> Any:
        x = np.asarray(x)
        values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
        return values.astype(x.dtype).reshape(x.shape)

    return on_arrays


def _lgamma_of(x: float) -> float:
    if 0.5 <= x < 2.5:
        return _lgamma_near_2(x - 1) - math.log1p(x - 1) if x < 1.5 else _lgamma_near_2(x - 2)
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def _lgamma_near_2(x: float) -> float:
    """Return lgamma(2 + x) from its series, because math.lgamma is inaccurate near its zeros."""
    total = 0.0
    for term in reversed(LGAMMA_SERIES):
        total = total * x + term
    return x * (LGAMMA_SLOPE + x * total)


def _tgamma_of(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x < 0 and (math.isinf(x) or x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _binom(n: Any, k: Any) -> Any:
    n, k = np.broadcast_arrays(n, k)
    values = map(_binom_of, n.ravel().tolist(), k.ravel().tolist())
    return np.fromiter(values, np.int64, n.size).reshape(n.shape)


def _binom_of(n: int, k: int) -> int:
    if k < 0 or k > n:
        return 0
    if min(k, n - k) > 62:
        return 0
    value = math.comb(n, k)
    return value if value < 2**63 else 0


NUMPY_NAMES: dict[str, Any] = {
    "np": np,
    "_binom": _binom,
    "_erf": _elementwise(math.erf),
    "_erfc": _elementwise(math.erfc),
    "_frexp_exponent": _frexp_exponent,
    "_ieee_remainder": _ieee_remainder,
    "_lgamma": _elementwise(_lgamma_of),
    "_pow_int": _pow_int,
    "_tgamma": _elementwise(_tgamma_of),
    "_to_integer": to_integer,
    "_truncdiv": _truncdiv,
}
