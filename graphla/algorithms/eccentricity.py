"""Eccentricity: how far away the farthest vertex is.

The definition searches from every vertex. In a connected graph few searches settle most of them, as
each bounds all (F. W. Takes and W. A. Kosters, *Computing the Eccentricity Distribution of Large
Graphs*, 2013; here with directions): with e(w) known, and d to and from w,

    max(d(v, w), e(w) - d(w, v))  ≤  e(v)  ≤  d(v, w) + e(w)

Invariant, at the head of each round: low ≤ e ≤ high, with equality at the vertices searched from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from graphla.algorithms import arguments
from graphla.algorithms.bfs import bfs
from graphla.algorithms.sssp import LONGEST, lengths_of, sssp
from graphla.graph.facts import degrees, is_symmetric
from graphla.sparse import Matrix, Vector
from graphla.traversal import many
from semirings import binary, monoid, select

PIVOTS = 256
"""Searches after which those vertices that are still open are searched from 64 at a time."""

Next = Literal["highest", "lowest", "farthest"]


@arguments.of_graph(vertices=("v",))
def eccentricity(
    A: Matrix, v: Any = None, sp: Matrix | None = None, weight: bool | str | None = None
) -> Any:
    """e(v) = max over u of d(v, u): how far it is from v to the vertex farthest from it.

    A vertex from which some vertex cannot be reached has no entry, as its eccentricity is infinite
    (NetworkX then raises). `v`: only for these; of one vertex a number, or None. `sp`: the lengths,
    where they are known, as `all_pairs_lengths` gives them. Edges have length 1, or, with `weight`,
    their values in A, which must not be below 0.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import eccentricity
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> eccentricity(A).to_dict()
    {0: 2, 1: 1, 2: 2}
    """
    one = v is not None and np.ndim(v) == 0
    chosen = np.unique(arguments.vertices("v", [v] if one else v, A.nrows))
    weighs = arguments.weighs("weight", weight)
    if sp is not None:
        found = _of_lengths(sp)
        found = found if v is None else found.dup(mask=_at(chosen, A.nrows).S)
    else:
        bounds = settled(A, weighs, _undecided, ("lowest", "highest")) if v is None else None
        found = definition(A, chosen, weighs) if bounds is None else bounds.low
    return found.get(int(chosen[0])) if one else found


def definition(A: Matrix, vertices: np.ndarray, weighs: bool = False) -> Vector:
    """e(v) = max over u of d(v, u), by a search from each of the vertices."""
    if weighs:
        A, dtype = lengths_of(A, True)
        found = [(w, _farthest(sssp(A, w))) for w in vertices.tolist()]
        of = [(w, e) for w, e in found if e is not None]
        return Vector.from_coo([w for w, _ in of], [e for _, e in of], dtype, size=A.nrows)
    reach = many.reach(A, vertices)
    all_of_them = reach.count == A.nrows
    return Vector.from_coo(
        vertices[all_of_them], reach.farthest[all_of_them], "INT64", size=A.nrows
    )


class Bounds(NamedTuple):
    """low ≤ e ≤ high, at every vertex."""

    low: Vector
    high: Vector


def settled(
    A: Matrix,
    weighs: bool,
    is_open: Callable[[Bounds, Vector], Vector],
    order: tuple[Next, Next],
) -> Bounds | None:
    """Bounds of the eccentricities, once none is open; None where they are not all finite.

    `is_open` has an entry at each vertex that is yet to be decided, among those where low < high;
    `order` says from which vertex to search next, by turns.
    """
    n = A.nrows
    if n == 0:
        return None
    both_ways = is_symmetric(A) and (not weighs or A.isequal(A.T.new()))
    B = A if both_ways else A.T.new()
    pivot, searched = degrees(A).reduce("argmax").value, set()
    bounds = None
    while pivot is not None:
        # f(v) = d(w, v), t(v) = d(v, w), e(w) = max f
        away = _distances(A, pivot, weighs)
        back = away if both_ways else _distances(B, pivot, weighs)
        reached = _farthest(away), _farthest(back)
        if None in reached or (max(reached) > LONGEST // 2 and max(reached) != math.inf):
            return None
        e = reached[0]
        if e == math.inf:
            return None
        if bounds is None:
            bounds = Bounds(back.dup(), binary.plus(back, e).new())
        # low = low max t max (e(w) - f);  high = high min (t + e(w))
        bounds.low(binary.max) << back
        bounds.low(binary.max) << binary.minus(e, away)
        bounds.high(binary.min) << binary.plus(back, e)
        searched.add(pivot)
        rest = is_open(bounds, select.valueeq(binary.lt(bounds.low & bounds.high), True).new())
        if len(searched) >= PIVOTS and rest.nvals:
            _search_all(A, weighs, bounds, rest)
            return bounds
        pivot = _next(order[len(searched) % 2], bounds, rest, away, searched)
    return bounds


def _undecided(bounds: Bounds, unequal: Vector) -> Vector:
    return unequal


def _distances(A: Matrix, source: int, weighs: bool) -> Vector:
    """INT64 or FP64."""
    if weighs:
        return sssp(A, source)
    return bfs(A, source, parents=False).levels.dup("INT64")


def _farthest(d: Vector) -> Any:
    """The greatest distance; None where some vertex has none."""
    return d.reduce(monoid.max).get(0) if d.nvals == d.size else None


def _next(
    which: Next, bounds: Bounds, rest: Vector, away: Vector, searched: set[int]
) -> int | None:
    """Where to search from: the highest or the lowest of the rest, or the farthest from the last.

    A vertex of low eccentricity lowers the bounds above, one far out lifts those below.
    """
    if not rest.nvals:
        return None
    if which == "highest":
        return bounds.high.dup(mask=rest.S).reduce("argmax").value
    if which == "farthest":
        farthest = away.reduce("argmax").value
        if farthest not in searched:
            return farthest
    return bounds.low.dup(mask=rest.S).reduce("argmin").value


def _search_all(A: Matrix, weighs: bool, bounds: Bounds, rest: Vector) -> None:
    vertices = rest.to_coo(values=False)[0]
    found = definition(A, vertices, weighs)
    bounds.low(found.S) << found
    bounds.high(found.S) << found


def _of_lengths(lengths: Matrix) -> Vector:
    """e(v) = max of row v, where it has n entries."""
    whole = degrees(lengths).select("==", lengths.ncols).new()
    return lengths.reduce_rowwise(monoid.max).new(mask=whole.S)


def _at(vertices: np.ndarray, n: int) -> Vector:
    return Vector.from_coo(vertices, True, bool, size=n)
