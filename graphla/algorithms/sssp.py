"""Single-source shortest paths: the least total weight of a path to each vertex.

Bellman-Ford told semi-naively: only distances that went down are multiplied again, and of those the
near ones first, so that few are multiplied before they are final (U. Meyer and P. Sanders,
*Δ-stepping: a parallelizable shortest path algorithm*, 2003; with one near and one far set as in
A. Davidson et al., *Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths*, 2014).

Invariants, at the head of each round:
- distance(v) is the total weight of some path to v, and never grows;
- pending holds distance(v) for each v whose distance went down since its out-edges were last used:
  every other vertex has passed its distance on, so with none pending all distances are final.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments
from graphla.expression import replace
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select, semiring, where

LONGEST = int(np.iinfo(np.int64).max)


@arguments.beside_its_graph
def sssp(A: Matrix, source: int, *, delta: float | None = None) -> Vector:
    """d = d min (d min.+ A), until no distance goes down: shortest paths from one vertex.

    An edge i -> j is an entry A(i, j), of weight 0 too; weights below 0 are refused. Distances are
    FP64 for floating weights, and for all others INT64 and exact: one that would not fit raises
    OverflowError. A vertex that is not reached has no entry. Each round multiplies the pending
    distances at most `delta` above the least one; by default that is 16 times the mean weight.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import sssp
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
    >>> sssp(A, 0).to_dict()
    {0: 0, 1: 1, 2: 3}
    """
    A = arguments.adjacency(A)
    n = A.nrows
    source = arguments.vertex(source, n)
    arguments.nonnegative(A)
    if A.dtype == "UINT64":
        arguments.at_most(A, LONGEST)
    dtype = "FP64" if arguments.is_floating(A) else "INT64"
    if delta is None:
        delta = 16 * A.reduce_scalar(monoid.plus["FP64"]).get(0) / max(A.nvals, 1)
    delta = arguments.real("delta", delta, low=0)
    min_plus = _min_plus(A, n, dtype)

    distance, pending, near, far, found = (Vector(dtype, n) for _ in range(5))
    no_better = Vector(bool, n)
    distance[source] = pending[source] = 0
    while pending.nvals:
        # near = the pending distances within delta of the least, far = the others
        horizon = _sum(pending.reduce(monoid.min).value, delta, dtype)
        near << select.valuele(pending, horizon)
        far << select.valuegt(pending, horizon)
        # t = near min.+ A
        found << min_plus(near @ A)
        # t⟨¬(t ≥ d), r⟩ = t, where only vertices with both are compared: keep what is new or less
        no_better << binary.ge(found & distance)
        found(~no_better.V, replace) << found
        # d⟨t⟩ = t
        distance(found.S) << found
        # pending = far min t
        pending << binary.min(far | found)
    if dtype == "INT64" and distance.reduce(monoid.max).value == LONGEST:
        raise OverflowError(
            f"A has a shortest path from {source} of {LONGEST} or more, which INT64 cannot hold"
        )
    return distance


def _min_plus(A: Matrix, n: int, dtype: str) -> Any:
    """The semiring min.+ on `dtype`, with a sum that stops at LONGEST where one could pass it."""
    if dtype == "FP64" or A.reduce_scalar(monoid.max).get(0) * (n - 1) < LONGEST:
        return semiring.min_plus[dtype]
    capped_plus = binary.register_anonymous(
        lambda x, y: where(x > LONGEST - y, LONGEST, x + y), "capped_plus"
    )
    return semiring.register_anonymous(monoid.min, capped_plus)[dtype]


def _sum(distance: float, delta: float, dtype: str) -> float:
    if dtype == "FP64":
        return distance + delta
    return min(int(distance) + int(min(delta, LONGEST)), LONGEST)
