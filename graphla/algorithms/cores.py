"""Cores: what remains of a graph when vertices of low degree are removed one after another.

S. Seidman (1983) introduced cores. Shells, crusts and coronas are other sets of vertices that are
selected by their core numbers. The CPU removes vertices in order of degree (Batagelj and
Zaversnik, 2003); a GPU removes them in rounds within one kernel launch. `definition` uses rounds of
matrix products.

Invariants of `definition`, at the start of each round of the outer loop:
- left(i), for each remaining vertex i, is the number of its edges to remaining vertices;
- core(i), for each removed vertex i, is its core number.
The inner loop removes the vertices with core number k. At the start of each of its rounds, `gone`
marks the vertices that this round removes: those with at most k edges to vertices not yet removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.expression import replace
from graphla.graph.cached_properties import has_symmetric_values, is_symmetric, loops, self_loops
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import CoreNumbers, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_pair


@graph_algorithm()
def core_numbers(A: Matrix, *, directed: bool | None = None) -> Vector:
    """``c(i) = max {k : i is in the k-core}``.

    Compute the core number of each vertex.

    The k-core is the largest subgraph in which every vertex has a degree of at least k. In a
    directed graph the degree counts in-edges and out-edges. Takes O(n + m) time on the CPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Vector: the core numbers, a full Vector of size n and dtype INT64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A has a self-loop, or `directed` is False but A is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import core_numbers
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=5, ncols=5)
        >>> core_numbers(binary.any(A | A.T)).to_dense().tolist()
        [2, 2, 2, 1, 0]

    References:
        S. Seidman, *Network Structure and Minimum Degree*, 1983.
        V. Batagelj and M. Zaversnik, *An O(m) Algorithm for Cores Decomposition of Networks*, 2003.
    """
    directed = _check_directed(A, directed)
    return accelerated(CoreNumbers(A, directed), partial(definition, A, directed=directed))


@graph_algorithm(keyed=("core_number",))
def k_core(
    A: Matrix,
    k: int | None = None,
    core_number: Vector | Mapping[int, int] | None = None,
    *,
    directed: bool | None = None,
) -> Matrix:
    """``C⟨c(i) ≥ k and c(j) ≥ k⟩ = A``, where c holds the core numbers.

    Return the edges of the largest subgraph in which every degree is at least k.

    Takes O(n + m) time in addition to the time of `core_numbers`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the minimum degree, at least 0; None means the largest core number.
        core_number: the core numbers, if known: a Vector of size n, as returned by `core_numbers`,
            or a mapping from vertex to number.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Matrix: a Matrix with the shape and dtype of A that holds the edges between vertices of the
            core, with their values. Other vertices are isolated.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `core_number` has a size other than n.
        IndexOutOfBound: If `core_number` has a key that is not a vertex.
        DeviceMismatch: If A and `core_number` are not on the same device.
        InvalidValue: If A has a self-loop, if `directed` is False but A is not symmetric, or if `k`
            is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_core
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> k_core(binary.any(A | A.T)).to_coo()[0].tolist()
        [0, 0, 1, 1, 2, 2]

    References:
        S. Seidman, *Network Structure and Minimum Degree*, 1983.
    """
    numbers, k = _numbers_and_k(A, k, core_number, directed)
    # v = c⟨c >= k⟩
    return _edges_among(A, numbers.select(">=", k).new())


@graph_algorithm(keyed=("core_number",))
def k_shell(
    A: Matrix,
    k: int | None = None,
    core_number: Vector | Mapping[int, int] | None = None,
    *,
    directed: bool | None = None,
) -> Matrix:
    """``C⟨c(i) = k and c(j) = k⟩ = A``, where c holds the core numbers.

    Return the edges between vertices with core number k.

    Takes O(n + m) time in addition to the time of `core_numbers`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the core number of the shell, at least 0; None means the largest core number.
        core_number: the core numbers, if known: a Vector of size n, as returned by `core_numbers`,
            or a mapping from vertex to number.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Matrix: a Matrix with the shape and dtype of A that holds the edges between vertices of the
            shell, with their values. Other vertices are isolated.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `core_number` has a size other than n.
        IndexOutOfBound: If `core_number` has a key that is not a vertex.
        DeviceMismatch: If A and `core_number` are not on the same device.
        InvalidValue: If A has a self-loop, if `directed` is False but A is not symmetric, or if `k`
            is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_shell
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], 1, nrows=5, ncols=5)
        >>> k_shell(binary.any(A | A.T), 1).to_coo()[0].tolist()
        [3, 4]

    References:
        S. Carmi et al., *A Model of Internet Topology Using k-Shell Decomposition*, 2007.
    """
    numbers, k = _numbers_and_k(A, k, core_number, directed)
    # v = c⟨c = k⟩
    return _edges_among(A, numbers.select("==", k).new())


@graph_algorithm(keyed=("core_number",))
def k_crust(
    A: Matrix,
    k: int | None = None,
    core_number: Vector | Mapping[int, int] | None = None,
    *,
    directed: bool | None = None,
) -> Matrix:
    """``C⟨c(i) ≤ k and c(j) ≤ k⟩ = A``, where c holds the core numbers.

    Return the edges that remain when the (k+1)-core is removed.

    Takes O(n + m) time in addition to the time of `core_numbers`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the largest core number in the crust, at least 0; None means the largest core number
            minus 1.
        core_number: the core numbers, if known: a Vector of size n, as returned by `core_numbers`,
            or a mapping from vertex to number.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Matrix: a Matrix with the shape and dtype of A that holds the edges between vertices of the
            crust, with their values. Other vertices are isolated.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `core_number` has a size other than n.
        IndexOutOfBound: If `core_number` has a key that is not a vertex.
        DeviceMismatch: If A and `core_number` are not on the same device.
        InvalidValue: If A has a self-loop, if `directed` is False but A is not symmetric, or if `k`
            is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_crust
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], 1, nrows=5, ncols=5)
        >>> k_crust(binary.any(A | A.T)).to_coo()[0].tolist()
        [3, 4]

    References:
        S. Carmi et al., *A Model of Internet Topology Using k-Shell Decomposition*, 2007.
    """
    is_largest = k is None
    numbers, k = _numbers_and_k(A, k, core_number, directed)
    # v = c⟨c <= k⟩
    return _edges_among(A, numbers.select("<=", k - is_largest).new())


@graph_algorithm(keyed=("core_number",))
def k_corona(
    A: Matrix,
    k: int,
    core_number: Vector | Mapping[int, int] | None = None,
    *,
    directed: bool | None = None,
) -> Matrix:
    """``C⟨v(i) and v(j)⟩ = A``, where v = (c = k) ∧ (A plus.pair (c ≥ k) = k).

    Return the edges between vertices of the k-core that have exactly k neighbors in it.

    Only vertices whose core number is exactly k are considered. In a directed graph the neighbors
    are the targets of out-edges. Takes O(n + m) time in addition to the time of `core_numbers`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the core number and the number of neighbors, at least 0.
        core_number: the core numbers, if known: a Vector of size n, as returned by `core_numbers`,
            or a mapping from vertex to number.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Matrix: a Matrix with the shape and dtype of A that holds the edges between vertices of the
            corona, with their values. Other vertices are isolated.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `core_number` has a size other than n.
        IndexOutOfBound: If `core_number` has a key that is not a vertex.
        DeviceMismatch: If A and `core_number` are not on the same device.
        InvalidValue: If A has a self-loop, if `directed` is False but A is not symmetric, or if `k`
            is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_corona
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], 1, nrows=5, ncols=5)
        >>> k_corona(binary.any(A | A.T), 2).to_coo()[0].tolist()
        [0, 0, 1, 1, 2, 2]

    References:
        A. Goltsev, S. Dorogovtsev and J. Mendes, *k-Core (Bootstrap) Percolation on Complex
            Networks*, 2006.
    """
    numbers, k = _numbers_and_k(A, k, core_number, directed)
    return _edges_among(A, corona(A, numbers, k))


def corona(A: Matrix, numbers: Vector, k: int) -> Vector:
    """Return a Vector with an entry at each vertex of the k-corona."""
    # d = A plus.pair (c >= k): the number of neighbors in the k-core
    left = power_iteration.full(0, A.nrows, "INT64")
    left(binary.plus) << plus_pair["INT64"](A @ numbers.select(">=", k).new())
    # v = d⟨c = k⟩⟨d = k⟩
    return left.dup(mask=numbers.select("==", k).new().S).select("==", k).new()


def _numbers_and_k(
    A: Matrix,
    k: int | None,
    core_number: Vector | Mapping[int, int] | None,
    directed: bool | None,
) -> tuple[Vector, int]:
    """Return the core numbers and k; the default of k is the largest core number."""
    if core_number is None:
        numbers = core_numbers(A, directed=directed)
    else:
        numbers = power_iteration.as_vector("core_number", core_number, A.nrows, "INT64")
    if k is None:
        return numbers, int(numbers.reduce(monoid.max).get(0)) if numbers.nvals else 0
    return numbers, validation.count("k", k, least=0)


def _edges_among(A: Matrix, v: Vector) -> Matrix:
    """Return the edges of A between vertices at which v has an entry."""
    if A.device == "cpu":
        flags = np.zeros(A.nrows, np.bool_)
        flags[v.to_coo(values=False)[0]] = True
        return _keep_edges(A, flags)
    # C(i, j) = A(i, j) where v has entries at i and j
    return binary.second(v & binary.first(A & v).new()).new()


def _keep_edges(A: Matrix, flags: np.ndarray) -> Matrix:
    """Return the edges of A between flagged vertices."""
    indptr, columns, values = A.to_csr(copy=False)
    rows = np.arange(A.nrows).repeat(np.diff(indptr))
    kept = flags[rows] & flags[columns]
    before = np.zeros(kept.size + 1, indptr.dtype)
    kept.cumsum(out=before[1:])
    shape: dict[str, Any] = {"ncols": A.ncols, "symmetric": has_symmetric_values(A)}
    return Matrix.from_csr(before[indptr], columns[kept], values[kept], copy=False, **shape)


def definition(A: Matrix, *, directed: bool | None = None) -> Vector:
    """Compute the core numbers in rounds of matrix products."""
    directed = _check_directed(A, directed)
    n = A.nrows
    core, gone, lost = Vector("INT64", n), Vector("INT64", n), Vector("INT64", n)
    # d = A plus.pair 1, the out-degrees. If the graph is directed, the in-degrees 1 plus.pair A are
    # added.
    ones, left = power_iteration.full(1, n, "INT64"), power_iteration.full(0, n, "INT64")
    left(binary.plus) << plus_pair["INT64"](A @ ones)
    if directed:
        left(binary.plus) << plus_pair["INT64"](ones @ A)
    while left.nvals:
        # k = min d; g = d⟨d <= k⟩: the vertices to remove
        k = left.reduce(monoid.min).get(0)
        gone << left.select("<=", k)
        while gone.nvals:
            core(gone.S) << k
            # l⟨¬core, r⟩ = A plus.pair g: the number of edges that each remaining vertex loses
            lost(~core.S, replace) << plus_pair["INT64"](A @ gone)
            if directed:
                lost(~core.S, binary.plus) << plus_pair["INT64"](gone @ A)
            # g = d - l; d⟨g⟩ = g; g = g⟨g <= k⟩: the vertices whose degrees have fallen to k
            gone << binary.minus(left & lost)
            left(gone.S) << gone
            gone << gone.select("<=", k)
        # d⟨¬core, r⟩ = d
        left(~core.S, replace) << left
    return core


def _check_directed(A: Matrix, directed: bool | None) -> bool:
    """Return whether the graph is directed; raise an error if it has self-loops."""
    if self_loops(A):
        i = int(loops(A).to_coo()[0][0])
        raise InvalidValue(
            f"A has a self-loop at vertex {vertex_name(i)}, but cores are of graphs without: "
            f"select.offdiag(A) leaves them out"
        )
    symmetric = is_symmetric(A)
    if directed is False and not symmetric:
        validation.symmetric(A)
    return not symmetric if directed is None else bool(directed)
