"""The searches of the ladder on the CPU, with NumPy operations on whole arrays instead of kernels.

Each class shows in a few lines what the kernel of the same name does thread by thread. An array
operation also computes what a thread would skip, so these searches are meant to explain the
kernels, not to be fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.layout import ranges, row_of_entry
from graphla.formats import Array, Csr
from graphla.ladder.rung import Rung, Search, unreached
from graphla.stores import MatrixStore


class NumPyRung(Rung):
    """A search that computes each level with a few array operations."""

    warms_up = False
    levels: Array
    depth: int
    operations: int
    """Number of whole-array operations of the current search."""

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        self.begin(source)
        goes_on = True
        while goes_on:
            self.look_at_clock()
            self.depth += 1
            goes_on = self.step()
        return Search(self.levels, self.depth, self.operations)

    def begin(self, source: int, dtype: Any = np.int32) -> None:
        """Mark all vertices as unreached, except the source, which is at level 0."""
        self.levels = np.full(self.n, unreached(np.dtype(dtype)), dtype)
        self.levels[source] = 0
        self.depth = self.operations = 0

    def step(self) -> bool:
        """Compute level `depth` from level depth - 1; return whether it has any vertices."""
        raise NotImplementedError

    def push(self, rows: Csr, frontier: Array) -> bool:
        """Label the unreached out-neighbors of the frontier: f⟨¬p⟩ = f A, by rows."""
        starts = rows.indptr[frontier]
        counts = rows.indptr[frontier + 1] - starts
        targets = rows.indices[ranges(starts, counts, int(counts.sum()))]
        targets = targets[self.levels[targets] < 0]
        self.levels[targets] = self.depth
        self.operations += 8
        return targets.size > 0

    def pull(self, columns: Csr) -> bool:
        """Label the vertices with an in-neighbor in the last level: f⟨¬p⟩ = f A, by columns.

        The first pass reads one in-neighbor of each unreached vertex, the second pass reads two
        more, the third pass reads four more, and so on. So all passes together read at most about
        twice as many edges as if each vertex stopped exactly at its first hit.
        """
        waiting = np.flatnonzero(self.levels < 0)
        at, ends = columns.indptr[waiting].astype(np.int64), columns.indptr[waiting + 1]
        width, found = 1, 0
        while waiting.size:
            counts = np.minimum(ends - at, width)
            some = counts > 0
            waiting, at, ends, counts = waiting[some], at[some], ends[some], counts[some]
            if not waiting.size:
                break
            total = int(counts.sum())
            near = self.levels[columns.indices[ranges(at, counts, total)]] == self.depth - 1
            hit = np.logical_or.reduceat(near, np.cumsum(counts) - counts)
            self.levels[waiting[hit]] = self.depth
            found += int(hit.sum())
            left = ~hit
            waiting, at, ends = waiting[left], (at + counts)[left], ends[left]
            width *= 2
            self.operations += 20
        self.operations += 3
        return found > 0


class VertexPush(NumPyRung):
    """The strategy of vertex_push.cu: the frontier is not stored, but computed from the levels."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.rows = a.csr

    @property
    def held(self) -> int:
        """The memory for the rows of the matrix and the levels, in bytes."""
        return _nbytes(self.rows) + 4 * self.n

    def step(self) -> bool:
        """Compute a level by a push along the rows of the frontier."""
        self.operations += 2
        return self.push(self.rows, np.flatnonzero(self.levels == self.depth - 1))


class VertexPull(NumPyRung):
    """The strategy of vertex_pull.cu: each unreached vertex looks for a neighbor in the last
    level."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.columns = a.csc

    @property
    def held(self) -> int:
        """The memory for the columns of the matrix and the levels, in bytes."""
        return _nbytes(self.columns) + 4 * self.n

    def step(self) -> bool:
        """Compute a level by a pull along the columns of the unreached vertices."""
        return self.pull(self.columns)


class DirectionOptimised(NumPyRung):
    """The strategy of direction_optimised.cu: push a small frontier, pull a large one."""

    ALPHA, BETA = 14, 24
    """S. Beamer's parameters. Pulls begin when the frontier grows and the number of edges out of it
    exceeds 1/ALPHA of the number of edges out of unreached vertices. Pulls end when the frontier
    shrinks and contains fewer than 1/BETA of all vertices."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.rows, self.columns = a.csr, a.csc
        self.degrees = np.diff(self.rows.indptr)
        self._left, self._pulls, self._before = 0, False, 0

    @property
    def held(self) -> int:
        """The memory for the matrix by rows and columns, the degrees and the levels, in bytes."""
        forms = {id(form): form for form in (self.rows, self.columns)}.values()
        return sum(map(_nbytes, forms)) + self.degrees.nbytes + 4 * self.n

    def begin(self, source: int, dtype: Any = np.int32) -> None:
        """Prepare a search. It starts with a push, because the frontier is a single vertex."""
        super().begin(source, dtype)
        self._left, self._pulls, self._before = self.rows.nvals, False, 0

    def step(self) -> bool:
        """Compute a level by a push or a pull."""
        frontier = np.flatnonzero(self.levels == self.depth - 1)
        edges = int(self.degrees[frontier].sum(dtype=np.int64))
        self._left -= edges
        self.operations += 4
        if self._pulls:
            self._pulls = frontier.size >= self._before or frontier.size * self.BETA >= self.n
        else:
            self._pulls = frontier.size > self._before and edges * self.ALPHA > self._left
        self._before = frontier.size
        return self.pull(self.columns) if self._pulls else self.push(self.rows, frontier)


