"""The number of shortest paths from a source to each vertex.

These are the counts of the first phase of Brandes' algorithm (2001). Counts can grow exponentially,
so they are first computed in FP64, where sums up to 2^53 are exact. If a count is larger, all paths
are counted again in INT64, provided that the counts fit.

Invariants at the start of round d, without weights:
- `paths` contains the final count of each vertex that is fewer than d edges away from the source;
- `frontier` contains the count of each vertex that is exactly d edges away.
With weights, d(v) is the distance of v, and an edge u -> v of weight w is called tight if
d(u) + w = d(v). In round k, `frontier` contains, for each vertex, the number of paths of k tight
edges from the source to this vertex. It has no entry for a vertex without such a path.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.all_parents import find_tight_edges
from graphla.algorithms.sssp import sssp
from graphla.expression import replace
from graphla.graph.labels import vertex_name
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first

EXACT = 2.0**53
"""Sums of integers up to this bound are exact in FP64."""


@graph_algorithm(vertices=("source",), lengths="weight")
def path_count(
    A: Matrix, source: Any, *, weight: bool | str | None = None, dtype: Any = "INT64"
) -> Vector:
    """``σ = Σ over k of s (plus.first T)^k``, where T holds the edges of shortest paths.

    Count the shortest paths from a source to each vertex.

    Without weights, T holds the edges from one level to the next. With weights, it holds the edges
    u -> v with d(u) + A(u, v) = d(v), where d holds the distances from `sssp`. The Vector s is 1 at
    the source. Takes O(m) time after the search.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has one path to itself, without edges.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        dtype: "INT64" for exact counts, or "FP64" for rounded counts of any size.

    Returns:
        Vector: the counts, of size n and of the given dtype, with entries at the reached vertices.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of sources has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector of sources are not on the same device.
        InvalidValue: If `dtype` is not one of the dtypes above, if a weight is negative or NaN, if
            there are infinitely many shortest paths because they contain a cycle of weight 0 (or a
            weight is so small that adding it to a distance does not change the distance), or if
            weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a count or distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import path_count
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [1, 2, 2, 1], nrows=5, ncols=5)
        >>> path_count(A, 0).to_dict()
        {0: 1, 1: 1, 2: 1, 3: 2}

    References:
        U. Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001.
    """
    wanted = validation.one_of("dtype", dtype, ("INT64", "FP64"))
    if validation.weighs("weight", weight):
        T, count = find_tight_edges(A, sssp(A, source).distances), _count_along_edges
    else:
        T, count = A, _count_by_level
    rounded = count(T, validation.starts(source, A, 1.0, "FP64"))
    if wanted == "FP64":
        return rounded
    most = rounded.reduce(monoid.max).get(0)
    if most <= EXACT:
        return rounded.dup("INT64")
    exact = count(T, validation.starts(source, A, 1, "INT64"))
    # A count that overflowed wraps modulo 2^64, so it differs greatly from the rounded count.
    off = unary.abs(binary.minus(exact.dup("FP64") & rounded)).reduce(monoid.max).get(0)
    if most >= 2.0**63 or off > most / 2:
        raise OverflowError(
            f"A has about {most:.3g} shortest paths from {vertex_name(source)} to some vertex, "
            'which INT64 cannot hold; ask for dtype "FP64"'
        )
    return exact


@jit_if_large
def _count_by_level(A: Matrix, start: Vector) -> Vector:
    """Count the paths level by level."""
    paths, frontier = Vector(start.dtype, start.size), start
    while frontier.nvals:
        # σ⟨f⟩ = f
        paths(frontier.S) << frontier
        # f⟨¬σ, r⟩ = f plus.first A
        frontier(~paths.S, replace) << plus_first(frontier @ A)
    return paths


@jit_if_large
def _count_along_edges(T: Matrix, start: Vector) -> Vector:
    """Count all paths along the edges of T, which must have no cycle."""
    paths, frontier = start.dup(), start
    for _ in range(start.size):
        # f = f plus.first T
        frontier << plus_first(frontier @ T)
        if not frontier.nvals:
            return paths
        # σ = σ + f
        paths(binary.plus) << frontier
    raise InvalidValue(
        "A has a cycle of weight 0 (or of weights that are infinite, or too small to change the "
        "distance that they are added to) on its shortest paths, of which there are infinitely many"
    )
