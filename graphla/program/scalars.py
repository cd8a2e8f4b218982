"""Translate arithmetic of scalars to scalar expressions that follow Python's rules.

A function that needs instructions has a parameter `e`, the emitter. The instructions assign
intermediate results to variables, and raise faults where Python raises exceptions.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from graphla.program import ir
from graphla.program.emitting import Emitter
from graphla.program.values import FALSE, MOST, ZERO, Number, Uncertain, constant
from semirings.dtypes import BOOL, FP64, INT64, DataType

EXACT = 1 << 53
"""A float can represent each int whose absolute value is at most this limit."""

SMALL = 1 << 20
"""An int up to this absolute value may be added, as a float, to an uncertain number."""

ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}

COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

_FLIPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

_known: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*COMPARISONS.values(), "add", "sub", "mul")},
    **{name: getattr(operator, name) for name in ("truediv", "floordiv", "mod", "neg", "abs")},
    **{name: getattr(operator, name) for name in ("invert", "xor", "lshift", "rshift")},
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.not_,
    "int": int,
    "float": float,
    "bool": bool,
    "round": round,
    "min": min,
    "max": max,
    "pow": pow,
}
"""The functions that the tracer evaluates if all arguments are constants."""


def call(function: str, dtype: DataType, *arguments: ir.Scalar) -> ir.Scalar:
    """Return function(*arguments), simplified. If all arguments are constants, it is a constant."""
    values = [each.value for each in arguments if isinstance(each, ir.Constant)]
    if len(values) == len(arguments) and function in _known:
        return constant(_known[function](*values))
    if function in ("and", "or") and dtype is BOOL and values:
        (known,) = (each for each in arguments if isinstance(each, ir.Constant))
        (other,) = (each for each in arguments if each is not known)
        return other if known.value == (function == "and") else known
    if function == "not" and isinstance(arguments[0], ir.Call) and arguments[0].function == "not":
        return arguments[0].arguments[0]
    return ir.Call(function, arguments, dtype)


def negation(x: ir.Scalar) -> ir.Scalar:
    """Return `not x`, for a BOOL."""
    return call("not", BOOL, x)


def both(x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return `x and y`, for BOOL."""
    return call("and", BOOL, x, y)


