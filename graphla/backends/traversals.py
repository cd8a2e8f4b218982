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

    from graphla.formats import Array, Csr, Plan, VectorMask

Towards: TypeAlias = Literal["auto", "push", "pull"]
Meanwhile: TypeAlias = "Callable[[Array | None, Array | None, Array], None]"


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


class Ranks(NamedTuple):
    """What rounds of PageRank come to."""

    values: Array
    rounds: int
    change: float  # of the last round, in all


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

    def ranked(
        self,
        into: Csr,
        share: Array,
        rank: Array,
        jump: Array,
        fall: Array,
        *,
        alpha: float,
        least: float,
        rounds: int,
        is_weighted: bool,
        plan: Plan | None,
    ) -> Ranks | None:
        """PageRank from `rank` on, until a round changes less than `least`, in `rounds` at most.

        All are arrays of n values of one dtype, float32 or float64; `share` is alpha / the weight
        of out-edges, 0 where a vertex dangles. None where there is no loop for it.
        """
        ...
