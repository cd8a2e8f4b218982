"""Requests to a backend and their results: one frozen dataclass each.

`out` is the matrix by rows, so that row v holds the edges out of v; `into` is the same matrix by
columns, or None if that form does not exist; a traversal then only pushes. Arrays are arrays of the
backend's device. Results are complete when the verb returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from graphla.formats import AnyVector, Array, BitmapVector, Csr, Plan, VectorMask
    from semirings.structures import TypedSemiring

Towards: TypeAlias = Literal["auto", "push", "pull"]
Meanwhile: TypeAlias = "Callable[[Array | None, Array | None, Array], None]"
How: TypeAlias = Literal["improving", "near_far", "rounds"]


FOREVER = 2**31 - 1
"""The limit of a traversal for which the caller sets none; no level or round number is larger."""


class Level(NamedTuple):
    """One level or round of a traversal, as recorded while the traversal ran."""

    direction: str  # "push" or "pull"; a second word may say where: "push, block"
    frontier: int  # number of vertices whose edges it used
    edges: int  # an upper bound on the number of edges that it examined
    seconds: float


class Symmetry(NamedTuple):
    """Whether a square matrix has the pattern, and also the values, of its transpose.

    Two values are the same if their bits are equal, or if both are NaN.
    """

    of_pattern: bool
    of_values: bool  # False if the patterns differ


# --- breadth-first search -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Search:
    """The levels and parents of a breadth-first search from `starts`, which all have level 0.

    `starts` are distinct vertices, int32, in an array of the device or, if they are few, of NumPy.
    A vertex off the mask is neither reached nor expanded, but starts are both. `limit` is the
    largest level. If levels have one byte, a level above 254 raises OverflowError. A parent is any
    neighbor one level nearer, or the smallest such neighbor. Matrix values are not read. While the
    host waits, the backend may call `meanwhile` once, with the arrays `levels`, `parents` and
    `present` of the result.
    """

    out: Csr
    into: Csr | None
    starts: Array
    mask: VectorMask | None = None
    limit: int = FOREVER
    levels: np.dtype[Any] | None = None  # int32 or uint8; None if no levels are wanted
    parents: Literal[None, "any", "least"] = None
    direction: Towards = "auto"
    plan: Plan | None = None
    traced: bool = False
    meanwhile: Meanwhile | None = None


@dataclass(frozen=True, slots=True)
class BfsResult:
    """The result of a breadth-first search; levels and parents are arbitrary where unreached."""

    levels: Array | None
    parents: Array | None  # int32; a start is its own parent
    present: Array  # bool[n]: the reached vertices
    reached: int  # number of reached vertices
    depth: int  # the largest level
    trace: list[Level]


# --- closure --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """Values that suffice for the caller, so that a closure may end before all values are final."""

    target: int | None = None  # the value of this vertex, and the parents on its path
    most: Any = None  # all values that are no worse than this value


@dataclass(frozen=True, slots=True)
class Closure:
    """The least fixpoint of x = x ⊕ xA, or the result after `limit` products.

    - "improving": only entries that improved are multiplied again. ⊕ picks one of its operands and
      ⊗ distributes over it; `limit` is not a bound.
    - "near_far": like "improving", but near entries are multiplied before far ones. An entry is
      near if its value is within `delta` of the best pending value (None: the backend chooses
      `delta`). ⊕ is min or max, and x ⊗ a is never better than x.
    - "rounds": x' = x ⊕ xA, with two alternating buffers, until nothing changes, or until `limit`
      products have run; ⊗ may be any operator. The parent of an entry is from the round that wrote
      it.

    x has the semiring's return type; values of A are cast to the type of the second operand. The
    closure never writes entries off the mask, but it keeps and multiplies the entries that x has
    there. An entry improves if its bits change. After `turns` rounds, endless improvement around a
    cycle is suspected, and the current values are returned with `settled` False; the caller may
    continue from them. The semiring is not positional. If `enough` is given, "near_far" may end
    early. Values that `enough` does not cover may then be missing, or not be the best.
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

    `overflowed`: a product overflowed its integer dtype and was left out, so the values may lack
        that term. `settled`: no entry can improve further; False if `turns` (not `limit`) ended the
        closure.
    """

    values: BitmapVector
    parents: Array | None  # int32, arbitrary without a value; an unchanged start is its own parent
    depth: int  # number of rounds (or turns of "near_far") that ran
    trace: list[Level]
    overflowed: bool = False
    settled: bool = True


# --- searches from many starts --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MultiSearch:
    """A breadth-first search from each of k starts (int32, not necessarily distinct).

    A vertex off the mask is neither reached nor expanded, but starts are both. `limit` is the
    largest level. `levels` is int32 or uint8; None requests only the totals of each search. If
    levels have one byte, a level above 254 raises OverflowError.
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
    """How far each of k searches reaches; each field is an int64 array of k numbers."""

    count: Array  # vertices reached, including the start
    total: Array  # the sum of their levels
    farthest: Array  # the largest of their levels


