"""The statement of each law: two sides that agree for all operands x, y, z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from semirings.dtypes import DataType
from semirings.laws.domain import Agreement, Domain
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedMonoid, TypedSemiring

LawName = Literal[
    "commutative",
    "associative",
    "idempotent",
    "selective",
    "identity",
    "terminal",
    "left_distributive",
    "right_distributive",
    "left_annihilator",
    "right_annihilator",
]
TypedThing = TypedBinaryOp | TypedMonoid | TypedSemiring
Sides = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Algebra:
    """⟨S, ⊕, ⊗, 0, t⟩: the dtype, operators, identity and terminal value that a law refers to."""

    dtype: DataType
    add: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any] | None = None
    zero: Any = None
    terminal: Any = None

    def both(self, value: Any, x: Any) -> tuple[Any, Any]:
        """Return (value ⊕ x, x ⊕ value)."""
        fixed = np.full_like(x, value)
        return self.add(fixed, x), self.add(x, fixed)

    def product(self, x: Any, y: Any) -> Any:
        """Return x ⊗ y."""
        assert self.multiply is not None, "a law of ⊗ is stated for semirings alone"
        return self.multiply(x, y)


@dataclass(frozen=True, slots=True)
class Statement:
    """A law, given by its formula and by a function that computes the two sides of the formula."""

    formula: str
    arity: int
    sides: Callable[..., Sides]


def _commutative(a: Algebra, x: Any, y: Any) -> Sides:
    return a.add(x, y), a.add(y, x)


def _associative(a: Algebra, x: Any, y: Any, z: Any) -> Sides:
    return a.add(a.add(x, y), z), a.add(x, a.add(y, z))


def _idempotent(a: Algebra, x: Any) -> Sides:
    return a.add(x, x), x


def _selective(a: Algebra, x: Any, y: Any) -> Sides:
    picked = a.add(x, y)
    return picked, np.where(equal(picked, x), x, y)


def _identity(a: Algebra, x: Any) -> Sides:
    left, right = a.both(a.zero, x)
    return np.where(equal(left, x), right, left), x


def _terminal(a: Algebra, x: Any) -> Sides:
    left, right = a.both(a.terminal, x)
    t = np.full_like(x, a.terminal)
    return np.where(equal(left, t), right, left), t


def _left_distributive(a: Algebra, x: Any, y: Any, z: Any) -> Sides:
    return a.product(x, a.add(y, z)), a.add(a.product(x, y), a.product(x, z))


def _right_distributive(a: Algebra, x: Any, y: Any, z: Any) -> Sides:
    return a.product(a.add(x, y), z), a.add(a.product(x, z), a.product(y, z))


def _left_annihilator(a: Algebra, x: Any) -> Sides:
    zero = np.full_like(x, a.zero)
    return a.product(zero, x), zero


def _right_annihilator(a: Algebra, x: Any) -> Sides:
    zero = np.full_like(x, a.zero)
    return a.product(x, zero), zero


STATEMENTS: dict[LawName, Statement] = {
    "commutative": Statement("x ⊕ y = y ⊕ x", 2, _commutative),
    "associative": Statement("(x ⊕ y) ⊕ z = x ⊕ (y ⊕ z)", 3, _associative),
    "idempotent": Statement("x ⊕ x = x", 1, _idempotent),
    "selective": Statement("x ⊕ y is x or y", 2, _selective),
    "identity": Statement("0 ⊕ x = x ⊕ 0 = x", 1, _identity),
    "terminal": Statement("t ⊕ x = x ⊕ t = t", 1, _terminal),
    "left_distributive": Statement("x ⊗ (y ⊕ z) = (x ⊗ y) ⊕ (x ⊗ z)", 3, _left_distributive),
    "right_distributive": Statement("(x ⊕ y) ⊗ z = (x ⊗ z) ⊕ (y ⊗ z)", 3, _right_distributive),
    "left_annihilator": Statement("0 ⊗ x = 0", 1, _left_annihilator),
    "right_annihilator": Statement("x ⊗ 0 = 0", 1, _right_annihilator),
}
OPERATOR_LAWS: tuple[LawName, ...] = ("commutative", "associative", "idempotent", "selective")
SEMIRING_LAWS: tuple[LawName, ...] = (
    "left_distributive",
    "right_distributive",
    "left_annihilator",
    "right_annihilator",
)


def algebra(typed: TypedThing) -> Algebra | None:
    """Return the `Algebra` of a typed object, or None if operands and results differ in dtype."""
    if isinstance(typed, TypedSemiring):
        dtype, multiply = typed.return_type, typed.binaryop
        monoid = typed.monoid
        if multiply.is_positional or not _is_closed(multiply, dtype):
            return None
        if not _is_closed(monoid.binaryop, dtype):
            return None
        return Algebra(dtype, monoid.binaryop.numpy, multiply.numpy, monoid.identity)
    if isinstance(typed, TypedMonoid):
        dtype = typed.return_type
        if not _is_closed(typed.binaryop, dtype):
            return None
        return Algebra(dtype, typed.binaryop.numpy, zero=typed.identity, terminal=typed.terminal)
    if typed.is_positional or not _is_closed(typed, typed.return_type):
        return None
    return Algebra(typed.return_type, typed.numpy)


def _is_closed(op: TypedBinaryOp, dtype: DataType) -> bool:
    return op.type == op.type2 == op.return_type == dtype


def law_names(typed: TypedThing) -> tuple[LawName, ...]:
    """Return the names of the laws that apply to an operator, monoid or semiring on given dtypes.

    There are none if operands and results differ in dtype.
    """
    if algebra(typed) is None:
        return ()
    if isinstance(typed, TypedSemiring):
        # If the monoid is `any`, the annihilator laws do not apply: it has no meaningful zero.
        return SEMIRING_LAWS[:2] if typed.monoid.is_any else SEMIRING_LAWS
    if isinstance(typed, TypedMonoid):
        terminal: tuple[LawName, ...] = () if typed.terminal is None else ("terminal",)
        return (*OPERATOR_LAWS, "identity", *terminal)
    return OPERATOR_LAWS


def broken(
    a: Algebra, name: LawName, operands: tuple[np.ndarray, ...], agreement: Agreement = "exact"
) -> np.ndarray:
    """Return, for each combination of operands, whether it breaks the law.

    `agreement` states what the law requires of its two sides. "exact": they are equal. "rounding":
    they are equal up to rounding. "choice": each of them is one of the operands.
    """
    statement = STATEMENTS[name]
    left, right = statement.sides(a, *operands)
    if agreement == "rounding":
        sizes = tuple(np.abs(x) for x in operands)
        with np.errstate(all="ignore"):
            scale = np.maximum(*(np.abs(side) for side in statement.sides(a, *sizes)))
            return ~(equal(left, right) | (np.abs(left - right) <= _slack(a.dtype, scale)))
    if agreement == "choice":
        return ~(_is_one_of(left, operands) & _is_one_of(right, operands))
    return ~equal(left, right)


def equal(x: Any, y: Any) -> np.ndarray:
    """Return, for each element, whether x equals y; NaN counts as equal to NaN."""
    return (x == y) | ((x != x) & (y != y))


def _slack(dtype: DataType, scale: Any) -> Any:
    """Return 8 ulps of `scale`, or of the smallest normal number if that number is larger."""
    if dtype.np_type.kind != "f":
        return np.zeros_like(scale)
    info = np.finfo(dtype.np_type)
    return 8 * info.eps * np.maximum(scale, info.tiny)


def _is_one_of(x: Any, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    return np.any([equal(x, operand) for operand in operands], axis=0)


def breaks(a: Algebra, name: LawName, operands: tuple[Any, ...], domain: Domain) -> bool:
    """Return whether these operands break the law.

    `domain` determines how closely the two sides of the law must agree.
    """
    arrays = tuple(np.asarray([x], a.dtype.np_type) for x in operands)
    return bool(broken(a, name, arrays, domain.agreement)[0])
