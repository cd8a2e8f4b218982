"""How many shortest paths lead from a source to each vertex.

The counts of the first phase of U. Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001.
Counts grow exponentially, so they are first had in FP64: sums up to 2^53 are exact in it, in which
case that is all; only greater ones are counted again in INT64, where they fit.

Invariants, at the head of each round, without weights:
- paths has an entry at each vertex reached by fewer than so many edges, and it is final;
- frontier has one at each that is so many edges away, its count.
With weights, the frontier has an entry at each end of a path of so many tight edges, where an edge
u -> v of weight w is tight if d(u) + w = d(v): how many of those end there.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.sssp import sssp
from graphla.expression import replace
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import any_second, min_plus, plus_first

EXACT = 2.0**53
"""Up to here each sum of whole numbers is one in FP64."""


@graph_algorithm(vertices=("source",), lengths="weight")
def path_count(
    A: Matrix, source: Any, *, weight: bool | str | None = None, dtype: Any = "INT64"
) -> Vector:
    """σ = Σ over k of s (plus.first T)^k: how many shortest paths end at each vertex.

    T are the edges from one level to the next, or, with `weight`, those u -> v with d(u) + w = d(v)
    for the distances d of `sssp`. The source has one path, of no edge; a vertex that is not reached
    has no entry. `source` is a vertex, or several, as in `bfs`. Counts are INT64 and exact, and
    refused (OverflowError) where they do not fit; with dtype "FP64" they are rounded instead. A
    cycle of weight 0 is refused: it makes infinitely many paths.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import path_count
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [1, 2, 2, 1], nrows=5, ncols=5)
    >>> path_count(A, 0).to_dict()
    {0: 1, 1: 1, 2: 1, 3: 2}
    """
    wanted = validation.one_of("dtype", dtype, ("INT64", "FP64"))
    if validation.weighs("weight", weight):
        T, count = _find_tight_edges(A, sssp(A, source).distances), _of_all_paths
    else:
        T, count = A, _of_levels
    rounded = count(T, validation.starts(source, A, 1.0, "FP64"))
    if wanted == "FP64":
        return rounded
    most = rounded.reduce(monoid.max).get(0)
    if most <= EXACT:
        return rounded.dup("INT64")
    exact = count(T, validation.starts(source, A, 1, "INT64"))
    # Sums modulo 2^64 are far from the rounded ones, unless they are the counts themselves.
    off = unary.abs(binary.minus(exact.dup("FP64") & rounded)).reduce(monoid.max).get(0)
    if most >= 2.0**63 or off > most / 2:
        raise OverflowError(
            f"A has about {most:.3g} shortest paths from {vertex_name(source)} to some vertex, "
            'which INT64 cannot hold; ask for dtype "FP64"'
        )
    return exact


def _of_levels(A: Matrix, start: Vector) -> Vector:
    paths, frontier = Vector(start.dtype, start.size), start
    while frontier.nvals:
        # σ⟨f⟩ = f
        paths(frontier.S) << frontier
        # f⟨¬σ, r⟩ = f plus.first A
        frontier(~paths.S, replace) << plus_first(frontier @ A)
    return paths


def _of_all_paths(T: Matrix, start: Vector) -> Vector:
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


def _find_tight_edges(A: Matrix, d: Vector) -> Matrix:
    """T(u, v) = true where d(u) + A(u, v) = d(v)."""
    D = d.diag()
    A = select.offdiag(A).new()
    # each sum has one term: D is diagonal
    reached = binary.eq(min_plus[d.dtype](D @ A) & any_second(A @ D)).new()
    return select.valueeq(reached, True).new()
