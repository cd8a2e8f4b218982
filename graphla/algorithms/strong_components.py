"""Strong components: sets of vertices that all reach each other.

The CPU finds them with a depth-first search, and a GPU in one kernel launch
(`backends/cuda/strong_components.cu`). `definition` works in rounds, each of which removes edges
between components. The vertices of a component reach the same vertices, and are reached by the same
vertices. In a random order of all vertices, let f(v) be the first vertex that reaches v, and b(v)
the first vertex that v reaches. If the ends of an edge differ in f or b, the edge leads from one
component to another and is removed. If f(v) = b(v), then f(v) is in the component of v. As in
quicksort, the random order splits a chain of components in about log n rounds (Fleischer,
Hendrickson and Pınar, 2000; Orzan, 2004).

Invariants, at the start of each round:
- own(v), if known, is the rank of one vertex of v's component; all vertices of a component have the
  same own(v);
- rest holds all edges within components for which `own` is unknown, and some edges between such
  components.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import random_order, selection
from graphla.algorithms.components import count_roots, refuse_empty
from graphla.graph.cached_properties import degrees
from graphla.operations.accelerate import StrongComponents, accelerated
from graphla.sparse import Matrix, Vector
from graphla.traversal import closure
from semirings import binary
from semirings.semiring import lor_first, min_first, min_second


@graph_algorithm(gives=("",))
def strong_components(A: Matrix) -> Vector:
    """``f(i) = min {j : paths lead from i to j and back}``.

    Label each vertex with the smallest vertex of its strong component.

    Takes O(n + m) time on the CPU, and O(m log n) expected time on a GPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64. Two vertices have the same
            label if and only if they reach each other.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import strong_components
        >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 1, 0], 1, nrows=4, ncols=4)
        >>> strong_components(A).to_dense().tolist()
        [0, 1, 1, 3]

    References:
        L. Fleischer, B. Hendrickson and A. Pınar, *On Identifying Strongly Connected Components in
            Parallel*, 2000.
        S. Orzan, *On Distributed Verification and Verified Distribution*, 2004.
    """
    return accelerated(StrongComponents(A), partial(definition, A, from_hub=True))


@graph_algorithm()
def is_strongly_connected(A: Matrix) -> bool:
    """``|{i : f(i) = i}| = 1``, where f holds the labels of `strong_components`.

    Return whether each vertex reaches every other vertex.

    Takes as much time as `strong_components`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        bool: whether there is exactly one strong component.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If the graph has no vertices, as in NetworkX.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import is_strongly_connected
        >>> is_strongly_connected(Matrix.from_coo([0, 1], [1, 0], 1, nrows=2, ncols=2))
        True
    """
    refuse_empty(A)
    return count_roots(strong_components(A)) == 1


def definition(A: Matrix, *, from_hub: bool = False) -> Vector:
    """Compute the labels in rounds; each round computes two closures.

    With `from_hub`, the component of a vertex with many edges is found first: in most graphs that
    is the largest component.
    """
    n, rest = A.nrows, A
    own = Vector("INT32", n)
    # rank = 0..n-1 in random order
    rank = random_order(A, 0).dup("INT32")
    if from_hub and A.nvals:
        hub = _hub(A)
        start = Vector.from_coo([hub], True, bool, size=n)
        # With h true only at the hub:
        # f = h lor.first A*: the vertices that the hub reaches
        # b = h lor.first Aᵀ*: the vertices that reach the hub
        f, b = (closure(start, B, lor_first).values for B in (A, A.T))
        # own⟨f ∧ b⟩ = the hub's rank
        own(binary.land(f & b).new().S) << rank[hub]
        rest = _keep_within(A, own, _indicator(f), _indicator(b))
    while own.nvals < n:
        # f = rank min.first R*: for each vertex, the smallest rank of a vertex that reaches it
        # b = rank min.first Rᵀ*: for each vertex, the smallest rank of a vertex that it reaches
        f, b = (closure(rank, R, min_first).values for R in (rest, rest.T))
        # own⟨f = b⟩ = f
        same = binary.eq(f & b).new(mask=~own.S).select("==", True).new()
        own(same.S) << f
        rest = _keep_within(rest, own, f, b)
    # f(i) = min {j : own(j) = own(i)}
    P = selection(own)
    return min_second["INT64"](P @ min_first["INT64"](Vector.from_dense(np.arange(n)) @ P)).new()


def _keep_within(R: Matrix, own: Vector, f: Vector, b: Vector) -> Matrix:
    """Return the edges (i, j) of R for which f(i) = f(j) and b(i) = b(j).

    Edges at vertices with a known component (an entry in `own`) are dropped.
    """
    ahead = binary.times(f.dup("INT64"), R.nrows).new()
    key = binary.plus(ahead & b).new(mask=~own.S)
    same = binary.eq(key & binary.second(R & key).new()).new()
    return same.select("==", True).new()


def _indicator(v: Vector) -> Vector:
    """Return a full vector with 1 where v has an entry, and 0 elsewhere."""
    ones = Vector.from_dense(np.zeros(v.size, np.int64))
    ones(v.S) << 1
    return ones


def _hub(A: Matrix) -> int:
    """Return the vertex with the largest product of in-degree and out-degree."""
    paths = binary.times(degrees(A) & degrees(A.T.new())).new()
    return int(paths.reduce("argmax").value)
