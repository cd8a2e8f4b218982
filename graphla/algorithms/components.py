"""Connected components: sets of vertices joined by paths, regardless of edge directions.

The backends use union-find and first process a sample of the edges (Sutton, Ben-Nun and Barak,
2018). `definition` is FastSV (Zhang, Azad and Hu, 2020), which LAGraph also uses. Each component
grows into a tree of parents whose root is its smallest vertex. In each round, trees hook onto other
trees and become shallower, so about a dozen rounds suffice. Propagating labels along edges would
need a number of rounds close to the diameter.

Invariants, at the start of each round of FastSV:
- parent is full, and parent(i) is a vertex in the component of i. parent(i) is at most i and never
  increases, so there are no cycles;
- grandparent(i) = parent(parent(i)).
If a round changes no grandparent, each vertex points at the smallest vertex of its component.
"""

from __future__ import annotations

from functools import partial

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import vertex_numbers
from graphla.graph.cached_properties import is_symmetric
from graphla.operations.accelerate import Components, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, indexunary
from semirings.exceptions import InvalidValue
from semirings.semiring import min_first, min_second


@graph_algorithm(gives=("",))
def connected_components(A: Matrix) -> Vector:
    """``f(i) = min {j : a path joins i and j}``.

    Label each vertex with the smallest vertex of its connected component.

    The direction of edges is ignored: for a directed graph the result is the weakly connected
    components. Takes about O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64. Two vertices have the same
            label if and only if they are in one component.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import connected_components
        >>> A = Matrix.from_coo([1, 4], [3, 3], 1, nrows=5, ncols=5)
        >>> connected_components(A).to_dense().tolist()
        [0, 1, 2, 1, 1]

    References:
        M. Sutton, T. Ben-Nun and A. Barak, *Optimizing Parallel Graph Connectivity Computation via
            Subgraph Sampling*, IPDPS 2018.
        Y. Zhang, A. Azad and Z. Hu, *FastSV: A Distributed-Memory Connected Component Algorithm
            with Fast Convergence*, 2020.
    """
    return accelerated(Components(A), partial(definition, A))


@graph_algorithm()
def component_count(A: Matrix) -> int:
    """``|{i : f(i) = i}|``, where f holds the labels of `connected_components`.

    Count the connected components (in a directed graph, the weakly connected components).

    Takes about O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        int: the number of components, 0 if the graph has no vertices.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import component_count
        >>> component_count(Matrix.from_coo([1, 4], [3, 3], 1, nrows=5, ncols=5))
        3
    """
    return count_roots(connected_components(A))


@graph_algorithm()
def is_connected(A: Matrix) -> bool:
    """``|{i : f(i) = i}| = 1``, where f holds the labels of `connected_components`.

    Return whether every pair of vertices is joined by a path, regardless of edge directions.

    Takes about O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        bool: whether there is exactly one component.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If the graph has no vertices, as in NetworkX.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import is_connected
        >>> is_connected(Matrix.from_coo([0, 2], [1, 1], 1, nrows=3, ncols=3))
        True
    """
    refuse_empty(A)
    return component_count(A) == 1


def definition(A: Matrix) -> Vector:
    """Compute the labels by FastSV, in rounds of matrix-vector products."""
    parent, symmetric = vertex_numbers(A), is_symmetric(A)
    grandparent, before, least = parent.dup(), parent.dup(), parent.dup()
    is_stable = False
    while not is_stable:
        # u = u min (A min.second g) min (g min.first A), where u is `least` and g is `grandparent`:
        # u(i) is the smallest grandparent that any neighbor of i has had so far. If A is symmetric,
        # the two products are equal.
        least(binary.min) << min_second(A @ grandparent)
        if not symmetric:
            least(binary.min) << min_first(grandparent @ A)
        # f(f(i)) = f(f(i)) min u(i), where f is `parent`: hook the root of each shallow tree onto
        # another tree
        parent(binary.min)[parent] << least
        # f = f min u min g: hook single vertices onto other trees, and make trees shallower
        parent(binary.min) << least
        parent(binary.min) << grandparent
        # g = f(f)
        before << grandparent
        grandparent << parent[parent]
        is_stable = grandparent.isequal(before)
    return parent


def count_roots(labels: Vector) -> int:
    """Return the number of vertices that are their own label, which is the number of components."""
    # r = labels⟨labels(i) = i⟩
    own = binary.eq(labels & indexunary.rowindex(labels).new()).new()
    return own.select("==", True).nvals


def refuse_empty(A: Matrix) -> None:
    """Raise an error for a graph without vertices, which is neither connected nor disconnected."""
    if A.nrows == 0:
        raise InvalidValue("A has no vertex, but connectedness is defined for graphs that have one")
