"""Communities by label propagation: each vertex takes its neighbors' most frequent label.

The algorithm is due to U. N. Raghavan, R. Albert and S. Kumara (2007). All vertices change at once,
as in the CDLP of LDBC Graphalytics. The labels converge, or end up alternating between two states
(E. Goles and J. Olivos, 1980). From then on the result after any number of rounds is known, so the
remaining rounds are skipped.

Invariants of `definition`, at the head of each round: `labels` is full and its values are vertices;
`before` holds the labels of the previous round.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphla import agg
from graphla.algorithms._shared import community_weights, hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import lookup, random_order, selection, vertex_numbers
from graphla.operations.accelerate import LabelPropagation, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary
from semirings.semiring import any_first, plus_first


@graph_algorithm(gives=("",))
def label_propagation(
    A: Matrix,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
    *,
    max_iter: int = 100,
) -> Vector:
    """``l(i)`` becomes the most frequent label among the neighbors of i, for all i at once.

    Find communities by label propagation.

    Initially each vertex is its own label. A neighbor counts once for each edge to it and once for
    each edge from it. A vertex without neighbors keeps its label. Without a seed this is the CDLP
    of LDBC Graphalytics, which takes the smallest of several labels with equal counts.
    `networkx.asyn_lpa_communities` changes labels one by one and finds other communities. A round
    takes O(n + m) time; once labels repeat, the remaining rounds are skipped.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. With a Graph, arguments and
            results name vertices by their labels.
        weight: None or False to count edges; True, or the name of an edge attribute as in NetworkX,
            to add up the values of A, which must be at least 0.
        seed: None to take the smallest of several labels with equal counts; a non-negative integer
            or a `numpy.random.Generator` to take the first of them in a random order.
        max_iter: the number of rounds, at least 0.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64. A label is a vertex, but that
            vertex may itself have another label.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a weight is negative or NaN, if the sum of the weights is not finite, or if
            `max_iter` or `seed` is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import label_propagation
        >>> edges = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]
        >>> A = Matrix.from_coo(*edges, True, nrows=6, ncols=6)
        >>> label_propagation(A).to_dense().tolist()
        [0, 0, 0, 2, 2, 2]

    References:
        U. N. Raghavan, R. Albert and S. Kumara, *Near Linear Time Algorithm to Detect Community
            Structures in Large-Scale Networks*, 2007.
        E. Goles and J. Olivos, *Discrete Mathematics* 30, 1980.
    """
    rounds = validation.count("max_iter", max_iter, least=0)
    is_weighted = validation.weighs("weight", weight)
    if is_weighted:
        validation.nonnegative(A)
    W, is_symmetric = community_weights.edge_weights(A, is_weighted)
    if not is_symmetric:
        W = community_weights.symmetrize(W)
    W, _ = community_weights.scale_to_integers(W)
    start = numbers = vertex_numbers(A).dup("INT32")
    if seed is not None:  # label each vertex with its position in a random order
        start = random_order(A, hashed_random.seed_number(seed))
    labels = accelerated(LabelPropagation(W, start, rounds), partial(definition, W, start, rounds))
    if seed is not None:
        # names(start(i)) = i; l(i) = names(l(i))
        names = any_first(numbers @ selection(start)).new()
        labels = lookup(labels, names)
    return labels.dup("INT64")


def definition(W: Matrix, labels: Vector, rounds: int) -> Vector:
    """Run the rounds with matrix products, for symmetric weights W, and return the labels."""
    before = labels
    for k in range(rounds):
        # C = W plus.first S, where S(j, l(j)) = 1: C(i, l) is the total weight of label l among the
        # neighbors of i
        S = selection(labels)
        C = plus_first(W @ S).new()
        # l(i) = the first j with the largest C(i, j)
        latest = labels.dup()
        latest << C.reduce_rowwise(agg.argmax)
        latest(binary.first) << labels
        if latest.isequal(before):  # the labels have converged, or alternate between two states
            return latest if (rounds - k) % 2 else labels
        before, labels = labels, latest
    return labels
