"""Requests to a backend and their results. Each request and each result is a frozen dataclass.

`out` is the matrix in CSR form: row v contains the edges out of v. `into` is the same matrix in CSC
form, or None if that form does not exist; in that case traversals only push. All arrays are on the
backend's device. Results are complete when the backend's function returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from graphla.formats import quick_dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from graphla.formats import AnyVector, Array, BitmapVector, Csr, Plan, VectorMask
    from semirings.structures import TypedSemiring

Towards: TypeAlias = Literal["auto", "push", "pull"]
Meanwhile: TypeAlias = "Callable[[Array | None, Array | None, Array], None]"
How: TypeAlias = Literal["improving", "near_far", "rounds"]


FOREVER = 2**31 - 1
"""The limit of a traversal if the caller sets none. No level or round number is larger."""


class Level(NamedTuple):
    """One level or round of a traversal, as recorded while the traversal ran."""

    direction: str  # "push" or "pull"; it may also say where the level ran, as in "push, block"
    frontier: int  # number of vertices expanded at this level
    edges: int  # an upper bound on the number of edges examined
    seconds: float


class Symmetry(NamedTuple):
    """Whether a square matrix has the same pattern, and also the same values, as its transpose.

    Two values are the same if their bits are equal, or if both are NaN.
    """

    of_pattern: bool
    of_values: bool  # whether the values are also the same; always False if the patterns differ


# --- breadth-first search -------------------------------------------------------------------------


@quick_dataclass
class Search:
    """A request for the levels and parents of a breadth-first search from several vertices.

    The start vertices `starts` have level 0. They are an int32 array of distinct vertices: an array
    on the device or, if there are few of them, a NumPy array. A vertex that the mask does not allow
    is neither reached nor expanded, unless it is a start vertex. `limit` is the largest level. If
    the levels are stored as one byte each, a level above 254 raises OverflowError. If `parents` is
    "any", the parent of a vertex is any neighbor that is one level closer to the start vertices. If
    it is "least", the parent is the smallest such neighbor. Matrix values are not read. While the
    host waits for a device, the backend may call `meanwhile` once, with the arrays `levels`,
    `parents` and `present` of the result, which are not complete yet.
    """

    out: Csr
    into: Csr | None
    starts: Array
    mask: VectorMask | None = None
    limit: int = FOREVER
    levels: np.dtype[Any] | None = None  # int32 or uint8; None if no levels are requested
    parents: Literal[None, "any", "least"] = None
    direction: Towards = "auto"
    plan: Plan | None = None
    traced: bool = False
    meanwhile: Meanwhile | None = None


@quick_dataclass
class BfsResult:
    """The result of a breadth-first search. Levels and parents of unreached vertices are
    arbitrary."""

    levels: Array | None
    parents: Array | None  # int32; a start is its own parent
    present: Array  # bool[n]: the reached vertices
    reached: int  # number of reached vertices
    depth: int  # the largest level
    trace: list[Level]


# --- closure --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """The values of a closure that the caller needs. The closure may end as soon as these values
    are final."""

    # The caller needs the value of this vertex, and the parents on the path that leads to it.
    target: int | None = None
    # The caller needs all values that are at least as good as this one.
    most: Any = None


@dataclass(frozen=True, slots=True)
class Closure:
    """A request for the least fixpoint of x = x ⊕ xA, or for the value of x after `limit` products.
    The methods are:

    - "improving": each round multiplies the entries x(k) that have improved by the entries A(k, j),
      and adds the products to x. ⊕ must select one of its operands, ⊗ must distribute over ⊕, and
      `limit` is ignored.
    - "near_far": like "improving", but near entries are multiplied before far ones. An entry is
      near if its value is within `delta` of the best pending value. If `delta` is None, the backend
      chooses it. ⊕ must be min or max, and x ⊗ a must never be better than x.
    - "rounds": each round computes x ⊕ xA from the values of the previous round, until nothing
      changes or `limit` products have run. ⊗ may be any operator. A round that writes an entry also
      sets the parent of the entry.

    x has the semiring's return type; values of A are cast to the type of the second operand of ⊗.
    The closure never writes entries that the mask does not allow. If x initially has such entries,
    they keep their values, and are multiplied like other entries. An entry improves if its bits
    change. Values that still improve after `turns` rounds may keep improving forever around a
    cycle. So the closure then returns the current values with `settled` False, and the caller may
    continue from these values. The semiring must not be positional. If `enough` is given,
    "near_far" may end as soon as the values that `enough` describes are final; other values may
    then be missing or not final.
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

    The flag `overflowed` says whether a product overflowed its integer dtype. Such products are
    omitted, so values may be missing. The flag `settled` is False if the closure ended because
    `turns` rounds had run. In all other cases, including an end after `limit` rounds, it is True.
    """

    values: BitmapVector
    # An int32 array; the parents of vertices without a value are arbitrary. A start vertex whose
    # value has not improved is its own parent.
    parents: Array | None
    depth: int  # number of rounds (or steps of "near_far") that ran
    trace: list[Level]
    overflowed: bool = False
    settled: bool = True


# --- searches from many starts --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MultiSearch:
    """A breadth-first search from each of k starts (int32, not necessarily distinct).

    A vertex that the mask does not allow is neither reached nor expanded, unless it is a start.
    `limit` is the largest level. `levels` is the dtype of the levels, int32 or uint8; None requests
    only the totals of each search. If the dtype is uint8, a level above 254 raises OverflowError.
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
    """The totals of k searches. Each field is an int64 array of length k, with one element per
    search."""

    count: Array  # number of reached vertices, including the start
    total: Array  # the sum of the levels of the reached vertices
    farthest: Array  # the largest level of a reached vertex


