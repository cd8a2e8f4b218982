"""Communities by label propagation: each vertex, again and again, takes the label most around it.

U. N. Raghavan, R. Albert and S. Kumara, *Near Linear Time Algorithm to Detect Community Structures
in Large-Scale Networks*, 2007, with all vertices at once, as LDBC Graphalytics defines its CDLP. By
E. Goles and J. Olivos, *Periodic Behaviour of Generalized Threshold Functions*, 1980, labels then
come to rest, or to turn between two states: from there on the answer is known for any number of
rounds, and is given at once.

Invariants of `definition`, at the head of each round: labels is full, of vertices; before are those
of a round earlier.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla import agg
from graphla.algorithms import arguments, chance, weights
from graphla.backends import backend
from graphla.formats import Array
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings import binary
from semirings.semiring import plus_times


@arguments.of_graph(gives=("",))
def label_propagation(
    A: Matrix, weight: Any = None, seed: Any = None, *, max_iter: int = 100
) -> Vector:
    """l(i) = the label that most neighbours j of i have, all at once: after `max_iter` rounds.

    At first each vertex is its own label. A neighbour counts once for each edge to it and for each
    from it, or with the weights of these if `weight` is True; of labels that count the same the
    least is taken, which makes this the CDLP of LDBC Graphalytics, or, with a `seed`, the first in
    an order left to chance. Who has no neighbour keeps its label. A label is a vertex, but need not
    be one of those that have it.

    NetworkX's `asyn_lpa_communities` changes the labels one by one, so its communities are others.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import label_propagation
    >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], True, nrows=6, ncols=6)
    >>> label_propagation(A).to_dense().tolist()
    [0, 0, 0, 2, 2, 2]
    """
    rounds = arguments.count("max_iter", max_iter, least=0)
    is_weighted = arguments.weighs("weight", weight)
    if is_weighted:
        arguments.nonnegative(A)
    W, is_symmetric = weights.of_edges(A, is_weighted)
    if not is_symmetric:
        W = weights.both_ways(W)
    W, _ = weights.whole(W)
    start, names = perform("labels", _start, A._forms, seed)
    labels = perform("propagate", _propagated, W._forms, start, rounds)
    if labels is None:
        found = definition(W, Vector.from_dense(start, dtype="INT64", copy=False), rounds)
        labels = found.to_dense(copy=False)
    return Vector.from_dense(names[labels], dtype="INT64", copy=False)


def definition(W: Matrix, labels: Vector, rounds: int) -> Vector:
    """The same by products, from labels on, over symmetric weights."""
    n = W.nrows
    before = labels
    for k in range(rounds):
        # C = W plus.times S, with S(j, l(j)) = 1: how much of each label is around each vertex
        S = Matrix.from_csr(np.arange(n + 1), labels.to_dense(copy=False), 1.0, ncols=n)
        C = plus_times(W @ S).new()
        # l(i) = the first j of the greatest C(i, j)
        latest = labels.dup()
        latest << C.reduce_rowwise(agg.argmax)
        latest(binary.first) << labels
        if latest.isequal(before):  # at rest, or between two states, of which it is one
            return latest if (rounds - k) % 2 else labels
        before, labels = labels, latest
    return labels


def _start(a: MatrixForms, seed: Any) -> tuple[Array, Array]:
    """The label of each vertex at first, int32, and the vertex that each label is."""
    xp, n = backend(a.device).xp, a.nrows
    names = xp.arange(n, dtype=xp.int32)
    if seed is None:
        return names, names
    order = xp.argsort(chance.ranks(xp, n, chance.seeded(seed))).astype(xp.int32)
    labels = xp.empty_like(names)
    labels[order] = names
    return labels, order


def _propagated(w: MatrixForms, labels: Array, rounds: int) -> Array | None:
    return backend(w.device).propagate_labels(w.csr, labels, rounds)
