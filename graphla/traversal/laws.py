"""Choose an evaluation by the laws declared for a semiring on the range of its operands.

Let x ⊕ y always be x or y. Then

- if (x ⊕ y) ⊗ a = (x ⊗ a) ⊕ (y ⊗ a), improving entries in any order converges to the least
  fixpoint; otherwise the fixpoint is defined by running the rounds in order;
- if also 1 ⊕ a = 1 for every value a of A, where 1 is the unit of ⊗, then x ⊕ (x ⊗ a) = x. So ⊗
  never improves a value, the best pending entry is final, and no cycle improves forever.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from graphla.backends.requests import How
from graphla.stores import MatrixStore
from semirings import laws
from semirings.dtypes import DataType
from semirings.exceptions import InvalidValue
from semirings.structures import TypedMonoid, TypedSemiring

OF_PRODUCTS = laws.NO_PRODUCT_OVERFLOWS
OF_SUMS = laws.NO_SUM_OVERFLOWS


class Evaluation(NamedTuple):
    """A method for computing a closure, and whether ⊗ never improves a value."""

    how: How
    never_improves: bool

    @property
    def distributes(self) -> bool:
        """Whether ⊗ distributes over ⊕, so that better operands never give worse products."""
        return self.how != "rounds"


ROUNDS = Evaluation("rounds", False)


def evaluation(op: TypedSemiring, a: MatrixStore, low: Any, high: Any) -> Evaluation:
    """Return the evaluation for a nonempty matrix and starting values from `low` to `high`."""
    least, greatest = a.extent(op.type2) if op.binaryop.reads_y else (low, high)
    domain = _distributes_on(op, "right_distributive")
    if domain is None or not _lie(domain, op.return_type, (low, high, least, greatest)):
        return ROUNDS
    if _never_improves(op, least, greatest):
        is_ordered = op.monoid.name in ("min", "max") and op.binaryop.reads_y and low == low
        return Evaluation("near_far" if is_ordered else "improving", True)
    return Evaluation("improving", False)


def _never_improves(op: TypedSemiring, least: Any, greatest: Any) -> bool:
    """Return whether x ⊕ (x ⊗ a) = x for all a from `least` to `greatest`, by the declared laws."""
    if not op.binaryop.reads_y:
        return op.binaryop.name == "first"
    unit = _unit(op)
    if unit is None or _distributes_on(op, "left_distributive") is None:
        return False
    return all(op.monoid(unit, a) == unit for a in (least, greatest))


@lru_cache(maxsize=1024)
def _unit(op: TypedSemiring) -> Any:
    """Return the unit 1 of ⊗ (1 ⊗ a = a), if there is a monoid with the operator ⊗."""
    of_multiply = op.binaryop.op.monoid
    if of_multiply is None or op.return_type not in of_multiply:
        return None
    return of_multiply[op.return_type].identity


@lru_cache(maxsize=1024)
def _distributes_on(op: TypedSemiring, side: Any) -> laws.Domain | None:
    """Return the domain on which the semiring is declared to be distributive, or None."""
    # Values that are not read, or only passed on, may have any type.
    alike = op.semiring[op.return_type]
    declared = laws.law(alike, side)
    if declared is None or declared.domain.agreement != "exact":
        return None
    # Closures omit and report values that overflow, so overflow does not matter here.
    unless = {OF_SUMS: laws.EVERYWHERE, OF_PRODUCTS: laws.NONNEGATIVE, laws.NOWHERE: None}
    return unless.get(declared.domain, declared.domain)


def _lie(domain: laws.Domain, dtype: DataType, values: tuple[Any, ...]) -> bool:
    return all(bool(domain.contains(dtype, value)) for value in values)


@lru_cache(maxsize=256)
def check_sum(monoid: TypedMonoid) -> None:
    """Raise an error unless x ⊕ y is always x or y, and x = x ⊕ xA has a least solution."""
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
    """Return whether x ⊕ y is always x or y, by declared laws or by tests of a user's monoid."""
    if laws.declared(monoid):
        return laws.holds(monoid, "selective") and laws.holds(monoid, "idempotent")
    return monoid.is_idempotent and laws.check(monoid, laws=["selective"]).ok
