"""Bounds on eccentricities, low ≤ e ≤ high. The distances from each search narrow them."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from graphla.formats import Array
from graphla.operations.moving import on_host
from graphla.sparse import Vector

LONGEST = int(np.iinfo(np.int64).max)

Next = Literal["highest", "lowest", "farthest"]


class Distances(NamedTuple):
    """Distances from a pivot to all vertices and back, as INT64 or FP64 arrays on the device."""

    pivot: int
    away: Array
    back: Array

    @property
    def eccentricity(self) -> Any:
        """e(pivot) = max over v of away(v)."""
        return self.away.max().item()


class Bounds(NamedTuple):
    """Bounds low ≤ e ≤ high, as two arrays on the device with one element per vertex."""

    low: Array
    high: Array

    @classmethod
    def exact(cls, e: Vector) -> Bounds:
        """Return bounds low = high = e from a full Vector e."""
        values = e.to_dense(copy=False)
        return cls(values, values)

    # --- vertices that may still matter: flags for the vertices where low < high ------------------

    def differ(self) -> Array:
        """Return flags of the vertices whose bounds differ, so that e is not known yet."""
        return self.low < self.high

    def may_exceed_low(self) -> Array:
        """Return flags of the vertices where e may exceed all lower bounds."""
        return self.differ() & (self.high > self.low.max())

    def may_reach_low(self) -> Array:
        """Return flags of the vertices where e may be at least the largest lower bound."""
        return self.differ() & (self.high >= self.low.max())

    def may_undercut_high(self) -> Array:
        """Return flags of the vertices where e may be less than all upper bounds."""
        return self.differ() & (self.low < self.high.min())

    def may_reach_high(self) -> Array:
        """Return flags of the vertices where e may be at most the smallest upper bound."""
        return self.differ() & (self.low <= self.high.min())

    # --- results, once no vertex matters ----------------------------------------------------------

    def eccentricities(self) -> Vector:
        """Return the lower bounds, which equal e once no bounds differ."""
        return Vector.from_dense(self.low, copy=False)

    def diameter(self) -> Any:
        """Return the largest lower bound."""
        return self.low.max().item()

    def radius(self) -> Any:
        """Return the smallest upper bound."""
        return self.high.min().item()

    def center(self) -> Vector:
        """Return a Vector that is true where e equals the radius."""
        return Vector.from_dense(self.low <= self.high.min(), missing_value=False)

    def periphery(self) -> Vector:
        """Return a Vector that is true where e equals the diameter."""
        return Vector.from_dense(self.high >= self.low.max(), missing_value=False)


def distances(pivot: int, away: Vector, back: Vector) -> Distances:
    """Return the distances from a vertex and back as arrays; both vectors are full."""
    there = _array(away)
    return Distances(pivot, there, there if back is away else _array(back))


def narrow(before: Bounds | None, search: Distances, error: float) -> Bounds:
    """Return the bounds that follow from the old bounds and from the distances of a search.

    low = max(back, e - away) and high = back + e, where e is the eccentricity of the pivot. `error`
    is the relative error of the distances; it widens the bounds.
    """
    pivot, away, back = search
    e = search.eccentricity
    low, high = np.maximum(back, e - away), back + e
    if error:
        low = np.maximum(back * (1 - error), low - error * (e + away))
        high = high * (1 + error)
        low[pivot] = high[pivot] = e
    if before is None:
        return Bounds(low, high)
    return Bounds(np.maximum(before.low, low), np.minimum(before.high, high))


def replace(bounds: Bounds, chosen: np.ndarray, e: Vector) -> Bounds:
    """Return bounds that equal `e` at the chosen vertices."""
    low, high = bounds.low.copy(), bounds.high.copy()
    low[chosen] = high[chosen] = e.to_coo(copy=False)[1]
    return Bounds(low, high)


def choose(which: Next, bounds: Bounds, flags: Array, search: Distances, searched: set[int]) -> int:
    """Return the vertex from which to search next.

    It is the flagged vertex with the highest upper bound or the lowest lower bound, or the vertex
    that is farthest from the last pivot. A vertex with a low eccentricity lowers the upper bounds;
    a remote vertex raises the lower bounds.
    """
    if which == "farthest":
        farthest = int(search.away.argmax())
        if farthest not in searched:
            return farthest
    if which == "highest":
        return int(np.where(flags, bounds.high, -1).argmax())
    return int(np.where(flags, -bounds.low, -LONGEST).argmax())


def vertices_of(flags: Array) -> np.ndarray:
    """Return the flagged vertices as a NumPy array on the host."""
    found = flags.nonzero()[0]
    return found if isinstance(found, np.ndarray) else on_host(found)


def _array(d: Vector) -> Array:
    values = d.to_dense(copy=False)
    return values if values.dtype.kind == "f" else values.astype(np.int64, copy=False)
