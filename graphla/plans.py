"""The plan that a square matrix keeps for traversals, and the account that pays for a full one.

A light plan is made when the first traversal begins. A full plan costs many times as much, and may
not be needed. So we make it once traversals have taken as long as it would (the ski rental rule):
then it costs at most as much time as they did.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

if TYPE_CHECKING:
    from graphla.formats import Plan

SAVING = 0.3
"""The share of a traversal's time that a full plan saves, as long as it has not been measured.
Kronecker graphs of 2^20 to 2^25 vertices save at least this share, other graphs mostly less."""


@dataclass(frozen=True, slots=True)
class PlanReport:
    """The plan for the traversals of a matrix, its costs and its benefit.

    `tier` is "light" or "full". `nbytes` is its memory in addition to the matrix, and `seconds` the
    time to build it. `break_even` is the number of traversals after which a full plan (this one or
    a future one) has paid off. It follows from the mean time of traversals and from the share that
    the plan saves, which is measured once both kinds have run, and assumed to be 30 % before. It is
    None if no traversal has run, or if the plan would never pay off.
    """

    tier: Literal["light", "full"]
    nbytes: int
    seconds: float
    break_even: int | None

    def __repr__(self) -> str:
        pays = "" if self.break_even is None else f", pays after {self.break_even:,} traversals"
        return f"<{self.tier} plan: {self.nbytes:,} bytes, {1e3 * self.seconds:.3g} ms{pays}>"


class Plans:
    """The plans of a matrix and of its transpose, and the time of their traversals per tier.

    The two plans share everything except the first neighbors.
    """

    __slots__ = ("__weakref__", "counts", "device", "has_run", "is_settled", "seconds", "ways")

    def __init__(self, device: str) -> None:
        self.device = device
        self.ways: list[Plan | None] = [None, None]  # of the matrix, and of its transpose
        self.seconds = [0.0, 0.0]  # of traversals without and with a full plan
        self.counts = [0, 0]
        self.has_run = [False, False]
        self.is_settled = False  # whether a full plan has been made, or could not be made

    @property
    def is_full(self) -> bool:
        """Whether there is a full plan of the matrix or of its transpose."""
        return any(plan is not None and plan.is_full for plan in self.ways)

    def record_traversal(self, seconds: float) -> None:
        """Add the duration of a traversal to the account of the current tier.

        The first traversal of a tier does not count, because it may have compiled kernels.
        """
        tier = int(self.is_full)
        if self.has_run[tier]:
            self.seconds[tier] += seconds
            self.counts[tier] += 1
        self.has_run[tier] = True

    def wants_full(self, price: float) -> bool:
        """Return whether traversals have taken as long as making a full plan would."""
        return not self.is_settled and self.seconds[0] >= price

    def keep(self, plan: Plan, way: int) -> None:
        """Store the plan of the matrix (`way` 0) or of its transpose (1)."""
        self.ways[way] = plan
        if plan.is_full:
            _full.add(self)

    def drop_full(self) -> None:
        """Drop full plans and reset the account; light plans remain."""
        self.ways = [None if plan is None or plan.is_full else plan for plan in self.ways]
        self.seconds, self.counts, self.is_settled = [0.0, 0.0], [0, 0], False

    def report(self, plan: Plan, price: float) -> PlanReport:
        """Return the report on one of the plans, given the seconds that a full plan takes."""
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
    """Drop all full plans on a device to free memory; return whether there were any."""
    dropped = [plans for plans in list(_full) if plans.device == device]
    for plans in dropped:
        plans.drop_full()
        _full.discard(plans)
    return bool(dropped)
