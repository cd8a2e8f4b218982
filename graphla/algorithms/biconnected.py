"""Biconnected components, articulation points and bridges of an undirected graph.

A biconnected component is a maximal set of edges in which any two are on a common simple cycle, or
a single edge that is not on a cycle. The components share only articulation points. One depth-first
search on the CPU finds all components (J. Hopcroft and R. Tarjan, 1973). For each edge, let v be
the end that the search discovered later. The edge is in the same component as the tree edge from
the parent of v to v.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.operations.serial import run_serial
from graphla.sparse import Matrix, Vector
from semirings import select


class Blocks(NamedTuple):
    """The result of `find_blocks`.

    Attributes:
        order: for each vertex, its position in the order of discovery.
        block: for each vertex, the component of the tree edge from its parent; -1 for roots.
        heads: for each component, the vertex from which the search entered it.
    """

    order: np.ndarray
    block: np.ndarray
    heads: np.ndarray


@graph_algorithm(undirected=True)
def bridges(A: Matrix) -> Matrix:
    """``B⟨b⟩ = A``, where b selects the edges that are not on a cycle.

    Find the edges whose removal disconnects a component.

    Takes O(n + m) time on the CPU. A graph on a GPU is copied to the CPU.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels.

    Returns:
        Matrix: a symmetric Matrix with the shape and dtype of A that holds the bridges, with their
            values in A.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import bridges
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> bridges(binary.any(A | A.T)).to_dicts()
        {2: {3: 1}, 3: {2: 1}}

    References:
        J. Hopcroft and R. Tarjan, *Efficient Algorithms for Graph Manipulation*, 1973.
    """
    _, block, heads = find_blocks(A)
    # The bridges are the components with a single edge: exactly one vertex other than the head.
    sizes = np.bincount(block[block >= 0], minlength=heads.size)
    ends = np.flatnonzero(block >= 0)
    ends = ends[sizes[block[ends]] == 1]
    with explain_asymmetry(A):
        tops = heads[block[ends]]
    shape: dict[str, Any] = {"nrows": A.nrows, "ncols": A.ncols}
    rows, columns = np.r_[ends, tops], np.r_[tops, ends]
    found = Matrix.from_coo(rows, columns, True, **shape)
    return A.dup(mask=found.S)


@graph_algorithm(undirected=True)
def articulation_points(A: Matrix) -> Vector:
    """``a(v)`` is true if v is an endpoint of edges in at least two biconnected components.

    Find the vertices whose removal disconnects a component.

    Takes O(n + m) time on the CPU. A graph on a GPU is copied to the CPU.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the articulation points and without
            entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import articulation_points
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> articulation_points(binary.any(A | A.T)).to_dict()
        {2: True}

    References:
        J. Hopcroft and R. Tarjan, *Efficient Algorithms for Graph Manipulation*, 1973.
    """
    _, block, heads = find_blocks(A)
    # A vertex belongs to each component of which it is the head, and to the component of the tree
    # edge from its parent.
    memberships = np.bincount(heads, minlength=A.nrows) + (block >= 0)
    return Vector.from_coo(np.flatnonzero(memberships > 1), True, bool, size=A.nrows)


@graph_algorithm(undirected=True)
def biconnected_components(A: Matrix) -> Matrix:
    """``B(i, j) = B(k, l)`` if the edges {i, j} and {k, l} are on a common simple cycle.

    Number the biconnected components, and label each edge with the number of its component.

    Takes O(n + m) time on the CPU. A graph on a GPU is copied to the CPU.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Matrix: a symmetric Matrix of dtype INT64 with the edges of A that are not self-loops.
            Components are numbered 0, 1, ... in the order of their first edges (i, j) with i < j.
            A vertex is in two components if and only if it is an articulation point.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import biconnected_components
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> biconnected_components(binary.any(A | A.T)).to_dicts()[2]
        {0: 0, 1: 0, 3: 1}

    References:
        J. Hopcroft and R. Tarjan, *Efficient Algorithms for Graph Manipulation*, 1973.
    """
    blocks = find_blocks(A)
    rows, columns, _ = select.offdiag(A).new().to_coo()
    component = component_of_edges(blocks, rows, columns)
    upper = rows < columns
    with explain_asymmetry(A):
        used, first = np.unique(component[upper], return_index=True)
        numbers = np.full(blocks.heads.size, -1, np.int64)
        numbers[used[np.argsort(first)]] = np.arange(first.size)
        numbers = numbers[component]
    shape: dict[str, Any] = {"nrows": A.nrows, "ncols": A.ncols}
    return Matrix.from_coo(rows, columns, numbers, "INT64", **shape)


@contextmanager
def explain_asymmetry(A: Matrix) -> Iterator[None]:
    """Replace an IndexError in a `with` block with InvalidValue if A is wrongly declared symmetric.

    The message names an edge whose reverse edge is missing.
    """
    try:
        yield
    except IndexError:
        rows, columns, _ = A.to_coo()
        shape: dict[str, Any] = {"nrows": A.nrows, "ncols": A.ncols}
        validation.symmetric(Matrix.from_coo(rows, columns, True, **shape))
        raise


def find_blocks(A: Matrix) -> Blocks:
    """Find the biconnected components of a symmetric matrix by a depth-first search on the CPU."""
    indptr, columns, _ = A.to("cpu").to_csr(copy=False)
    return find_blocks_in(indptr, columns)


def find_blocks_in(indptr: np.ndarray, columns: np.ndarray) -> Blocks:
    """Find the biconnected components of a graph.

    The neighbors of vertex v are columns[indptr[v]:indptr[v + 1]], in any order.
    """
    n = indptr.size - 1
    order, low, path, stack = (np.zeros(n, np.int32) for _ in range(4))
    block, heads = np.empty(n, np.int32), np.empty(n, np.int32)
    arrays = (indptr, columns, order, block, heads, low, np.empty_like(indptr[:-1]), path, stack)
    count = run_serial("serial_blocks.blocks", arrays, n + columns.size)
    return Blocks(order, block, heads[:count])


def component_of_edges(blocks: Blocks, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the component of each of the given edges. None of them may be a self-loop."""
    later = blocks.order[rows] > blocks.order[columns]
    return blocks.block[np.where(later, rows, columns)]
