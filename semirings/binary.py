"""The binary operators z = f(x, y), for operations entry by entry and for ⊗ in a semiring.

`register_new` adds an operator to this module; `register_anonymous` creates an unnamed operator.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from math import log as _log
from types import SimpleNamespace as _SimpleNamespace
from typing import Any as _Any

from semirings import naming as _naming
from semirings import trace as _t
from semirings.dtypes import ALL as _ALL
from semirings.dtypes import BOOL as _BOOL
from semirings.dtypes import INT64 as _INT64
from semirings.dtypes import INTEGERS as _INTEGERS
from semirings.dtypes import float_of as _float_of
from semirings.operators import BinaryOp as _BinaryOp

SIGNS = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "&": "land",
    "|": "lor",
    "^": "lxor",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}


def from_string(name: str) -> _Any:
    """Return the binary operator with the given name.

    Args:
        name: a name such as `plus` or `+`, or a name with a dtype, such as `plus[INT64]`.

    Returns:
        The operator; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no binary operator has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import binary
        >>> binary.from_string("+")(3, 4).item()
        7
    """
    return _naming.find(globals(), "binary", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """z = f(x, y).

    Create a binary operator from a Python function, without registering a name.

    Args:
        func: a function of (x, y). It is traced once per dtype, so it may use Python's
            operators and the functions of `semirings.trace`, but may not branch on its arguments.
        name: the name to print; by default, the name of the function.
        parameterized: whether `func` takes parameters and returns the function to trace. To set the
            parameters, call the operator with keyword arguments and without operands.
        is_udt: must be False; user-defined dtypes are not supported.

    Returns:
        The operator.

    Raises:
        TypeError: `func` is not callable.
        NotImplementedException: `is_udt` is True.

    Examples:
        >>> from semirings import binary
        >>> binary.register_anonymous(lambda x, y: x * y + 1)(3, 4)
        np.int64(13)
    """
    _naming.refuse_udt(is_udt)
    if parameterized:
        return _parameterized(_naming.name_of(func, name), func, is_anonymous=True)
    return _BinaryOp(_naming.name_of(func, name), func, is_anonymous=True)


def register_new(
    name: str,
    func: _Callable[..., _Any],
    *,
    parameterized: bool = False,
    is_udt: bool = False,
    lazy: bool = False,
) -> _Any:
    """z = f(x, y).

    Register a binary operator as `semirings.binary.<name>`.

    Args:
        name: the name, one or several identifiers joined by dots.
        func: a function of (x, y), traced as in `register_anonymous`.
        parameterized: whether `func` takes parameters and returns the function to trace. To set the
            parameters, call the operator with keyword arguments and without operands.
        is_udt: must be False; user-defined dtypes are not supported.
        lazy: whether to trace the function at first use. By default it is traced during
            registration, so that errors appear immediately.

    Returns:
        The operator.

    Raises:
        InvalidValue: the name is taken or malformed.
        UdfParseError: the function cannot be traced.
        NotImplementedException: `is_udt` is True.
    """
    _naming.refuse_udt(is_udt)
    op = _parameterized(name, func) if parameterized else _BinaryOp(name, func)
    op = op if lazy or parameterized else op.checked()
    _naming.register(globals(), "binary", name, op)
    return op


def _parameterized(
    name: str, func: _Callable[..., _Any], *, is_anonymous: bool = False, **options: _Any
) -> _BinaryOp:
    """Return an operator with parameters. func(**parameters) returns the function to apply.

    If the operator is used before its parameters are set, it applies the function that func()
    returns.
    """

    def defaults(x: _Any, y: _Any) -> _Any:
        return func()(x, y)

    return _BinaryOp(name, defaults, parameterized=func, is_anonymous=is_anonymous, **options)


def _on_bool(
    on_bool: _Callable[..., _Any], otherwise: _Callable[..., _Any]
) -> _Callable[..., _Any]:
    """Return a function that calls `on_bool` for BOOL operands, and `otherwise` for others."""
    return lambda x, y: on_bool(x, y) if x.dtype is _BOOL else otherwise(x, y)


def _pair(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
    return _t.cast(True, x.dtype if x.dtype is y.dtype else _INT64)


def _floating(function: _Callable[..., _Any]) -> _Callable[..., _Any]:
    """Return a function that converts both operands to floating-point numbers."""

    def on_floats(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
        dtype = _float_of(x.dtype)
        return function(x.astype(dtype), y.astype(dtype))

    return on_floats


def _bit(x: _t.Symbol, k: _t.Symbol) -> tuple[_t.Symbol, _t.Symbol]:
    """Return whether bit k exists in the dtype of x, and a number in which only bit k is set.

    Bits are counted from 1.
    """
    return (k >= 1) & (k <= x.dtype.bits), _t.cast(True, x.dtype) << (k - 1)


def _bget(x: _t.Symbol, k: _t.Symbol) -> _t.Symbol:
    return _t.where(_bit(x, k)[0], (x >> (k - 1)) & 1, 0)


def _bset(x: _t.Symbol, k: _t.Symbol) -> _t.Symbol:
    exists, bit = _bit(x, k)
    return _t.where(exists, x | bit, x)


def _bclr(x: _t.Symbol, k: _t.Symbol) -> _t.Symbol:
    exists, bit = _bit(x, k)
    return _t.where(exists, x & ~bit, x)


def _bshift(x: _t.Symbol, k: _t.Symbol) -> _t.Symbol:
    return x << k if k.dtype.kind == "u" else _t.where(k >= 0, x << k, x >> -k)


def _isclose(rel_tol: float = 1e-7, abs_tol: float = 0.0) -> _Callable[..., _Any]:
    """Return a function that tests |x - y| <= max(rel_tol * max(|x|, |y|), abs_tol) or x = y."""

    def isclose(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
        if not x.dtype.is_float:
            x, y = x.astype("FP64"), y.astype("FP64")
        bound = _t.maximum(rel_tol * _t.maximum(abs(x), abs(y)), abs_tol)
        return (x == y) | (_t.isfinite(x) & _t.isfinite(y) & (abs(x - y) <= bound))

    return isclose


# GraphBLAS C API 2.1
first = _BinaryOp("first", lambda x, y: x, commutes_to="second", keeps=True)
second = _BinaryOp("second", lambda x, y: y, commutes_to="first", keeps=True)
pair = _BinaryOp("pair", _pair, commutes_to="pair", keeps=True)
oneb = pair
any = _BinaryOp("any", lambda x, y: x, commutes_to="any")
plus = _BinaryOp("plus", lambda x, y: x + y, commutes_to="plus")
minus = _BinaryOp("minus", lambda x, y: x - y, commutes_to="rminus")
rminus = _BinaryOp("rminus", lambda x, y: y - x, commutes_to="minus")
times = _BinaryOp("times", lambda x, y: x * y, commutes_to="times")
cdiv = _BinaryOp("cdiv", _on_bool(lambda x, y: x, _t.truncate_divide), commutes_to="rdiv")
rdiv = _BinaryOp(
    "rdiv", _on_bool(lambda x, y: y, lambda x, y: _t.truncate_divide(y, x)), commutes_to="cdiv"
)
min = _BinaryOp("min", _t.minimum, commutes_to="min")
max = _BinaryOp("max", _t.maximum, commutes_to="max")
eq = _BinaryOp("eq", lambda x, y: x == y, commutes_to="eq")
ne = _BinaryOp("ne", lambda x, y: x != y, commutes_to="ne")
lt = _BinaryOp("lt", lambda x, y: x < y, commutes_to="gt")
le = _BinaryOp("le", lambda x, y: x <= y, commutes_to="ge")
gt = _BinaryOp("gt", lambda x, y: x > y, commutes_to="lt")
ge = _BinaryOp("ge", lambda x, y: x >= y, commutes_to="le")
iseq = _BinaryOp("iseq", lambda x, y: x == y, result="same", commutes_to="iseq")
isne = _BinaryOp("isne", lambda x, y: x != y, result="same", commutes_to="isne")
islt = _BinaryOp("islt", lambda x, y: x < y, result="same", commutes_to="isgt")
isle = _BinaryOp("isle", lambda x, y: x <= y, result="same", commutes_to="isge")
isgt = _BinaryOp("isgt", lambda x, y: x > y, result="same", commutes_to="islt")
isge = _BinaryOp("isge", lambda x, y: x >= y, result="same", commutes_to="isle")
land = _BinaryOp("land", _t.logical_and, result="same", commutes_to="land")
lor = _BinaryOp("lor", _t.logical_or, result="same", commutes_to="lor")
lxor = _BinaryOp("lxor", _t.logical_xor, result="same", commutes_to="lxor")
lxnor = _BinaryOp("lxnor", lambda x, y: _t.cast(x, _BOOL) == _t.cast(y, _BOOL), commutes_to="lxnor")
band = _BinaryOp("band", lambda x, y: x & y, _INTEGERS, commutes_to="band")
bor = _BinaryOp("bor", lambda x, y: x | y, _INTEGERS, commutes_to="bor")
bxor = _BinaryOp("bxor", lambda x, y: x ^ y, _INTEGERS, commutes_to="bxor")
bxnor = _BinaryOp("bxnor", lambda x, y: ~(x ^ y), _INTEGERS, commutes_to="bxnor")

# Division and powers
truediv = _BinaryOp("truediv", lambda x, y: x / y, commutes_to="rtruediv")
rtruediv = _BinaryOp("rtruediv", lambda x, y: y / x, commutes_to="truediv")
floordiv = _BinaryOp("floordiv", lambda x, y: x // y, commutes_to="rfloordiv")
rfloordiv = _BinaryOp("rfloordiv", lambda x, y: y // x, commutes_to="floordiv")
mod = _BinaryOp("mod", lambda x, y: x % y, commutes_to="rmod")
rmod = _BinaryOp("rmod", lambda x, y: y % x, commutes_to="mod")
fmod = _BinaryOp("fmod", _floating(_t.fmod))
remainder = _BinaryOp("remainder", _floating(_t.ieee_remainder))
pow = _BinaryOp("pow", _on_bool(lambda x, y: x | ~y, lambda x, y: x**y), commutes_to="rpow", ulps=4)
rpow = _BinaryOp("rpow", lambda x, y: y**x, commutes_to="pow", ulps=4)

# Mathematical functions of two numbers
hypot = _BinaryOp("hypot", _t.hypot, commutes_to="hypot", ulps=4)
atan2 = _BinaryOp("atan2", _t.arctan2, ulps=4)
copysign = _BinaryOp("copysign", _t.copysign)
ldexp = _BinaryOp("ldexp", _t.ldexp, keeps=True)
absfirst = _BinaryOp("absfirst", lambda x, y: _t.absolute(x), commutes_to="abssecond")
abssecond = _BinaryOp("abssecond", lambda x, y: _t.absolute(y), commutes_to="absfirst")
binom = _BinaryOp("binom", _t.binom, _INTEGERS)
isclose = _parameterized("isclose", _isclose, commutes_to="isclose")

# Bit operators. Bits are counted from 1. bshift shifts x to the left by k bits, or to the right by
# -k bits if k is negative.
bget = _BinaryOp("bget", _bget, _INTEGERS)
bset = _BinaryOp("bset", _bset, _INTEGERS)
bclr = _BinaryOp("bclr", _bclr, _INTEGERS)
bshift = _BinaryOp("bshift", _bshift, _INTEGERS)

# Operators on positions: in a product of A and B, x is the entry of A in row ix and column jx,
# and y is the entry of B in row iy and column jy.
firsti = _BinaryOp("firsti", lambda x, ix, jx, y, iy, jy: ix, keeps=True, is_positional=True)
firsti1 = _BinaryOp("firsti1", lambda x, ix, jx, y, iy, jy: ix + 1, keeps=True, is_positional=True)
firstj = _BinaryOp("firstj", lambda x, ix, jx, y, iy, jy: jx, keeps=True, is_positional=True)
firstj1 = _BinaryOp("firstj1", lambda x, ix, jx, y, iy, jy: jx + 1, keeps=True, is_positional=True)
secondi = _BinaryOp("secondi", lambda x, ix, jx, y, iy, jy: iy, keeps=True, is_positional=True)
secondi1 = _BinaryOp(
    "secondi1", lambda x, ix, jx, y, iy, jy: iy + 1, keeps=True, is_positional=True
)
secondj = _BinaryOp("secondj", lambda x, ix, jx, y, iy, jy: jy, keeps=True, is_positional=True)
secondj1 = _BinaryOp(
    "secondj1", lambda x, ix, jx, y, iy, jy: jy + 1, keeps=True, is_positional=True
)


# --- Operators that compute the NumPy functions of the same names --------------------------------


def _numpy(name: str, function: _Callable[..., _Any], *domain: _Any, **options: _Any) -> _BinaryOp:
    return _BinaryOp(f"numpy.{name}", function, *domain, **options)


def _without_nan(choose: _Callable[..., _Any]) -> _Callable[..., _Any]:
    """Return a function of x and y that ignores NaN.

    If one operand is NaN, the function returns the other operand; otherwise it returns
    choose(x, y).
    """
    return lambda x, y: _t.where(_t.isnan(x), y, _t.where(_t.isnan(y), x, choose(x, y)))


def _fmod(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
    if x.dtype.is_float:
        return _t.fmod(x, y)
    # x % y has the sign of y, but the result of fmod must have the sign of x.
    rest = x % y
    if x.dtype.kind == "u":
        return rest
    return _t.where((rest != 0) & ((x < 0) != (y < 0)), rest - y, rest)


def _log_of_sum(exp: _Any, log1p: _Any, of_two: float) -> _Callable[..., _Any]:
    """Return log(exp(x) + exp(y)) as a function of x and y, computed in FP64."""

    def log_of_sum(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
        dtype = _float_of(x.dtype)
        x, y = x.astype("FP64"), y.astype("FP64")
        larger = _t.maximum(x, y) + log1p(exp(-_t.absolute(x - y)))
        # If x = y, the result is x + of_two, where `of_two` is the logarithm of 2. This is also
        # correct for equal infinities, for which x - y is NaN.
        return _t.where(x == y, x + of_two, larger).astype(dtype)

    return log_of_sum


_logaddexp = _log_of_sum(_t.exp, _t.log1p, _log(2))
_logaddexp2 = _log_of_sum(_t.exp2, lambda p: _t.log1p(p) * (1 / _log(2)), 1.0)


def _as_double(x: _t.Symbol, y: _t.Symbol) -> _t.Symbol:
    return x.astype("FP64") ** y.astype("FP64")


_NUMBERS = tuple(dtype for dtype in _ALL if dtype is not _BOOL)

numpy = _SimpleNamespace(
    add=plus,
    arctan2=atan2,
    bitwise_and=band,
    bitwise_or=bor,
    bitwise_xor=bxor,
    copysign=copysign,
    divide=truediv,
    equal=eq,
    float_power=_numpy("float_power", _as_double, ulps=4),
    floor_divide=floordiv,
    fmax=_numpy("fmax", _without_nan(_t.maximum), commutes_to="numpy.fmax"),
    fmin=_numpy("fmin", _without_nan(_t.minimum), commutes_to="numpy.fmin"),
    fmod=_numpy("fmod", _fmod, _NUMBERS),
    greater=gt,
    greater_equal=ge,
    hypot=hypot,
    ldexp=ldexp,
    left_shift=_numpy("left_shift", lambda x, y: x << y, _INTEGERS),
    less=lt,
    less_equal=le,
    # The result is max(x, y) plus a logarithm. If these two terms nearly cancel, the result is near
    # 0, and its error can exceed 1024 ulps.
    logaddexp=_numpy("logaddexp", _logaddexp, commutes_to="numpy.logaddexp", ulps=1024),
    logaddexp2=_numpy("logaddexp2", _logaddexp2, commutes_to="numpy.logaddexp2", ulps=1024),
    logical_and=land,
    logical_or=lor,
    logical_xor=lxor,
    maximum=max,
    minimum=min,
    mod=mod,
    multiply=times,
    not_equal=ne,
    power=pow,
    remainder=mod,
    right_shift=_numpy("right_shift", lambda x, y: x >> y, _INTEGERS),
    subtract=minus,
    true_divide=truediv,
)
