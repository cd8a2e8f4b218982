"""Widest paths: how much fits through the narrowest edge on the way, at best.

It is the least w with w = w max (w max.min A), where nothing narrows the source: a closure.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph import Graph
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings import monoid
from semirings.semiring import max_min

Parents = TypeVar("Parents")


class WidestPaths(NamedTuple, Generic[Parents]):
    """The result of `widest_path`. Only vertices that are reached have entries.

    Attributes:
        widths: a Vector with the width of a widest path to each vertex, in the dtype of A.
        parents: None, or with `parents=True` a Vector of dtype INT32 with the vertex before each
            vertex on a widest path; a source that no path improves is its own parent.
    """

    widths: Vector
    parents: Parents


@overload
def widest_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> WidestPaths[None]: ...


@overload
def widest_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> WidestPaths[Vector]: ...


@overload
def widest_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> WidestPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def widest_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> WidestPaths[Any]:
    """w = w max (w max.min A), until it rests: the width of the widest path from the source.

    An edge i -> j is an entry A(i, j), whose value is its width; a path is as wide as its narrowest
    edge. The source has the greatest value of the dtype (inf of floats). `source` is a vertex, or
    several, as in `bfs`; vertices off the `mask` are not passed. With `parents`, the result is
    (widths, parents), where parents(v) is the vertex before v on a widest path.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import widest_path
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 1.0, 2.0], nrows=4, ncols=4)
    >>> widest_path(A, 0).to_dict()
    {0: inf, 1: 3.0, 2: 2.0}
    """
    validation.numbers(A)
    # w(s) = ∞
    start = validation.starts(source, A, monoid.min[A.dtype].identity, A.dtype)
    # w = w ⊕ w max.min A ⊕ w max.min A² ...
    widths, before = closure(start, A, max_min, mask=mask, parents=parents)
    return WidestPaths(widths, before)