@dataclass(frozen=True, slots=True)
class MultiSearchResult:
    """The levels of k searches or, if no levels were requested, the totals of each search."""

    # An array of shape (k, n), which may be a transposed view. The level of an unreached vertex is
    # -1, or 255 if the dtype has one byte.
    levels: Array | None
    reach: Reach | None
    trace: list[Level]  # one record per level of each batch of searches


# --- betweenness ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dependencies:
    """A request for the dependencies (Brandes) of the sources on the vertices of a graph and,
    optionally, on the edges. `sources` is an int32 array of distinct vertices.

    A shortest path has the fewest edges or, if `is_weighted`, the smallest total weight. In the
    latter case all weights must be positive.
    """

    out: Csr
    sources: Array
    is_weighted: bool = False
    of_edges: bool = False
    reach: bool = False
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class DependenciesResult:
    """The dependencies, summed over all sources.

    The value of vertex v is the sum, over all sources s and all vertices t with s ≠ v ≠ t, of the
    fraction of the shortest paths from s to t that pass through v. The value of an edge is the sum,
    over all s and t, of the fraction of these paths that use the edge.
    """

    totals: Array  # float64[n]
    edges: Array | None  # float64, one value per entry of `out`
    reached: Array | None  # int64[n]: for each vertex, the number of other sources that reach it
    counts: Array  # int64: for each source, the number of vertices reached, including the source


# --- communities ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rules for rounds in which about half of the vertices with a positive gain move
    simultaneously."""

    streams: tuple[int, ...]  # one hash seed per round, which decides which vertices may move
    # The level ends after this many consecutive rounds that raise the modularity too little.
    patience: int
    # A round raises the modularity too little if it raises it by at most `rise`, or by at most the
    # fraction `share` of the total increase in all rounds so far.
    rise: float
    share: float


class Gains:
    """Track the quality of the communities over the rounds of one level of the hierarchy. The
    quality is the modularity times `total`, the sum of all weights.

    Each round that raises the quality too little decrements `patience`. Any other round resets it
    to its initial value. The level ends when `patience` is 0.
    """

    def __init__(self, rounds: Rounds, total: float) -> None:
        self._rounds, self._least = rounds, rounds.rise * total
        self._first = self._best = -inf
        self.patience = rounds.patience

    def is_best(self, quality: float) -> bool:
        """Record the quality at the start of a round. Return whether it is the best so far."""
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
    """A request to move vertices so that the modularity rises. Initially the communities are those
    in `start`; None makes each vertex its own community.

    `links` is symmetric. The gain of vertex v in community c, not counting v itself, is links(v, c)
    - factor·(out(v)·into(c) + into(v)·out(c)). Vertex v moves only if the move raises its gain by
    more than margin·(out(v) + into(v)).

    A backend may move vertices one after another, or in small batches. It then visits each vertex
    once in a random order, which `words()` determines, and again after one of its neighbors has
    moved, until no vertex is left to visit. Alternatively, a backend moves many vertices
    simultaneously, according to the rules in `rounds`, and returns the communities with the highest
    quality.
    """

    links: Csr
    out: Array  # float64[n]: the weight of the edges out of each vertex
    into: Array  # the weight of the edges into each vertex; `out` itself if both are equal
    factor: float
    margin: float
    words: Callable[[], Array]  # a function that returns one random word per vertex, uint64[n]
    rounds: Rounds | None  # None if the backend moves vertices one after another
    start: Array | None = None  # int32[n]: communities from 0 to n - 1


@dataclass(frozen=True, slots=True)
class GreedyMergers:
    """A request to merge the two communities with the largest gain in modularity, repeatedly.

    Initially each vertex is its own community. gains(u, v) is the gain of merging u and v; the
    matrix `gains` is symmetric, has float64 values, and has no entry on its diagonal. `out` and
    `into` hold the fractions of the edges out of and into each vertex. Among equal gains, the
    smallest pair (u, v) comes first, and u joins v. The loop ends when `fewest` communities are
    left, or when at most `most` are left and each merger would lower the modularity.
    """

    gains: Csr
    out: Array  # float64[n]
    into: Array  # float64[n]
    resolution: float
    fewest: int
    most: int


# --- centrality -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageRank:
    """A request for the PageRank of each vertex.

    The iteration starts from the ranks in `rank`. It ends when a round changes the ranks by less
    than `least`, or after `rounds` rounds. All arrays have length n and the same dtype, float32 or
    float64.
    """

    into: Csr
    share: Array  # alpha divided by the total weight of the out-edges; 0 for a dangling vertex
    rank: Array
    jump: Array  # for each vertex, the probability that a random jump leads to it
    fall: Array  # for each vertex, the probability that a step from a dangling vertex leads to it
    alpha: float
    least: float
    rounds: int
    is_weighted: bool  # whether the values of the matrix `into` are used as weights
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks, the number of rounds that ran, and the total change in the last round."""

    values: Array
    rounds: int
    change: float


# --- layouts --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forces:
    """A request for the ForceAtlas2 forces between vertices."""

    links: Csr  # float64: the weights of the edges
    points: Array  # float64[n, dim]: the positions
    mass: Array  # float64[n]
    size: Array | None  # float64[n]: the radii; None if vertices have none
    scaling: float  # the strength of the repulsion
    is_log: bool  # whether the attraction grows with the logarithm of the distance
