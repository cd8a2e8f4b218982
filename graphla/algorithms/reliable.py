"""Most reliable paths: how likely it is, at best, that each edge on the way holds.

It is the least p with p = p max (p max.times A) and p = 1 at the source: a closure over [0, 1].
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure
from semirings.semiring import max_times


@graph_algorithm(vertices=("source",), gives=("1",), lengths="A")
def most_reliable_path(
    A: Matrix, source: Any, *, parents: bool = False, mask: Mask | Vector | None = None
) -> Any:
    """p = p max (p max.times A), until it rests: the probability of the most reliable path.

    An edge i -> j is an entry A(i, j), whose value is the probability that it holds, in [0, 1] and
    independent of others; the result is FP64. `source` is a vertex, or several, as in `bfs`;
    vertices off the `mask` are not passed. With `parents`, the result is (probabilities, parents),
    where parents(v) is the vertex before v on a most reliable path.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import most_reliable_path
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [0.5, 0.125, 0.5], nrows=4, ncols=4)
    >>> most_reliable_path(A, 0).to_dict()
    {0: 1.0, 1: 0.5, 2: 0.25}
    """
    # p(s) = 1
    start = validation.starts(source, A, 1.0, "FP64")
    validation.within_unit(A)
    # p = p ⊕ p max.times A ⊕ p max.times A² ...
    return closure(start, A, max_times["FP64"], mask=mask, parents=parents)
