"""What a rung of the ladder is, and what a search on it tells."""

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

nvrtc.register(Path(__file__).parent)  # a rung's kernel lies next to its Python file


def unreached(dtype: np.dtype[Any]) -> int:
    """What stands in levels of the dtype where no edge leads: -1, or 255 in a byte."""
    return -1 if dtype.kind == "i" else int(np.iinfo(dtype).max)


class OutOfTime(Exception):
    """A search has not come to its end when it should have."""


@dataclass(frozen=True, slots=True)
class Search:
    """What one search found, and what it took."""

    levels: Array
    """One integer a vertex, where the rung is at work; the dtype's own -1 (255 of a byte) where it
    was not reached. The next search on the rung writes over it."""
    depth: int
    """Levels that have vertices, the source's among them."""
    launches: int = 0
    """Of kernels, or of whole-array operations on the CPU."""
    present: Array | None = None
    """bool[n]: where it was reached, of a rung that says so beside the levels; then levels mean
    nothing elsewhere, and both are the caller's to keep."""

    def reached(self) -> Array:
        """bool[n]: where it was reached."""
        if self.present is not None:
            return self.present
        return self.levels != unreached(self.levels.dtype)


class Rung:
    """A strategy made ready for the graph of a: the forms that it reads, and room for its state."""

    deadline = inf
    """When, by `perf_counter`, a search gives up with OutOfTime: one of Python's and NumPy's, which
    may take minutes, looks at it level by level."""

    warms_up = True
    """Whether the first search takes longer than others, as it loads or compiles what it runs."""

    def __init__(self, a: MatrixStore) -> None:
        self.a = a
        self.n = a.nrows

    @property
    def held(self) -> int:
        """Bytes of what it reads and of its state, where it is at work."""
        raise NotImplementedError

    def look_at_clock(self) -> None:
        """Give up where the time is over."""
        if perf_counter() > self.deadline:
            raise OutOfTime

    def search(self, source: int) -> Search:
        """The levels of all that edges lead to from `source`; done when it returns."""
        raise NotImplementedError

    def moves(self, vertices: int, edges: int, depth: int) -> int | None:
        """Bytes that a search reads and writes at least, by the count that the head of the rung's
        kernel gives, of one that reached so many vertices, with so many entries in their rows, in
        `depth` levels. None where it hangs on more than that.
        """
        return None
