"""Betweenness: the fraction of shortest paths that pass through a vertex or an edge.

The measure was defined by L. Freeman (1977) for vertices, and by M. Girvan and M. Newman (2002) for
edges. The dependency of a source s on v is the contribution of the paths from s to the measure of v
(U. Brandes, 2001; for edges and samples: 2008). The function `definition` uses matrix products as
LAGraph does: it processes many sources at once, with one matrix row per source.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from graphla.algorithms._shared import hashed_random, power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.sssp import sssp
from graphla.expression import replace
from graphla.graph.cached_properties import extent, values_differ
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import Dependencies, DependencySums, accelerated
from graphla.operations.accelerate.batches import batches
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select, unary
from semirings.dtypes import FP64, INT64
from semirings.exceptions import InvalidValue
from semirings.semiring import any_first, any_plus, any_second, plus_first, plus_second, plus_times

BATCH = 64
"""Number of sources that the definition processes at once."""


@graph_algorithm(vertices=("sources",), lengths="weight")
def betweenness(
    A: Matrix,
    k: int | None = None,
    normalized: bool = True,
    weight: bool | str | None = None,
    endpoints: bool = False,
    seed: int | np.random.Generator | None = None,
    *,
    sources: Any = None,
    directed: bool | None = None,
) -> Vector:
    """``b(v) = Σ σ(s, t | v) / σ(s, t)``, over all pairs of vertices s and t other than v.

    Compute betweenness centrality: the fraction of shortest paths that pass through each vertex.

    σ(s, t) is the number of shortest paths from s to t, and σ(s, t | v) counts those that pass
    through v. Takes O(m) time per source without weights.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the number of vertices to sample as sources; the sum is scaled up accordingly, as in
            NetworkX. None means all vertices.
        normalized: whether to divide by the number of pairs (s, t).
        weight: if None or False, paths are measured in edges; if True, or the name of an edge
            attribute as in NetworkX, the values of A are the lengths, which must be above 0.
        endpoints: whether a path also counts for its two end vertices.
        seed: None (the same as 0), a non-negative integer, or a `numpy.random.Generator`. The same
            seed always gives the same result.
        sources: a list or array of the vertices to use as sources, instead of a sample.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. In an undirected graph each pair is
            counted once.

    Returns:
        Vector: a full Vector of size n and dtype FP64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a source is not a vertex of the graph.
        InvalidValue: If both `k` and `sources` are given, if `k` is not from 1 to n, if a weight is
            not above 0, if a weight is so small that adding it to a distance does not change the
            distance, or if weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import betweenness
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> betweenness(A).to_dict()
        {0: 0.0, 1: 1.0, 2: 0.0}

    References:
        L. Freeman, *A Set of Measures of Centrality Based on Betweenness*, 1977.
        U. Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001.
        U. Brandes, *On Variants of Shortest-Path Betweenness Centrality and their Generic
            Computation*, 2008.
    """
    n = A.nrows
    chosen, is_sample = _choose_sources(n, k, seed, sources)
    sums = sum_dependencies(A, chosen, is_weighted=_has_lengths(A, weight, chosen), reach=endpoints)
    b = sums.totals
    if endpoints:
        # Count the endpoints of the paths: add to b(v) the number of sources that reach v and, if v
        # is a source, the number of other vertices that v reaches.
        b(binary.plus) << sums.reached
        own = sums.counts.astype(float) - 1
        b(binary.plus) << Vector.from_coo(chosen, own, size=n, dtype=FP64)
    # `pairs` is the number of sources whose paths count for a given vertex.
    pairs = n if endpoints else n - 1
    if pairs < 2 or not chosen.size:
        return b
    halves = 1 if normalized or _is_directed(A, directed) else 2

    def factor(count: int) -> float:
        """Return the factor that normalizes a sum over the paths from `count` sources."""
        return 1 / (count * (pairs - 1)) if normalized else pairs / (count * halves)

    if endpoints or not is_sample:
        return _scale(b, factor(chosen.size if is_sample else pairs))
    # A path does not count for the vertex where it starts. So a vertex that is a source receives
    # contributions from one fewer source than the other vertices do, and is scaled separately.
    scaled = _scale(b, factor(chosen.size))
    at = Vector.from_coo(chosen, True, bool, size=n)
    scaled(at.S) << _scale(b, factor(chosen.size - 1) if chosen.size > 1 else math.nan)
    return scaled


@graph_algorithm(vertices=("sources",), lengths="weight")
def edge_betweenness(
    A: Matrix,
    k: int | None = None,
    normalized: bool = True,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
    *,
    sources: Any = None,
    directed: bool | None = None,
) -> Matrix:
    """``B(u, v) = Σ σ(s, t | u, v) / σ(s, t)``, over all pairs of vertices s and t.

    Compute the fraction of shortest paths that pass through each edge.

    σ(s, t) is the number of shortest paths from s to t, and σ(s, t | u, v) counts those that use
    the edge u -> v. In an undirected graph, B(u, v) = B(v, u) counts the paths that use the edge in
    either direction. Takes O(m) time per source without weights.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        k: the number of vertices to sample as sources; the sum is scaled up accordingly, as in
            NetworkX. None means all vertices.
        normalized: whether to divide by the number of pairs (s, t).
        weight: if None or False, paths are measured in edges; if True, or the name of an edge
            attribute as in NetworkX, the values of A are the lengths, which must be above 0.
        seed: None (the same as 0), a non-negative integer, or a `numpy.random.Generator`. The same
            seed always gives the same result.
        sources: a list or array of the vertices to use as sources, instead of a sample.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. In an undirected graph each pair is
            counted once.

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype FP64, with the pattern of A.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a source is not a vertex of the graph.
        InvalidValue: If both `k` and `sources` are given, if `k` is not from 1 to n, if a weight is
            not above 0, if a weight is so small that adding it to a distance does not change the
            distance, or if weights are used and A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import edge_betweenness
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> round(edge_betweenness(A)[0, 1].value, 3)
        0.667

    References:
        M. Girvan and M. Newman, *Community Structure in Social and Biological Networks*, 2002.
        U. Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001.
        U. Brandes, *On Variants of Shortest-Path Betweenness Centrality and their Generic
            Computation*, 2008.
    """
    n = A.nrows
    chosen, _ = _choose_sources(n, k, seed, sources)
    sums = sum_dependencies(A, chosen, is_weighted=_has_lengths(A, weight, chosen), of_edges=True)
    B = sums.edges
    is_directed = _is_directed(A, directed)
    if not is_directed:
        # B = B + Bᵀ
        B = binary.plus(B | B.T).new()
    if n < 2 or not chosen.size:
        return B
    halves, count = 1 if normalized or is_directed else 2, chosen.size
    factor = 1 / (count * (n - 1)) if normalized else n / (count * halves)
    return B.apply(binary.times, right=factor).new()


def sum_dependencies(
    A: Matrix,
    sources: np.ndarray,
    *,
    is_weighted: bool = False,
    of_edges: bool = False,
    reach: bool = False,
    targets: np.ndarray | None = None,
) -> DependencySums:
    """Sum the dependencies of each vertex on the given sources.

    If `of_edges` is true, also sum the dependencies of each edge. The dependency of a vertex or an
    edge on a source is the sum, over all targets, of the fraction of shortest paths from the source
    to the target that pass through the vertex or the edge. The targets are all vertices, or those
    in the array `targets`.
    """
    define = partial(
        definition, A, sources, is_weighted=is_weighted, of_edges=of_edges, targets=targets
    )
    if targets is not None:
        return define()
    if is_weighted and not validation.is_floating(A) and not _is_exact(A):
        return define()
    return accelerated(Dependencies(A, sources, is_weighted, of_edges, reach), define)


def definition(
    A: Matrix,
    sources: np.ndarray,
    *,
    is_weighted: bool = False,
    of_edges: bool = False,
    targets: np.ndarray | None = None,
) -> DependencySums:
    """Compute the sums of the dependencies with matrix products.

    If edges have weights, the sources are processed one after another, otherwise in batches.
    """
    if sources.size == 1 and not is_weighted and not of_edges and targets is None:
        return define_from_one(A, int(sources[0]))
    n = A.nrows
    totals, reached = power_iteration.full(0.0, n), power_iteration.full(0, n, int)
    edges, counts = None, np.zeros(sources.size, np.int64)
    # ends(v) = 1 if v is a target, else 0
    ends = None if targets is None else power_iteration.full(0.0, n)
    if ends is not None and targets is not None:
        ends[targets] << 1.0
    if of_edges:
        # E(i, j) = 0 for each entry A(i, j)
        edges = A.apply(unary.one).new(FP64).apply(binary.times, right=0.0).new()
    for part in batches(A, sources.size, "betweenness", 1 if is_weighted else BATCH):
        some = sources[part]
        if not some.size:
            break
        if is_weighted:
            paths, shares, carried = _count_along_weights(A, int(some[0]), edges, ends)
        else:
            paths, shares, carried = _count_by_level(A, some, edges, ends)
        own = Matrix.from_coo(np.arange(some.size), some, True, nrows=some.size, ncols=n)
        # δ(s, v) = paths(s, v) · shares(s, v), except where v = s
        each = binary.times(paths & shares).new(mask=~own.S)
        totals(binary.plus) << each.reduce_columnwise(monoid.plus)
        others = paths.apply(unary.one).new(INT64, mask=~own.S)
        reached(binary.plus) << others.reduce_columnwise(monoid.plus)
        counted = others.reduce_rowwise(monoid.plus).new()
        counts[part] = 1 + counted.to("cpu").to_dense(0)
        if edges is not None and carried is not None:
            edges(binary.plus) << carried
    return DependencySums(totals, edges, reached, counts)


def define_from_one(A: Matrix, source: int) -> DependencySums:
    """Compute the dependencies on one source with matrix-vector products, without edge weights.

    Invariants: after round d of the first loop, `paths` contains the number of shortest paths to
    each vertex at most d edges away, and levels[d] has entries at the vertices exactly d edges
    away. In the second loop, shares(v) is the dependency of v divided by paths(v).
    """
    n = A.nrows
    paths, frontier, levels = Vector(FP64, n), Vector(FP64, n), []
    frontier[source] = 1.0
    while frontier.nvals:
        # σ⟨f⟩ = f
        paths(frontier.S) << frontier
        levels.append(frontier.dup())
        # f⟨¬σ, r⟩ = f plus.first A
        frontier(~paths.S, replace) << plus_first(frontier @ A)
    one, shares, W = unary.minv(paths).new(), Vector(FP64, n), Vector(FP64, n)
    shares << 0.0
    # The source's own dependency is not needed, so the loop stops before the level of the source.
    while len(levels) > 2:
        # W⟨levels[d], r⟩ = 1 / σ + shares
        level = levels.pop()
        W(level.S, replace) << binary.plus(one & shares)
        # shares⟨levels[d - 1]⟩ = shares + A plus.second W
        shares(levels[-1].S, binary.plus) << plus_second(A @ W)
    totals, reached = power_iteration.full(0.0, n), power_iteration.full(0, n, int)
    totals(binary.plus) << binary.times(paths & shares)
    reached(paths.S) << 1
    reached[source] = 0
    return DependencySums(totals, None, reached, np.array([paths.nvals]))


def _count_by_level(
    A: Matrix, sources: np.ndarray, edges: Matrix | None, ends: Vector | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return path counts, dependencies per path, and edge dependencies, for several sources.

    The first two results are matrices with one row per source. The first contains the number of
    shortest paths to each vertex. The second contains the dependency of each vertex, divided by the
    number of shortest paths to it. The third result is a matrix with the sum of the dependencies of
    each edge, or None if `edges` is None.

    Invariants: after round d, P has entries at the vertices at most d edges away, and levels[d] has
    entries at the vertices exactly d edges away. P(v) is the number of shortest paths to v. In the
    second loop, W(v) = 1 / P(v) + shares(v), where shares(v) is the dependency of v divided by
    P(v).
    """
    rows, n = sources.size, A.nrows
    P = Matrix.from_coo(np.arange(rows), sources, 1.0, FP64, nrows=rows, ncols=n)
    frontier, levels = P.dup(), []
    while frontier.nvals:
        levels.append(frontier)
        # F⟨¬P, r⟩ = F plus.first A
        following = plus_first["FP64"](frontier @ A).new(mask=~P.S)
        # P = P + F
        P(binary.plus) << following
        frontier = following
    # For each entry of P, shares = 0 and one = 1 / P, or one = 0 if the vertex is not a target.
    shares, one = P.apply(binary.times, right=0.0).new(), P.apply(unary.minv).new()
    if ends is not None:
        one = binary.times(one & ends).new()
    carried = None
    for nearer, farther in zip(levels[-2::-1], levels[:0:-1], strict=True):
        # W⟨levels[d]⟩ = 1 / P + shares
        W = binary.plus(one & shares).new(mask=farther.S)
        # shares⟨levels[d - 1]⟩ = W plus.first Aᵀ
        shares(nearer.S, binary.plus) << plus_first["FP64"](W @ A.T)
        if edges is not None:
            # E⟨A⟩ = E + levels[d - 1]ᵀ plus.times W, where the values of levels[d - 1] are the
            # numbers of shortest paths to the vertices of that level
            along = plus_times(nearer.T @ W).new(mask=edges.S)
            carried = along if carried is None else binary.plus(carried | along).new()
    return P, shares, carried


