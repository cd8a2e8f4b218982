"""The transitive reduction of a directed graph without cycles: the edges that are not redundant."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.reachable import transitive_closure
from graphla.algorithms.topological_sort import sort_by_generation
from graphla.graph.cached_properties import degrees
from graphla.operations.serial import run_serial
from graphla.sparse import Matrix
from semirings import binary, monoid
from semirings.semiring import lor_pair


@graph_algorithm()
def transitive_reduction(A: Matrix) -> Matrix:
    """``R⟨¬(A lor.pair A⁺)⟩ = A``, where A⁺ is the transitive closure.

    Drop each edge i -> j for which there is another path from i to j.

    The result is the smallest graph with the same reachability. Takes O(n m) time in the worst
    case. On a GPU, the function computes the transitive closure, which may hold n² / 2 entries.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.

    Returns:
        Matrix: a Matrix with the shape and dtype of A that holds the remaining edges, with their
            values.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import transitive_reduction
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], 1, nrows=3, ncols=3)
        >>> transitive_reduction(A).to_dicts()
        {0: {1: 1}, 1: {2: 1}}

    References:
        A. V. Aho, M. R. Garey and J. D. Ullman, *The Transitive Reduction of a Directed Graph*,
            1972.
    """
    order, _ = sort_by_generation(A)
    # An edge u -> v can be redundant only if u has other out-edges and v has other in-edges.
    many_out, many_in = (degrees(x).select(">", 1).new() for x in (A, A.T.new()))
    into = binary.first(A & many_in).new().reduce_rowwise(monoid.any).new()
    if not into.dup(mask=many_out.S).nvals:
        return A.dup()
    return _reduce_on_cpu(A, order) if A.device == "cpu" else definition(A)


def definition(A: Matrix) -> Matrix:
    """Compute the reduction from the transitive closure, which may hold n² / 2 entries."""
    # D⟨A⟩ = A lor.pair A⁺: the edges that are redundant because of a longer path
    dropped = lor_pair(A @ transitive_closure(A)).new(mask=A.S)
    # R⟨¬D⟩ = A
    return A.dup(mask=~dropped.S)


def _reduce_on_cpu(A: Matrix, order: np.ndarray) -> Matrix:
    """Compute the reduction in n m / 62 steps: a word of 62 bits marks 62 reached vertices."""
    indptr, columns, _ = A.to_csr(copy=False)
    positions = np.empty_like(order)
    positions[order] = np.arange(order.size)
    dropped, reached = np.zeros(columns.size, np.int8), np.zeros(order.size, np.int64)
    arrays = (indptr, columns, order, positions, dropped, reached)
    run_serial("serial_order.reduce", arrays, order.size + columns.size)
    shape: dict[str, Any] = {"nrows": A.nrows, "ncols": A.ncols}
    rows = np.repeat(np.arange(A.nrows), np.diff(indptr))[dropped == 0]
    kept = Matrix.from_coo(rows, columns[dropped == 0], True, **shape)
    return A.dup(mask=kept.S)
