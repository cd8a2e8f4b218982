"""A shortest path by A*, a search that is guided toward the target.

The search is Dijkstra's algorithm with a different order: vertices are visited in order of their
distance from the source plus their estimated distance to the target (P. Hart, N. Nilsson and B.
Raphael, 1968). If no estimate exceeds the true distance, the path is a shortest one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.shortest_path import NoPath
from graphla.algorithms.sssp import lengths_of
from graphla.graph.labels import as_labels, vertex_name
from graphla.operations.serial import run_serial
from graphla.sparse import Matrix, Vector

Heuristic = Vector | Mapping[Any, float] | Callable[[Any, Any], float] | None


@graph_algorithm(vertices=("source", "target"), keyed=("heuristic",), lengths="weight")
def astar_path(
    A: Matrix,
    source: Any,
    target: Any,
    heuristic: Heuristic = None,
    weight: bool | str | None = True,
    *,
    cutoff: float | None = None,
) -> list[int]:
    """``..., p(p(t)), p(t), t``, where p(v) is the parent of v in the search.

    Return the vertices of a path from one vertex to another, using estimates of distances.

    The result is a shortest path if no estimate exceeds the true distance to the target. The search
    visits fewer vertices if the estimates are close to the distances. Runs on the CPU; a Matrix on
    a GPU is copied.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: the first vertex of the path.
        target: the last vertex of the path.
        heuristic: the estimated distance from each vertex to the target: a Vector of size n, or a
            mapping, where a missing entry means 0; or a function that is called with a vertex and
            the target. None means that all estimates are 0.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A, which
            must be at least 0, are used; if None or False, each edge counts as 1.
        cutoff: the maximum length; paths that are longer, or estimated to be longer, are ignored.
            None means no limit.

    Returns:
        list[int]: the vertices of the path, including both ends; labels if A is a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector `heuristic` has a size other than n.
        IndexOutOfBound: If source or target is not a vertex of the graph, or `heuristic` has a key
            that is not a vertex.
        DeviceMismatch: If A and `heuristic` are not on the same device.
        NoPath: If no path leads from source to target.
        InvalidValue: If a weight is negative or NaN, if `cutoff` is negative, or if weights are
            used and A is a Graph whose parallel edges were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import astar_path
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> astar_path(A, 0, 2, {0: 3, 1: 2})
        [0, 1, 2]

    References:
        P. Hart, N. Nilsson and B. Raphael, *A Formal Basis for the Heuristic Determination of
            Minimum Cost Paths*, 1968.
    """
    n = A.nrows
    source = validation.vertex(source, n)
    target = validation.vertex(target, n, "target")
    W, _ = lengths_of(A, weight)
    validation.nonnegative(W)
    most = math.inf if cutoff is None else validation.real("cutoff", cutoff, low=0)
    estimate: Any = None
    if callable(heuristic) and not isinstance(heuristic, Vector):
        estimate = _with_labels(heuristic)
    elif heuristic is not None:
        estimates = power_iteration.as_vector("heuristic", heuristic, n, "FP64")
        estimate = estimates.to_dense(0.0)
    indptr, columns, values = W.to("cpu").to_csr(copy=False)
    found = search_for(indptr, columns, np.asarray(values), estimate, source, target, most)
    if found is None:
        raise NoPath(f"A has no path from {vertex_name(source)} to {vertex_name(target)}")
    return found


def search_for(
    indptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    estimate: np.ndarray | Callable[[int, int], float] | None,
    source: int,
    target: int,
    cutoff: float,
) -> list[int] | None:
    """Return the path that A* finds, or None.

    The successors of vertex v are columns[indptr[v]:indptr[v + 1]], in any order. `estimate` is an
    array, or a function that takes a vertex and the target; the search calls it at most once per
    vertex.
    """
    n = indptr.size - 1
    if callable(estimate):
        rows = indptr.tolist(), columns.tolist(), values.tolist()
        parents: Any = _search_in_python(*rows, estimate, source, target, cutoff)
    else:
        estimates = np.zeros(n + 1)
        if estimate is not None:
            estimates[:n] = estimate
        estimates[n] = cutoff
        parents = _search_in_loop(indptr, columns, values, estimates, source, target)
    if parents is None:
        return None
    path = [target]
    while path[-1] != source:
        path.append(int(parents[path[-1]]))
    return path[::-1]


def _search_in_loop(
    indptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    estimates: np.ndarray,
    source: int,
    target: int,
) -> Any:
    n, room = estimates.size - 1, columns.size + 1
    lengths = np.ascontiguousarray(values, np.float64)
    while True:
        parents, best = np.full(n, -1, np.int32), np.full(n, -1.0)
        keys, items = np.empty(2 * room), np.empty(3 * room, np.int64)
        arrays = (indptr, columns, lengths, estimates, parents, best, keys, items)
        work = n + columns.size
        found = run_serial("serial_astar.search", arrays, work, source, target, room)
        if found >= 0:
            return parents if found else None
        room *= 2  # if estimates are inconsistent, a vertex may be on the heap several times


def _search_in_python(
    indptr: list[int],
    columns: list[int],
    values: list[Any],
    estimate: Callable[[int, int], float],
    source: int,
    target: int,
    cutoff: float,
) -> dict[int, int] | None:
    """Run the search of the compiled loop with `heapq`; `estimate` is a Python function here."""
    heap: list[Any] = [(0, 0, source, 0, source)]
    parents: dict[int, int] = {}
    known: dict[int, tuple[Any, Any]] = {}
    mark = 1
    while heap:
        _, _, v, length, parent = heappop(heap)
        if v in parents and (v == source or known[v][0] < length):
            continue
        parents[v] = parent
        if v == target:
            return parents
        for p in range(indptr[v], indptr[v + 1]):
            w = columns[p]
            reached = length + values[p]
            if w in known:
                best, rest = known[w]
                if best <= reached:
                    continue
            else:
                rest = estimate(w, target)
            if reached + rest <= cutoff:
                known[w] = reached, rest
                heappush(heap, (reached + rest, mark, w, reached, v))
                mark += 1
    return None


def _with_labels(heuristic: Callable[[Any, Any], float]) -> Callable[[int, int], float]:
    """Return a function of vertex numbers that calls `heuristic` with their labels."""

    def estimate(v: int, target: int) -> float:
        return heuristic(*as_labels([v, target]))

    return estimate
