"""Diameter, radius, center and periphery: the extremes of the eccentricities of a graph.

Only a few eccentricities must be known exactly. For example, a vertex whose eccentricity cannot
exceed a known one does not affect the diameter (F. W. Takes and W. A. Kosters, 2011). See
`eccentricity` for the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.eccentricity import are_together, definition, search_bounds
from graphla.algorithms.reachable import reachable
from graphla.graph.labels import vertex_name
from graphla.sparse import Matrix, Vector
from graphla.traversal.bounds import Bounds, Next
from semirings.exceptions import InvalidValue

Eccentricities = Vector | Mapping[Any, Any] | None


@graph_algorithm(keyed=("e",), lengths="weight")
def diameter(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> float:
    """``D = max over v of e(v)``, where e holds the eccentricities.

    Compute the diameter: the maximum distance between two vertices.

    Usually a few searches bound the eccentricities tightly enough; in the worst case n searches are
    needed.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        e: the eccentricities of all vertices, if known: a Vector of size n, or a mapping from
            vertex to number.
        usebounds: whether to skip searches that the bounds make unnecessary. With False, the
            default in NetworkX, a search runs from every vertex. The result is the same in both
            cases.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.

    Returns:
        float: the diameter: an int without weights or for integer weights, otherwise a float.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `e` has a size other than n.
        IndexOutOfBound: If `e` has a key that is not a vertex.
        DeviceMismatch: If A and `e` are not on the same device.
        InvalidValue: If the graph has no vertices, if some vertex does not reach another, if `e`
            has no value for some vertex, if a weight is negative or NaN, or if weights are used and
            A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import diameter
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> diameter(A)
        2

    References:
        F. W. Takes and W. A. Kosters, *Determining the Diameter of Small World Networks*, 2011.
    """
    order = ("lowest", "highest")
    return _find_bounds(
        "diameter", A, e, usebounds, weight, Bounds.may_exceed_low, order
    ).diameter()


@graph_algorithm(keyed=("e",), lengths="weight")
def radius(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> float:
    """``R = min over v of e(v)``, where e holds the eccentricities.

    Compute the radius: the distance from a center vertex to the vertex farthest from it.

    Usually a few searches bound the eccentricities tightly enough; in the worst case n searches are
    needed.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        e: the eccentricities of all vertices, if known: a Vector of size n, or a mapping from
            vertex to number.
        usebounds: whether to skip searches that the bounds make unnecessary. With False, the
            default in NetworkX, a search runs from every vertex. The result is the same in both
            cases.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.

    Returns:
        float: the radius: an int without weights or for integer weights, otherwise a float.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `e` has a size other than n.
        IndexOutOfBound: If `e` has a key that is not a vertex.
        DeviceMismatch: If A and `e` are not on the same device.
        InvalidValue: If the graph has no vertices, if some vertex does not reach another, if `e`
            has no value for some vertex, if a weight is negative or NaN, or if weights are used and
            A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import radius
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> radius(A)
        1

    References:
        F. W. Takes and W. A. Kosters, *Determining the Diameter of Small World Networks*, 2011.
    """
    order = ("lowest", "farthest")
    return _find_bounds("radius", A, e, usebounds, weight, Bounds.may_undercut_high, order).radius()


@graph_algorithm(keyed=("e",), lengths="weight")
def center(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Vector:
    """``c(v) = (e(v) = R)``, where e holds the eccentricities and R is the smallest of them.

    Find the center: the vertices with the smallest eccentricity.

    Usually a few searches bound the eccentricities tightly enough; in the worst case n searches are
    needed. Eccentricities are compared exactly. With floating-point weights, rounding may make the
    eccentricities of the two ends of a longest path differ in the last bit.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        e: the eccentricities of all vertices, if known: a Vector of size n, or a mapping from
            vertex to number.
        usebounds: whether to skip searches that the bounds make unnecessary. With False, the
            default in NetworkX, a search runs from every vertex. The result is the same in both
            cases.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the center and without entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `e` has a size other than n.
        IndexOutOfBound: If `e` has a key that is not a vertex.
        DeviceMismatch: If A and `e` are not on the same device.
        InvalidValue: If the graph has no vertices, if some vertex does not reach another, if `e`
            has no value for some vertex, if a weight is negative or NaN, or if weights are used and
            A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import center
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> center(A).to_dict()
        {1: True}

    References:
        F. W. Takes and W. A. Kosters, *Determining the Diameter of Small World Networks*, 2011.
    """
    order = ("lowest", "farthest")
    return _find_bounds("center", A, e, usebounds, weight, Bounds.may_reach_high, order).center()


@graph_algorithm(keyed=("e",), lengths="weight")
def periphery(
    A: Matrix,
    e: Eccentricities = None,
    usebounds: bool = True,
    weight: bool | str | None = None,
) -> Vector:
    """``p(v) = (e(v) = D)``, where e holds the eccentricities and D is the largest of them.

    Find the periphery: the vertices with the largest eccentricity.

    Usually a few searches bound the eccentricities tightly enough; in the worst case n searches are
    needed. Eccentricities are compared exactly. With floating-point weights, rounding may make the
    eccentricities of the two ends of a longest path differ in the last bit.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        e: the eccentricities of all vertices, if known: a Vector of size n, or a mapping from
            vertex to number.
        usebounds: whether to skip searches that the bounds make unnecessary. With False, the
            default in NetworkX, a search runs from every vertex. The result is the same in both
            cases.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the periphery and without entries
            elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or `e` has a size other than n.
        IndexOutOfBound: If `e` has a key that is not a vertex.
        DeviceMismatch: If A and `e` are not on the same device.
        InvalidValue: If the graph has no vertices, if some vertex does not reach another, if `e`
            has no value for some vertex, if a weight is negative or NaN, or if weights are used and
            A is a Graph whose parallel edges were summed.
        OverflowError: If a distance does not fit in INT64.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import periphery
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> periphery(A).to_dict()
        {0: True, 2: True}

    References:
        F. W. Takes and W. A. Kosters, *Determining the Diameter of Small World Networks*, 2011.
    """
    order = ("lowest", "highest")
    return _find_bounds(
        "periphery", A, e, usebounds, weight, Bounds.may_reach_low, order
    ).periphery()


def _find_bounds(
    name: str,
    A: Matrix,
    e: Eccentricities,
    usebounds: bool,
    weight: bool | str | None,
    is_open: Callable[[Bounds], Any],
    order: tuple[Next, Next],
) -> Bounds:
    """Narrow the bounds on the eccentricities until no vertex needs tighter bounds (`is_open`)."""
    if A.nrows == 0:
        raise InvalidValue(f"A has no vertex, and so no {name}")
    weighs = validation.weighs("weight", weight)
    if e is not None:
        return _read_eccentricities(power_iteration.as_vector("e", e, A.nrows, None), name)
    is_together = usebounds and are_together(A, weighs)
    if not is_together:
        refuse_unreachable(A, name)
    bounds = search_bounds(A, weighs, is_open, order) if usebounds else None
    if bounds is not None:
        return bounds
    if is_together:
        refuse_unreachable(A, name)
    return _read_eccentricities(definition(A, np.arange(A.nrows), weighs), name)


def _read_eccentricities(e: Vector, name: str) -> Bounds:
    """Return the given eccentricities as bounds: both bounds of each vertex v equal e(v)."""
    if e.nvals < e.size:
        raise InvalidValue(f"e has {e.nvals} entries, but the {name} needs one for each vertex")
    return Bounds.exact(e)


def refuse_unreachable(A: Matrix, name: str) -> None:
    """Raise an error for a graph in which some vertex does not reach another."""
    from_it, to_it = reachable(A, 0), reachable(A.T.new(), 0)
    for reached, pair in ((from_it, "from {0} to {1}"), (to_it, "from {1} to {0}")):
        if reached.nvals < A.nrows:
            there = Vector.from_scalar(True, A.nrows, bool)
            v = there.dup(mask=~reached.S).reduce("first_index").value
            raise InvalidValue(
                f"A has no path {pair.format(vertex_name(0), vertex_name(v))}, "
                f"but the {name} is defined only if every vertex reaches all others"
            )
