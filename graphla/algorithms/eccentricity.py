"""Eccentricity: how far away the farthest vertex is.

The definition searches from every vertex. In a connected graph few searches settle most of them, as
each bounds all (F. W. Takes and W. A. Kosters, *Computing the Eccentricity Distribution of Large
Graphs*, 2013; here with directions): with e(w) known, and d to and from w,

    max(d(v, w), e(w) - d(w, v))  ≤  e(v)  ≤  d(v, w) + e(w)

An eccentricity is exactly the maximum of the lengths that `sssp` computes. Sums of floating-point
lengths depend on the order of their terms, so the inequalities hold only up to a rounding error
(`rounding_error`). The bounds are widened by this error.

Invariant, at the head of each round: low ≤ e ≤ high, with equality at the vertices searched from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bfs import bfs
from graphla.algorithms.sssp import LONGEST, lengths_of, sssp
from graphla.algorithms.strong_components import strong_components
from graphla.backends import backend
from graphla.formats import Array, is_iso
from graphla.graph.cached_properties import degrees, extent, is_symmetric
from graphla.operations.operation import perform, refuse_mixed
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from graphla.traversal import many
from semirings import monoid
from semirings.exceptions import DimensionMismatch

TOGETHER = 32
"""Vertices that are searched from together for the price of two searches of one."""
DEEP = 64
"""Distances beyond which searches seldom meet, so that many cost what they cost one by one."""

_MOST = LONGEST // 4
"""The greatest eccentricity that is added to distances."""

Next = Literal["highest", "lowest", "farthest"]


@graph_algorithm(vertices=("v",), lengths="weight")
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
    chosen = validation.vertices("v", [v] if one else v, A.nrows)
    chosen = chosen if v is None else np.unique(chosen)  # `unique` is slow for many vertices
    weighs = validation.weighs("weight", weight)
    if sp is not None:
        if not isinstance(sp, Matrix):
            raise TypeError(f"sp must be a Matrix of lengths, not a {type(sp).__name__}")
        if sp.shape != A.shape:
            raise DimensionMismatch(f"sp has shape {sp.shape}, but A has {A.shape}")
        if sp.device != A.device:
            refuse_mixed(A.device, sp.device, "A and sp")
        found = _of_lengths(sp)
        found = found if v is None else found.dup(mask=_at(chosen, A.nrows).S)
    else:
        bounds = (
            None
            # Widened bounds are equal only at vertices from which a search began, so every vertex
            # would need its own search.
            if v is not None or (weighs and rounding_error(A))
            else settled(A, weighs, lambda bounds: bounds.differ, ("lowest", "highest"))
        )
        if bounds is None:
            found = definition(A, _reaching_all(A) if v is None else chosen, weighs)
        else:
            found = Vector.from_dense(bounds.low, copy=False)
    return found.get(int(chosen[0])) if one else found


def definition(A: Matrix, vertices: np.ndarray, weighs: bool = False) -> Vector:
    """e(v) = max over u of d(v, u), by a search from each of the vertices."""
    if weighs:
        A, dtype = lengths_of(A, True)
        batches = many.batches(A, vertices.size, "eccentricity", size=1)
        lengths = ((w, sssp(A, w)) for part in batches for w in vertices[part].tolist())
        found = {w: d.reduce(monoid.max).get(0) for w, d in lengths if d.nvals == d.size}
        return Vector.from_dict(found, dtype, size=A.nrows)
    reach = many.reach(A, vertices, "eccentricity")
    all_of_them = reach.count == A.nrows
    return Vector.from_coo(
        vertices[all_of_them], reach.farthest[all_of_them], "INT64", size=A.nrows
    )


def _reaching_all(A: Matrix) -> np.ndarray:
    """The vertices that reach all others: the strong component that no edge enters, if it is one.

    From two such components no path leads to the other; to each further one there is a path.
    """
    do = backend(A.device)
    label = strong_components(A).to_dense(copy=False)
    i, j, _ = A.to_coo(values=False, copy=False)
    xp = do.xp
    entered = xp.zeros(A.nrows, bool)
    # `take` and `not_equal` are calls, unlike brackets: Python handles Ctrl-C after each call.
    from_part, to_part = label.take(i), label.take(j)
    is_between = xp.not_equal(from_part, to_part)
    entered[to_part[is_between]] = True
    first = (~entered & (label == xp.arange(A.nrows))).nonzero()[0]
    if first.size != 1:
        return np.arange(0)
    return do.to_host((label == first[0]).nonzero()[0])


class Bounds(NamedTuple):
    """low ≤ e ≤ high: an array each of the device, with a number for every vertex."""

    low: Array
    high: Array

    @property
    def differ(self) -> Array:
        """Where e is not known yet."""
        return self.low < self.high


def settled(
    A: Matrix, weighs: bool, is_open: Callable[[Bounds], Array], order: tuple[Next, Next]
) -> Bounds | None:
    """Bounds of the eccentricities, once none is open; None where they are not all finite.

    `is_open` is true at each vertex that is yet to be decided, of those where the bounds differ;
    `order` says from which vertex to search next, by turns.
    """
    if A.nrows == 0:
        return None
    both_ways = is_symmetric(A) and (not weighs or A.isequal(A.T.new()))
    B = A if both_ways else A.T.new()
    xp, searched = backend(A.device).xp, set()
    error = rounding_error(A) if weighs else 0.0
    pivot, bounds = degrees(A).reduce("argmax").value, None
    while True:
        # f(v) = d(w, v), t(v) = d(v, w), e(w) = max f
        away = _distances(A, pivot, weighs)
        back = away if both_ways else _distances(B, pivot, weighs)
        if away is None or back is None:
            return None
        e = away.max().item()
        if e > _MOST:
            return None
        # low = low max t max (e(w) - f);  high = high min (t + e(w))
        low, high = xp.maximum(back, e - away), back + e
        if error:
            low = xp.maximum(back * (1 - error), low - error * (e + away))
            high = high * (1 + error)
            low[pivot] = high[pivot] = e
        if bounds is not None:
            low, high = xp.maximum(bounds.low, low), xp.minimum(bounds.high, high)
        bounds = Bounds(low, high)
        searched.add(pivot)
        rest = is_open(bounds)
        left = int(rest.sum())
        if not left:
            return bounds
        # As one who rents until the rent paid reaches the price.
        price = left if weighs or e > DEEP else left / TOGETHER
        if len(searched) >= price:
            return _searched_from(A, weighs, bounds, rest.nonzero()[0])
        pivot = _next(order[len(searched) % 2], bounds, rest, away, searched)


def rounding_error(A: Matrix) -> float:
    """Return a relative error of the bounds that covers all rounding, or 0 if sums are exact.

    The length of a path of at most n - 1 edges has a relative error of at most (n - 1) u plus
    second-order terms, where u = 2^-53. A bound is computed from two such lengths and compared with
    a third one. Sums are exact if all weights are multiples of one power of 2, and 2 n times the
    greatest weight is below 2^53 times this power.
    """
    if not A.nvals or not validation.is_floating(A):
        return 0.0
    unit = _unit(2.0 * A.nrows * extent(A)[1])
    if unit and A._forms.fact("exact", lambda: perform("exact", _are_multiples, A._forms, unit)):
        return 0.0
    return 4 * (A.nrows + 4) * 2.0**-53


def _unit(total: float) -> float:
    """Return the least power p of 2 with `total` < 2^53 p, or 0 if p is out of FP64's range."""
    exponent = math.frexp(total)[1] - 53
    return math.ldexp(1.0, exponent) if math.isfinite(total) and abs(exponent) < 1000 else 0.0


