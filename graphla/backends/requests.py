"""What is asked of a backend, and what comes back: one frozen dataclass each.

`out` is the matrix by rows, so that row v holds the edges out of v; `into` is the same matrix by
columns, or None if that form does not exist: then a traversal only pushes. Arrays are arrays of the
backend's device. Results are complete when the verb returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from graphla.formats import Array, Csr, Plan, VectorMask

Towards: TypeAlias = Literal["auto", "push", "pull"]
Meanwhile: TypeAlias = "Callable[[Array | None, Array | None, Array], None]"

FOREVER = 2**31 - 1
"""The limit of a traversal that has no limit: no level or round is greater."""


class Level(NamedTuple):
    """One level of a traversal, or one round of it, as recorded while it ran."""

    direction: str  # "push" or "pull"; a second word may say where: "push, block"
    frontier: int  # vertices whose edges it used
    edges: int  # edges that it looked at, at most
    seconds: float


# --- breadth-first search -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Search:
    """The levels and parents of a breadth-first search from `starts`, which all have level 0.

    `starts` are distinct vertices, int32, in an array of the device or, if they are few, of NumPy.
    A vertex off the mask is neither reached nor expanded, but starts are both. `limit` is the
    greatest level. In one byte a level above 254 raises OverflowError. A parent is any neighbor one
    level nearer, or the least one. Matrix values are not read. While the host has nothing to do but
    wait, the backend may call `meanwhile`, once, with the arrays of levels, parents and presence.
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
    """What a breadth-first search finds; levels and parents are arbitrary where not `present`."""

    levels: Array | None
    parents: Array | None  # int32; a start is its own parent
    present: Array  # bool[n]: the reached vertices
    reached: int  # how many
    depth: int  # the greatest level
    trace: list[Level]
