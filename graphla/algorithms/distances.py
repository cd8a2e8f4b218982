"""Lengths of paths from many sources.

Unweighted lengths come from breadth-first searches that run 64 at a time. Each vertex has a 64-bit
word with one bit per search, which records the searches that have reached it. Following an edge
updates all 64 searches at once (M. Then et al., 2014). Weighted lengths form a matrix D with one
row per source: initially D(i, s(i)) = 0, where s(i) is the source of row i. Then D = D min (D min.+
A) is repeated until D does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import no_solution
from graphla.algorithms.sssp import lengths_of
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure, many
from graphla.traversal.cycles import EndlessCycle
from semirings.semiring import min_plus

if TYPE_CHECKING:
    import cupy


@graph_algorithm(vertices=("sources",))
def bfs_levels(
    A: Matrix,
    sources: Any,
    *,
    dtype: Any = "INT32",
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> np.ndarray | cupy.ndarray:
    """``L(i, v)`` is the number of edges on a shortest path from sources[i] to v.

    Run a breadth-first search from each source, and return all levels as one dense array.

    Up to 64 searches run at once, each using one bit of a 64-bit word, so that k searches take O(m
    k / 64) time in the best case. The array needs 4 k n bytes, or k n bytes as UINT8.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        sources: a list or array of k vertices from which to search. None means all vertices.
        dtype: "INT32", or "UINT8" for a quarter of the memory.
        cutoff: the maximum level; vertices more than `cutoff` edges away from a source are not
            reached. None means no limit.
        mask: a mask of size n, such as `~forbidden.S`. Apart from the sources, the searches visit
            only vertices that the mask selects.

    Returns:
        numpy.ndarray | cupy.ndarray: an array of shape (k, n) on the device of A, of dtype int32 or
            uint8. Unreached vertices have the level -1, or 255 as UINT8. The array is a view; in
            memory, the levels of each vertex are contiguous.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or the mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and the mask are not on the same device.
        InvalidValue: If `dtype` is not one of the dtypes above, or `cutoff` is negative.
        OverflowError: If a level exceeds 254 and `dtype` is "UINT8".

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import bfs_levels
        >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=4, ncols=4)
        >>> bfs_levels(A.to("cpu"), [0, 1]).tolist()
        [[0, 1, 2, -1], [-1, 0, 1, -1]]

    References:
        M. Then et al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014.
    """
    sources = validation.vertices("sources", sources, A.nrows)
    dtype = validation.one_of("dtype", dtype, ("INT32", "UINT8"))
    cutoff = None if cutoff is None else validation.count("cutoff", cutoff, least=0)
    return many.levels(A, sources, dtype=dtype, limit=cutoff, mask=mask)


@graph_algorithm(vertices=("sources",), rows="sources", lengths="weight")
def all_pairs_lengths(
    A: Matrix,
    sources: Any = None,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = None,
) -> Matrix:
    """``L(i, v)`` is the length of a shortest path from sources[i] to v.

    Compute the lengths of shortest paths from several vertices, or from all of them.

    The result has an entry for each pair of vertices joined by a path: up to n² entries without
    `sources`. For a large graph, pass `sources` or a `cutoff`. Without weights, k searches take O(m
    k / 64) time in the best case; with weights, each source needs a separate search.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        sources: a list or array of k vertices, one for each row of the result. None means all
            vertices.
        cutoff: the maximum length; pairs at a larger distance have no entry in the result. None
            means no limit.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Negative values are allowed if no cycle has a
            negative total weight.

    Returns:
        Matrix: a Matrix of shape (k, n) without entries for pairs that are not joined by a path.
            Its dtype is INT32 without weights, FP64 for floating-point weights, and INT64 for other
            weights.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a source is not a vertex of the graph.
        InvalidValue: If a cycle has a negative total weight, if a weight is NaN, if `cutoff` is
            negative, or if weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a length does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import all_pairs_lengths
        >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
        >>> all_pairs_lengths(A).to_dicts()
        {0: {0: 0, 1: 1, 2: 2}, 1: {1: 0, 2: 1}, 2: {2: 0}}
        >>> all_pairs_lengths(A, [0], weight=True).to_dicts()
        {0: {0: 0, 1: 5, 2: 12}}
    """
    sources = validation.vertices("sources", sources, A.nrows)
    weighs = validation.weighs("weight", weight)
    if cutoff is not None:
        cutoff = validation.real("cutoff", cutoff, low=0)
    if not weighs:
        limit = None if cutoff is None or cutoff >= A.nrows else int(cutoff)
        return many.as_matrix(many.levels(A, sources, dtype="INT32", limit=limit), A.device)
    A, dtype = lengths_of(A, weight)
    shape: dict[str, Any] = {"nrows": sources.size, "ncols": A.nrows}
    # D(i, s(i)) = 0
    start = Matrix.from_coo(np.arange(sources.size), sources, 0, dtype, **shape)
    try:
        # D = D min (D min.+ A) min (D min.+ A²) min ..., the minimum over paths of any length
        D = closure(start, A, min_plus[dtype]).values
    except EndlessCycle as error:
        raise no_solution(error) from error
    return D if cutoff is None else D.select("<=", cutoff).new()


def definition(A: Matrix) -> Matrix:
    """``D = D min (D min.+ D)`` until it converges, where D starts as A with 0 on the diagonal.

    Return the weighted lengths between all pairs of vertices.
    """
    A, dtype = lengths_of(A, True)
    D = Vector.from_scalar(0, A.nrows, dtype).diag()
    D = min_plus.monoid(D | A).new()
    while True:
        following = min_plus.monoid(D | min_plus[dtype](D @ D)).new()
        if following.isequal(D):
            return D
        D = following
