"""Most reliable paths: how likely it is, at best, that each edge on the way holds.

It is the least p with p = p max (p max.times A) and p = 1 at the source: a closure over [0, 1].
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph import Graph
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings.semiring import max_times

Parents = TypeVar("Parents")


class ReliablePaths(NamedTuple, Generic[Parents]):
    """The result of `most_reliable_path`. Only vertices that are reached have entries.

    Attributes:
        probabilities: a Vector of dtype FP64 with the probability of a most reliable path to each
            vertex.
        parents: None, or with `parents=True` a Vector of dtype INT32 with the vertex before each
            vertex on a most reliable path; a source that no path improves is its own parent.
    """

    probabilities: Vector
    parents: Parents


@overload
def most_reliable_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> ReliablePaths[None]: ...


@overload
def most_reliable_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> ReliablePaths[Vector]: ...


@overload
def most_reliable_path(
    A: Matrix | Graph,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> ReliablePaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def most_reliable_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> ReliablePaths[Any]:
    """p = p max (p max.times A), until it rests: the probability of the most reliable path.

    An edge i -> j is an entry A(i, j), whose value is the probability that it holds, in [0, 1] and
    independent of others; the result is FP64. `source` is a vertex, or several, as in `bfs`;
    vertices off the `mask` are not passed. With `parents`, the result is (probabilities, parents),
    where parents(v) is the vertex before v on a most reliable path.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import most_reliable_path
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [0.5, 0.125, 0.5], nrows=4, ncols=4)
    >>> most_reliable_path(A, 0).to_dict()
    {0: 1.0, 1: 0.5, 2: 0.25}
    """
    # p(s) = 1
    start = validation.starts(source, A, 1.0, "FP64")
    validation.within_unit(A)
    # p = p ⊕ p max.times A ⊕ p max.times A² ...
    probabilities, before = closure(start, A, max_times["FP64"], mask=mask, parents=parents)
    return ReliablePaths(probabilities, before)
