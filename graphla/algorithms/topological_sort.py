"""Topological orders: the vertices of a directed graph without cycles, each before its successors.

A. B. Kahn's algorithm (1962) removes the vertices without in-edges, round by round. If vertices
remain, they contain a cycle. The CPU removes one vertex after another; `definition` removes a
generation at a time.

Invariants of `definition`, at the start of each round:
- `generation` holds, for each removed vertex, the round in which it was removed;
- degree(v), for each other vertex, is the number of its in-edges from vertices that remain or are
  in `frontier`;
- `frontier` has entries at the vertices that lost their last in-edges in the previous round.
"""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared import power_iteration
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.find_cycle import HasCycle, find_remaining_cycle
from graphla.expression import replace
from graphla.graph.labels import vertex_name
from graphla.operations.serial import run_serial
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.semiring import plus_pair


@graph_algorithm()
def topological_sort(A: Matrix) -> list[int]:
    """``s(i) < s(j)`` for each edge i -> j, where s holds the positions in the list.

    List the vertices so that each edge leads from an earlier to a later vertex.

    Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        list[int]: all vertices, generation by generation (see `topological_generations`), and in
            ascending order within a generation; labels if A is a Graph.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import topological_sort
        >>> A = Matrix.from_coo([2, 2, 1], [0, 1, 0], 1, nrows=4, ncols=4)
        >>> topological_sort(A)
        [2, 3, 1, 0]

    References:
        A. B. Kahn, *Topological Sorting of Large Networks*, 1962.
    """
    order, _ = sort_by_generation(A)
    return order.tolist()


@graph_algorithm()
def topological_generations(A: Matrix) -> list[list[int]]:
    """``g(j) = max {g(i) + 1 : i -> j is an edge}``, or 0 if j has no in-edges.

    Group the vertices by the number of edges of a longest path to them.

    Takes O(n + m) time on the CPU, and one vector-matrix product per generation on a GPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        list[list[int]]: for each g = 0, 1, ... the vertices of this generation, in ascending order;
            labels if A is a Graph. All predecessors of a vertex are in earlier generations.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        HasCycle: If the graph has a cycle, such as a self-loop or an undirected edge. The attribute
            `cycle` lists the vertices of one cycle.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import topological_generations
        >>> A = Matrix.from_coo([2, 2, 1], [0, 1, 0], 1, nrows=4, ncols=4)
        >>> topological_generations(A)
        [[2, 3], [1], [0]]

    References:
        A. B. Kahn, *Topological Sorting of Large Networks*, 1962.
    """
    order, generation = sort_by_generation(A)
    ends = np.cumsum(np.bincount(generation))
    return [part.tolist() for part in np.split(order, ends[:-1])] if ends.size else []


@graph_algorithm()
def is_directed_acyclic_graph(A: Matrix, *, directed: bool | None = None) -> bool:
    """``A^n`` over the semiring lor.land has no entry.

    Return whether a graph is directed and has no cycle.

    Takes O(n + m) time on the CPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as directed.

    Returns:
        bool: whether there is neither a cycle nor a self-loop. An undirected graph is never a
            directed acyclic graph, as in NetworkX.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import is_directed_acyclic_graph
        >>> is_directed_acyclic_graph(Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3))
        True
    """
    if directed is False:
        return False
    return count_generations(A).nvals == A.nrows


def sort_by_generation(A: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices by generation and then by number, and the generation of each vertex.

    Raise HasCycle if the graph has a cycle.
    """
    generations = count_generations(A)
    if generations.nvals < A.nrows:
        cycle = find_remaining_cycle(A, generations)
        raise HasCycle(
            f"A has a cycle through vertex {vertex_name(cycle[0])}, so no order is topological",
            cycle,
        )
    generation = generations.to_dense()
    # For integers of at most 16 bits, NumPy uses a fast radix sort.
    narrow = np.min_scalar_type(generation.max(initial=0))
    return np.argsort(generation.astype(narrow), kind="stable"), generation


def count_generations(A: Matrix) -> Vector:
    """Return the generations, without entries at vertices on a cycle or reached from one."""
    if A.device != "cpu":
        return definition(A)
    indptr, columns, _ = A.to_csr(copy=False)
    _, generation = remove_generations(indptr, columns)
    return Vector.from_dense(generation, -1, dtype="INT64")


def remove_generations(indptr: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices in topological order, and the generation of each vertex.

    The successors of vertex v are columns[indptr[v]:indptr[v + 1]], in any order. The order omits
    the vertices that are on a cycle or reached from one, and their generation is -1.
    """
    n = indptr.size - 1
    degrees, order = np.bincount(columns, minlength=n).astype(np.int32), np.empty(n, np.int32)
    generation = np.full(n, -1, np.int32)
    arrays = (indptr, columns, degrees, order, generation)
    count = run_serial("serial_order.generations", arrays, n + columns.size)
    return order[:count], generation


def definition(A: Matrix) -> Vector:
    """Return the generation of each vertex, computed by one product per generation."""
    # d = 1 plus.pair A, the in-degrees
    degree = power_iteration.full(0, A.nrows, "INT64")
    degree(binary.plus) << plus_pair["INT64"](power_iteration.full(1, A.nrows, "INT64") @ A)
    return _remove_generations(A, degree)


@jit_if_large
def _remove_generations(A: Matrix, degree: Vector) -> Vector:
    generation, frontier = Vector("INT64", degree.size), degree.select("==", 0).new()
    lost, round = Vector("INT64", degree.size), 0
    while frontier.nvals:
        # g⟨f⟩ = round
        generation(frontier.S) << round
        # l⟨¬g, r⟩ = f plus.pair A: the number of in-edges that each remaining vertex loses
        lost(~generation.S, replace) << plus_pair["INT64"](frontier @ A)
        # f = d - l; d⟨f⟩ = f; f = f⟨f = 0⟩
        frontier << binary.minus(degree & lost)
        degree(frontier.S) << frontier
        frontier << frontier.select("==", 0)
        round += 1
    return generation