def _count_along_weights(
    A: Matrix, source: int, edges: Matrix | None, ends: Vector | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """Return path counts, dependencies per path, and edge dependencies, for a single source.

    This function is used if edges have weights. The three results are like those of
    `_count_by_level`, but the first two have a single row. In the code, the matrix T has an entry
    for each edge that is the last edge of some shortest path from the source.
    """
    n = A.nrows
    tight, nearer = _find_tight_edges(A, sssp(A, source).distances)
    T = tight.dup(mask=nearer.S)
    # σ = s + sT + sT² + ...
    term = Vector.from_coo([source], 1.0, FP64, size=n)
    sigma = term.dup()
    while term.nvals:
        term = plus_first["FP64"](term @ T).new()
        sigma(binary.plus) << term
    # share = Tc + T²c + ..., where c(v) = 1 / σ(v), and σ(v) is the number of shortest paths to v
    one = sigma.apply(unary.minv).new()
    if ends is not None:
        one = binary.times(one & ends).new()  # c(v) = 0 if v is not a target
    share, term = sigma.apply(binary.times, right=0.0).new(), one
    while term.nvals:
        term = plus_second["FP64"](T @ term).new()
        share(binary.plus) << term
    carried = None
    if edges is not None:
        # E(u, v) = σ(u) (1 / σ(v) + share(v)) on T
        left = plus_first["FP64"](sigma.diag() @ T).new()
        carried = plus_times(left @ binary.plus(one & share).new().diag()).new()
    return _row(sigma), _row(share), carried


def _find_tight_edges(A: Matrix, d: Vector) -> tuple[Matrix, Matrix]:
    """Return two Boolean matrices that select edges u -> v according to the distances d.

    The first has an entry for each edge with d(u) + A(u, v) = d(v). The second has an entry for
    each edge with d(u) < d(v).
    """
    D, dtype = d.diag(), d.dtype
    # S(u, v) = d(u) + A(u, v)
    begin, end = any_first[dtype](D @ A).new(), any_second[dtype](A @ D).new()
    S = any_plus[dtype](D @ A).new()
    nearer = select.valueeq(binary.lt(begin & end).new(), True).new()
    tight = select.valueeq(binary.eq(S & end).new(), True).new()
    return tight, nearer


def _row(x: Vector) -> Matrix:
    """Return x as a Matrix with one row."""
    indices, values = x.to_coo()
    return Matrix.from_coo(np.zeros(x.nvals, int), indices, values, nrows=1, ncols=x.size)


def _choose_sources(
    n: int, k: Any, seed: int | np.random.Generator | None, sources: Any
) -> tuple[np.ndarray, bool]:
    """Return the sources, and whether the caller chose them or they are a sample."""
    if sources is not None:
        if k is not None:
            raise InvalidValue("k and sources both say where to begin; give one of them")
        return validation.distinct("sources", sources, n), True
    if k is None:
        return np.arange(n), False
    k = validation.count("k", k, least=1)
    if k > n:
        raise InvalidValue(f"k is {k}, but there are {n} vertices")
    drawn = np.random.default_rng(hashed_random.seed_number(seed)).choice(n, k, replace=False)
    return np.sort(drawn), k < n


def _has_lengths(A: Matrix, weight: bool | str | None, chosen: np.ndarray) -> bool:
    """Return whether the values of A are used as edge lengths and differ from each other.

    Raise an error if a length is not positive, or is so small that adding it to the distance of a
    vertex does not change this distance.
    """
    if not validation.weighs("weight", weight):
        return False
    validation.positive(A)
    if not values_differ(A):
        return False
    _refuse_lost_edges(A, chosen)
    return True


def _is_directed(A: Matrix, directed: bool | None) -> bool:
    """Return `directed` if it is given, otherwise whether A is not symmetric."""
    if directed is not None:
        return bool(directed)
    return not validation.is_symmetric(A)


def _scale(x: Vector, factor: float) -> Vector:
    return x.apply(binary.times, right=factor).new()


def _refuse_lost_edges(A: Matrix, sources: np.ndarray) -> None:
    """Raise an error if adding some weight w to a distance does not change the distance.

    Let d be the distances from a source, and u -> v an edge with a weight w > 0. If w is very
    small, the sum d(u) + w is rounded to d(u). If d(v) = d(u) as well, the edges u -> v and v -> u
    would both lie on shortest paths. They would form a cycle, and the number of shortest paths
    would be infinite.
    """
    if not validation.is_floating(A) or not A.nvals:
        return
    least, greatest = extent(A)
    # Adding a weight always changes a distance if the smallest weight exceeds twice the spacing of
    # FP64 numbers at the longest distance.
    if float(least) > A.nrows * float(greatest) * 2.0**-52:
        return
    for source in sources.tolist():
        tight, nearer = _find_tight_edges(A, sssp(A, source).distances)
        lost = select.offdiag(tight.dup(mask=~nearer.S)).new()
        if lost.nvals:
            i, j = validation.first_entry(lost)
            raise InvalidValue(
                f"A has weight {A[i, j].value} on edge {vertex_name(i)} -> {vertex_name(j)}, "
                f"too small to change the distance from {vertex_name(source)} that it is added "
                "to, so that the number of shortest paths is not defined"
            )


def _is_exact(A: Matrix) -> bool:
    """Return whether FP64 can represent all integer path lengths exactly."""
    return not A.nvals or A.nrows * int(extent(A)[1]) <= 2**53
