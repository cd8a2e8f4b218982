"""Label propagation as NetworkX defines it: vertices change their labels one after another.

`label_propagation_communities` is the semi-synchronous method of G. Cordasco and L. Gargano (2010),
which uses a coloring: vertices of the same color are not adjacent, so they can change at once.
`asyn_lpa_communities` is the asynchronous method of U. N. Raghavan, R. Albert and S. Kumara (2007),
in which the vertices change in a random order. In both, a vertex keeps its label if no other label
is more frequent among its neighbors. In an undirected graph, each change raises the total weight of
the edges whose ends have equal labels, so the rounds end.

Invariant at the start of each round: `labels` is full and its values are below n.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphla import agg
from graphla.algorithms._shared import community_weights, hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import selection, vertex_numbers
from graphla.algorithms.coloring import color_in_order
from graphla.algorithms.links import degrees_with_loops
from graphla.algorithms.louvain import name_by_smallest
from graphla.operations.accelerate import SettleLabels, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.semiring import plus_first

ROUNDS = 1000
"""Maximum number of rounds. In a directed graph the labels may never converge."""


@graph_algorithm(gives=("",), undirected=True)
def label_propagation_communities(A: Matrix) -> Vector:
    """``l(i)`` is the most frequent label among the neighbors of i; vertices change by color.

    Find communities by semi-synchronous label propagation.

    Initially the label of each vertex is the vertex itself. The vertices are colored greedily, in
    order of decreasing degree. In each round, the vertices take the most frequent label among their
    neighbors: first all vertices of color 0, then those of color 1, and so on. If several labels
    are most frequent, a vertex keeps its label if that is one of them, and otherwise takes the
    largest of them. Rounds end when no label changes. The result does not depend on a seed and is
    the same as that of NetworkX. A round takes O(n + m) time, or less if few labels changed in the
    previous round.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64; each is the smallest vertex of
            its community.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import label_propagation_communities
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1, nrows=6, ncols=6)
        >>> label_propagation_communities(binary.any(A | A.T)).to_dense().tolist()
        [0, 0, 0, 3, 3, 3]

    References:
        G. Cordasco and L. Gargano, *Community Detection via Semi-Synchronous Label Propagation
            Algorithms*, 2010.
    """
    colors, W = _colors(A), unary.one["INT64"](A).new()
    request = SettleLabels(W, vertex_numbers(A), partial(_turns_by_color, colors), A.nrows + 1)
    return name_by_smallest(accelerated(request, partial(_settle_by_color, W, colors)), A.nrows)


@graph_algorithm(gives=("",))
def asyn_lpa_communities(
    A: Matrix,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
) -> Vector:
    """``l(i)`` is the most frequent label among the neighbors of i; vertices change one by one.

    Find communities by asynchronous label propagation.

    Initially the label of each vertex is the vertex itself. In each round every vertex, in a random
    order, takes the most frequent label among its neighbors. If several labels are most frequent,
    it keeps its label if that is one of them, and otherwise takes a random one of them. Rounds end
    when no label changes, or after 1000 rounds, because the labels of a directed graph may never
    converge. In a directed graph, the neighbors are the targets of out-edges. Runs on the CPU; a
    Matrix on a GPU is copied. The same seed gives the same result. A round takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if None or False, edges are counted; if True, or the name of an edge attribute as in
            NetworkX, the values of A, which must be at least 0, are added up.
        seed: determines the random orders: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64; each is the smallest vertex of
            its community.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a weight is negative or NaN, if the sum of the weights is not finite, or if
            `seed` is negative.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import asyn_lpa_communities
        >>> A = Matrix.from_coo([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], 1, nrows=6, ncols=6)
        >>> asyn_lpa_communities(binary.any(A | A.T)).to_dense().tolist()
        [0, 0, 0, 3, 3, 3]

    References:
        U. N. Raghavan, R. Albert and S. Kumara, *Near Linear Time Algorithm to Detect Community
            Structures in Large-Scale Networks*, 2007.
    """
    drawn, is_weighted = hashed_random.seed_number(seed), validation.weighs("weight", weight)
    if A.device != "cpu":
        return asyn_lpa_communities(A.to("cpu"), is_weighted, drawn).to(A.device)
    if is_weighted:
        validation.nonnegative(A)
    W, _ = community_weights.scale_to_integers(community_weights.edge_weights(A, is_weighted)[0])
    turns_of = partial(_random_turns, A, drawn)
    labels = SettleLabels(W, vertex_numbers(A), turns_of, ROUNDS).run()
    return name_by_smallest(labels, A.nrows)


def definition(A: Matrix) -> Vector:
    """Compute label_propagation_communities(A) with matrix products."""
    W = unary.one["INT64"](A).new()
    return name_by_smallest(_settle_by_color(W, _colors(A)), A.nrows)


def _colors(A: Matrix) -> Vector:
    """Color the vertices greedily by decreasing degree, and by number if degrees are equal."""
    first = A.nrows - 1 - vertex_numbers(A).to_dense(copy=False)
    numbers = (degrees_with_loops(A) << 32) + first
    return color_in_order(A, Vector.from_dense(numbers, copy=False))


def _turns_by_color(colors: Vector, _round: int) -> Any:
    """Return the vertices by ascending color, and salts of 2^15.

    With this salt, a vertex takes the largest of several labels with equal sums.
    """
    order = colors.to_dense(copy=False).argsort(kind="stable")
    return order, np.full(colors.size, 1 << 15)


def _random_turns(A: Matrix, seed: int, k: int) -> Any:
    """Return a random order of the vertices for round k, and a random salt for each vertex.

    A salt is a number that decides ties between labels. It is odd, and so never 2^15, which has a
    special meaning.
    """
    numbers = hashed_random.priorities(A, hashed_random.mix(seed + k)).to_dense(copy=False)
    salts = (
        hashed_random.priorities(A, hashed_random.mix(seed + k + (1 << 32))).to_dense(copy=False)
        >> 32
    )
    return numbers.argsort(), salts | 1


def _settle_by_color(W: Matrix, colors: Vector) -> Vector:
    """Change the labels of the vertices color by color, until no label changes."""
    labels, count = vertex_numbers(W), int(colors.reduce(monoid.max).get(0)) + 1
    # for each color, the rows of W for the vertices of this color
    rows = [binary.second(colors.select("==", c).new() & W).new() for c in range(count)]
    differs = True
    while differs:
        differs = False
        for N in rows:
            wished = find_new_labels(N, labels)
            differs = differs or wished.nvals > 0
            labels = labels.dup()
            labels(wished.S) << wished
    return labels


def find_new_labels(N: Matrix, labels: Vector) -> Vector:
    """Return the new labels of those vertices with entries in N whose labels change."""
    n = labels.size
    # C(i, n - 1 - l) = the weight of label l among the neighbors of i, so that the first column
    # with the largest weight belongs to the largest label
    reverse = binary.minus(n - 1, labels).new()
    S = selection(reverse)
    C = plus_first(N @ S).new()
    present = Vector.from_scalar(0, n, labels.dtype)
    present(binary.plus) << C.dup(mask=S.S).reduce_rowwise(monoid.plus)
    better = binary.gt(C.reduce_rowwise(monoid.max).new() & present).new()
    best = C.reduce_rowwise(agg.argmax).new(mask=better.V)
    return binary.minus(n - 1, best).new()
