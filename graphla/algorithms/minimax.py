"""Minimax paths: how high the highest edge on the way must be, at least.

It is the least h with h = h min (h min.max A), where nothing lies below the source: a closure. In
an undirected graph these are the paths of a minimum spanning tree.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph import Graph
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings import monoid
from semirings.semiring import min_max

Parents = TypeVar("Parents")


class MinimaxPaths(NamedTuple, Generic[Parents]):
    """The result of `minimax_path`. Only vertices that are reached have entries.

    Attributes:
        heights: a Vector with the height of a lowest path to each vertex, in the dtype of A.
        parents: None, or with `parents=True` a Vector of dtype INT32 with the vertex before each
            vertex on a lowest path; a source that no path improves is its own parent.
    """

    heights: Vector
    parents: Parents


@overload
def minimax_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[None]: ...


@overload
def minimax_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[Vector]: ...


@overload
def minimax_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> MinimaxPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def minimax_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> MinimaxPaths[Any]:
    """h = h min (h min.max A), until it rests: the height of the lowest path from the source.

    An edge i -> j is an entry A(i, j), whose value is its height; a path is as high as its highest
    edge. The source has the least value of the dtype (-inf of floats). `source` is a vertex, or
    several, as in `bfs`; vertices off the `mask` are not passed. With `parents`, the result is
    (heights, parents), where parents(v) is the vertex before v on a lowest path.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import minimax_path
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 9.0, 4.0], nrows=4, ncols=4)
    >>> minimax_path(A, 0).to_dict()
    {0: -inf, 1: 3.0, 2: 4.0}
    """
    validation.numbers(A)
    # h(s) = -∞
    start = validation.starts(source, A, monoid.max[A.dtype].identity, A.dtype)
    # h = h ⊕ h min.max A ⊕ h min.max A² ...
    heights, before = closure(start, A, min_max, mask=mask, parents=parents)
    return MinimaxPaths(heights, before)
