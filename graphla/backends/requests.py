"""What is asked of a backend, and what comes back: one frozen dataclass each.

`out` is the matrix by rows, so that row v holds the edges out of v; `into` is the same matrix by
columns, or None if that form does not exist: then a traversal only pushes. Arrays are arrays of the
backend's device. Results are complete when the verb returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from graphla.backends.traversals import Level
    from graphla.formats import AnyVector, Array, BitmapVector, Csr, Plan, VectorMask
    from semirings.structures import TypedSemiring

How: TypeAlias = Literal["improving", "near_far", "rounds"]


# --- closure --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """Values that suffice, so that a closure may end before all values are final."""

    target: int | None = None  # the value of this vertex, with its parents up to a start
    most: Any = None  # all values that are no worse than this one


@dataclass(frozen=True, slots=True)
class Closure:
    """The least fixpoint of x = x ⊕ xA, or the result of `limit` products.

    - "improving": only entries that improved are multiplied again. ⊕ picks one of its operands and
      ⊗ distributes over it; `limit` is not a bound.
    - "near_far": as "improving", but near entries (within `delta` of the best pending one; None:
      the backend chooses) before far ones. ⊕ is min or max, and x ⊗ a is never better than x.
    - "rounds": x' = x ⊕ xA from one buffer into the other, until nothing changes or `limit`
      products have run; ⊗ may be any operator. Parents are those of the round that wrote a value.

    x has the semiring's return type; values of A are cast to the type of the second operand. The
    closure never writes entries off the mask; entries of x there stay, and are multiplied. An entry
    improves if its bits change. After `turns` rounds a cycle that goes on improving is suspected,
    and the values so far are returned with `settled` False; the caller may continue from them. The
    semiring is not positional. If `enough` is given, "near_far" may end early: other values may
    then be missing, or not the best.
    """

    out: Csr
    x: AnyVector
    semiring: TypedSemiring
    how: How
    mask: VectorMask | None
    limit: int
    turns: int
    parents: bool = False
    delta: float | None = None
    traced: bool = False
    enough: EarlyStop | None = None


@dataclass(frozen=True, slots=True)
class ClosureResult:
    """The values of a closure, and how it ended.

    `overflowed`: a product did not fit its integer dtype and was left out, so the values may lack
    it. `settled`: no entry would improve any more; False if `turns` (not `limit`) ended the
    closure.
    """

    values: BitmapVector
    parents: (
        Array | None
    )  # int32, arbitrary where there is no value; an unimproved start is its own
    depth: int  # rounds, or bucket turns, that ran
    trace: list[Level]
    overflowed: bool = False
    settled: bool = True


# --- searches from many starts --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MultiSearch:
    """A breadth-first search from each of k starts (int32, not necessarily distinct).

    A vertex off the mask is neither reached nor expanded, but starts are both. `limit` is the
    greatest level. `levels` is int32 or uint8; if None, only the totals of each search are wanted.
    In one byte, a level above 254 raises OverflowError.
    """

    out: Csr
    into: Csr | None
    starts: Array
    mask: VectorMask | None
    limit: int
    levels: np.dtype[Any] | None
    plan: Plan | None = None
    traced: bool = False


class Reach(NamedTuple):
    """How far each of k searches came; each field is an int64 array of k numbers."""

    count: Array  # vertices reached, including the start
    total: Array  # the sum of their levels
    farthest: Array  # the greatest of their levels


@dataclass(frozen=True, slots=True)
class MultiSearchResult:
    """The levels of k searches or, if no levels were wanted, how far they came."""

    levels: Array | None  # (k, n), perhaps a transposed view; -1 or 255 where not reached
    reach: Reach | None
    trace: list[Level]  # of searches that ran together, one record per level


# --- betweenness ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of vertices (and edges) on shortest paths from distinct sources (int32).

    Paths have the fewest edges or, if `is_weighted`, the least weight, where all weights are
    positive.
    """

    out: Csr
    sources: Array
    is_weighted: bool = False
    of_edges: bool = False
    reach: bool = False
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class DependenciesResult:
    """The sums, over all sources, of the parts of shortest paths that vertices and edges carry.

    Of the paths from s to t, v carries the part that it lies on, unless v = s or v = t.
    """

    totals: Array  # float64[n]
    edges: Array | None  # float64, one number per entry of the matrix by rows
    reached: Array | None  # int64[n]: how many sources reach each vertex, not counting itself
    counts: Array  # int64: how many vertices each source reaches, including itself