def either(x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return `x or y`, for BOOL."""
    return call("or", BOOL, x, y)


def convert(x: ir.Scalar, dtype: DataType) -> ir.Scalar:
    """Return bool(x), int(x) or float(x)."""
    if x.dtype is dtype:
        return x
    if isinstance(x, ir.Constant):
        return constant({BOOL: bool, INT64: int, FP64: float}[dtype](x.value))
    return ir.Call({BOOL: "bool", INT64: "int", FP64: "float"}[dtype], (x,), dtype)


def where(condition: ir.Scalar, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return `x if condition else y`. Both x and y are evaluated, and have the same dtype."""
    if isinstance(condition, ir.Constant):
        return x if condition.value else y
    return x if x == y else ir.Call("where", (condition, x, y), x.dtype)


def value_or(
    e: Emitter, present: ir.Scalar, x: ir.Scalar, default: ir.Scalar
) -> Number | Uncertain:
    """Return `x if present else default`.

    If their dtypes differ, the program forks. The exception is a float x with a small constant int
    as default: the result is then uncertain, because otherwise each reduction with `.get(0)` would
    fork the program.
    """
    if x.dtype is FP64 and isinstance(default, ir.Constant) and is_small(default):
        if isinstance(present, ir.Constant):
            return Number(x if present.value else default)
        is_zero = default.value == 0
        return Uncertain(where(present, x, convert(default, FP64)), present, is_zero)
    if x.dtype is not default.dtype:
        return Number(x if e.decide(present) else default)
    return Number(where(present, x, default))


def is_small(x: ir.Scalar) -> bool:
    """Return whether the scalar is a constant int so small that sums with it stay far below
    2^53."""
    return isinstance(x, ir.Constant) and x.dtype is INT64 and abs(x.value) <= SMALL


def is_exact(x: ir.Scalar) -> bool:
    """Return whether the scalar is a constant int that a float represents exactly."""
    return isinstance(x, ir.Constant) and x.dtype is INT64 and abs(x.value) <= EXACT


def _is_inexact(x: ir.Scalar) -> ir.Scalar:
    """Return whether an int may be too large for a float to represent it exactly."""
    if isinstance(x, ir.Size) or x.dtype is BOOL or is_exact(x):
        return FALSE
    above = call("gt", BOOL, x, constant(EXACT))
    return either(above, call("lt", BOOL, x, constant(-EXACT)))


def truth(x: ir.Scalar) -> ir.Scalar:
    """Return bool(x)."""
    if x.dtype is BOOL:
        return x
    return call("ne", BOOL, x, ZERO if x.dtype is INT64 else constant(0.0))


def common(x: ir.Scalar, y: ir.Scalar) -> tuple[ir.Scalar, ir.Scalar, DataType]:
    """Convert both operands of an arithmetic operator to INT64, or to FP64 if one is a float."""
    dtype = FP64 if FP64 in (x.dtype, y.dtype) else INT64
    return convert(x, dtype), convert(y, dtype), dtype


def arithmetic(e: Emitter, symbol: str, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return `x symbol y`, for an operator such as "+"."""
    function = ARITHMETIC[symbol]
    if symbol in ("&", "|", "^"):
        if x.dtype is BOOL and y.dtype is BOOL:
            return call(function, BOOL, x, y)
        return call(function, INT64, *_whole(symbol, x, y))
    if symbol in ("<<", ">>"):
        return call(function, INT64, *_whole(symbol, x, y))
    if symbol == "**":
        return power(e, x, y)
    if symbol == "/":
        if FP64 not in (x.dtype, y.dtype):
            # Python rounds the quotient of two ints once. If an operand is not exact as a float,
            # the division of floats would round twice.
            x, y = e.leaf(x), e.leaf(y)
            e.fault(either(_is_inexact(x), _is_inexact(y)), ir.REPEAT, "an int is above 2^53")
        return call(function, FP64, convert(x, FP64), convert(y, FP64))
    x, y, dtype = common(x, y)
    return call(function, dtype, x, y)


def uncertain_arithmetic(
    e: Emitter, symbol: str, x: Number | Uncertain, y: Number | Uncertain
) -> Number | Uncertain | None:
    """Return `x symbol y`, where at least one operand is uncertain.

    Return None if the result depends on whether an uncertain operand is an int or a float.
    """
    certain = [each for each in (x, y) if isinstance(each, Number)]
    if symbol == "/" or any(each.scalar.dtype is FP64 for each in certain):
        if symbol not in ("+", "-", "*", "/", "//", "%", "**"):
            return None
        return Number(arithmetic(e, symbol, x.scalar, y.scalar))
    unsure = [each for each in (x, y) if isinstance(each, Uncertain)]
    is_zero = all(each.is_zero for each in unsure)
    if symbol not in ("+", "-", "*") or not all(is_small(each.scalar) for each in certain):
        return None
    if not is_zero and (symbol == "*" or not certain):
        return None
    is_zero = is_zero and (symbol == "*" or not certain)
    flag = unsure[0].is_float if certain else either(unsure[0].is_float, unsure[1].is_float)
    return Uncertain(arithmetic(e, symbol, x.scalar, y.scalar), flag, is_zero)


def _whole(symbol: str, x: ir.Scalar, y: ir.Scalar) -> tuple[ir.Scalar, ir.Scalar]:
    if FP64 in (x.dtype, y.dtype):
        names = {BOOL: "bool", INT64: "int", FP64: "float"}
        one, other = names[x.dtype], names[y.dtype]
        raise TypeError(f"unsupported operand type(s) for {symbol}: '{one}' and '{other}'")
    return convert(x, INT64), convert(y, INT64)


def power(e: Emitter, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return x ** y. Two ints give a float if y is negative."""
    if x.dtype is not FP64 and y.dtype is not FP64:
        x, y = convert(x, INT64), convert(y, INT64)
        if e.decide(call("ge", BOOL, y, ZERO)):
            return call("pow", INT64, x, y)
    x, y = e.leaf(convert(x, FP64)), e.leaf(convert(y, FP64))
    if isinstance(x, ir.Constant) and isinstance(y, ir.Constant):
        return constant(x.value**y.value)
    zero = constant(0.0)
    divides = both(call("eq", BOOL, x, zero), call("lt", BOOL, y, zero))
    e.fault(divides, "ZeroDivisionError", "0.0 cannot be raised to a negative power")
    result = e.leaf(ir.Call("pow", (x, y), FP64))
    given = both(_is_finite(x), _is_finite(y))
    e.fault(
        both(given, ir.Call("math.isinf", (result,), BOOL)),
        "OverflowError",
        "(34, 'Numerical result out of range')",
    )
    return result


def _is_finite(x: ir.Scalar) -> ir.Scalar:
    if isinstance(x, ir.Constant):
        return constant(abs(x.value) < float("inf"))
    return ir.Call("math.isfinite", (x,), BOOL)


def negative(x: ir.Scalar) -> ir.Scalar:
    """Return -x."""
    x = convert(x, INT64) if x.dtype is BOOL else x
    return call("neg", x.dtype, x)


def absolute(x: ir.Scalar) -> ir.Scalar:
    """Return abs(x)."""
    x = convert(x, INT64) if x.dtype is BOOL else x
    return call("abs", x.dtype, x)


def compare(e: Emitter, symbol: str, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return `x symbol y`, for a comparison such as "<".

    The comparison of an int and a float is exact.
    """
    function = COMPARISONS[symbol]
    if isinstance(x, ir.Size) and isinstance(y, ir.Size) and symbol in ("==", "!="):
        # Two sizes are equal if and only if they are the same Dim.
        return constant((x == y) == (symbol == "=="))
    if x.dtype is y.dtype:
        return call(function, BOOL, x, y)
    if FP64 not in (x.dtype, y.dtype):
        return call(function, BOOL, convert(x, INT64), convert(y, INT64))
    if x.dtype is BOOL or y.dtype is BOOL or is_exact(x) or is_exact(y):
        return call(function, BOOL, convert(x, FP64), convert(y, FP64))
    if x.dtype is FP64:
        return _compare_mixed(e, _FLIPPED[function], y, x)
    return _compare_mixed(e, function, x, y)


def _compare_mixed(e: Emitter, function: str, k: ir.Scalar, x: ir.Scalar) -> ir.Scalar:
    """Return the comparison of k, an int or bool on the left side, with a float x."""
    k, x = e.leaf(k), e.leaf(x)
    limit = float(MOST + 1)
    fits = both(
        call("ge", BOOL, x, constant(-limit)),
        call("lt", BOOL, x, constant(limit)),
    )
    fits = e.leaf(fits)
    near = e.leaf(where(fits, x, constant(0.0)))
    floor = ir.Call("math.floor", (near,), INT64)
    ceil = ir.Call("math.ceil", (near,), INT64)
    if function in ("eq", "ne"):
        equal = both(call("eq", BOOL, k, floor), call("eq", BOOL, k, ceil))
        equal = both(fits, equal)
        return equal if function == "eq" else negation(equal)
    rounded = ceil if function in ("lt", "ge") else floor
    beyond = "gt" if function in ("lt", "le") else "lt"
    return where(fits, call(function, BOOL, k, rounded), call(beyond, BOOL, x, constant(0.0)))


def extreme(e: Emitter, name: str, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return min(x, y) or max(x, y), as `name` says.

    If one operand is an int and the other a float, the program forks, because the result has the
    type of the chosen operand.
    """
    if x.dtype is y.dtype and x.dtype is not BOOL:
        return call(name, x.dtype, x, y)
    x, y = e.leaf(x), e.leaf(y)
    takes_y = compare(e, "<" if name == "min" else ">", y, x)
    if x.dtype is y.dtype:
        return where(takes_y, y, x)
    return y if e.decide(takes_y) else x


def round_number(x: ir.Scalar) -> ir.Scalar:
    """Return round(x)."""
    return call("round", INT64, x) if x.dtype is FP64 else convert(x, INT64)


def mathematical(e: Emitter, name: str, arguments: list[ir.Scalar]) -> ir.Scalar | None:
    """Return the result of a function of module `math`, or None if programs cannot compute it."""
    function = f"math.{name}"
    composed = _composed.get((name, len(arguments))) or _composed.get((name, None))
    if composed is not None:
        return composed(e, *arguments)
    if function in ir.OF_INTS:
        if len(arguments) != ir.OF_INTS[function]:
            return None
        return ir.Call(function, tuple(_index(each) for each in arguments), INT64)
    takes = 1 + (function in ir.OF_TWO_FLOATS)
    if function not in ir.SCALAR_FUNCTIONS or len(arguments) != takes:
        return None
    if name in ("floor", "ceil"):
        (x,) = arguments
        return ir.Call(function, (x,), INT64) if x.dtype is FP64 else convert(x, INT64)
    given = tuple(convert(each, FP64) for each in arguments)
    if name.startswith("is"):
        return ir.Call(function, given, BOOL)
    if name not in ("exp", "expm1", "sinh", "cosh"):
        return ir.Call(function, given, FP64)
    x = e.leaf(given[0])
    result = e.leaf(ir.Call(function, (x,), FP64))
    overflows = both(_is_finite(x), ir.Call("math.isinf", (result,), BOOL))
    e.fault(overflows, "OverflowError", "math range error")
    return result


def _index(x: ir.Scalar) -> ir.Scalar:
    if x.dtype is FP64:
        raise TypeError("'float' object cannot be interpreted as an integer")
    return convert(x, INT64)


def _logarithm(e: Emitter, x: ir.Scalar, base: ir.Scalar) -> ir.Scalar:
    above, below = (ir.Call("math.log", (convert(each, FP64),), FP64) for each in (x, base))
    return ir.Call("truediv", (above, below), FP64)


def _float_power(e: Emitter, x: ir.Scalar, y: ir.Scalar) -> ir.Scalar:
    """Return math.pow(x, y). It raises a domain error if `x ** y` would divide by 0 or be
    complex."""
    x, y = e.leaf(convert(x, FP64)), e.leaf(convert(y, FP64))
    zero = constant(0.0)
    finite = e.leaf(both(_is_finite(x), _is_finite(y)))
    is_below = call("lt", BOOL, y, zero)
    divides = both(call("eq", BOOL, x, zero), both(is_below, finite))
    near = where(finite, y, zero)
    part = ir.Call("math.fmod", (near, constant(1.0)), FP64)
    is_complex = both(finite, both(call("lt", BOOL, x, zero), call("ne", BOOL, part, zero)))
    e.fault(either(divides, is_complex), "ValueError", "math domain error")
    result = e.leaf(ir.Call("pow", (x, y), FP64))
    exceeds = both(finite, ir.Call("math.isinf", (result,), BOOL))
    e.fault(exceeds, "OverflowError", "math range error")
    return result


def _exponential(e: Emitter, x: ir.Scalar) -> ir.Scalar:
    return _float_power(e, constant(2.0), x)


def _scaled(factor: float) -> Callable[[Emitter, ir.Scalar], ir.Scalar]:
    return lambda e, x: call("mul", FP64, convert(x, FP64), constant(factor))


def _whole_divisor(e: Emitter, *arguments: ir.Scalar) -> ir.Scalar:
    """Return math.gcd(...)."""
    found, *others = (*map(_index, arguments), *([ZERO] * (2 - len(arguments))))
    for other in others:
        found = ir.Call("math.gcd", (found, other), INT64)
    return found


def _whole_multiple(e: Emitter, *arguments: ir.Scalar) -> ir.Scalar:
    """Return math.lcm(...)."""
    found: ir.Scalar = constant(1)
    for other in map(_index, arguments):
        x, y = e.leaf(found), e.leaf(other)
        shared = e.leaf(ir.Call("math.gcd", (x, y), INT64))
        shared = where(call("eq", BOOL, shared, ZERO), constant(1), shared)
        parts = ir.Call("floordiv", (x, shared), INT64)
        found = ir.Call("abs", (ir.Call("mul", (parts, y), INT64),), INT64)
    return found


def _factorial(e: Emitter, x: ir.Scalar) -> ir.Scalar:
    x = e.leaf(_index(x))
    return ir.Call("math.perm", (x, x), INT64)


def _fraction(e: Emitter, x: ir.Scalar) -> ir.Scalar:
    """Return the fractional part of a float with the sign of the float."""
    near = where(ir.Call("math.isinf", (x,), BOOL), constant(0.0), x)
    part = ir.Call("math.fmod", (near, constant(1.0)), FP64)
    return ir.Call("math.copysign", (part, x), FP64)


def parts(e: Emitter, x: ir.Scalar) -> tuple[ir.Scalar, ir.Scalar]:
    """Return math.modf(x)."""
    x = e.leaf(convert(x, FP64))
    part = e.leaf(_fraction(e, x))
    whole = ir.Call("math.copysign", (ir.Call("sub", (x, part), FP64), x), FP64)
    return part, whole


def _scale(e: Emitter, x: ir.Scalar, exponent: ir.Scalar) -> ir.Scalar:
    """Return math.ldexp(x, exponent)."""
    x, exponent = e.leaf(convert(x, FP64)), _index(exponent)
    # An exponent outside of this range gives the same result as the nearest limit.
    exponent = call("max", INT64, call("min", INT64, exponent, constant(3000)), constant(-3000))
    result = e.leaf(ir.Call("math.ldexp", (x, exponent), FP64))
    overflows = both(_is_finite(x), ir.Call("math.isinf", (result,), BOOL))
    e.fault(overflows, "OverflowError", "math range error")
    return result


def mantissa(e: Emitter, x: ir.Scalar) -> tuple[ir.Scalar, ir.Scalar]:
    """Return math.frexp(x)."""
    x = e.leaf(convert(x, FP64))
    is_ordinary = e.leaf(both(_is_finite(x), call("ne", BOOL, x, constant(0.0))))
    near = e.leaf(where(is_ordinary, x, constant(0.5)))
    size = ir.Call("math.fabs", (near,), FP64)
    guess = ir.Call("math.floor", (ir.Call("math.log2", (size,), FP64),), INT64)
    exponent = e.leaf(call("add", INT64, guess, constant(1)))
    part = e.leaf(ir.Call("math.ldexp", (near, call("neg", INT64, exponent)), FP64))
    # The logarithm is rounded, so the exponent may differ by 1.
    size = e.leaf(ir.Call("math.fabs", (part,), FP64))
    is_large = call("ge", BOOL, size, constant(1.0))
    is_small = call("lt", BOOL, size, constant(0.5))
    half, double = (call("mul", FP64, part, constant(each)) for each in (0.5, 2.0))
    below, above = (call("add", INT64, exponent, constant(each)) for each in (-1, 1))
    part = where(is_large, half, where(is_small, double, part))
    exponent = where(is_large, above, where(is_small, below, exponent))
    return where(is_ordinary, part, x), where(is_ordinary, exponent, ZERO)


def _unit(e: Emitter, x: ir.Scalar) -> ir.Scalar:
    """Return math.ulp(x)."""
    x = e.leaf(ir.Call("math.fabs", (convert(x, FP64),), FP64))
    infinity = constant(float("inf"))
    above = e.leaf(ir.Call("math.nextafter", (x, infinity), FP64))
    below = ir.Call("math.nextafter", (x, constant(0.0)), FP64)
    is_last = both(_is_finite(x), ir.Call("math.isinf", (above,), BOOL))
    step = where(is_last, ir.Call("sub", (x, below), FP64), ir.Call("sub", (above, x), FP64))
    return where(ir.Call("math.isinf", (x,), BOOL), x, step)


def is_close(
    e: Emitter, x: ir.Scalar, y: ir.Scalar, relative: ir.Scalar, absolute: ir.Scalar
) -> ir.Scalar:
    """Return math.isclose(x, y, rel_tol=relative, abs_tol=absolute)."""
    given = (e.leaf(convert(each, FP64)) for each in (x, y, relative, absolute))
    x, y, relative, absolute = given
    zero = constant(0.0)
    is_negative = either(call("lt", BOOL, relative, zero), call("lt", BOOL, absolute, zero))
    e.fault(is_negative, "ValueError", "tolerances must be non-negative")

    def size(z: ir.Scalar) -> ir.Scalar:
        return ir.Call("math.fabs", (z,), FP64)

    distance = e.leaf(size(ir.Call("sub", (x, y), FP64)))
    limits = [size(ir.Call("mul", (relative, each), FP64)) for each in (x, y)]
    near: ir.Scalar = ir.Call("le", (distance, absolute), BOOL)
    for limit in limits:
        near = either(near, ir.Call("le", (distance, limit), BOOL))
    finite = both(
        negation(ir.Call("math.isinf", (x,), BOOL)), negation(ir.Call("math.isinf", (y,), BOOL))
    )
    return either(ir.Call("eq", (x, y), BOOL), both(finite, near))


def hypotenuse(e: Emitter, *arguments: ir.Scalar) -> ir.Scalar:
    """Return math.hypot(...)."""
    if not arguments:
        return constant(0.0)
    found, *others = (convert(each, FP64) for each in arguments)
    if not others:
        return ir.Call("math.fabs", (found,), FP64)
    for other in others:
        found = ir.Call("math.hypot", (found, other), FP64)
    return found


_composed: dict[tuple[str, int | None], Callable[..., ir.Scalar]] = {
    ("trunc", 1): lambda e, x: convert(x, INT64),
    ("pow", 2): _float_power,
    ("log", 2): _logarithm,
    ("exp2", 1): _exponential,
    ("degrees", 1): _scaled(180.0 / math.pi),
    ("radians", 1): _scaled(math.pi / 180.0),
    ("gcd", None): _whole_divisor,
    ("lcm", None): _whole_multiple,
    ("factorial", 1): _factorial,
    ("perm", 1): _factorial,
    ("ulp", 1): _unit,
    ("hypot", None): hypotenuse,
    ("ldexp", 2): _scale,
}
"""Maps the name and the number of arguments of some functions of module math to functions that
express them through other operations.

None stands for any number of arguments.
"""
