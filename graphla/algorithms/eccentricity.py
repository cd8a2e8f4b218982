"""Eccentricity: the distance to the farthest vertex.

The definition searches from every vertex. In a connected graph, a few searches determine most
eccentricities, because each search bounds all of them (F. W. Takes and W. A. Kosters, 2013;
extended here to directed graphs). If e(w) and the distances d to and from w are known, then

    max(d(v, w), e(w) - d(w, v))  ≤  e(v)  ≤  d(v, w) + e(w)

An eccentricity is defined as the maximum of the lengths that `sssp` computes. Sums of
floating-point lengths depend on the order of their terms, so the inequalities hold only up to a
rounding error. The bounds are widened by this error (`rounding_error`).

Invariant, at the start of each round: low ≤ e ≤ high, with equality at each vertex from which a
search has run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.algorithms._shared.membership import selection, vertex_numbers
from graphla.algorithms.bfs import bfs
from graphla.algorithms.sssp import LONGEST, lengths_of, sssp
from graphla.algorithms.strong_components import strong_components
from graphla.graph.cached_properties import are_multiples, degrees, extent, is_symmetric
from graphla.operations.moving import send
from graphla.operations.operation import refuse_mixed
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.traversal import bounds, many
from graphla.traversal.bounds import Bounds, Next
from semirings import binary, monoid
from semirings.exceptions import DimensionMismatch
from semirings.semiring import any_first, max_first, min_first

WORD = 64
"""The maximum number of searches in a batch. Each search uses one bit of a machine word."""

TOGETHER = 32
"""A batch of this many searches takes about as long as two searches that run separately."""
DEEP = 64
"""If an eccentricity is larger than this, batches of searches save no time.

