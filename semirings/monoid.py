"""The monoids: associative, commutative operators with an identity and, for some, a terminal value.

`register_new` adds a monoid to this module; `register_anonymous` creates an unnamed monoid.
"""

from __future__ import annotations

from types import SimpleNamespace as _SimpleNamespace
from typing import Any as _Any

from semirings import binary as _binary
from semirings import naming as _naming
from semirings.dtypes import BOOL as _BOOL
from semirings.dtypes import DataType as _DataType
from semirings.operators import BinaryOp as _BinaryOp
from semirings.primitives import limits as _limits
from semirings.structures import Monoid as _Monoid

SIGNS = {"+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor", "==": "eq"}


def from_string(name: str) -> _Any:
    """Return the monoid with the given name.

    Args:
        name: a name such as `plus` or `+`, or a name with a dtype, such as `plus[INT64]`.

    Returns:
        The monoid; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no monoid has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import monoid
        >>> monoid.from_string("max")
        monoid.max
    """
    return _naming.find(globals(), "monoid", SIGNS, name)


def register_anonymous(
    binaryop: _BinaryOp | str,
    identity: _Any,
    name: str | None = None,
    *,
    is_idempotent: bool = False,
    terminal: _Any = None,
) -> _Monoid:
    """⟨⊕, 0⟩.

    Create a monoid from an operator and its identity, without registering a name.

    Args:
        binaryop: an associative and commutative binary operator, or its name. The laws are not
            checked here; `semirings.laws.check` can check them.
        identity: the identity of the operator: a number, a mapping from dtype to number, or a
            function of the `DataType`. The monoid is only defined on dtypes that can hold its
            identity.
        name: the name to print; by default, the name of the operator.
        is_idempotent: whether x ⊕ x = x for every x.
        terminal: a value z with x ⊕ z = z for all x, so that a reduction may stop at z. Its
            form is the same as for `identity`. None means that there is no such value.

    Returns:
        The monoid.

    Raises:
        TypeError: `binaryop`, `identity` or `terminal` has the wrong type.
        InvalidValue: no binary operator has the name `binaryop`.

    Examples:
        >>> from semirings import monoid
        >>> monoid.register_anonymous("hypot", 0)(3.0, 4.0).item()
        5.0
    """
    op = _operator(binaryop)
    return _Monoid(
        name or op.name, op, identity, terminal, is_idempotent=is_idempotent, is_anonymous=True
    )


def register_new(
    name: str,
    binaryop: _BinaryOp | str,
    identity: _Any,
    *,
    is_idempotent: bool = False,
    terminal: _Any = None,
    lazy: bool = False,
) -> _Monoid:
    """⟨⊕, 0⟩.

    Register a monoid as `semirings.monoid.<name>`.

    Args:
        name: the name, one or several identifiers joined by dots.
        binaryop: an associative and commutative binary operator, or its name. The laws are not
            checked here; `semirings.laws.check` can check them.
        identity: the identity of the operator: a number, a mapping from dtype to number, or a
            function of the `DataType`. The monoid is only defined on dtypes that can hold its
            identity.
        is_idempotent: whether x ⊕ x = x for every x.
        terminal: a value z with x ⊕ z = z for all x, so that a reduction may stop at z. Its
            form is the same as for `identity`. None means that there is no such value.
        lazy: must be False; a monoid looks up its operator immediately.

    Returns:
        The monoid.

    Raises:
        TypeError: `binaryop`, `identity` or `terminal` has the wrong type.
        InvalidValue: the name is taken, or no binary operator has the name `binaryop`.
        NotImplementedException: `lazy` is True.
    """
    _naming.refuse_lazy("monoid", lazy)
    op = _operator(binaryop)
    monoid = _Monoid(name, op, identity, terminal, is_idempotent=is_idempotent)
    _naming.register(globals(), "monoid", name, monoid)
    if op.monoid is None:
        op.monoid = monoid
    return monoid


def _operator(binaryop: _Any) -> _BinaryOp:
    op = _binary.from_string(binaryop) if isinstance(binaryop, str) else binaryop
    if not isinstance(op, _BinaryOp):
        raise TypeError(f"binaryop is {binaryop!r}, but it should be a BinaryOp or the name of one")
    return op


