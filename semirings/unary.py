"""The unary operators z = f(x), which are applied to single entries.

`register_new` adds an operator to this module; `register_anonymous` creates an unnamed operator.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from math import pi as _pi
from types import SimpleNamespace as _SimpleNamespace
from typing import Any as _Any

from semirings import naming as _naming
from semirings import trace as _t
from semirings.dtypes import ALL as _ALL
from semirings.dtypes import BOOL as _BOOL
from semirings.dtypes import INT32 as _INT32
from semirings.dtypes import INT64 as _INT64
from semirings.dtypes import INTEGERS as _INTEGERS
from semirings.dtypes import float_of as _float_of
from semirings.operators import UnaryOp as _UnaryOp

SIGNS = {"-": "ainv", "~": "lnot"}
_NUMBERS = tuple(dtype for dtype in _ALL if dtype is not _BOOL)


def from_string(name: str) -> _Any:
    """Return the unary operator with the given name.

    Args:
        name: a name such as `abs` or `-`, or a name with a dtype, such as `abs[INT64]`.

    Returns:
        The operator; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no unary operator has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import unary
        >>> unary.from_string("sqrt")(9.0).item()
        3.0
    """
    return _naming.find(globals(), "unary", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """z = f(x).

    Create a unary operator from a Python function, without registering a name.

    Args:
        func: a function of x. It is traced once per dtype, so it may use Python's operators and the
            functions of `semirings.trace`, but may not branch on its arguments.
        name: the name to print; by default, the name of the function.
        parameterized: whether `func` takes parameters and returns the function to trace. If so,
            the result is a function that takes the parameters and returns the operator.
        is_udt: must be False; user-defined dtypes are not supported.

    Returns:
        The operator.

    Raises:
        TypeError: `func` is not callable.
        NotImplementedException: `is_udt` is True.

    Examples:
        >>> from semirings import unary
        >>> unary.register_anonymous(lambda x: x * x + 1)(3)
        np.int64(10)
    """
    _naming.refuse_udt(is_udt)
    if parameterized:
        return lambda *args, **options: register_anonymous(func(*args, **options), name)
    return _UnaryOp(_naming.name_of(func, name), func, is_anonymous=True)


def register_new(
    name: str,
    func: _Callable[..., _Any],
    *,
    parameterized: bool = False,
    is_udt: bool = False,
    lazy: bool = False,
) -> _Any:
    """z = f(x).

    Register a unary operator as `semirings.unary.<name>`.

    Args:
        name: the name, one or several identifiers joined by dots.
        func: a function of x, traced as in `register_anonymous`.
        parameterized: whether `func` takes parameters and returns the function to trace.
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
    if parameterized:
        op = register_anonymous(func, name, parameterized=True)
    else:
        op = _UnaryOp(name, func)
        op = op if lazy else op.checked()
    _naming.register(globals(), "unary", name, op)
    return op


def _one(x: _t.Symbol) -> _t.Symbol:
    return _t.cast(True, x.dtype)


def _reciprocal(x: _t.Symbol) -> _t.Symbol:
    return _t.cast(True, _BOOL) if x.dtype is _BOOL else _t.truncate_divide(1, x)


def _round(x: _t.Symbol) -> _t.Symbol:
    x = _as_float(x)
    whole = _t.trunc(x)
    return _t.where(abs(x - whole) >= 0.5, whole + _t.copysign(1.0, x), whole)


def _as_float(x: _t.Symbol) -> _t.Symbol:
    return x.astype(_float_of(x.dtype))


def _place(x: _t.Symbol, index: _t.Symbol) -> _t.Symbol:
    return index.astype(_INT32 if x.dtype is _INT32 else _INT64)


abs = _UnaryOp("abs", _t.absolute)
ainv = _UnaryOp("ainv", lambda x: -x)
bnot = _UnaryOp("bnot", lambda x: ~x, _INTEGERS)
identity = _UnaryOp("identity", lambda x: x)
lnot = _UnaryOp("lnot", _t.logical_not, result="same")
minv = _UnaryOp("minv", _reciprocal)
one = _UnaryOp("one", _one)