Searches of a batch save time by sharing work, and long searches rarely share any.
"""

_MOST = LONGEST // 4
"""The largest eccentricity for which the sums of distances in this module cannot overflow."""


@overload
def eccentricity(
    A: GraphLike,
    v: None = None,
    sp: Matrix | None = None,
    weight: bool | str | None = None,
) -> Vector: ...


@overload
def eccentricity(
    A: GraphLike,
    v: int | str,
    sp: Matrix | None = None,
    weight: bool | str | None = None,
) -> float | None: ...


@overload
def eccentricity(
    A: GraphLike,
    v: Iterable[Any],
    sp: Matrix | None = None,
    weight: bool | str | None = None,
) -> Vector: ...


@overload
def eccentricity(
    A: GraphLike,
    v: Any,
    sp: Matrix | None = None,
    weight: bool | str | None = None,
) -> Vector | float | None: ...


@graph_algorithm(vertices=("v",), lengths="weight")
def eccentricity(
    A: Matrix, v: Any = None, sp: Matrix | None = None, weight: bool | str | None = None
) -> Vector | float | None:
    """``e(v) = max over u of d(v, u)``.

    Compute the eccentricity of each vertex: the distance to the vertex farthest from it.

    A vertex that does not reach all other vertices has no entry, because its eccentricity is
    infinite; NetworkX raises an error instead. Each search bounds the eccentricities of all
    vertices, so usually a few searches suffice; in the worst case n searches are needed.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        v: a single vertex, a list or array of vertices, or None for all vertices.
        sp: the lengths of shortest paths between all vertices, if known: a Matrix of shape (n, n),
            as `all_pairs_lengths` returns it.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.

    Returns:
        Vector | float | None: a number if `v` is one vertex, or None if it does not reach all other
            vertices; otherwise a Vector of size n. The dtype is INT64, or FP64 for floating-point
            weights.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `sp` has a different shape.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and `sp` are not on the same device.
        InvalidValue: If a weight is negative or NaN, or if weights are used and A is a Graph whose
            parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import eccentricity
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> eccentricity(A).to_dict()
        {0: 2, 1: 1, 2: 2}

    References:
        F. W. Takes and W. A. Kosters, *Computing the Eccentricity Distribution of Large Graphs*,
            2013.
    """
    one = v is not None and np.ndim(v) == 0
    chosen = validation.vertices("v", [v] if one else v, A.nrows)
    # `unique` is slow for many vertices, so skip it if all vertices are chosen.
    chosen = chosen if v is None else np.unique(chosen)
    weighs = validation.weighs("weight", weight)
    if sp is not None:
        if not isinstance(sp, Matrix):
            raise TypeError(f"sp must be a Matrix of lengths, not a {type(sp).__name__}")
        if sp.shape != A.shape:
            raise DimensionMismatch(f"sp has shape {sp.shape}, but A has {A.shape}")
        if sp.device != A.device:
            refuse_mixed(A.device, sp.device, "A and sp")
        found = _row_maxima(sp)
        found = found if v is None else found.dup(mask=_indicator(chosen, A.nrows).S)
    else:
        found = (
            None
            # If path lengths have rounding errors, the bounds are widened. The bounds of a vertex
            # then agree only after a search from this vertex, so the bounds would save no searches.
            if v is not None or (weighs and rounding_error(A))
            else search_bounds(A, weighs, Bounds.differ, ("lowest", "highest"))
        )
        if found is None:
            found = definition(A, _sources_of_all(A) if v is None else chosen, weighs)
        else:
            found = found.eccentricities()
    return found.get(int(chosen[0])) if one else found


def definition(A: Matrix, vertices: np.ndarray, weighs: bool = False) -> Vector:
    """``e(v) = max over u of d(v, u)``.

    Compute the eccentricities of the given vertices by one search from each of them.
    """
    if weighs:
        A, dtype = lengths_of(A, True)
        batches = many.batches(A, vertices.size, "eccentricity", size=1)
        lengths = ((w, sssp(A, w).distances) for part in batches for w in vertices[part].tolist())
        found = {w: d.reduce(monoid.max).get(0) for w, d in lengths if d.nvals == d.size}
        return Vector.from_dict(found, dtype, size=A.nrows)
    reach = many.reach(A, vertices, "eccentricity")
    all_of_them = reach.count == A.nrows
    return Vector.from_coo(
        vertices[all_of_them], reach.farthest[all_of_them], "INT64", size=A.nrows
    )


def _sources_of_all(A: Matrix) -> np.ndarray:
    """Return the vertices that reach all other vertices.

    If exactly one strong component has no incoming edges from other components, its vertices reach
    all other vertices. If there are several such components, none of them reaches another, so no
    vertex reaches all other vertices.
    """
    label = strong_components(A)
    # entered(v) is true if an edge enters v from another component. This is the case if the
    # smallest or the largest label of v's in-neighbors differs from the label of v.
    least, greatest = min_first(label @ A).new(), max_first(label @ A).new()
    differ = binary.lor(binary.ne(least & label).new() & binary.ne(greatest & label).new()).new()
    entered = differ.select("==", True).new()
    # The vector `first` has an entry for each component that no edge enters. The index of the
    # entry is the smallest vertex of the component.
    roots = binary.eq(label & vertex_numbers(A)).new().select("==", True).new()
    first = roots.dup(mask=~any_first(entered @ selection(label)).new().S)
    if first.nvals != 1:
        return np.arange(0)
    return label.select("==", first.to_coo(values=False)[0].item()).new().to_coo(values=False)[0]


def search_bounds(
    A: Matrix, weighs: bool, is_open: Callable[[Bounds], Any], order: tuple[Next, Next]
) -> Bounds | None:
    """Search until the bounds on all eccentricities are narrow enough, and return the bounds.

    Each search narrows the bounds. `is_open` returns for each vertex whether its bounds must still
    be narrowed. The two rules in `order` alternately choose the vertex from which the next search
    runs.

    Return None if the graph has no vertices, if some distance is infinite, or if an eccentricity is
    so large that sums of distances might overflow.
    """
    if A.nrows == 0:
        return None
    if are_together(A, weighs):
        reach = many.reach(A, np.arange(A.nrows), "eccentricity")
        if (reach.count < A.nrows).any():
            return None
        e = send(reach.farthest.astype(np.int64, copy=False), A.device)
        return Bounds(e, e)
    both_ways = is_symmetric(A) and (not weighs or A.isequal(A.T.new()))
    B = A if both_ways else A.T.new()
    error = rounding_error(A) if weighs else 0.0
    pivot, found, searched = degrees(A).reduce("argmax").value, None, set()
    while True:
        # away(v) = d(w, v), back(v) = d(v, w), e(w) = max away
        away = _distances(A, pivot, weighs)
        back = away if both_ways else _distances(B, pivot, weighs)
        if away is None or back is None:
            return None
        search = bounds.distances(pivot, away, back)
        e = search.eccentricity
        if e > _MOST:
            return None
        found = bounds.narrow(found, search, error)
        searched.add(pivot)
        flags = is_open(found)
        count = int(flags.sum())
        if not count:
            return found
        # A search from each remaining vertex would also give the result. The loop does this as soon
        # as its searches so far have cost as much. The total cost is then at most twice the cost of
        # the better choice, as in the ski rental problem.
        price = count if weighs or e > DEEP else count / TOGETHER
        if len(searched) >= price:
            rest = bounds.vertices_of(flags)
            return bounds.replace(found, rest, definition(A, rest, weighs))
        pivot = bounds.choose(order[len(searched) % 2], found, flags, search, searched)


def are_together(A: Matrix, weighs: bool) -> bool:
    """Return whether one batch of searches from all vertices costs no more than a few searches."""
    return not weighs and A.nrows <= WORD and A.nvals < config.compile_threshold


def rounding_error(A: Matrix) -> float:
    """Return a relative error by which to widen the bounds, or 0 if all sums are exact.

    The length of a path of at most n - 1 edges has a relative error of at most (n - 1) u plus
    second-order terms, where u = 2^-53. A bound is computed from two such lengths and compared with
    a third one. Sums are exact if all weights are multiples of the same power of 2, and 2 n times
    the largest weight is below 2^53 times this power.
    """
    if not A.nvals or not validation.is_floating(A):
        return 0.0
    unit = _unit(2.0 * A.nrows * extent(A)[1])
    if unit and are_multiples(A, unit):
        return 0.0
    return 4 * (A.nrows + 4) * 2.0**-53


def _unit(total: float) -> float:
    """Return the smallest power of two p such that FP64 holds every multiple of p below `total`.

    This is the smallest p with `total` < 2^53 p. Return 0 if p is too small or too large for FP64.
    """
    exponent = math.frexp(total)[1] - 53
    return math.ldexp(1.0, exponent) if math.isfinite(total) and abs(exponent) < 1000 else 0.0


def _distances(A: Matrix, source: int, weighs: bool) -> Vector | None:
    """Return the distance from `source` to each vertex, or None if some vertex is unreachable."""
    d = sssp(A, source).distances if weighs else bfs(A, source, parents=False).levels
    return d if d.nvals == d.size else None


def _row_maxima(lengths: Matrix) -> Vector:
    """Return the maximum of each row that has an entry in every column."""
    whole = degrees(lengths).select("==", lengths.ncols).new()
    return lengths.reduce_rowwise(monoid.max).new(mask=whole.S)


def _indicator(vertices: np.ndarray, n: int) -> Vector:
    """Return a Vector of size n that is true at the given vertices."""
    return Vector.from_coo(vertices, True, bool, size=n)
