"""Single-source shortest paths: the minimum total weight of a path to each vertex.

Algebraically, the result is a closure: the least vector d with d = d min (d min.+ A) and d = 0 at
the source. In each round, only edges from vertices whose distance has decreased are relaxed. The
vertices with the smallest distances come first, so that few edges are relaxed before the distance
of their vertex is final (Δ-stepping, U. Meyer and P. Sanders, 2003; with one near and one far set,
as in A. Davidson et al., 2014).
"""

from __future__ import annotations

import math
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.graph.labels import vertex_name
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal.closure import solve
from semirings import unary
from semirings.semiring import min_plus

LONGEST = int(np.iinfo(np.int64).max)


Parents = TypeVar("Parents")


class ShortestPaths(NamedTuple, Generic[Parents]):
    """The result of `sssp` and `bellman_ford`. Only reached vertices have entries.

    Attributes:
        distances: a Vector with the length of a shortest path to each vertex: FP64 if the weights
            are floating-point numbers, otherwise INT64.
        parents: with `parents=True`, a Vector of dtype INT32 with the predecessor of each vertex on
            a shortest path, otherwise None. A source is its own predecessor, unless a path of
            negative length leads to it from another source.
    """

    distances: Vector
    parents: Parents


@overload
def sssp(
    A: GraphLike,
    source: Any,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = True,
    delta: float | None = None,
    parents: Literal[False] = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[None]: ...


@overload
def sssp(
    A: GraphLike,
    source: Any,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = True,
    delta: float | None = None,
    parents: Literal[True],
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Vector]: ...


@overload
def sssp(
    A: GraphLike,
    source: Any,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = True,
    delta: float | None = None,
    parents: bool,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",), lengths="weight")
def sssp(
    A: Matrix,
    source: Any,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = True,
    delta: float | None = None,
    parents: bool = False,
    mask: Mask | Vector | None = None,
) -> ShortestPaths[Any]:
    """``d = d min (d min.+ A)``, until no distance decreases.

    Find shortest paths from one or several vertices to all other vertices, with weights of at least
    0.

    An entry with value 0 is an edge of length 0. In each round, only edges from vertices whose
    distance has decreased are relaxed. The vertices with the smallest distances come first, so that
    few edges are relaxed more than once.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are the edge lengths, which
            must be at least 0.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has distance 0.
        cutoff: the maximum distance; vertices that are farther away have no entry. None means no
            limit.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.
        delta: each round processes the pending distances that are at most `delta` above the
            smallest one, in the unit of the weights. If None, `delta` is derived from the weights.
            `delta` affects only the speed.
        parents: whether to also return the predecessor of each vertex on a shortest path.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        ShortestPaths: (distances, parents), with entries at the reached vertices. `distances` is a
            Vector of size n, of dtype FP64 for floating-point weights, otherwise INT64 and exact.
            With `parents=True`, `parents` is a Vector of dtype INT32; otherwise it is None. If
            there are several shortest paths, the parents describe one of them.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If a weight is negative or NaN, if `cutoff` or `delta` is negative, or if
            weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import sssp
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> sssp(A, 0).distances.to_dict()
        {0: 0, 1: 1, 2: 3}
        >>> distances, parents = sssp(A, 0, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}

    References:
        U. Meyer and P. Sanders, *Δ-stepping: a parallelizable shortest path algorithm*, 2003.
        A. Davidson et al., *Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths*,
            IPDPS 2014.
    """
    A, dtype = lengths_of(A, weight)
    # d(s) = 0
    start = validation.starts(source, A, 0, dtype)
    validation.nonnegative(A)
    if cutoff is not None:
        cutoff = validation.real("cutoff", cutoff, low=0)
    if delta is not None:
        delta = validation.real("delta", delta, low=0)
    most = None if cutoff == math.inf else cutoff
    try:
        # d = d min (d min.+ A) min (d min.+ A²) min ...
        distances, before = solve(
            start, A, min_plus[dtype], mask=mask, parents=parents, delta=delta, most=most
        )
    except OverflowError as error:
        raise OverflowError(
            f"A has a shortest path from {vertex_name(source)} of more than {LONGEST}, "
            "which INT64 cannot hold"
        ) from error
    if cutoff is None:
        return ShortestPaths(distances, before)
    # d⟨d ≤ cutoff, r⟩ = d
    near = distances.select("<=", cutoff).new()
    return ShortestPaths(near, None if before is None else before.dup(mask=near.S))


def lengths_of(A: Matrix, weight: bool | str | None) -> tuple[Matrix, str]:
    """Return the matrix of edge lengths, and the dtype of path lengths ("INT64" or "FP64").

    If weights are not used, all lengths are 1.
    """
    if not validation.weighs("weight", weight):
        return unary.one["INT64"](A).new(), "INT64"
    if validation.is_floating(A):
        validation.numbers(A)
        return A, "FP64"
    if A.dtype == "UINT64":
        validation.at_most(A, LONGEST)
    return A, "INT64"
