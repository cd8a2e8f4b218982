"""Diameter, radius, centre and periphery: what the eccentricities of a graph come to.

Few of them need to be known exactly: a vertex whose eccentricity cannot be greater than one that is
known does not matter to the diameter (see `eccentricity`, whose bounds these are; F. W. Takes and
W. A. Kosters, *Determining the Diameter of Small World Networks*, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.eccentricity import Bounds, Next, definition, settled
from graphla.algorithms.reachable import reachable
from graphla.formats import Array
from graphla.graph.labels import called
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

Eccentricities = Vector | Mapping[Any, Any] | None


@graph_algorithm(keyed=("e",), lengths="weight")
def diameter(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Any:
    """D = max over v of e(v): the greatest distance between two vertices.

    A graph in which some vertex does not reach another is refused. `e`: the eccentricities, where
    they are known. Without `usebounds` (NetworkX's default) they are found by a search from every
    vertex, which is the definition; with it by few. Edges have length 1, or, with `weight`, their
    values in A, which must not be below 0.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import diameter
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> diameter(A)
    2
    """

    # e(v) may be above all that is known: high(v) > max of low
    def above(bounds: Bounds) -> Array:
        return bounds.differ & (bounds.high > bounds.low.max())

    found = _bounded("diameter", A, e, usebounds, weight, above, ("lowest", "highest"))
    return found.low.max().item()


@graph_algorithm(keyed=("e",), lengths="weight")
def radius(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Any:
    """r = min over v of e(v): how far it is from the vertex that has it nearest to all others.

    As `diameter` otherwise.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import radius
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> radius(A)
    1
    """

    # e(v) may be below all that is known: low(v) < min of high
    def below(bounds: Bounds) -> Array:
        return bounds.differ & (bounds.low < bounds.high.min())

    found = _bounded("radius", A, e, usebounds, weight, below, ("lowest", "farthest"))
    return found.high.min().item()


@graph_algorithm(keyed=("e",), lengths="weight")
def center(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Vector:
    """c(v) = (e(v) = the radius): true at the vertices that have it nearest to all others.

    As `diameter` otherwise.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import center
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> center(A).to_dict()
    {1: True}
    """

    # e(v) may be the least: low(v) <= min of high
    def lowest(bounds: Bounds) -> Array:
        return bounds.differ & (bounds.low <= bounds.high.min())

    low, high = _bounded("center", A, e, usebounds, weight, lowest, ("lowest", "farthest"))
    return _true_at(low <= high.min())


@graph_algorithm(keyed=("e",), lengths="weight")
def periphery(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Vector:
    """p(v) = (e(v) = the diameter): true at the vertices that some vertex is farthest from.

    As `diameter` otherwise.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import periphery
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> periphery(A).to_dict()
    {0: True, 2: True}
    """

    # e(v) may be the greatest: high(v) >= max of low
    def highest(bounds: Bounds) -> Array:
        return bounds.differ & (bounds.high >= bounds.low.max())

    low, high = _bounded("periphery", A, e, usebounds, weight, highest, ("lowest", "highest"))
    return _true_at(high >= low.max())


def _bounded(
    name: str,
    A: Matrix,
    e: Eccentricities,
    usebounds: bool,
    weight: Any,
    is_open: Callable[[Bounds], Array],
    order: tuple[Next, Next],
) -> Bounds:
    """low ≤ e ≤ high, as near to one another as is needed."""
    if A.nrows == 0:
        raise InvalidValue(f"A has no vertex, and so no {name}")
    weighs = validation.weighs("weight", weight)
    if e is not None:
        return _known(power_iteration.as_vector("e", e, A.nrows, None), name)
    connected(A, name)
    bounds = settled(A, weighs, is_open, order) if usebounds else None
    if bounds is not None:
        return bounds
    return _known(definition(A, np.arange(A.nrows), weighs), name)


def _known(e: Vector, name: str) -> Bounds:
    if e.nvals < e.size:
        raise InvalidValue(f"e has {e.nvals} entries, but the {name} needs one for each vertex")
    return Bounds(e.to_dense(copy=False), e.to_dense(copy=False))


def connected(A: Matrix, name: str) -> None:
    """Refuse a graph in which some vertex does not reach another."""
    from_it, to_it = reachable(A, 0), reachable(A.T.new(), 0)
    for reached, pair in ((from_it, "from {0} to {1}"), (to_it, "from {1} to {0}")):
        if reached.nvals < A.nrows:
            there = Vector.from_scalar(True, A.nrows, bool)
            v = there.dup(mask=~reached.S).reduce("first_index").value
            raise InvalidValue(
                f"A has no path {pair.format(called(0), called(v))}, but the {name} is of "
                "graphs in which every vertex reaches all others"
            )


def _true_at(flags: Array) -> Vector:
    return Vector.from_dense(flags, missing_value=False)
