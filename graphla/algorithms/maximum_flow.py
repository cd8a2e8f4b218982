"""Maximum flow, and the minimum cut that proves that the flow is maximal.

Flow is pushed along shortest paths with capacity left, level by level (Y. Dinitz, 1970). SciPy runs
this algorithm if the capacities are integers with a sum below 2^30; otherwise a compiled loop runs
it.

In this file the *residual* of an arc is the capacity that is left: its capacity minus its flow plus
the flow of the opposite arc. The residual network has an arc in both directions for each edge.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.reachable import reachable
from graphla.algorithms.widest import widest_path
from graphla.graph.cached_properties import extent
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import Augmentation, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select, unary
from semirings.exceptions import GraphblasException, InvalidValue

NARROW = 2**30
"""SciPy computes 32-bit flows, so it is used only if the capacities add up to less than this."""

WIDE = 2**61
"""Integer capacities must add up to less than this, so that no sum of two residuals overflows."""


class UnboundedFlow(GraphblasException, ValueError):
    """Raised if a path of edges with infinite capacity leads from the source to the target."""


class MaximumFlow(NamedTuple):
    """The result of `maximum_flow`.

    Attributes:
        value: the total flow from the source to the target.
        flow: the flow along each edge, a Matrix with the pattern of A.
    """

    value: float
    flow: Matrix


class MinimumCut(NamedTuple):
    """The result of `minimum_cut`.

    Attributes:
        value: the total capacity of the edges out of the source's side.
        source_side: a Vector of dtype BOOL that is true at the vertices on the source's side.
    """

    value: float
    source_side: Vector


class _Residual(NamedTuple):
    """The residual network of a maximum flow.

    Attributes:
        value: the total flow from the source to the target.
        flow: a Matrix with the flow of each arc whose flow is above 0.
        left: a Matrix with the residual of each arc that has capacity left.
    """

    value: float
    flow: Matrix
    left: Matrix


@graph_algorithm(vertices=("source", "target"))
def maximum_flow(
    A: Matrix, source: Any, target: Any, weight: bool | str | None = True
) -> MaximumFlow:
    """``Σ F(s, j) - Σ F(i, s)``, as large as possible for a flow ``0 ≤ F ≤ A``.

    Find a maximum flow from one vertex to another.

    As much flow enters each vertex as leaves it, except at the source and the target. Takes at most
    O(n² m) time, and far less in practice. Runs on the CPU; a Matrix on a GPU is copied.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. An undirected edge can carry flow in either
            direction.
        source: the vertex where the flow starts.
        target: the vertex where the flow ends.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are the
            capacities, which must be at least 0 and may be infinite; if None or False, all
            capacities are 1.

    Returns:
        MaximumFlow: (value, flow). `value` is the total flow, an int for integer capacities. `flow`
            is a Matrix with the pattern of A that holds the flow along each edge.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If source or target is not a vertex of the graph.
        InvalidValue: If source and target are the same, or a capacity is negative or NaN.
        OverflowError: If integer capacities are so large that the flow may reach 2^60.
        UnboundedFlow: If edges of infinite capacity lead from the source to the target.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import maximum_flow
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [3, 1, 1, 5], nrows=4, ncols=4)
        >>> value, flow = maximum_flow(A, 0, 3)
        >>> value, flow.to_dict()
        (2, {(0, 1): 1, (0, 2): 1, (1, 3): 1, (2, 3): 1})

    References:
        Y. Dinitz, *Algorithm for Solution of a Problem of Maximum Flow in a Network with Power
            Estimation*, 1970.
    """
    if A.device != "cpu":
        value, flow = maximum_flow(A.to("cpu"), source, target, weight)
        return MaximumFlow(value, flow.to(A.device))
    ends = _different_ends(A, source, target)
    W = _capacities(A, weight)
    found = _solve(W, *ends)
    # F = 0·A, then F⟨flow⟩ = flow
    F = binary.times(unary.one[W.dtype](W).new(), 0).new()
    F(found.flow.S) << found.flow
    return MaximumFlow(found.value, F)


@graph_algorithm(vertices=("source", "target"))
def minimum_cut(
    A: Matrix, source: Any, target: Any, weight: bool | str | None = True
) -> MinimumCut:
    """``Σ A(i, j)`` over the edges from the source's side to the other side, as small as possible.

    Find a minimum cut: a cheapest set of edges whose removal cuts all paths to the target.

    The value is that of a maximum flow. If there are several minimum cuts, the result is the one
    with the fewest vertices on the target's side. Runs on the CPU; a Matrix on a GPU is copied.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        source: a vertex on one side of the cut.
        target: a vertex on the other side.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are the
            capacities, which must be at least 0 and may be infinite; if None or False, all
            capacities are 1.

    Returns:
        MinimumCut: (value, source_side). `value` is the total capacity of the cut edges, an int for
            integer capacities. `source_side` is a Vector of size n and dtype BOOL that is true at
            the vertices on the source's side and has no other entries.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If source or target is not a vertex of the graph.
        InvalidValue: If source and target are the same, or a capacity is negative or NaN.
        OverflowError: If integer capacities are so large that the flow may reach 2^60.
        UnboundedFlow: If edges of infinite capacity lead from the source to the target.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import minimum_cut
        >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], [3, 1, 2], nrows=4, ncols=4)
        >>> value, source_side = minimum_cut(A, 0, 3)
        >>> value, source_side.to_dict()
        (1, {0: True, 1: True})

    References:
        L. Ford and D. Fulkerson, *Maximal Flow through a Network*, 1956.
    """
    if A.device != "cpu":
        value, side = minimum_cut(A.to("cpu"), source, target, weight)
        return MinimumCut(value, side.to(A.device))
    source, target = _different_ends(A, source, target)
    found = _solve(_capacities(A, weight), source, target)
    # The vertices that reach the target in the residual network are on the target's side.
    behind = reachable(found.left.T.new(), target)
    side = Vector.from_scalar(True, A.nrows, bool).dup(mask=~behind.S)
    return MinimumCut(found.value, side)


def definition(residuals: Matrix, source: int, target: int) -> Matrix:
    """Return the residuals after pushing flow along widest paths until no path is left."""
    R = residuals.select(">", 0).new()
    while True:
        widths, parents = widest_path(R, source, parents=True)
        width = widths.get(target)
        if width is None:
            return R
        before, path = parents.to_dense(-1), [target]
        while path[-1] != source:
            path.append(int(before[path[-1]]))
        # R = R - P + Pᵀ, where P holds the width of the path as the value of each edge of the path
        shape: dict[str, Any] = {"nrows": R.nrows, "ncols": R.ncols}
        P = Matrix.from_coo(path[1:], path[:-1], width, R.dtype, **shape)
        R(binary.minus) << P
        R(binary.plus) << P.T
        R = R.select(">", 0).new()


def _different_ends(A: Matrix, source: Any, target: Any) -> tuple[int, int]:
    """Return the source and the target, which must be different vertices."""
    source = validation.vertex(source, A.nrows)
    target = validation.vertex(target, A.nrows, "target")
    if source == target:
        raise InvalidValue(f"target is {vertex_name(target)}, but must differ from the source")
    return source, target


def _capacities(A: Matrix, weight: bool | str | None) -> Matrix:
    """Return the capacities of the edges, as INT64 or FP64."""
    if not validation.weighs("weight", weight):
        return unary.one["INT64"](A).new()
    validation.nonnegative(A)
    if A.dtype == "UINT64" and A.nvals and extent(A)[1] >= WIDE:
        raise OverflowError(f"A has capacity {extent(A)[1]}, but only less than 2^61 fits")
    return A.dup("FP64" if validation.is_floating(A) else "INT64")


def _solve(W: Matrix, source: int, target: int) -> _Residual:
    """Return the residual network of a maximum flow for the capacities W."""
    W = select.offdiag(W).new()
    sums = [x.new().dup("FP64").reduce(monoid.plus).get(0.0) for x in (W[source, :], W[:, target])]
    if 2 * min(sums) + 1 < WIDE:
        # No flow exceeds the capacity out of the source or into the target. If an arc had a far
        # larger capacity, its flow would be rounded.
        W = binary.min(W, W.dtype.np_type.type(2 * min(sums) + 1)).new()
    W, total = _replace_infinite(W, source, target)
    if not validation.is_floating(W) and total >= WIDE:
        raise OverflowError(
            f"A has capacities that add up to {total:.3g}, but the sum must be below 2^61"
        )
    # B(i, j) = W(i, j), and 0 where only W(j, i) exists
    B = binary.plus(W | binary.times(unary.one[W.dtype](W.T).new(), 0).new()).new()
    if total < NARROW and B.isequal(unary.trunc(B).new()):
        left = _residuals_of_scipy(B, source, target)
    else:
        left = accelerated(Augmentation(B, source, target), partial(definition, B, source, target))
    left = left.select(">", 0).new()
    # The flow of an arc is its capacity minus its residual, where that is above 0.
    flow = B.ewise_union(left, binary.minus, 0, 0).new().select(">", 0).new()
    out, into = (x.new().reduce(monoid.plus).get(0) for x in (flow[source, :], flow[:, source]))
    value = float(out - into) if validation.is_floating(W) else int(out - into)
    return _Residual(value, flow, left)


def _residuals_of_scipy(B: Matrix, source: int, target: int) -> Matrix:
    """Return the residuals of the maximum flow that SciPy computes for the capacities B.

    The capacities are integers. For each arc, B also contains the opposite arc.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    indptr, indices, capacities = B.to_csr(copy=False)
    shape: dict[str, Any] = {"shape": B.shape}
    narrow = (x.astype(np.int32) for x in (capacities, indices, indptr))
    network = csr_array(tuple(narrow), **shape)
    flow = maximum_flow(network, source, target).flow
    return Matrix.from_csr(indptr, indices, capacities - flow.data, B.dtype, ncols=B.ncols)


def _replace_infinite(W: Matrix, source: int, target: int) -> tuple[Matrix, float]:
    """Make infinite capacities finite, but larger than any flow; also return the sum of capacities.

    Raise UnboundedFlow if edges of infinite capacity lead from the source to the target.
    """
    infinite = W.select("==", math.inf).new()
    finite = W.select("<", math.inf).new() if infinite.nvals else W
    total = finite.dup("FP64").reduce_scalar(monoid.plus).get(0.0)
    if not infinite.nvals:
        return W, total
    if reachable(infinite, source).get(target):
        raise UnboundedFlow(
            f"A has infinite capacity from {vertex_name(source)} to {vertex_name(target)}"
        )
    # No flow exceeds the sum of the finite capacities.
    most = 2 * total + 1
    return binary.min(W, most).new(), most * infinite.nvals + total
