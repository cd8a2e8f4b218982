"""Lower and upper bounds on the eccentricity e(v) of each vertex v.

The distances that a search from one vertex finds narrow the bounds of all vertices.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from graphla.formats import Array
from graphla.operations.moving import on_host
from graphla.sparse import Vector

LONGEST = int(np.iinfo(np.int64).max)

Next = Literal["highest", "lowest", "farthest"]


class Distances(NamedTuple):
    """The distances from one vertex, called the pivot, to all vertices, and back.

    `away` holds the distance from the pivot to each vertex, and `back` the distance from each
    vertex to the pivot. Both are arrays on the device with dtype INT64 or FP64.
    """

    pivot: int
    away: Array
    back: Array

    @property
    def eccentricity(self) -> Any:
        """The eccentricity of the pivot: its greatest distance to a vertex."""
        return self.away.max().item()


class Bounds(NamedTuple):
    """The bounds of all vertices: two arrays on the device, with low[v] ≤ e(v) ≤ high[v].

    e(v) is the eccentricity of vertex v.
    """

    low: Array
    high: Array

    @classmethod
    def exact(cls, e: Vector) -> Bounds:
        """Return the bounds if all eccentricities are known: both bounds are the full Vector e."""
        values = e.to_dense(copy=False)
        return cls(values, values)

    # --- flags for vertices whose eccentricities are not known yet --------------------------------

    def differ(self) -> Array:
        """Flag the vertices with different bounds: their eccentricities are not known yet."""
        return self.low < self.high

    def may_exceed_low(self) -> Array:
        """Flag each vertex whose unknown eccentricity may exceed the largest lower bound."""
        return self.differ() & (self.high > self.low.max())

    def may_reach_low(self) -> Array:
        """Flag each vertex whose unknown eccentricity may be at least the largest lower bound."""
        return self.differ() & (self.high >= self.low.max())

    def may_undercut_high(self) -> Array:
        """Flag each vertex whose unknown eccentricity may be less than the smallest upper bound."""
        return self.differ() & (self.low < self.high.min())

    def may_reach_high(self) -> Array:
        """Flag each vertex whose unknown eccentricity may be at most the smallest upper bound."""
        return self.differ() & (self.low <= self.high.min())

    # --- results, once the bounds are narrow enough -----------------------------------------------

    def eccentricities(self) -> Vector:
        """Return the lower bounds. They are the eccentricities once `differ` flags no vertex."""
        return Vector.from_dense(self.low, copy=False)

    def diameter(self) -> Any:
        """Return the largest lower bound.

        Once `may_exceed_low` flags no vertex, this bound is the diameter, the greatest
        eccentricity.
        """
        return self.low.max().item()

    def radius(self) -> Any:
        """Return the smallest upper bound.

        Once `may_undercut_high` flags no vertex, this bound is the radius, the least eccentricity.
        """
        return self.high.min().item()

    def center(self) -> Vector:
        """Return a Vector that is true at the vertices whose eccentricity equals the radius."""
        return Vector.from_dense(self.low <= self.high.min(), missing_value=False)

    def periphery(self) -> Vector:
        """Return a Vector that is true at the vertices whose eccentricity equals the diameter."""
        return Vector.from_dense(self.high >= self.low.max(), missing_value=False)


def distances(pivot: int, away: Vector, back: Vector) -> Distances:
    """Convert two full Vectors to arrays: the distances from the pivot, and those to the pivot."""
    there = _array(away)
    return Distances(pivot, there, there if back is away else _array(back))


def narrow(before: Bounds | None, search: Distances, error: float) -> Bounds:
    """Narrow the bounds by means of the distances from a pivot p and to p.

    By the triangle inequality, the eccentricity of each vertex v is at least d(v, p), at least
    e(p) - d(p, v), and at most d(v, p) + e(p), where e(p) is the eccentricity of the pivot. For
    each vertex, the result contains the tighter of these new bounds and the bounds in `before`.
    `error` is the maximum relative error of the distances; the new bounds allow for this error.
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
    """Return new bounds: for each chosen vertex v, both bounds are the eccentricity e(v).

    All other vertices keep their old bounds.
    """
    low, high = bounds.low.copy(), bounds.high.copy()
    low[chosen] = high[chosen] = e.to_coo(copy=False)[1]
    return Bounds(low, high)


def choose(which: Next, bounds: Bounds, flags: Array, search: Distances, searched: set[int]) -> int:
    """Return the vertex from which to search next, chosen by the rule `which`.

    - "highest": the flagged vertex with the highest upper bound.
    - "lowest": the flagged vertex with the lowest lower bound.
    - "farthest": the vertex farthest from the last pivot. If a search from this vertex has already
      run, choose as for "lowest".

    A search from a vertex with a low eccentricity lowers the upper bounds. A search from a remote
    vertex raises the lower bounds.
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
