"""Minimax paths: the smallest possible height of the highest edge on a path.

Let h(v) be this height for the paths from the source to v, and let h(source) be the smallest value
of the dtype. The vector h satisfies h = h min (h min.max A), so it is computed as a closure over
the semiring min.max. In an undirected graph the paths in a minimum spanning tree are minimax paths.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings import monoid
from semirings.semiring import min_max

Parents = TypeVar("Parents")


class MinimaxPaths(NamedTuple, Generic[Parents]):
    """The result of `minimax_path`. Only reached vertices have entries.

    Attributes:
        heights: a Vector with the dtype of A that holds the height of a lowest path to each vertex.
        parents: with `parents=True`, a Vector of dtype INT32 with the predecessor of each vertex on
            a lowest path, otherwise None. A source is its own predecessor.
    """

    heights: Vector
    parents: Parents


@overload
def minimax_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[None]: ...


@overload
def minimax_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[Vector]: ...


@overload
def minimax_path(
    A: GraphLike,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def minimax_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> MinimaxPaths[Any]:
    """``h = h min (h min.max A)``, until h does not change.

    Find lowest paths from a source: paths on which the highest edge is as low as possible.

    In an undirected graph the paths in a minimum spanning tree are lowest paths. Takes about O(m)
    time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are the heights of the edges.
            The height of a path is that of its highest edge.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has the smallest value of the dtype (-inf for floating-point
            numbers).
        parents: whether to also return the predecessor of each vertex on a lowest path.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        MinimaxPaths: (heights, parents), with entries at the reached vertices. `heights` is a
            Vector of size n in the dtype of A. With `parents=True`, `parents` is a Vector of dtype
            INT32; otherwise it is None. If there are several best paths, the parents describe one
            of them.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If a value of A is NaN, or if A is a Graph whose parallel edges were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import minimax_path
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 9.0, 4.0], nrows=4, ncols=4)
        >>> minimax_path(A, 0).heights.to_dict()
        {0: -inf, 1: 3.0, 2: 4.0}
        >>> heights, parents = minimax_path(A, 0, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}
    """
    validation.numbers(A)
    # h(s) = -∞
    start = validation.starts(source, A, monoid.max[A.dtype].identity, A.dtype)
    # h = s min (s min.max A) min (s min.max A²) min ..., where s is the start vector
    heights, before = closure(start, A, min_max, mask=mask, parents=parents)
    return MinimaxPaths(heights, before)
