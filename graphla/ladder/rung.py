"""The interface of a rung (an implementation of one BFS strategy) and of the result of a search."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from graphla.compilers import nvrtc
from graphla.formats import Array
from graphla.stores import MatrixStore

nvrtc.register(Path(__file__).parent)  # this folder contains the kernels of the rungs


def unreached(dtype: np.dtype[Any]) -> int:
    """Return the value that means "unreached" in a dtype: -1, or 255 for uint8."""
    return -1 if dtype.kind == "i" else int(np.iinfo(dtype).max)


class OutOfTime(Exception):
    """A search exceeded its deadline."""


@dataclass(frozen=True, slots=True)
class Search:
    """The result of one search, and its costs.

    Attributes:
        levels: the level of each vertex, on the rung's device; unreached vertices have -1, or 255
            if levels have one byte. The next search of the rung overwrites the array.
        depth: the number of levels with vertices, including the source's level.
        launches: the number of kernel launches, or of whole-array operations on the CPU.
        present: bool[n], whether each vertex was reached; None if only the levels show this. If it
            is given, the levels of unreached vertices are arbitrary, and the caller owns both
            arrays.
    """

    levels: Array
    depth: int
    launches: int = 0
    present: Array | None = None

    def reached(self) -> Array:
        """Return bool[n]: whether each vertex was reached."""
        if self.present is not None:
            return self.present
        return self.levels != unreached(self.levels.dtype)


class Rung:
    """A strategy of BFS that is ready to search the graph with the adjacency matrix `a`.

    It holds the rows or columns of `a` that it reads, and memory for the state of a search.
    """

    deadline = inf
    """The value of `perf_counter` at which a search raises OutOfTime. Searches in Python and NumPy
    may take minutes, so they check it at each level."""

    warms_up = True
    """Whether the first search takes longer than later searches, because it loads or compiles
    code."""

    def __init__(self, a: MatrixStore) -> None:
        self.a = a
        self.n = a.nrows

    @property
    def held(self) -> int:
        """Memory on the device, in bytes: for the data that the rung reads and for its state."""
        raise NotImplementedError

    def look_at_clock(self) -> None:
        """Raise OutOfTime if the deadline has passed."""
        if perf_counter() > self.deadline:
            raise OutOfTime

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        raise NotImplementedError

    def moves(self, vertices: int, edges: int, depth: int) -> int | None:
        """Return the minimum number of bytes that a search reads and writes, or None if it is
        unknown.

        The comment at the top of the rung's kernel explains the formula. The search reached
        `vertices` vertices, with `edges` entries in their rows, in `depth` levels.
        """
        return None
