"""A longest path of a directed graph without cycles.

d(v), the length of a longest path that ends at v, is the least solution of d = d max (d max.+ A)
with d ≥ 0: a path may begin at any vertex. The CPU computes d in one pass over a topological order.
A GPU repeats the product until d does not change.
"""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.sssp import lengths_of
from graphla.algorithms.topological_sort import sort_by_generation
from graphla.operations.serial import run_serial
from graphla.sparse import Matrix, Vector
from graphla.traversal.closure import solve
from semirings.semiring import max_plus

WIDE = 2**63
"""Exclusive upper bound on the path lengths if the weights are integers."""


@graph_algorithm(lengths="weight")
def dag_longest_path(A: Matrix, weight: bool | str | None = True) -> list[int]:
    """``..., p(p(t)), p(t), t``, where t ends a longest path and p(v) is the parent of v on it.

    Return the vertices of a longest path.

    If there are several longest paths, the function returns one of them. Takes O(n + m) time on the
    CPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1. Values may be negative.

    Returns:
        list[int]: the vertices of the path, at least one; labels if A is a Graph. The list is empty
            if the graph has no vertices.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.
        InvalidValue: If a weight is NaN, or if weights are used and A is a Graph whose parallel
            edges were summed.
        OverflowError: If a length does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import dag_longest_path
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> dag_longest_path(A)
        [0, 2]
        >>> dag_longest_path(A, weight=None)
        [0, 1, 2]
    """
    lengths, parents = find_longest_paths(A, weight)
    if not lengths.size:
        return []
    path = [int(lengths.argmax())]
    while parents[path[-1]] != path[-1]:
        path.append(int(parents[path[-1]]))
    return path[::-1]


@graph_algorithm(lengths="weight")
def dag_longest_path_length(A: Matrix, weight: bool | str | None = True) -> float:
    """``max over v of d(v)``, where ``d = d max (d max.+ A)`` and d ≥ 0.

    Return the length of a longest path.

    Takes O(n + m) time on the CPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1. Values may be negative.

    Returns:
        float: the sum of the weights, at least 0: an int without weights or for integer weights,
            otherwise a float.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.
        InvalidValue: If a weight is NaN, or if weights are used and A is a Graph whose parallel
            edges were summed.
        OverflowError: If a length does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import dag_longest_path_length
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> dag_longest_path_length(A), dag_longest_path_length(A, weight=None)
        (5, 2)
    """
    lengths, _ = find_longest_paths(A, weight)
    return lengths.max(initial=0).item()


def find_longest_paths(A: Matrix, weight: bool | str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the length of a longest path to each vertex, and the vertex before it on the path.

    A vertex at which a longest path begins is its own parent.
    """
    order, _ = sort_by_generation(A)
    W, dtype = lengths_of(A, weight)
    kind = np.float64 if dtype == "FP64" else np.int64
    n = A.nrows
    if A.device != "cpu":
        d, p = solve(Vector.from_dense(np.zeros(n, kind)), W, max_plus[dtype], parents=True)
        return d.to_dense(), p.to_dense()
    indptr, columns, values = W.to_csr(copy=False)
    values = values.astype(kind, copy=False)
    if kind is np.int64 and values.size and int(values.max()) * n >= WIDE:
        # The sums are rounded, so a length just below 2^63 is rejected as well.
        lengths, _ = find_longest_in_order(indptr, columns, values.astype(np.float64), order)
        if lengths.max() >= WIDE:
            raise OverflowError("A has a path whose length INT64 does not hold")
    return find_longest_in_order(indptr, columns, values, order)


def find_longest_in_order(
    indptr: np.ndarray, columns: np.ndarray, values: np.ndarray | None, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the length of a longest path to each vertex, and the vertex before it on the path.

    The successors of vertex v are columns[indptr[v]:indptr[v + 1]], and `order` is a topological
    order. The values are INT64 or FP64; None gives each edge the length 1.
    """
    n = order.size
    if values is None:
        values = np.broadcast_to(np.int64(1), columns.shape)
    step = int(values.strides != (0,))
    held = np.ascontiguousarray(values if step else values[:1])
    lengths, parents = np.zeros(n, held.dtype), np.arange(n, dtype=np.int32)
    arrays = (indptr, columns, held, order.astype(np.int32), lengths, parents)
    run_serial("serial_order.longest", arrays, n + columns.size, step)
    return lengths, parents