def _are_multiples(forms: MatrixForms, unit: float) -> bool:
    """Return whether each value is a multiple of `unit`."""
    values = (forms.csr if forms.has_csr else forms.csc).values
    values = values[:1] if is_iso(values) else values
    return bool((values.astype(np.float64) % unit == 0).all())


def _distances(A: Matrix, source: int, weighs: bool) -> Array | None:
    """d(source, v), INT64 or FP64; None where some vertex is not reached."""
    d = sssp(A, source) if weighs else bfs(A, source, parents=False).levels
    if d.nvals < d.size:
        return None
    values = d.to_dense(copy=False)
    return values if weighs else values.astype(np.int64)


def _next(which: Next, bounds: Bounds, rest: Array, away: Array, searched: set[int]) -> int:
    """Where to search from: the highest or the lowest of the rest, or the farthest from the last.

    A vertex of low eccentricity lowers the bounds above, one far out lifts those below.
    """
    xp = backend(config.device).xp
    if which == "farthest":
        farthest = int(away.argmax())
        if farthest not in searched:
            return farthest
    if which == "highest":
        return int(xp.where(rest, bounds.high, -1).argmax())
    return int(xp.where(rest, -bounds.low, -LONGEST).argmax())


def _searched_from(A: Matrix, weighs: bool, bounds: Bounds, rest: Array) -> Bounds:
    """The bounds, where those of the rest are found one by one."""
    do = backend(A.device)
    found = definition(A, do.to_host(rest), weighs).to_coo(copy=False)[1]
    low, high = bounds.low.copy(), bounds.high.copy()
    low[rest] = high[rest] = found
    return Bounds(low, high)


def _of_lengths(lengths: Matrix) -> Vector:
    """e(v) = max of row v, where it has n entries."""
    whole = degrees(lengths).select("==", lengths.ncols).new()
    return lengths.reduce_rowwise(monoid.max).new(mask=whole.S)


def _at(vertices: np.ndarray, n: int) -> Vector:
    return Vector.from_coo(vertices, True, bool, size=n)