def _least(dtype: _DataType) -> _Any:
    """Return the minimum value of a dtype: -inf for floats."""
    if dtype.is_float:
        return float("-inf")
    return dtype is not _BOOL and _limits(dtype)[0]


def _greatest(dtype: _DataType) -> _Any:
    """Return the maximum value of a dtype: inf for floats."""
    if dtype.is_float:
        return float("inf")
    return dtype is _BOOL or _limits(dtype)[1]


def _least_of_exact(dtype: _DataType) -> _Any:
    return None if dtype.is_float else _least(dtype)


def _greatest_of_exact(dtype: _DataType) -> _Any:
    return None if dtype.is_float else _greatest(dtype)


def _nan_or(of_exact: _Any) -> _Any:
    """Return the identity of `fmin` or `fmax`, which ignore NaN, as a function of the dtype.

    The identity is NaN for floating-point dtypes, and `of_exact(dtype)` for all other dtypes.
    """
    return lambda dtype: float("nan") if dtype.is_float else of_exact(dtype)


def _least_if_float(dtype: _DataType) -> _Any:
    return _least(dtype) if dtype.is_float else None


def _ones(dtype: _DataType) -> int:
    """Return the value with every bit set."""
    return -1 if dtype.kind == "i" else _limits(dtype)[1]


# min, max and times have no terminal value for floats, because a NaN among the remaining operands
# would change the result.
any = _Monoid("any", _binary.any, 0, is_idempotent=True, is_any=True)
plus = _Monoid("plus", _binary.plus, 0, lambda dtype: True if dtype is _BOOL else None)
times = _Monoid("times", _binary.times, 1, lambda dtype: None if dtype.is_float else 0)
min = _Monoid("min", _binary.min, _greatest, _least_of_exact, is_idempotent=True)
max = _Monoid("max", _binary.max, _least, _greatest_of_exact, is_idempotent=True)
land = _Monoid("land", _binary.land, True, False, is_idempotent=True, on=_BOOL)
lor = _Monoid("lor", _binary.lor, False, True, is_idempotent=True, on=_BOOL)
lxor = _Monoid("lxor", _binary.lxor, False, on=_BOOL)
lxnor = _Monoid("lxnor", _binary.lxnor, True, on=_BOOL)
eq = _Monoid("eq", _binary.eq, True, on=_BOOL)
band = _Monoid("band", _binary.band, _ones, 0, is_idempotent=True)
bor = _Monoid("bor", _binary.bor, 0, _ones, is_idempotent=True)
bxor = _Monoid("bxor", _binary.bxor, 0)
bxnor = _Monoid("bxnor", _binary.bxnor, _ones)

for _each in (any, plus, times, min, max, land, lor, lxor, lxnor, eq, band, bor, bxor, bxnor):
    _each.binaryop.monoid = _each


# hypot is a monoid only on values x >= 0: its identity is 0, but hypot(0, x) is |x|.
numpy = _SimpleNamespace(
    add=plus,
    bitwise_and=band,
    bitwise_or=bor,
    bitwise_xor=bxor,
    equal=eq,
    fmax=_Monoid("numpy.fmax", _binary.numpy.fmax, _nan_or(_least), is_idempotent=True),
    fmin=_Monoid("numpy.fmin", _binary.numpy.fmin, _nan_or(_greatest), is_idempotent=True),
    hypot=_Monoid("numpy.hypot", _binary.hypot, 0),
    logaddexp=_Monoid("numpy.logaddexp", _binary.numpy.logaddexp, _least_if_float),
    logaddexp2=_Monoid("numpy.logaddexp2", _binary.numpy.logaddexp2, _least_if_float),
    logical_and=land,
    logical_or=lor,
    logical_xor=lxor,
    maximum=max,
    minimum=min,
    multiply=times,
)

for _each in (numpy.fmax, numpy.fmin, numpy.logaddexp, numpy.logaddexp2):
    _each.binaryop.monoid = _each
