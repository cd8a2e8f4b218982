"""Betweenness: how much of the shortest paths between others leads over a vertex, or along an edge.

L. Freeman, *A Set of Measures of Centrality Based on Betweenness*, 1977; of edges, M. Girvan and
M. Newman, 2002. What one source's paths add is `brandes.carry`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphla.algorithms._shared import hashed_random, power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.brandes import carry, refuse_lost
from graphla.backends import backend
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.dtypes import FP64
from semirings.exceptions import InvalidValue


@graph_algorithm(vertices=("sources",), lengths="weight")
def betweenness(
    A: Matrix,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
    *,
    sources: Any = None,
    directed: bool | None = None,
) -> Vector:
    """b(v) = Σ σ(s, t | v) / σ(s, t): the part of shortest paths s to t, of σ, that v lies on.

    Divided by the number of pairs (s, t) if `normalized`. As in NetworkX, `k` vertices drawn by
    `seed` stand for all sources, and the sum is scaled up; `sources` are those vertices, where you
    wish to name them. With `endpoints` a path leads over its ends, too. With `weight` the values of
    A, above 0, are lengths of edges; a length that is too small to change a floating-point distance
    is refused. A symmetric A is an undirected graph, of whose pairs one
    direction counts, unless `directed` says otherwise.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import betweenness
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> betweenness(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 0.0}
    """
    n = A.nrows
    chosen, is_sample = _chosen(n, k, seed, sources)
    carried = carry(A, chosen, is_weighted=_weighs(A, weight, chosen), reach=endpoints)
    b = carried.totals
    if endpoints:
        # b = b + how many sources reach v; at a source, + how many it reaches, too
        b(binary.plus) << carried.reached
        own = np.asarray(backend(A.device).to_host(carried.counts), float) - 1
        b(binary.plus) << Vector.from_coo(chosen, own, size=n, dtype=FP64)
    pairs = n if endpoints else n - 1  # of sources, for a vertex between
    if pairs < 2 or not chosen.size:
        return b
    halves = 1 if normalized or _is_directed(A, directed) else 2
    whole = 1 / (pairs - 1) if normalized else pairs / halves
    if endpoints or not is_sample:
        return _times(b, whole / (chosen.size if is_sample else pairs))
    # a source is no vertex between on its own paths: one source less
    scaled = _times(b, whole / chosen.size)
    at = Vector.from_coo(chosen, True, bool, size=n)
    scaled(at.S) << _times(b, whole / (chosen.size - 1) if chosen.size > 1 else math.nan)
    return scaled


@graph_algorithm(vertices=("sources",), lengths="weight")
def edge_betweenness(
    A: Matrix,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
    *,
    sources: Any = None,
    directed: bool | None = None,
) -> Matrix:
    """B(u, v) = Σ σ(s, t | u, v) / σ(s, t): the part of shortest paths s to t that u → v lies on.

    Of an undirected graph, B(u, v) = B(v, u) counts both directions. Else as `betweenness`.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import edge_betweenness
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> round(edge_betweenness(A)[0, 1].value, 3)
    0.667
    """
    n = A.nrows
    chosen, _ = _chosen(n, k, seed, sources)
    carried = carry(A, chosen, is_weighted=_weighs(A, weight, chosen), of_edges=True)
    B = carried.edges
    is_directed = _is_directed(A, directed)
    if not is_directed:
        # B = B + Bᵀ
        B = binary.plus(B | B.T).new()
    if n < 2 or not chosen.size:
        return B
    halves = 1 if normalized or is_directed else 2
    whole = 1 / (n - 1) if normalized else n / halves
    return B.apply(binary.times, right=whole / chosen.size).new()


def _chosen(n: int, k: Any, seed: Any, sources: Any) -> tuple[np.ndarray, bool]:
    """The sources, and whether they are a sample."""
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


def _weighs(A: Matrix, weight: Any, chosen: np.ndarray) -> bool:
    """Return whether edges have different lengths; refuse lengths that do not lengthen a path."""
    if not validation.weighs("weight", weight):
        return False
    validation.positive(A)
    if not power_iteration.values_differ(A):
        return False
    refuse_lost(A, chosen)
    return True


def _is_directed(A: Matrix, directed: bool | None) -> bool:
    if directed is not None:
        return bool(directed)
    return not validation.is_symmetric(A)


def _times(x: Vector, factor: float) -> Vector:
    return x.apply(binary.times, right=factor).new()
