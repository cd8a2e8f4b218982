"""Most reliable paths: the largest probability that no edge of a path fails.

The result is a closure over [0, 1]: the smallest vector p with p = p max (p max.times A) and
p = 1 at the source.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings.semiring import max_times

Parents = TypeVar("Parents")


class ReliablePaths(NamedTuple, Generic[Parents]):
    """The result of `most_reliable_path`. Only reached vertices have entries.

    Attributes:
        probabilities: a Vector of dtype FP64 with the probability of a most reliable path to each
            vertex.
        parents: with `parents=True`, a Vector of dtype INT32 with the predecessor of each vertex on
            a most reliable path, otherwise None. A source is its own predecessor.
    """

    probabilities: Vector
    parents: Parents


@overload
def most_reliable_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> ReliablePaths[None]: ...


@overload
def most_reliable_path(
    A: GraphLike,
    source: Any,
    *,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> ReliablePaths[Vector]: ...


@overload
def most_reliable_path(
    A: GraphLike,
    source: Any,
    *,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> ReliablePaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="A")
def most_reliable_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> ReliablePaths[Any]:
    """``p = p max (p max.times A)``, until p does not change.

    Find the paths from a source that are the least likely to fail.

    The edges fail independently, so the probability of a path is the product of the probabilities
    of its edges. Takes about O(m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A, from 0 to 1, are the
            probabilities that the edges work.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has probability 1.
        parents: whether to also return the predecessor of each vertex on a most reliable path.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        ReliablePaths: (probabilities, parents), with entries at the reached vertices.
            `probabilities` is a Vector of size n and dtype FP64. With `parents=True`, `parents` is
            a Vector of dtype INT32; otherwise it is None. If there are several best paths, the
            parents describe one of them.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If a value of A is outside [0, 1], or if A is a Graph whose parallel edges
            were summed.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import most_reliable_path
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [0.5, 0.125, 0.5], nrows=4, ncols=4)
        >>> most_reliable_path(A, 0).probabilities.to_dict()
        {0: 1.0, 1: 0.5, 2: 0.25}
        >>> probabilities, parents = most_reliable_path(A, 0, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}
    """
    # p(s) = 1
    start = validation.starts(source, A, 1.0, "FP64")
    validation.within_unit(A)
    # probabilities = p ⊕ p max.times A ⊕ p max.times A² ⊕ ..., where p is `start`
    probabilities, before = closure(start, A, max_times["FP64"], mask=mask, parents=parents)
    return ReliablePaths(probabilities, before)
