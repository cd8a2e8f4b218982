"""Widest paths: the largest possible width of the narrowest edge on a path.

The widths w are a closure over the semiring (max, min): the smallest solution of the equation
w = w max (w max.min A) in which w(source) is the largest value of the dtype.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings import monoid
from semirings.semiring import max_min

Parents = TypeVar("Parents")


class WidestPaths(NamedTuple, Generic[Parents]):
    """The result of `widest_path`. Only reached vertices have entries.

    Attributes:
        widths: a Vector with the dtype of A that holds the width of a widest path to each vertex.
        parents: with `parents=True`, a Vector of dtype INT32 with the predecessor of each vertex on
            a widest path, otherwise None. A source is its own predecessor.
    """

    widths: Vector
    parents: Parents


@overload
def widest_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> WidestPaths[None]: ...


@overload
def widest_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> WidestPaths[Vector]: ...


@overload
def widest_path(
    A: GraphLike,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> WidestPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def widest_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> WidestPaths[Any]:
    """``w = w max (w max.min A)``, until w does not change.

    Find widest paths from a source: paths on which the narrowest edge is as wide as possible.

    Takes about O(m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are the widths of the edges.
            The width of a path is that of its narrowest edge.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has the largest value of the dtype (inf for floating-point
            numbers).
        parents: whether to also return the predecessor of each vertex on a widest path.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        WidestPaths: (widths, parents), with entries at the reached vertices. `widths` is a Vector
            of size n in the dtype of A. With `parents=True`, `parents` is a Vector of dtype INT32;
            otherwise it is None. If there are several best paths, the parents describe one of them.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If a value of A is NaN, or if A is a Graph whose parallel edges were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import widest_path
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 1.0, 2.0], nrows=4, ncols=4)
        >>> widest_path(A, 0).widths.to_dict()
        {0: inf, 1: 3.0, 2: 2.0}
        >>> widths, parents = widest_path(A, 0, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}
    """
    validation.numbers(A)
    # w(s) = ∞
    start = validation.starts(source, A, monoid.min[A.dtype].identity, A.dtype)
    # w = s max (s max.min A) max (s max.min A²) max ..., where s is `start`
    widths, before = closure(start, A, max_min, mask=mask, parents=parents)
    return WidestPaths(widths, before)
