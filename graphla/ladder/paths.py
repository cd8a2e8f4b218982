"""Shortest paths from one source over a list of edges, by the Bellman-Ford algorithm.

The rounds run in edge_paths.py on a GPU, and in in_numpy.py on the CPU. The functions in
graphla.algorithms, such as `sssp`, are faster and can also return parents.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm, refuse_summed
from graphla.algorithms.bellman_ford import bellman_ford
from graphla.algorithms.distances import lengths_of
from graphla.backends import streams
from graphla.formats import Array, BitmapVector
from graphla.graph import Graph
from graphla.graph.labels import vertex_name
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import InvalidValue

PATIENCE = 1024
"""Number of rounds after which a graph with negative weights is first checked for a negative cycle.
A graph with n vertices is checked after round n at the latest: if there is no negative cycle, round
n changes nothing."""


class Rounds(Protocol):
    """The distances of a shortest-path search, and the rounds that improve them."""

    distances: Array

    @property
    def held(self) -> int:
        """Size of the edges, the weights and the distances, in bytes."""
        ...

    def begin(self, source: int) -> None:
        """Set the distance of the source to 0, and all other distances to "no distance"."""
        ...

    def round(self) -> tuple[bool, bool, bool]:
        """Run one round over all edges. Return three flags: whether a distance decreased, whether a
        sum was too small for the dtype, and whether a sum was too large."""
        ...


class Paths:
    """A weighted graph prepared for shortest paths from many sources, as a list of edges.

    Vertices are given by their numbers, even if the graph is a Graph with labels.

    Args:
        A: the graph, as for `ladder.sssp`.
        weight: whether the values of A are lengths, as for `ladder.sssp`.
        dtype: the dtype of the distances, as for `ladder.sssp`.

    Attributes:
        dtype: the dtype of the distances.
        rounds: the number of rounds over all edges in the last search.
        seconds: the seconds that the preparation took.
        held: the bytes of edges, weights and distances.
    """

    def __init__(self, A: GraphLike, weight: bool | str | None = True, dtype: Any = None) -> None:
        begin = time.perf_counter()
        if isinstance(A, Graph):
            if A.multigraph_weight == "sum" and validation.weighs("weight", weight):
                refuse_summed("Paths")
            A = A.matrix
        A = validation.adjacency(A)
        self._A, wide = lengths_of(A, weight)
        self.dtype = _dtype(self._A, wide, dtype)
        self._may_cycle = _extent(self._A, self.dtype)[0] < 0
        self._rounds = perform("ladder sssp", self._lay_out, self._A._store)
        self.rounds = 0
        """Number of rounds over all edges in the last search."""
        self.seconds = time.perf_counter() - begin
        """Seconds that the preparation took."""

    @property
    def held(self) -> int:
        """Size of the edges, the weights and the distances, in bytes."""
        return self._rounds.held

    def sssp(self, source: Any) -> Vector:
        """Find shortest paths from one vertex.

        Args:
            source: a vertex, as a number.

        Returns:
            Vector: the distances, of size n, without entries at vertices that are not reached.

        Raises:
            TypeError: If `source` is not an integer.
            IndexOutOfBound: If the source is not a vertex of the graph.
            InvalidValue: If the source reaches a cycle whose weights have a negative sum.
            OverflowError: If a distance does not fit the dtype.

        Examples:
            >>> from graphla import Matrix, ladder
            >>> paths = ladder.Paths(Matrix.from_coo([0, 1], [1, 2], [4, 3], nrows=3, ncols=3))
            >>> paths.sssp(0).to_dict()
            {0: 0, 1: 4, 2: 7}
        """
        start = validation.vertex(source, self._A.nrows)
        return Vector._of(perform("ladder sssp", self._search, self._A._store, start))

    def _lay_out(self, a: MatrixStore) -> Rounds:
        np_type, none = self.dtype.np_type, self._none
        if a.device == "cpu":
            from graphla.ladder.in_numpy import EdgePaths
        else:
            from graphla.ladder.edge_paths import EdgePaths
        ready = EdgePaths(a, np_type, none)
        if a.device != "cpu":
            streams(a.device).wait()
        return ready

    @property
    def _none(self) -> Any:
        """The value that means "no distance"."""
        np_type = self.dtype.np_type
        return np_type.type(np.inf) if self.dtype.is_float else np.iinfo(np_type).max

    def _search(self, a: MatrixStore, source: int) -> VectorStore:
        rounds, goes_on, lost = self._rounds, True, False
        patience = min(PATIENCE, a.nrows)
        rounds.begin(source)
        self.rounds = 0
        while goes_on:
            self.rounds += 1
            goes_on, sank, lost = rounds.round()
            if sank or (goes_on and self._may_cycle and self.rounds == patience):
                bellman_ford(self._A, source)  # raises if there is a negative cycle
                patience *= 2
            if sank:
                self._refuse(source, "less than", -1)
        if lost:
            self._refuse(source, "more than", 1)
        present = rounds.distances != self._none
        storage = BitmapVector(present.size, present, rounds.distances.copy(), int(present.sum()))
        return VectorStore(a.device, self.dtype, storage)

    def _refuse(self, source: int, than: str, sign: int) -> None:
        low, high = _range(self.dtype)
        raise OverflowError(
            f"A has a shortest path from {vertex_name(source)} of {than} "
            f"{low if sign < 0 else high}, which {self.dtype} cannot hold here"
        )


@graph_algorithm(vertices=("source",), lengths="weight")
def sssp(A: Matrix, source: Any, *, weight: bool | str | None = True, dtype: Any = None) -> Vector:
    """``d = d min (d min.+ A)``, until no distance decreases.

    Find shortest paths from one vertex by rounds over all edges.

    Takes O(n m) time in the worst case. `graphla.algorithms.sssp` and `bellman_ford` are faster,
    and can also return parents.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix with an entry A(i,
            j) for each edge i -> j. With a Graph, arguments and results name vertices by their
            labels. The values of A are the lengths of the edges, which may be negative.
        source: a vertex.
        weight: True, or the name of the weight as in NetworkX, to use the values of A; None or
            False to count 1 for each edge.
        dtype: the dtype of the distances: "INT64" or "INT32" for integer weights, "FP64" or "FP32"
            for floating-point weights. None selects the 64-bit type; a 32-bit type needs half the
            memory. The largest value of an integer type means "no distance".

    Returns:
        Vector: the distances, of size n and the given dtype, without entries at vertices that are
            not reached.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has a wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If the source is not a vertex of the graph.
        InvalidValue: If the source reaches a cycle whose weights have a negative sum, if `dtype` is
            any other dtype, if a weight is infinite or NaN or does not fit `dtype`, or if weights
            are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit `dtype`.

    Examples:
        >>> from graphla import Matrix, ladder
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, -2], nrows=4, ncols=4)
        >>> ladder.sssp(A, 0).to_dict()
        {0: 0, 1: 1, 2: -1}
    """
    validation.vertex(source, A.nrows)
    return Paths(A, weight, dtype).sssp(source)


def _dtype(A: Matrix, wide: str, given: Any) -> DataType:
    """Return the dtype of the distances: `given`, or, if this is None, the 64-bit dtype `wide`.
    Raise an error if a weight does not fit in the dtype."""
    if given is None:
        given = wide
    names = ("FP32", "FP64") if wide == "FP64" else ("INT32", "INT64")
    dtype = validation.one_of("dtype", given, names)
    low, high = _range(dtype)
    for weight in _extent(A, A.dtype):
        if not low <= weight <= high:
            raise InvalidValue(
                f"A has a weight of {weight}, but must have finite ones that {dtype} holds"
            )
    return dtype


def _range(dtype: DataType) -> tuple[Any, Any]:
    """Return the smallest and the largest distance of a dtype."""
    if dtype.is_float:
        info = np.finfo(dtype.np_type)
        return info.min, info.max
    info = np.iinfo(dtype.np_type)
    return info.min, info.max - 1


def _extent(A: Matrix, dtype: DataType) -> tuple[Any, Any]:
    """Return the smallest and the largest weight; both are 0 for a graph without edges."""
    if not A.nvals:
        return 0, 0
    return perform("extent", MatrixStore.extent, A._store, lookup_dtype(dtype))
