"""The traversal plans of a square matrix, and the timings that decide when to build a full plan.

The first traversal builds a light plan. A full plan costs many times as much and may never pay off.
As in the ski rental problem, we build the full plan once traversals have taken as long as building
it would take. So the full plan at most doubles the total time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

if TYPE_CHECKING:
    from graphla.formats import Plan

SAVING = 0.3
"""The fraction of a traversal's time that a full plan is assumed to save, until the saving has been
measured. Traversals of Kronecker graphs with 2^20 to 2^25 vertices save at least this fraction, and
those of most other graphs save less."""


@dataclass(frozen=True, slots=True)
class PlanReport:
    """The traversal plan of a matrix, with its cost and benefit; see `Matrix.preparation`.

    Attributes:
        tier: "light" or "full".
        nbytes: the memory of the plan in bytes, in addition to the matrix.
        seconds: the time that it took to build the plan, in seconds.
        break_even: the number of traversals after which a full plan has saved as much time as it
            costs. It is estimated from the mean time of a traversal and the fraction of it that a
            full plan saves, which is 30 % until traversals with both tiers have been measured.
            None if no traversal has run, or if a full plan would never pay off.
    """

    tier: Literal["light", "full"]
    nbytes: int
    seconds: float
    break_even: int | None

    def __repr__(self) -> str:
        pays = "" if self.break_even is None else f", pays after {self.break_even:,} traversals"
        return f"<{self.tier} plan: {self.nbytes:,} bytes, {1e3 * self.seconds:.3g} ms{pays}>"


class Plans:
    """The plans of a matrix and of its transpose, and the total time of traversals of both.

    A plan lists, for each vertex, the neighbor that a pull reads first. This list differs between
    the two plans; they share everything else. The time of traversals with a light plan and the time
    of traversals with a full plan are added up separately.
    """

    __slots__ = ("__weakref__", "counts", "device", "has_run", "is_settled", "seconds", "ways")

    def __init__(self, device: str) -> None:
        self.device = device
        # The plan of the matrix and the plan of its transpose. Each is None until it is built.
        self.ways: list[Plan | None] = [None, None]
        self.seconds = [0.0, 0.0]  # total seconds of traversals with a light and with a full plan
        self.counts = [0, 0]
        self.has_run = [False, False]
        self.is_settled = False  # whether a full plan was built or turned out to be impossible

    @property
    def is_full(self) -> bool:
        """Whether the matrix or its transpose has a full plan."""
        one, other = self.ways
        return (one is not None and one.is_full) or (other is not None and other.is_full)

    def record_traversal(self, seconds: float) -> None:
        """Add the duration of a traversal to the total of its tier (light or full plan).

        The first traversal of each tier does not count: it may include the compilation of kernels.
        """
        tier = int(self.is_full)
        if self.has_run[tier]:
            self.seconds[tier] += seconds
            self.counts[tier] += 1
        self.has_run[tier] = True

    def wants_full(self, price: float) -> bool:
        """Return whether traversals have taken at least `price`, a full plan's cost in seconds."""
        return not self.is_settled and self.seconds[0] >= price

    def keep(self, plan: Plan, way: int) -> None:
        """Store the plan of the matrix (`way` 0) or of its transpose (1)."""
        self.ways[way] = plan
        if plan.is_full:
            _full.add(self)

    def drop_full(self) -> None:
        """Drop full plans, keep light plans, and reset the timings."""
        self.ways = [None if plan is None or plan.is_full else plan for plan in self.ways]
        self.seconds, self.counts, self.is_settled = [0.0, 0.0], [0, 0], False

    def report(self, plan: Plan, price: float) -> PlanReport:
        """Return a PlanReport on `plan`. `price` is the time to build a full plan, in seconds."""
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
    """Free all full plans on a device, and return whether there were any."""
    dropped = [plans for plans in list(_full) if plans.device == device]
    for plans in dropped:
        plans.drop_full()
        _full.discard(plans)
    return bool(dropped)
