"""Biconnected components, articulation points and bridges of an undirected graph.

A biconnected component is a maximal set of edges in which any two are on a common simple cycle, or
a single edge that is not on a cycle. The components share only articulation points.

In a rooted spanning forest, the edges of a component have one highest vertex, the head. Each other
vertex v of the component is connected to it by the tree edge from the parent of v to v. An edge is
in the same component as this tree edge of its end that comes later in preorder. One depth-first
search on the CPU finds all components (J. Hopcroft and R. Tarjan, 1973).

`definition`, which runs on a GPU, takes any spanning forest (X. Dong et al., 2023). Let p be the
parent of v. If an edge leads from the subtree of v to a vertex outside the subtree of p, then the
tree edges to v and to p are in one component, and v and p are joined. The ends of an edge between
two vertices, neither of which is an ancestor of the other, are joined too. Two vertices are joined
by a path of such steps if and only if the tree edges to both are in one component.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import lookup, selection, vertex_numbers
from graphla.algorithms._shared.rooted_forest import SHIFT, root_forest, subtree_extremes
from graphla.algorithms.components import connected_components
from graphla.operations.serial import run_serial
from graphla.sparse import Matrix, Vector
from semirings import binary, indexunary, select, unary
from semirings.semiring import max_second, min_first, min_second, min_secondi, plus_first


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


class RootedBlocks(NamedTuple):
    """The result of `definition`. All vectors have one element per vertex, and the dtype INT64.

    Attributes:
        order: the position of each vertex in the preorder of the forest; a full Vector.
        component: for each vertex v, the smallest vertex in the same component, other than its
            head; a full Vector. A root has a component of its own.
        head: the highest vertex of the component of v; a Vector without entries at roots.
    """

    order: Vector
    component: Vector
    head: Vector


@graph_algorithm(undirected=True)
def bridges(A: Matrix) -> Matrix:
    """``B⟨b⟩ = A``, where b selects the edges that are not on a cycle.

    Find the edges whose removal disconnects a component.

    Takes O(n + m) time on the CPU, and O((n + m) log n) time on a GPU.

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
        R. Tarjan and U. Vishkin, *An Efficient Parallel Biconnectivity Algorithm*, 1985.
        X. Dong, L. Wang, Y. Gu and Y. Sun, *Provably Fast and Space-Efficient Parallel
            Biconnectivity*, PPoPP 2023.
    """
    if _is_defined(A):
        return select_bridges(A, definition(A))
    _, block, heads = find_blocks(A)
    # A component with a single edge has exactly one vertex other than its head.
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
    """``a(v)`` is true if v is an end of edges of two biconnected components.

    Find the vertices whose removal disconnects a component.

    Takes O(n + m) time on the CPU, and O((n + m) log n) time on a GPU.

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
        R. Tarjan and U. Vishkin, *An Efficient Parallel Biconnectivity Algorithm*, 1985.
        X. Dong, L. Wang, Y. Gu and Y. Sun, *Provably Fast and Space-Efficient Parallel
            Biconnectivity*, PPoPP 2023.
    """
    if _is_defined(A):
        return select_points(A, definition(A))
    _, block, heads = find_blocks(A)
    # A vertex belongs to each component of which it is the head, and to the component of the tree
    # edge from its parent.
    memberships = np.bincount(heads, minlength=A.nrows) + (block >= 0)
    return Vector.from_coo(np.flatnonzero(memberships > 1), True, bool, size=A.nrows)


@graph_algorithm(undirected=True)
def biconnected_components(A: Matrix) -> Matrix:
    """``B(i, j) = B(k, l)`` if the edges {i, j} and {k, l} are on a common simple cycle.

    Number the biconnected components, and label each edge with the number of its component.

    Takes O(n + m) time on the CPU, and O((n + m) log n) time on a GPU.

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
        R. Tarjan and U. Vishkin, *An Efficient Parallel Biconnectivity Algorithm*, 1985.
        X. Dong, L. Wang, Y. Gu and Y. Sun, *Provably Fast and Space-Efficient Parallel
            Biconnectivity*, PPoPP 2023.
    """
    if _is_defined(A):
        return number_components(A, definition(A))
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
    """In a `with` block, replace an IndexError by InvalidValue if A is wrongly declared symmetric.

    The message names an edge whose opposite is missing.
    """
    try:
        yield
    except IndexError:
        rows, columns, _ = A.to_coo()
        shape: dict[str, Any] = {"nrows": A.nrows, "ncols": A.ncols}
        validation.symmetric(Matrix.from_coo(rows, columns, True, **shape))
        raise


def find_blocks(A: Matrix) -> Blocks:
    """Find the biconnected components of a symmetric matrix by a depth-first search on the CPU.

    A matrix on a GPU is copied to the CPU.
    """
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


def definition(A: Matrix) -> RootedBlocks:
    """Find the biconnected components from a spanning forest, in rounds of vector operations."""
    if not A.nrows:
        return RootedBlocks(*(Vector("INT64") for _ in range(3)))
    forest = root_forest(A)
    parent, number = forest.parent, forest.number
    # The subtree of v contains the vertices with numbers from number(v) to end(v).
    end = binary.plus(number & binary.minus(forest.size, 1)).new()
    # The subtree of v has edges to vertices with numbers from least(v) to most(v).
    least, most = number.dup(), number.dup()
    least(binary.min) << min_second(A @ number)
    most(binary.max) << max_second(A @ number)
    least, most = subtree_extremes(A, forest, least, most)
    # u(v) = parent(v) if an edge leads from the subtree of v to a vertex outside the subtree of
    # parent(v); otherwise u(v) = v
    above = binary.lt(least & lookup(parent, number)).new()
    below = binary.gt(most & lookup(parent, end)).new()
    leaves, joined = binary.lor(above & below).new(), vertex_numbers(A)
    joined(leaves.V) << parent
    # C = A⟨number(j) > end(i)⟩: an entry for each edge between two vertices, neither of which is an
    # ancestor of the other
    C = binary.lt(end & binary.second(A & number).new()).new().select("==", True).new()
    component = connected_components(binary.lor(C | selection(joined)).new())
    # h = t min.first S(component), where t(v) = parent(v) if parent(v) is not joined with v: the
    # head of each component
    is_top = binary.ne(component & lookup(parent, component)).new()
    head = min_first(parent.dup(mask=is_top.V) @ selection(component)).new()[component].new()
    return RootedBlocks(number, component, head)


def select_bridges(A: Matrix, blocks: RootedBlocks) -> Matrix:
    """Return the entries of A that are bridges."""
    # A component with a single edge has exactly one vertex other than its head.
    sizes = plus_first(_ones(A) @ selection(blocks.component)).new()
    single = sizes[blocks.component].new().select("==", 1).new()
    E = _edges_to(blocks.head.dup(mask=single.S))
    return A.dup(mask=binary.lor(E | E.T).new().S)


def select_points(A: Matrix, blocks: RootedBlocks) -> Vector:
    """Return a BOOL vector that is true at the articulation points."""
    # A vertex belongs to each component of which it is the head, and to the component of the tree
    # edge from its parent.
    represents = binary.eq(blocks.component & vertex_numbers(A)).new()
    H = _edges_to(blocks.head.dup(mask=represents.V))
    memberships = unary.one(blocks.head).new()
    memberships(binary.plus) << plus_first(_ones(A) @ H)
    return unary.one["BOOL"](memberships.select(">", 1)).new()


def number_components(A: Matrix, blocks: RootedBlocks) -> Matrix:
    """Return the number of the component of each edge."""
    order, component, _ = blocks
    # D = A⟨order(j) < order(i)⟩; u(i) = the smallest j with an entry D(i, j)
    D = binary.gt(order & binary.second(A & order).new()).new().select("==", True).new()
    u = min_secondi["INT64"](D @ order).new()
    # The first edge of the component to which the tree edge to i belongs is at most (i, u(i)), with
    # the smaller vertex first. k = the first edges of all components, where (i, j) = i * SHIFT + j
    v = indexunary.rowindex(u).new()
    edge = binary.plus(binary.times(binary.min(u & v), SHIFT) & binary.max(u & v).new()).new()
    first = min_first(edge @ selection(component)).new()
    number, count = Vector("INT64", A.nrows), first.nvals
    number[first.argsort()[:count].new()] << vertex_numbers(A)[:count]
    # B(i, j) = the number at i or j, whichever comes later: the maximum of order * SHIFT + number
    later = binary.plus(binary.times(order, SHIFT).new() | number[component].new()).new()
    B = binary.max(later & binary.second(select.offdiag(A) & later).new()).new()
    return binary.band(B, SHIFT - 1).new()


def _is_defined(A: Matrix) -> bool:
    """Return whether `definition` runs for A: A is on a GPU, and 31 bits can number its 2n arcs."""
    return A.device != "cpu" and A.nrows < SHIFT // 2


def _ones(A: Matrix) -> Vector:
    """Return a full INT64 vector of ones, with one element per vertex."""
    return Vector.from_scalar(1, A.nrows, "INT64")


def _edges_to(ends: Vector) -> Matrix:
    """Return E with E(i, ends(i)) = true, for a Vector of vertices that may lack entries."""
    rows, columns = ends.to_coo(copy=False)
    shape: dict[str, Any] = {"nrows": ends.size, "ncols": ends.size}
    return Matrix.from_coo(rows, columns, True, **shape)