@dataclass(frozen=True, slots=True)
class MultiSearchResult:
    """The levels of k searches or, if no levels were requested, how far they reach."""

    levels: Array | None  # (k, n), perhaps a transposed view; -1 or 255 where not reached
    reach: Reach | None
    trace: list[Level]  # one record per level of searches that ran together


# --- betweenness ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of vertices (and edges) on shortest paths from different sources (int32).

    A shortest path has the fewest edges or, if `is_weighted`, the smallest weight; all weights are
    then positive.
    """

    out: Csr
    sources: Array
    is_weighted: bool = False
    of_edges: bool = False
    reach: bool = False
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class DependenciesResult:
    """Sums over all sources of the shares of shortest paths that vertices and edges carry.

    For each pair (s, t), a vertex v other than s and t carries the share of the paths through v.
    """

    totals: Array  # float64[n]
    edges: Array | None  # float64, one value per entry of the matrix by rows
    reached: Array | None  # int64[n]: how many sources reach each vertex, not counting itself
    counts: Array  # int64: how many vertices each source reaches, including itself


# --- communities ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rules for rounds in which about half of the vertices with a positive gain move at once."""

    streams: tuple[int, ...]  # one hash seed per round; it decides which vertices may move
    patience: int  # number of consecutive rounds that may raise the modularity by too little
    rise: float  # a round must raise the modularity by more than this amount,
    share: float  # and by more than this share of its rise in all rounds so far


class Gains:
    """The modularity of the rounds of one level, times `total`, the sum of all weights.

    `patience` is the number of further rounds that may raise the modularity by too little. The
    level ends when `patience` is 0.
    """

    def __init__(self, rounds: Rounds, total: float) -> None:
        self._rounds, self._least = rounds, rounds.rise * total
        self._first = self._best = -inf
        self.patience = rounds.patience

    def is_best(self, quality: float) -> bool:
        """Record the quality at the start of a round; return whether it is the best so far."""
        if self._first == -inf:
            self._first = self._best = quality
            return True
        least = max(self._least, self._rounds.share * (self._best - self._first))
        has_risen = quality > self._best + least
        self.patience = self._rounds.patience if has_risen else self.patience - 1
        is_best = quality > self._best
        self._best = max(self._best, quality)
        return is_best


@dataclass(frozen=True, slots=True)
class CommunityMoves:
    """Moves of vertices that raise the modularity; each vertex begins as its own community.

    `links` has symmetric values. The gain of vertex v in community c (without v) is links(v, c) -
    factor·(out(v)·into(c) + into(v)·out(c)). A move must exceed the gain of staying by more than
    margin·(out(v) + into(v)). Without `rounds`, vertices move one after another, first in ascending
    order of `words()`, until no move is left. With `rounds`, many vertices move at once by its
    rules, and the best state is kept.
    """

    links: Csr
    out: Array  # float64[n]: the weight of the edges out of each vertex
    into: Array  # the weight of the edges into each vertex; the same object if they are equal
    factor: float
    margin: float
    words: Callable[[], Array]  # makes one random word per vertex, uint64[n]
    rounds: Rounds


# --- centrality -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageRank:
    """Rounds of PageRank that begin with `rank`, until one changes the ranks by less than `least`.

    The arrays have n values of one dtype, float32 or float64. At most `rounds` rounds run.
    """

    into: Csr
    share: Array  # alpha / the weight of the out-edges, 0 at a dangling vertex
    rank: Array
    jump: Array  # the distribution of the vertices where a random jump ends
    fall: Array  # the distribution of the vertices that follow a dangling vertex
    alpha: float
    least: float
    rounds: int
    is_weighted: bool  # whether values of `into` are read
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks, the number of rounds that ran, and the total change in the last round."""

    values: Array
    rounds: int
    change: float