class EdgeCentric(NumPyRung):
    """The strategy of edge_centric.cu: test every edge at every level."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.sources, self.targets = row_of_entry(a.csr), a.csr.indices

    @property
    def held(self) -> int:
        """The memory for both ends of each edge and for the levels, in bytes."""
        return self.sources.nbytes + self.targets.nbytes + 4 * self.n

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search moves.

        Each step reads every stored edge once, and the level of every vertex once.
        """
        return depth * (8 * self.sources.size + 4 * self.n)

    def step(self) -> bool:
        """Label the unreached targets of edges whose sources are in the last level."""
        targets = self.targets[self.levels[self.sources] == self.depth - 1]
        targets = targets[self.levels[targets] < 0]
        self.levels[targets] = self.depth
        self.operations += 7
        return targets.size > 0


class EdgeTuned(NumPyRung):
    """The strategy of edge_tuned.cu, except that the edges are not sorted by squares of the matrix.

    Each level is stored in one byte, and each undirected edge is stored only once. The vertex
    numbers at the ends of the edges are stored in 16 bits if all of them fit.
    """

    LAST = 254
    """The largest level that fits in a byte (255 means unreached)."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        sources, targets = row_of_entry(a.csr), a.csr.indices
        self.both = a.is_symmetric
        keep = sources < targets if self.both else sources != targets
        end = np.uint16 if self.n <= 1 << 16 else np.int32
        self.sources, self.targets = sources[keep].astype(end), targets[keep].astype(end)

    @property
    def held(self) -> int:
        """The memory for both ends of each stored edge and for the one-byte levels, in bytes."""
        return self.sources.nbytes + self.targets.nbytes + self.n

    def begin(self, source: int, dtype: Any = np.uint8) -> None:
        """Prepare a search that starts with one-byte levels."""
        super().begin(source, dtype)

    def moves(self, vertices: int, edges: int, depth: int) -> int:
        """Return the minimum number of bytes that a search moves.

        Each step reads every stored edge once, and the level of every vertex once.
        """
        narrow = min(depth, self.LAST)
        levels = narrow * self.n + (depth - narrow) * 4 * self.n
        return depth * (self.sources.nbytes + self.targets.nbytes) + levels

    def step(self) -> bool:
        """Test each stored edge, in both directions if it stands for both directions."""
        if self.depth == self.LAST + 1:
            none = self.levels == unreached(self.levels.dtype)
            self.levels = self.levels.astype(np.int32)
            self.levels[none] = -1
            self.operations += 3
        levels, none = self.levels, unreached(self.levels.dtype)
        tails, heads = levels[self.sources], levels[self.targets]
        there = self.targets[(tails == self.depth - 1) & (heads == none)]
        back = self.sources[(heads == self.depth - 1) & (tails == none)] if self.both else there[:0]
        levels[there], levels[back] = self.depth, self.depth
        self.operations += 12 if self.both else 7
        return there.size + back.size > 0


class EdgePaths:
    """The shortest paths of edge_paths.cu: relax every edge in every round."""

    def __init__(self, a: MatrixStore, dtype: np.dtype[Any], none: Any) -> None:
        self.sources, self.targets = row_of_entry(a.csr), a.csr.indices
        self.weights = a.csr.values.astype(dtype)
        self.distances = np.empty(a.nrows, dtype)
        self._none = none

    @property
    def held(self) -> int:
        """The memory for the edges, their weights and the distances, in bytes."""
        ends = self.sources.nbytes + self.targets.nbytes
        return ends + self.weights.nbytes + self.distances.nbytes

    def begin(self, source: int) -> None:
        """Set the distance of the source to 0, and all other distances to "no distance"."""
        self.distances.fill(self._none)
        self.distances[source] = 0

    def round(self) -> tuple[bool, bool, bool]:
        """Run one round. Return three flags: whether a distance improved, whether a sum was too
        small for the dtype, and whether a sum was too large."""
        d, w, targets = self.distances[self.sources], self.weights, self.targets
        with np.errstate(all="ignore"):
            sums = d + w
        if sums.dtype.kind == "f":
            high, low = sums == np.inf, sums == -np.inf
        else:
            wraps = ((d ^ sums) & (w ^ sums)) < 0
            high, low = (wraps & (w > 0)) | (sums == self._none), wraps & (w < 0)
        there, before = d != self._none, self.distances[targets]
        if (low & there).any():
            return True, True, False
        better = there & ~high & (sums < before)
        np.minimum.at(self.distances, targets[better], sums[better])
        return bool(better.any()), False, bool((there & high & (before == self._none)).any())


def _nbytes(form: Csr) -> int:
    return form.indptr.nbytes + form.indices.nbytes
