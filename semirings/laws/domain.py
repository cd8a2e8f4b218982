"""The domain of a law: the allowed operands, and how closely both sides of the law must agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from semirings.dtypes import DataType

Agreement = Literal["exact", "rounding", "choice"]


@dataclass(frozen=True, slots=True, repr=False)
class Domain:
    """The set of operands for which a law holds: all x with low <= x <= high.

    If `gap` is positive, the set contains no operands with 0 < |x| < gap. If `nan` is true, the set
    also contains NaN.

    `agreement` states how the two sides of the law agree on this set:

    - "exact": the sides are equal. NaN counts as equal to NaN, and -0.0 as equal to 0.0.
    - "rounding": the sides differ by at most the rounding errors of a few operations.
    - "choice": each side is one of the operands, but not necessarily the same operand. The laws of
      `any` hold only in this sense.
    """

    name: str
    limits: Callable[[np.dtype[Any]], tuple[float, float]]
    nan: bool = False
    agreement: Agreement = "exact"
    # For each dtype, a lower bound on the absolute values of nonzero operands; 0 means no bound.
    gap: Callable[[np.dtype[Any]], float] = lambda t: 0.0

    def bounds(self, dtype: DataType) -> tuple[Any, Any]:
        """Return the smallest and the largest operand that a dtype can represent.

        If there is no such operand, the first result is greater than the second.
        """
        low, high = self.limits(dtype.np_type)
        least, greatest = extremes(dtype.np_type)
        low, high = max(low, least), min(high, greatest)
        if dtype.np_type.kind == "f" or low > high:
            return low, high
        return math.ceil(low), math.floor(high)

    def contains(self, dtype: DataType, x: Any) -> np.ndarray:
        """Return which elements of x are in the domain."""
        x = np.asarray(x, dtype.np_type)
        low, high = self.bounds(dtype)
        if low > high:
            return np.zeros(x.shape, bool)
        within = (x >= dtype.np_type.type(low)) & (x <= dtype.np_type.type(high))
        gap = self.gap(dtype.np_type)
        if gap > 0:
            within &= (x == 0) | (np.abs(x) >= dtype.np_type.type(gap))
        return within | (x != x) if self.nan else within

    def covers(self, other: Domain, dtype: DataType) -> bool:
        """Return whether every law that holds on this domain also holds on the domain `other`."""
        t = dtype.np_type
        if self.agreement not in ("exact", other.agreement) or self.gap(t) > other.gap(t):
            return False
        if t.kind == "f" and other.nan and not self.nan:
            return False
        low, high = self.bounds(dtype)
        other_low, other_high = other.bounds(dtype)
        return low <= other_low and other_high <= high

    def __repr__(self) -> str:
        return self.name


def extremes(np_type: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the minimum and the maximum value of a dtype, including infinities."""
    if np_type.kind == "f":
        return -math.inf, math.inf
    if np_type.kind == "b":
        return 0, 1
    return int(np.iinfo(np_type).min), int(np.iinfo(np_type).max)


def largest(np_type: np.dtype[Any]) -> Any:
    """Return the largest finite value of a dtype."""
    return float(np.finfo(np_type).max) if np_type.kind == "f" else extremes(np_type)[1]


def _tiny(np_type: np.dtype[Any]) -> Any:
    return float(np.finfo(np_type).tiny) if np_type.kind == "f" else 1


def _moderate(np_type: np.dtype[Any]) -> Any:
    """Return a bound such that no sum or product of three values below it overflows."""
    if np_type.kind == "f":
        return 2.0 ** (np.finfo(np_type).maxexp // 4)
    return round(largest(np_type) ** (1 / 3)) - 1


EVERYWHERE = Domain("always", lambda t: (-math.inf, math.inf), nan=True)
NOWHERE = Domain("nowhere", lambda t: (math.inf, -math.inf))
NO_NAN = Domain("without NaN", lambda t: (-math.inf, math.inf))
FINITE = Domain("on finite values", lambda t: (-largest(t), largest(t)))
ABOVE_MINUS_INFINITY = Domain("without NaN and -inf", lambda t: (-largest(t), math.inf))
BELOW_INFINITY = Domain("without NaN and inf", lambda t: (-math.inf, largest(t)))
NO_SUM_OVERFLOWS = Domain("where no sum overflows", lambda t: (-(largest(t) // 2), largest(t) // 2))
NONNEGATIVE = Domain("on finite values from 0 up", lambda t: (0, largest(t)))
POSITIVE = Domain("on values above 0", lambda t: (_tiny(t), math.inf))
POSITIVE_FINITE = Domain("on finite values above 0", lambda t: (_tiny(t), largest(t)))
NO_PRODUCT_OVERFLOWS = Domain(
    "from 0 up, where no product overflows", lambda t: (0, math.isqrt(int(largest(t))))
)
UNIT = Domain("on [0, 1]", lambda t: (0, 1))
ROUNDED = Domain(
    "up to rounding, where nothing over- or underflows",
    lambda t: (-_moderate(t), _moderate(t)),
    agreement="rounding",
    gap=lambda t: 1 / _moderate(t) if t.kind == "f" else 0.0,
)
POSITIVE_ROUNDED = Domain(
    "above 0, up to rounding, where nothing over- or underflows",
    lambda t: (1 / _moderate(t), _moderate(t)),
    agreement="rounding",
)
ANY_CHOICE = Domain(
    "always, up to which operand is picked",
    lambda t: (-math.inf, math.inf),
    nan=True,
    agreement="choice",
)
