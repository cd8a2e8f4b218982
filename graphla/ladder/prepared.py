"""Prepare a strategy for a graph, and run breadth-first searches with it."""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.backends import backend, streams
from graphla.formats import BitmapVector
from graphla.graph import Graph
from graphla.ladder.rung import Search
from graphla.ladder.strategies import Strategy, lookup
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import VectorStore
from semirings.dtypes import INT32


class Prepared:
    """A strategy prepared for many searches of one graph. Its data is laid out only once.

    Run one search at a time: each search overwrites the state of the previous search.

    Args:
        A: a square adjacency matrix.
        strategy: the strategy to prepare for the searches of A.
    """

    def __init__(self, A: Matrix, strategy: Strategy) -> None:
        self.strategy = strategy
        self.seconds = 0.0
        """Seconds that the preparation took."""
        self._store = A._store
        self._device = A.device
        begin = time.perf_counter()
        self._rung = perform(f"ladder {strategy.name}", strategy.rung(A.device), self._store)
        self.wait()
        self.seconds = time.perf_counter() - begin

    @property
    def held(self) -> int:
        """Size of the data that the strategy reads, and of its state, in bytes."""
        return self._rung.held

    @property
    def warms_up(self) -> bool:
        """Whether the first search takes longer than later searches, because it compiles its
        code."""
        return self._rung.warms_up

    def moves(self, vertices: int, edges: int, depth: int) -> int | None:
        """Return the minimum number of bytes that a search reads and writes; None if unknown.

        The search reached `vertices` vertices in `depth` levels. The rows of these vertices have
        `edges` entries in all.
        """
        return self._rung.moves(vertices, edges, depth)

    def search(self, source: int, within: float = inf) -> Search:
        """Run one search and return its result. Its levels are valid until the next search.

        Some strategies for the CPU check the time, and raise OutOfTime after `within` seconds.
        """
        start = validation.vertex(source, self._store.nrows)
        self._rung.deadline = time.perf_counter() + within
        return perform(f"ladder {self.strategy.name}", self._search, self._store, start)

    def _search(self, _: Any, source: int) -> Search:
        return self._rung.search(source)

    def bfs(self, source: Any) -> Vector:
        """Run a breadth-first search from one vertex.

        Args:
            source: a vertex, as a number.

        Returns:
            Vector: the levels, of size n and dtype INT32, without entries at vertices that are not
                reached.

        Raises:
            TypeError: If `source` is not an integer.
            IndexOutOfBound: If the source is not a vertex of the graph.

        Examples:
            >>> from graphla import generators, ladder
            >>> ladder.prepare(generators.grid(2, 2), "sequential").bfs(0).to_dict()
            {0: 0, 1: 1, 2: 1, 3: 2}
        """
        start = validation.vertex(source, self._store.nrows)

        def found(_: Any) -> VectorStore:
            self._rung.deadline = inf
            search, do = self._rung.search(start), backend(self._device)
            present, levels = do.asarray(search.reached()), do.asarray(search.levels)
            if search.present is None or levels.dtype != np.int32:
                levels = levels.astype(np.int32)  # a copy: the next search overwrites the original
            count = int(present.sum())  # this waits until both arrays are complete
            storage = BitmapVector(present.size, present, levels, count)
            return VectorStore(self._store.device, INT32, storage)

        return Vector._of(perform(f"ladder {self.strategy.name}", found, self._store))

    def wait(self) -> None:
        """Wait until the GPU has finished all work."""
        if self._device != "cpu":
            streams(self._device).wait()


def prepare(A: GraphLike, strategy: str = "closure") -> Prepared:
    """``prepare(A, strategy).bfs(s) = bfs(A, s, strategy=strategy)``.

    Lay out the data of a strategy once, for many searches of one graph.

    Takes O(n + m) time and memory.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix (or an expression
            that yields one) with an entry A(i, j) for each edge i -> j. The values of A do not
            matter. Vertices are given by their numbers, even if A is a Graph with labels.
        strategy: the name of a strategy, a key of `ladder.STRATEGIES`.

    Returns:
        Prepared: an object whose methods `bfs` and `search` run searches.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has a wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If `strategy` is not the name of a strategy.
        DeviceUnavailable: If the strategy needs a GPU and A is on the CPU.

    Examples:
        >>> from graphla import Matrix, ladder
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 1, nrows=5, ncols=5)
        >>> ready = ladder.prepare(A, "sequential")
        >>> [ready.bfs(source).nvals for source in (0, 4)]
        [4, 1]
    """
    A = A.matrix if isinstance(A, Graph) else A
    return Prepared(validation.adjacency(A), lookup(strategy))


@graph_algorithm(vertices=("source",))
def bfs(A: Matrix, source: Any, *, strategy: str = "closure") -> Vector:
    """``l⟨f⟩ = depth``, ``f⟨¬l, r⟩ = f any.pair A``, until f is empty.

    Run a breadth-first search from one vertex with one strategy of the ladder.

    f is the frontier, l holds the levels, and r stands for replace. All strategies return the same
    levels. For many searches of one graph use `prepare`, which lays out the data only once.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix with an entry A(i,
            j) for each edge i -> j. If it is a Graph, vertices are given by their labels. The
            values of A do not matter.
        source: a vertex.
        strategy: the name of a strategy, a key of `ladder.STRATEGIES`.

    Returns:
        Vector: the levels, of size n and dtype INT32, without entries at vertices that are not
            reached.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has a wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If the source is not a vertex of the graph.
        InvalidValue: If `strategy` is not the name of a strategy.
        DeviceUnavailable: If the strategy needs a GPU and A is on the CPU.

    Examples:
        >>> from graphla import Matrix, ladder
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 1, nrows=5, ncols=5)
        >>> ladder.bfs(A, 0, strategy="sequential").to_dict()
        {0: 0, 1: 1, 2: 1, 3: 2}
    """
    return prepare(A, strategy).bfs(source)
