"""What a device must offer for whole traversals: their results, and the functions that give them.

A traversal is one call: on a GPU one launch for all of its levels, on the CPU one compiled loop.
`out` is the matrix by rows, so that row v holds the edges out of v; `into` is the same matrix by
columns, or None where that form is not there: then a traversal only pushes. Results are complete
when the call returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.formats import AnyVector, Array, BitmapVector, Csr, Plan, VectorMask
    from semirings.structures import TypedSemiring

Towards: TypeAlias = Literal["auto", "push", "pull"]
Meanwhile: TypeAlias = "Callable[[Array | None, Array | None, Array], None]"
How: TypeAlias = Literal["improving", "near_far", "rounds"]


class Symmetry(NamedTuple):
    """Whether a square matrix has the pattern, and also the values, of its transpose.

    Two values are the same if their bits are equal, or if both are NaN.
    """

    of_pattern: bool
    of_values: bool  # False if the patterns differ


def nan_bits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return (mask, infinity) such that bits b are a NaN of this dtype if b & mask > infinity."""
    if dtype.kind != "f":
        return 0, 0
    mask = (1 << (8 * dtype.itemsize - 1)) - 1
    return mask, int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))


class Level(NamedTuple):
    """One level of a traversal, or one round of it, as it was seen to run."""

    direction: str  # "push" or "pull"; a word after it may say where: "push, block"
    frontier: int  # vertices whose edges it used
    edges: int  # that it looked at, or might have had to
    seconds: float


class Tree(NamedTuple):
    """What a breadth-first search finds; levels and parents are arbitrary where not `present`."""

    levels: Array | None  # int32 or uint8
    parents: Array | None  # int32; a start is its own parent
    present: Array  # bool[n]: which vertices were reached
    reached: int  # how many
    depth: int  # the greatest level
    trace: list[Level]


class Closed(NamedTuple):
    """What a closure comes to.

    `overflowed`: some product did not fit its integer dtype, and was left out: the values may lack
    it. `settled`: no entry would improve any more; False where `turns` (not `limit`) ended it.
    """

    values: BitmapVector
    parents: Array | None  # int32, arbitrary where no value is; a start not improved is its own
    depth: int  # rounds, or bucket turns, that ran
    trace: list[Level]
    overflowed: bool = False
    settled: bool = True


class Enough(NamedTuple):
    """What is asked of a closure that may end early: one value, or all that are good enough."""

    target: int | None = None  # the value of this vertex, with its parents up to a start
    most: Any = None  # all values that are no worse


class Lengths(NamedTuple):
    """What k searches find."""

    levels: Array  # (k, n), int32 or uint8; -1 or 255 where not reached
    trace: list[Level]  # of searches that ran together, one record a level


class Reach(NamedTuple):
    """How far each of k searches came; each an int64 array[k]."""

    count: Array  # vertices reached, the start too
    total: Array  # the sum of their levels
    farthest: Array  # the greatest of them


class Dependencies(NamedTuple):
    """How much vertices and edges carry of the shortest paths from some sources, summed up.

    Of the paths from s to t, v carries the part that it lies on, but for v = s and v = t.
    """

    totals: Array  # float64[n]
    edges: Array | None  # float64, of each entry by rows
    reached: Array | None  # int64[n]: how many sources reach each vertex, not counting itself
    counts: Array  # int64: how many vertices each source reaches, itself among them


class Traversals(Protocol):
    """The part of a backend that is for whole traversals."""

    def find_symmetry(self, a: Csr) -> Symmetry:
        """Return whether a square matrix has the pattern, and the values, of its transpose.

        This takes about one pass over the entries. The pass ends early if a counterpart is missing.
        """
        ...

    def plan(self, out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
        """What traversals of a square matrix need beside its two forms, of its pattern alone.

        `before` is the light plan, if there is one, that a full one may take over.
        """
        ...

    def price_of_plan(self, out: Csr, into: Csr) -> float:
        """About how many seconds a full plan would take; infinite where there is to be none."""
        ...

    def turned(self, plan: Plan, out: Csr, into: Csr) -> Plan:
        """The plan of the transpose of a matrix with this plan; the forms are the transpose's."""
        ...

    def bfs(
        self,
        out: Csr,
        into: Csr | None,
        starts: Array,
        *,
        mask: VectorMask | None,
        limit: int,
        levels: Any,
        parents: Literal[None, "any", "least"],
        direction: Towards,
        plan: Plan | None,
        traced: bool,
        meanwhile: Meanwhile | None = None,
    ) -> Tree:
        """How many edges away from the nearest of `starts` each vertex is, and by which edge.

        `starts` are distinct vertices, int32, in an array of this device or, where they are few, of
        NumPy's. A vertex off the mask is neither reached nor expanded, but starts are both. `limit`
        is the greatest level. `levels` is the numpy dtype int32 or uint8, or None for none;
        OverflowError where a level above 254 is met in one byte. Parents are a level nearer, any
        such or the least of them. Matrix values are not read. While the host has nothing to do but
        wait, `meanwhile` may be called, once, with the arrays of levels, parents and presence.
        """
        ...

    def closure(
        self,
        out: Csr,
        into: Csr | None,
        x: AnyVector,
        semiring: TypedSemiring,
        *,
        how: How,
        mask: VectorMask | None,
        limit: int,
        parents: bool,
        delta: float | None,
        turns: int,
        traced: bool,
        enough: Enough | None = None,
    ) -> Closed:
        """The least fixpoint of x = x (+) x A, or what `limit` products come to.

        - "improving": only entries that improved are multiplied again. (+) picks one of its
          operands and (x) distributes over it; `limit` is no bound.
        - "near_far": the same, near entries (within `delta` of the best pending one; None: chosen
          here) before far ones. (+) is min or max, and x (x) a is never better than x; `limit` is
          no bound.
        - "rounds": x' = x (+) x A from one buffer into the other, until nothing changes or `limit`
          products have run: nothing is asked of (x). Parents are those of the round that wrote.

        x is of the semiring's return type already; values of A are cast to the second operand's.
        Entries off the mask are never written; those of x there stay, and are multiplied. An entry
        improves where its bits change. `turns` is how many rounds may run before a cycle that goes
        on improving is suspected: what was found so far comes back with `settled` False (a caller
        may go on from those values). The semiring is not positional. Where no more than `enough`
        is asked, "near_far" may end early: other values may then be missing, or not the best.
        """
        ...

    def levels_of_many(
        self,
        out: Csr,
        into: Csr | None,
        starts: Array,
        *,
        mask: VectorMask | None,
        limit: int,
        levels: Any,
        plan: Plan | None,
        traced: bool,
    ) -> Lengths:
        """Levels of one search from each of k starts, which need not be distinct, an array of this
        device; else as `bfs`. They may be a transposed view."""
        ...

    def reach_of_many(
        self,
        out: Csr,
        into: Csr | None,
        starts: Array,
        *,
        mask: VectorMask | None,
        limit: int,
        plan: Plan | None,
    ) -> Reach:
        """What the levels of one search from each start add up to."""
        ...

    def dependencies(
        self,
        out: Csr,
        sources: Array,
        *,
        is_weighted: bool,
        of_edges: bool,
        reach: bool,
        plan: Plan | None,
    ) -> Dependencies | None:
        """What the shortest paths from each of `sources`, int32 and distinct, depend on.

        Paths are of fewest edges or, if `is_weighted`, of least weight, where all weights are
        above 0. None where there is no loop for it: then it is told as algebra.
        """
        ...
