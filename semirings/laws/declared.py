"""Tables of the laws that are declared for the built-in operators, monoids and semirings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from semirings import binary, monoid
from semirings.dtypes import BOOL, DataType
from semirings.laws.domain import (
    ABOVE_MINUS_INFINITY,
    ANY_CHOICE,
    BELOW_INFINITY,
    EVERYWHERE,
    FINITE,
    NO_NAN,
    NO_PRODUCT_OVERFLOWS,
    NO_SUM_OVERFLOWS,
    NONNEGATIVE,
    NOWHERE,
    POSITIVE,
    POSITIVE_FINITE,
    POSITIVE_ROUNDED,
    ROUNDED,
    Domain,
    extremes,
    largest,
)
from semirings.laws.statement import (
    STATEMENTS,
    Algebra,
    LawName,
    TypedThing,
    algebra,
    breaks,
    law_names,
)
from semirings.structures import TypedMonoid, TypedSemiring


@dataclass(frozen=True, slots=True)
class Law:
    """A law of a typed object: the domain on which it holds, and a counterexample outside it."""

    name: LawName
    domain: Domain
    counterexample: tuple[Any, ...] | None = None

    @property
    def formula(self) -> str:
        """The law as a formula."""
        return STATEMENTS[self.name].formula

    def __str__(self) -> str:
        return f"{self.name.replace('_', ' ')}: {self.domain}"


class Rule(NamedTuple):
    """One rule in the tables below: the domain on which some laws hold for some operators.

    `add` lists the operators ⊕, and `multiply` the operators ⊗ of a semiring. The operator name `*`
    stands for every operator.
    """

    laws: str
    add: str
    multiply: str
    kinds: str  # the dtypes: b for BOOL, i for signed, u for unsigned, f for floating-point
    domain: Domain
    counterexample: tuple[Any, ...] | None = None


# The tables contain no laws on BOOL, except for the operator `any`. The other laws on BOOL are
# found by testing all combinations of operands. In a counterexample, MAX stands for the largest
# finite value of the dtype, and MIN for the smallest.
MAX, MIN, INF, NAN = "max", "min", math.inf, math.nan

_OPERATORS = (
    Rule("commutative", "plus times min max pair hypot", "", "iuf", EVERYWHERE),
    Rule("commutative", "land lor lxor lxnor iseq isne band bor bxor bxnor", "", "iuf", EVERYWHERE),
    Rule("commutative", "any", "", "biuf", ANY_CHOICE, (0, 1)),
    Rule("associative", "plus times", "", "iu", EVERYWHERE),
    Rule("associative", "plus", "", "f", ROUNDED, (MAX, MAX, MIN)),
    Rule("associative", "times", "", "f", ROUNDED, (MAX, 2, 0.5)),
    Rule("associative", "hypot", "", "f", ROUNDED, (1, 1, 6)),
    Rule("associative", "min max any first second pair", "", "iuf", EVERYWHERE),
    Rule("associative", "land lor lxor lxnor band bor bxor bxnor", "", "iuf", EVERYWHERE),
    Rule("associative", "absfirst abssecond copysign", "", "iuf", EVERYWHERE),
    Rule("idempotent selective", "min max any first second", "", "iuf", EVERYWHERE),
    Rule("idempotent", "band bor copysign", "", "iuf", EVERYWHERE),
    Rule("idempotent selective", "absfirst abssecond", "", "u", EVERYWHERE),
)

_MONOIDS = (
    Rule("identity", "plus times min max band bor bxor bxnor", "", "iuf", EVERYWHERE),
    Rule("terminal", "min max times band bor", "", "iu", EVERYWHERE),
)

_BUILT_IN_MONOIDS = frozenset(
    "any plus times min max land lor lxor lxnor eq band bor bxor bxnor".split()  # noqa: SIM905
)

_DISTRIBUTIVE = "left_distributive right_distributive"
_ANNIHILATOR = "left_annihilator right_annihilator"
_SEMIRINGS = (
    # `any` picks one term, so it makes no difference whether it picks before or after multiplying.
    Rule(_DISTRIBUTIVE, "any", "*", "iuf", EVERYWHERE),
    # If ⊗ is first, both sides of the right distributive law are x ⊕ y. The left law would require
    # x = x ⊕ x. If ⊗ is second, left and right are exchanged in these two statements.
    Rule("right_distributive", "*", "first", "iuf", EVERYWHERE),
    Rule("left_distributive", "*", "second", "iuf", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "min max band bor", "first second", "iuf", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "min max times", "pair", "iuf", EVERYWHERE),
    # In these semirings, ⊕ and ⊗ are the operators of a lattice or a ring; a division counts as a
    # multiplication by the inverse.
    Rule(_DISTRIBUTIVE, "min max", "min max", "iuf", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "band bor", "band bor", "iu", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "bxor", "band", "iu", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "bxnor", "bor", "iu", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "plus", "times", "iu", EVERYWHERE),
    Rule(_DISTRIBUTIVE, "plus", "times", "f", ROUNDED, (MAX, MIN, MAX)),
    Rule("right_distributive", "plus", "truediv", "f", POSITIVE_ROUNDED, (1, -2, 0)),
    Rule("left_distributive", "plus", "rtruediv", "f", POSITIVE_ROUNDED, (0, 1, -2)),
    # In these semirings, ⊕ is min or max, and ⊗ is monotonic in its operands.
    Rule(_DISTRIBUTIVE, "min max", "plus", "iu", NO_SUM_OVERFLOWS, (MAX, 0, MAX)),
    Rule(_DISTRIBUTIVE, "min", "plus", "f", ABOVE_MINUS_INFINITY, (-INF, INF, -INF)),
    Rule(_DISTRIBUTIVE, "max", "plus", "f", BELOW_INFINITY, (INF, -INF, INF)),
    Rule(_DISTRIBUTIVE, "min max", "times", "u", NO_PRODUCT_OVERFLOWS, (MAX, 1, MAX)),
    Rule(_DISTRIBUTIVE, "min max", "times", "i", NO_PRODUCT_OVERFLOWS, (-1, 0, -1)),
    Rule(_DISTRIBUTIVE, "min max", "times", "f", NONNEGATIVE, (-1, 0, -1)),
    Rule("right_distributive", "min max", "minus", "i", NO_SUM_OVERFLOWS, (MAX, MIN, 1)),
    Rule("left_distributive", "min max", "rminus", "i", NO_SUM_OVERFLOWS, (1, MAX, MIN)),
    Rule("right_distributive", "min", "minus", "f", FINITE, (INF, 1, INF)),
    Rule("right_distributive", "max", "minus", "f", FINITE, (-INF, 1, -INF)),
    Rule("left_distributive", "min", "rminus", "f", FINITE, (INF, INF, 1)),
    Rule("left_distributive", "max", "rminus", "f", FINITE, (-INF, -INF, 1)),
    Rule("right_distributive", "min max", "truediv", "f", POSITIVE_FINITE, (1, 2, -1)),
    Rule("left_distributive", "min max", "rtruediv", "f", POSITIVE_FINITE, (-1, 1, 2)),
    Rule("right_distributive", "min max", "floordiv cdiv", "i", POSITIVE_FINITE, (1, 2, -1)),
    Rule("left_distributive", "min max", "rfloordiv rdiv", "i", POSITIVE_FINITE, (-1, 1, 2)),
    # These laws state that the identity 0 of ⊕ annihilates: 0 ⊗ x = 0 (left), x ⊗ 0 = 0 (right).
    Rule("left_annihilator", "*", "first", "iuf", EVERYWHERE),
    Rule("right_annihilator", "*", "second", "iuf", EVERYWHERE),
    Rule(_ANNIHILATOR, "plus", "times", "iu", EVERYWHERE),
    Rule(_ANNIHILATOR, "plus", "times", "f", FINITE, (INF,)),
    Rule(_ANNIHILATOR, "plus", "land", "iuf", EVERYWHERE),
    Rule(_ANNIHILATOR, "plus", "min", "u", EVERYWHERE),
    Rule(_ANNIHILATOR, "min", "max", "iu", EVERYWHERE),
    Rule(_ANNIHILATOR, "max", "min", "iu", EVERYWHERE),
    Rule(_ANNIHILATOR, "min", "max", "f", NO_NAN, (NAN,)),
    Rule(_ANNIHILATOR, "max", "min", "f", NO_NAN, (NAN,)),
    Rule(_ANNIHILATOR, "min", "plus", "f", ABOVE_MINUS_INFINITY, (-INF,)),
    Rule(_ANNIHILATOR, "max", "plus", "f", BELOW_INFINITY, (INF,)),
    Rule(_ANNIHILATOR, "min max", "times", "f", POSITIVE, (0,)),
    Rule(_ANNIHILATOR, "max", "times", "u", EVERYWHERE),
    Rule(_ANNIHILATOR, "bor bxor", "band", "iu", EVERYWHERE),
    Rule(_ANNIHILATOR, "band bxnor", "bor", "iu", EVERYWHERE),
    Rule(_ANNIHILATOR, "times", "lor pair", "iuf", EVERYWHERE),
)

# Candidate counterexamples, for laws with one, two and three operands. If the tables above do not
# list a law for a built-in object, at least one of the candidates violates the law.
_WITNESSES: dict[int, tuple[tuple[Any, ...], ...]] = {
    1: ((1,), (2,), (0,), (-1,), (MAX,), (NAN,)),
    2: ((0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3)),
    3: ((1, 1, 1), (1, 0, 0), (0, 0, 1), (0, 1, 1), (1, 2, 3), (2, 1, 1), (3, 2, 1), (2, 1, 3)),
}


def declared(thing: Any, dtype: Any = None) -> tuple[Law, ...]:
    """Return the declared laws of a built-in operator, monoid or semiring on a dtype.

    The result also contains laws that do not hold, with a counterexample. There are no declared
    laws for objects defined by users, and none for operators that change the dtype.

    >>> from semirings import laws, semiring
    >>> print(*laws.declared(semiring.min_plus, "INT64"), sep="\\n")
    left distributive: where no sum overflows
    right distributive: where no sum overflows
    left annihilator: nowhere
    right annihilator: nowhere
    """
    return _declared(thing if dtype is None else thing[dtype])


def law(thing: Any, name: LawName, dtype: Any = None) -> Law | None:
    """Return the declared law with this name, or None."""
    return next((law for law in declared(thing, dtype) if law.name == name), None)


def holds(thing: Any, name: str, dtype: Any = None, *, on: Domain = EVERYWHERE) -> bool:
    """Return whether a law is declared to hold for all operands in the domain `on`.

    The name "distributive" or "annihilator" stands for two laws, the left and the right one. The
    laws of a semiring include the laws of its monoid. Results are cached.

    >>> from semirings import laws, semiring
    >>> laws.holds(semiring.min_plus, "distributive", "FP64")
    False
    >>> laws.holds(semiring.min_plus, "distributive", "FP64", on=laws.UNIT)
    True
    """
    typed = thing if dtype is None else thing[dtype]
    return _holds(typed, name, on)


@lru_cache(maxsize=4096)
def _holds(typed: TypedThing, name: str, on: Domain) -> bool:
    if name in ("distributive", "annihilator"):
        return all(_holds(typed, f"{side}_{name}", on) for side in ("left", "right"))
    if isinstance(typed, TypedSemiring) and name not in law_names(typed):
        return _holds(typed.monoid, name, on)
    return any(
        law.name == name and law.domain.covers(on, typed.return_type) for law in _declared(typed)
    )


@lru_cache(maxsize=4096)
def _declared(typed: TypedThing) -> tuple[Law, ...]:
    a = algebra(typed)
    if a is None or not _is_built_in(typed):
        return ()
    laws = (_declare(a, name, *_rules_and_names(typed)) for name in law_names(typed))
    return tuple(law for law in laws if law is not None)


def _is_built_in(typed: TypedThing) -> bool:
    if isinstance(typed, TypedSemiring):
        return _is_built_in(typed.monoid) and _is_built_in(typed.binaryop)
    if isinstance(typed, TypedMonoid):
        return typed.name in _BUILT_IN_MONOIDS and getattr(monoid, typed.name) is typed.monoid
    is_ours = str(getattr(typed.op.function, "__module__", "")).startswith("semirings.")
    return is_ours and getattr(binary, typed.name, None) is typed.op


def _rules_and_names(typed: TypedThing) -> tuple[tuple[Rule, ...], str, str]:
    if isinstance(typed, TypedSemiring):
        return _SEMIRINGS, typed.monoid.name, typed.binaryop.name
    if isinstance(typed, TypedMonoid):
        return _OPERATORS + _MONOIDS, typed.name, ""
    return _OPERATORS, typed.name, ""


def _declare(
    a: Algebra, name: LawName, rules: tuple[Rule, ...], add: str, multiply: str
) -> Law | None:
    for rule in rules:
        if (
            name in rule.laws.split()
            and a.dtype.np_type.kind in rule.kinds
            and _names(rule.add, add)
            and _names(rule.multiply, multiply)
        ):
            return Law(name, rule.domain, _operands(a.dtype, rule.counterexample))
    return _try_all(a, name) if a.dtype == BOOL else _nowhere(a, name)


def _names(names: str, name: str) -> bool:
    return names == "*" or name in names.split() or names == name


def _try_all(a: Algebra, name: LawName) -> Law:
    """Test all combinations of BOOL operands. Return the law, which holds everywhere or nowhere."""
    for operands in product(np.array([False, True]), repeat=STATEMENTS[name].arity):
        if breaks(a, name, operands, EVERYWHERE):
            return Law(name, NOWHERE, operands)
    return Law(name, EVERYWHERE)


def _nowhere(a: Algebra, name: LawName) -> Law | None:
    """Return a law that is declared to hold nowhere, with a counterexample.

    If none of the candidate counterexamples breaks the law, return None instead.
    """
    for symbols in _WITNESSES[STATEMENTS[name].arity]:
        operands = _operands(a.dtype, symbols)
        if operands is not None and breaks(a, name, operands, EVERYWHERE):
            return Law(name, NOWHERE, operands)
    return None


def _operands(dtype: DataType, symbols: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Return the operands of a counterexample as NumPy scalars of the dtype.

    `symbols` are numbers, MAX or MIN. If the dtype cannot represent one of them, return None.
    """
    if symbols is None:
        return None
    limits = {MAX: largest(dtype.np_type), MIN: _least(dtype)}
    values = tuple(limits.get(symbol, symbol) for symbol in symbols)
    if dtype.np_type.kind != "f" and not all(_is_within(dtype, value) for value in values):
        return None
    return tuple(dtype.np_type.type(value) for value in values)


def _least(dtype: DataType) -> Any:
    return -largest(dtype.np_type) if dtype.np_type.kind == "f" else extremes(dtype.np_type)[0]


def _is_within(dtype: DataType, value: Any) -> bool:
    low, high = extremes(dtype.np_type)
    return math.isfinite(value) and low <= value <= high
