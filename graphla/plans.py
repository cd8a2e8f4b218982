"""What a square matrix keeps for traversals: its plan, and the account that pays for a full one.

A light plan is made when the first traversal begins. A full one costs many times as much and may
never be wanted; so, as one who rents skis until the rent paid reaches the price, we make it when
traversals have taken as long as it would: then it can cost no more than they did.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

if TYPE_CHECKING:
    from graphla.formats import Plan

SAVING = 0.3
"""The part of a traversal's time that a full plan spares, where that is not measured yet: what
Kronecker graphs of 2^20 to 2^25 vertices save, or more; the others mostly less."""


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What is planned for the traversals of a matrix, and what it costs and brings.

    `tier` is "light" or "full"; `nbytes` lie beside the matrix's own; `seconds` it took to build.
    `break_even` is after how many traversals a full plan, this one or the one to come, has paid:
    from the mean time of those that ran and what it spares, measured once both kinds have run, and
    taken as 30 % until then. None while none has run, or where it would never pay.
    """

    tier: Literal["light", "full"]
    nbytes: int
    seconds: float
    break_even: int | None

    def __repr__(self) -> str:
        pays = "" if self.break_even is None else f", pays after {self.break_even:,} traversals"
        return f"<{self.tier} plan: {self.nbytes:,} bytes, {1e3 * self.seconds:.3g} ms{pays}>"


class Plans:
    """The plans of a matrix and of its transpose, which share all but what is first; and the time
    spent in traversals of either, by the tier they had."""

    __slots__ = ("__weakref__", "counts", "device", "has_run", "is_settled", "seconds", "ways")

    def __init__(self, device: str) -> None:
        self.device = device
        self.ways: list[Plan | None] = [None, None]  # of the transpose: at 1
        self.seconds = [0.0, 0.0]  # without a full plan, and with it
        self.counts = [0, 0]
        self.has_run = [False, False]
        self.is_settled = False  # a full plan has been made, or tried in vain

    @property
    def is_full(self) -> bool:
        """Whether there is a full plan, either way."""
        return any(plan is not None and plan.is_full for plan in self.ways)

    def record_traversal(self, seconds: float) -> None:
        """A traversal took so long.

        The first one does not count: it may have waited for kernels to be compiled.
        """
        tier = int(self.is_full)
        if self.has_run[tier]:
            self.seconds[tier] += seconds
            self.counts[tier] += 1
        self.has_run[tier] = True

    def wants_full(self, price: float) -> bool:
        """Whether traversals have taken as long as a full plan would."""
        return not self.is_settled and self.seconds[0] >= price

    def keep(self, plan: Plan, way: int) -> None:
        """The plan of the matrix (0) or its transpose (1)."""
        self.ways[way] = plan
        if plan.is_full:
            _full.add(self)

    def drop_full(self) -> None:
        """Only the light tier stays; the account for a full one begins anew."""
        self.ways = [None if plan is None or plan.is_full else plan for plan in self.ways]
        self.seconds, self.counts, self.is_settled = [0.0, 0.0], [0, 0], False

    def report(self, plan: Plan, price: float) -> PlanReport:
        """Of one of the plans, and the price of a full one."""
        pays = self._break_even(plan.seconds if plan.is_full else price)
        return PlanReport("full" if plan.is_full else "light", plan.nbytes, plan.seconds, pays)

    def _break_even(self, price: float) -> int | None:
        means = [s / n if n else None for s, n in zip(self.seconds, self.counts, strict=True)]
        without, with_it = means
        if without is None and with_it is None:
            return None
        if without is None:
            without = with_it / (1 - SAVING)  # pyright: ignore[reportOptionalOperand]
        spared = without - (without * (1 - SAVING) if with_it is None else with_it)
        return ceil(price / spared) if spared > 0 and price < inf else None


_full: WeakSet[Plans] = WeakSet()


def drop_full_plans(device: str) -> bool:
    """Frees the memory that full plans on a device take; whether there were any."""
    dropped = [plans for plans in list(_full) if plans.device == device]
    for plans in dropped:
        plans.drop_full()
        _full.discard(plans)
    return bool(dropped)