acos = _UnaryOp("acos", _t.arccos, ulps=4)
acosh = _UnaryOp("acosh", _t.arccosh, ulps=4)
asin = _UnaryOp("asin", _t.arcsin, ulps=4)
asinh = _UnaryOp("asinh", _t.arcsinh, ulps=4)
atan = _UnaryOp("atan", _t.arctan, ulps=4)
atanh = _UnaryOp("atanh", _t.arctanh, ulps=4)
cbrt = _UnaryOp("cbrt", _t.cbrt, ulps=4)
ceil = _UnaryOp("ceil", _t.ceil)
cos = _UnaryOp("cos", _t.cos, ulps=4)
cosh = _UnaryOp("cosh", _t.cosh, ulps=4)
erf = _UnaryOp("erf", _t.erf, ulps=4)
erfc = _UnaryOp("erfc", _t.erfc, ulps=16)
exp = _UnaryOp("exp", _t.exp, ulps=4)
exp2 = _UnaryOp("exp2", _t.exp2, ulps=4)
expm1 = _UnaryOp("expm1", _t.expm1, ulps=4)
floor = _UnaryOp("floor", _t.floor)
frexpe = _UnaryOp("frexpe", lambda x: _t.frexp_exponent(x))
frexpx = _UnaryOp("frexpx", lambda x: _t.frexp_fraction(x))
isfinite = _UnaryOp("isfinite", _t.isfinite)
isinf = _UnaryOp("isinf", _t.isinf)
isnan = _UnaryOp("isnan", _t.isnan)
lgamma = _UnaryOp("lgamma", _t.lgamma, ulps=1024)  # the error is larger near the zeros below -2
log = _UnaryOp("log", _t.log, ulps=4)
log10 = _UnaryOp("log10", _t.log10, ulps=4)
log1p = _UnaryOp("log1p", _t.log1p, ulps=4)
log2 = _UnaryOp("log2", _t.log2, ulps=4)
round = _UnaryOp("round", _round)
signum = _UnaryOp("signum", lambda x: _t.sign(_as_float(x)))
sin = _UnaryOp("sin", _t.sin, ulps=4)
sinh = _UnaryOp("sinh", _t.sinh, ulps=4)
sqrt = _UnaryOp("sqrt", _t.sqrt)
tan = _UnaryOp("tan", _t.tan, ulps=4)
tanh = _UnaryOp("tanh", _t.tanh, ulps=4)
tgamma = _UnaryOp("tgamma", _t.tgamma, ulps=16)
trunc = _UnaryOp("trunc", _t.trunc)

positioni = _UnaryOp("positioni", lambda x, i, j: _place(x, i), is_positional=True)
positioni1 = _UnaryOp("positioni1", lambda x, i, j: _place(x, i + 1), is_positional=True)
positionj = _UnaryOp("positionj", lambda x, i, j: _place(x, j), is_positional=True)
positionj1 = _UnaryOp("positionj1", lambda x, i, j: _place(x, j + 1), is_positional=True)


# --- Operators named after the NumPy functions that they compute ---------------------


def _numpy(name: str, function: _Callable[..., _Any], *domain: _Any, **options: _Any) -> _UnaryOp:
    return _UnaryOp(f"numpy.{name}", function, *domain, **options)


def _signbit(x: _t.Symbol) -> _t.Symbol:
    return _t.copysign(1.0, x) < 0 if x.dtype.is_float else x < 0


_deg2rad = _numpy("deg2rad", lambda x: _as_float(x) * (_pi / 180), ulps=1)
_rad2deg = _numpy("rad2deg", lambda x: _as_float(x) * (180 / _pi), ulps=1)
numpy = _SimpleNamespace(
    abs=abs,
    absolute=abs,
    arccos=acos,
    arccosh=acosh,
    arcsin=asin,
    arcsinh=asinh,
    arctan=atan,
    arctanh=atanh,
    bitwise_not=bnot,
    cbrt=cbrt,
    ceil=ceil,
    cos=cos,
    cosh=cosh,
    deg2rad=_deg2rad,
    degrees=_rad2deg,
    exp=exp,
    exp2=exp2,
    expm1=expm1,
    fabs=_numpy("fabs", lambda x: _t.absolute(_as_float(x))),
    floor=floor,
    invert=bnot,
    isfinite=isfinite,
    isinf=isinf,
    isnan=isnan,
    log=log,
    log10=log10,
    log1p=log1p,
    log2=log2,
    logical_not=lnot,
    negative=ainv,
    positive=identity,
    rad2deg=_rad2deg,
    radians=_deg2rad,
    reciprocal=minv,
    rint=_numpy("rint", lambda x: _t.rint(_as_float(x))),
    sign=_numpy("sign", _t.sign, _NUMBERS),
    signbit=_numpy("signbit", _signbit),
    sin=sin,
    sinh=sinh,
    sqrt=sqrt,
    square=_numpy("square", lambda x: x * x, _NUMBERS),
    tan=tan,
    tanh=tanh,
    trunc=trunc,
)
