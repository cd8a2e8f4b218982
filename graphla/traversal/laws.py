"""Choose how to evaluate a closure, by the laws that the semiring obeys for the given operands.

In every closure, x ⊕ y is always x or y. Two further laws matter:

- If (x ⊕ y) ⊗ a = (x ⊗ a) ⊕ (y ⊗ a), entries can be improved in any order, and converge to the
  least fixpoint. Otherwise the result is defined by running the rounds in order.
- Let 1 be the unit of ⊗. If, in addition, 1 ⊕ a = 1 for every value a of A, then x ⊕ (x ⊗ a) = x.
  So ⊗ never improves a value, the best pending entry is final, and no cycle improves forever.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from graphla.backends.requests import How
from graphla.stores import MatrixStore
from semirings import laws
from semirings.dtypes import DataType
from semirings.exceptions import InvalidValue
from semirings.structures import TypedMonoid, TypedSemiring

OF_PRODUCTS = laws.NO_PRODUCT_OVERFLOWS
OF_SUMS = laws.NO_SUM_OVERFLOWS


class Evaluation(NamedTuple):
    """How a closure is computed, and what is known about its operators.

    `never_improves` is true if x ⊕ (x ⊗ a) = x: multiplying a value x never gives a better value.
    """

    how: How
    never_improves: bool

    @property
    def distributes(self) -> bool:
        """Whether ⊗ distributes over ⊕. If so, a better operand never gives a worse product."""
        return self.how != "rounds"


ROUNDS = Evaluation("rounds", False)


def evaluation(op: TypedSemiring, a: MatrixStore, low: Any, high: Any) -> Evaluation:
    """Choose how to compute a closure for the matrix `a`, which must have at least one entry.

    `low` and `high` are the minimum and the maximum of the initial values.
    """
    least, greatest = a.extent(op.type2) if op.binaryop.reads_y else (low, high)
    return _choose(op, *(np.asarray(x).item() for x in (low, high, least, greatest)))


@lru_cache(maxsize=4096)
def _choose(op: TypedSemiring, low: Any, high: Any, least: Any, greatest: Any) -> Evaluation:
    domain = _distributes_on(op, "right_distributive")
    if domain is None or not _lie(domain, op.return_type, (low, high, least, greatest)):
        return ROUNDS
    if _never_improves(op, least, greatest):
        is_ordered = op.monoid.name in ("min", "max") and op.binaryop.reads_y and low == low
        return Evaluation("near_far" if is_ordered else "improving", True)
    return Evaluation("improving", False)


def _never_improves(op: TypedSemiring, least: Any, greatest: Any) -> bool:
    """Return whether the declared laws imply x ⊕ (x ⊗ a) = x for `least` ≤ a ≤ `greatest`."""
    if not op.binaryop.reads_y:
        return op.binaryop.name == "first"
    unit = _unit(op)
    if unit is None or _distributes_on(op, "left_distributive") is None:
        return False
    return all(op.monoid(unit, a) == unit for a in (least, greatest))


@lru_cache(maxsize=1024)
def _unit(op: TypedSemiring) -> Any:
    """Return the unit of ⊗: the value e for which e ⊗ a = a for every a.

    Return None if ⊗ is not the operator of a monoid.
    """
    of_multiply = op.binaryop.op.monoid
    if of_multiply is None or op.return_type not in of_multiply:
        return None
    return of_multiply[op.return_type].identity


@lru_cache(maxsize=1024)
def _distributes_on(op: TypedSemiring, side: Any) -> laws.Domain | None:
    """Return the domain of a distributive law that is declared for the semiring.

    `side` is the name of the left or the right law. The result is None if the law is not declared.
    """
    # Look up the laws of the semiring at its result type. If ⊗ ignores an operand or returns it
    # unchanged, the operand may have a different type.
    alike = op.semiring[op.return_type]
    declared = laws.law(alike, side)
    if declared is None or declared.domain.agreement != "exact":
        return None
    # A closure omits terms that overflow, and reports them. So a law that fails only where a result
    # overflows may be used here.
    unless = {OF_SUMS: laws.EVERYWHERE, OF_PRODUCTS: laws.NONNEGATIVE, laws.NOWHERE: None}
    return unless.get(declared.domain, declared.domain)


def _lie(domain: laws.Domain, dtype: DataType, values: tuple[Any, ...]) -> bool:
    return all(bool(domain.contains(dtype, value)) for value in values)


@lru_cache(maxsize=256)
def check_sum(monoid: TypedMonoid) -> None:
    """Raise an error if closures are not defined for this monoid.

    Let ⊕ be the monoid. x ⊕ y must always be x or y, and x = x ⊕ xA must have a least solution.
    """
    if monoid.is_any:
        raise InvalidValue(
            "semiring has the monoid any, under which a closure has no least fixpoint; "
            "use min or max"
        )
    if not _picks(monoid):
        raise InvalidValue(
            f"semiring has the monoid {monoid!r}, but a closure needs one that picks one of its "
            "operands: min or max, lor or land on BOOL, or one of your own that is registered "
            "with is_idempotent=True"
        )


def _picks(monoid: TypedMonoid) -> bool:
    """Return whether x ⊕ y is always x or y.

    For a built-in monoid, this follows from the declared laws. A user's monoid is tested.
    """
    if laws.declared(monoid):
        return laws.holds(monoid, "selective") and laws.holds(monoid, "idempotent")
    return monoid.is_idempotent and laws.check(monoid, laws=["selective"]).ok
