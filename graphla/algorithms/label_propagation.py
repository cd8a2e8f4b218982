"""Communities by label propagation: each vertex takes its neighbors' most frequent label.

The algorithm is due to U. N. Raghavan, R. Albert and S. Kumara (2007). If adjacent vertices change
simultaneously, they often swap labels in every round. So about half of the vertices, chosen at
random in each round, change before the other vertices. On the CPU the vertices are divided into
blocks of consecutive vertices. All vertices of a block are in the same half. They change one after
another, while threads process the other blocks of this half. On a GPU, and in `definition`, all
vertices of a half change simultaneously.

If all vertices change simultaneously (`synchronous`), as in the CDLP of LDBC Graphalytics, the
labels converge, or end up alternating between two states (E. Goles and J. Olivos, 1980). From then
on the result after any number of rounds is known, so the remaining rounds are skipped.

Invariant, at the start of each round, whether synchronous or not: `labels` is full and its values
are vertices.
"""

from __future__ import annotations

from collections.abc import Callable
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
    synchronous: bool = False,
) -> Vector:
    """``l(i)`` becomes the most frequent label among the neighbors of i, until no label changes.

    Find communities by label propagation.

    Initially the label of each vertex is the vertex itself. A neighbor counts once for each edge to
    it and once for each edge from it. A vertex without neighbors keeps its label. In each round,
    every vertex takes the most frequent label among its neighbors; about half of the vertices,
    chosen at random, change before the other vertices. Rounds end when no label changes. The same
    seed gives the same result on the same device, for any number of threads. On a GPU all vertices
    of a half change simultaneously. On the CPU many of them change one after another, so the two
    devices find different communities.

    If `synchronous` is True, all vertices change simultaneously in every round. Without a seed this
    is the CDLP of LDBC Graphalytics, which takes the smallest of several labels with equal counts.
    Synchronous rounds find poor communities on meshes and road networks. A round takes O(n + m)
    time, or less if few labels changed in the previous round.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if None or False, edges are counted; if True, or the name of an edge attribute as in
            NetworkX, the values of A, which must be at least 0, are added up.
        seed: None to take the smallest of several labels with equal counts; a non-negative integer
            or a `numpy.random.Generator` to take the first of them in a random order. Unless
            `synchronous` is set, the seed (0 for None) also decides which vertices change first.
        max_iter: the maximum number of rounds, at least 0.
        synchronous: whether all vertices change simultaneously, for exactly `max_iter` rounds.

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
    return _find_labels(A, weight, seed, max_iter, synchronous, accelerated)


@graph_algorithm(gives=("",))
def definition(
    A: Matrix,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
    *,
    max_iter: int = 100,
    synchronous: bool = False,
) -> Vector:
    """Compute the same labels as a GPU does, but with matrix products and on any device."""
    return _find_labels(A, weight, seed, max_iter, synchronous, lambda _, define: define())


def _find_labels(
    A: Matrix,
    weight: bool | str | None,
    seed: int | np.random.Generator | None,
    max_iter: int,
    synchronous: bool,
    run: Callable[[LabelPropagation, Callable[[], Vector]], Vector],
) -> Vector:
    """Check the arguments; pass `run` a LabelPropagation and a function that defines its result."""
    rounds = validation.count("max_iter", max_iter, least=0)
    is_weighted = validation.weighs("weight", weight)
    if is_weighted:
        validation.nonnegative(A)
    W, is_symmetric = community_weights.edge_weights(A, is_weighted)
    if not is_symmetric:
        W = community_weights.symmetrize(W)
    W, _ = community_weights.scale_to_integers(W)
    start = numbers = vertex_numbers(A).dup("INT32")
    drawn = hashed_random.seed_number(seed)
    if seed is not None:  # ties go to the smallest label, so number the vertices at random
        start = random_order(A, drawn)
    if synchronous:
        stream_of, define = None, partial(propagate_at_once, W, start, rounds)
    else:
        stream_of = partial(_stream, drawn)
        define = partial(propagate_in_halves, W, start, rounds, stream_of)
    labels = run(LabelPropagation(W, start, rounds, stream_of), define)
    if seed is not None:
        # Replace positions by vertices: names(start(i)) = i; l(i) = names(l(i))
        names = any_first(numbers @ selection(start)).new()
        labels = lookup(labels, names)
    return labels.dup("INT64")


def propagate_at_once(W: Matrix, labels: Vector, rounds: int) -> Vector:
    """Return the labels after rounds in which all vertices change simultaneously.

    The rounds use matrix products. W is symmetric. At the start of each round, `before` holds the
    labels of the previous round.
    """
    before = labels
    for k in range(rounds):
        latest = most_frequent(W, labels)
        if latest.isequal(before):  # the labels have converged, or alternate between two states
            return latest if (rounds - k) % 2 else labels
        before, labels = labels, latest
    return labels


def propagate_in_halves(
    W: Matrix, labels: Vector, rounds: int, stream_of: Callable[[int], int]
) -> Vector:
    """Return the labels after rounds in two halves, as on a GPU, but with matrix products."""
    for k in range(rounds):
        before = labels
        is_first = hashed_random.coins(W, stream_of(k))
        for moving in (is_first.V, ~is_first.V):
            latest = most_frequent(W, labels)
            labels = labels.dup()
            labels(moving) << latest
        if labels.isequal(before):
            break
    return labels


def most_frequent(W: Matrix, labels: Vector) -> Vector:
    """Return the most frequent label among the neighbors of each vertex."""
    # C = W plus.first S, where S(j, l(j)) = 1: C(i, l) is the total weight of label l among the
    # neighbors of i
    C = plus_first(W @ selection(labels)).new()
    # l(i) = the first j with the largest C(i, j)
    latest = labels.dup()
    latest << C.reduce_rowwise(agg.argmax)
    latest(binary.first) << labels
    return latest


def _stream(seed: int, k: int) -> int:
    """Return the counter from which the hash computes the random bit of vertex 0 in round k."""
    return hashed_random.first_counter(hashed_random.mix(seed + k))
