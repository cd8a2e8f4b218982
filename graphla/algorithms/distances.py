"""Lengths of paths from many sources.

Counted in edges, they are searched for 64 sources at a time, in the bits of a word. A vertex has
one word that says which searches have reached it; an edge hands on the words of all of them at once
(M. Then et al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, 2014). By weights
they are a closure D = D min (D min.+ A) of one row a source, D(i, s(i)) = 0 to begin with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bellman_ford import no_solution
from graphla.algorithms.sssp import lengths_of
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure, many
from graphla.traversal.cycles import EndlessCycle
from semirings.semiring import min_plus

if TYPE_CHECKING:
    import cupy


@graph_algorithm(vertices=("sources",))
def bfs_levels(
    A: Matrix,
    sources: Any,
    *,
    dtype: Any = "INT32",
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> np.ndarray | cupy.ndarray:
    """L(i, v) = how many edges v is away from sources[i]: a dense array, as fast as it gets.

    An array of NumPy's or of CuPy's, of shape (len(sources), n), which is a view of a table in
    which the levels of one vertex lie together. A vertex that is not reached has -1; of `dtype`
    "UINT8", a quarter of the memory, 255: a level above 254 raises OverflowError. A vertex off the
    `mask` is neither reached nor passed, unless a search starts there; `cutoff` ends each search
    that many edges away.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import bfs_levels
    >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=4, ncols=4)
    >>> bfs_levels(A.to("cpu"), [0, 1]).tolist()
    [[0, 1, 2, -1], [-1, 0, 1, -1]]
    """
    sources = validation.vertices("sources", sources, A.nrows)
    dtype = validation.one_of("dtype", dtype, ("INT32", "UINT8"))
    cutoff = None if cutoff is None else validation.count("cutoff", cutoff, least=0)
    return many.levels(A, sources, dtype=dtype, limit=cutoff, mask=mask)


@graph_algorithm(vertices=("sources",), rows="sources", lengths="weight")
def all_pairs_lengths(
    A: Matrix,
    sources: Any = None,
    *,
    cutoff: float | None = None,
    weight: bool | str | None = None,
) -> Matrix:
    """L(i, v) = the length of a shortest path to v from sources[i], or from i.

    Edges count 1 each, or, with `weight`, their values in A: below 0 as well, but a cycle of
    negative weight is refused. A pair that no path joins has no entry, nor one that is farther than
    `cutoff`. The result holds an entry for each other pair: for all pairs of a connected graph n²
    of them, so ask for `sources`, or set a `cutoff`, in a graph that is not small.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import all_pairs_lengths
    >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
    >>> all_pairs_lengths(A).to_dicts()
    {0: {0: 0, 1: 1, 2: 2}, 1: {1: 0, 2: 1}, 2: {2: 0}}
    >>> all_pairs_lengths(A, [0], weight=True).to_dicts()
    {0: {0: 0, 1: 5, 2: 12}}
    """
    sources = validation.vertices("sources", sources, A.nrows)
    weighs = validation.weighs("weight", weight)
    if cutoff is not None:
        cutoff = validation.real("cutoff", cutoff, low=0)
    if not weighs:
        limit = None if cutoff is None or cutoff >= A.nrows else int(cutoff)
        return many.as_matrix(many.levels(A, sources, dtype="INT32", limit=limit), A.device)
    A, dtype = lengths_of(A, weight)
    shape: dict[str, Any] = {"nrows": sources.size, "ncols": A.nrows}
    # D(i, s(i)) = 0
    start = Matrix.from_coo(np.arange(sources.size), sources, 0, dtype, **shape)
    try:
        # D = D ⊕ D min.+ A ⊕ D min.+ A² ...
        D = closure(start, A, min_plus[dtype]).values
    except EndlessCycle as error:
        raise no_solution(error) from error
    return D if cutoff is None else D.select("<=", cutoff).new()


def definition(A: Matrix) -> Matrix:
    """D = D min (D min.+ D), until it rests, from 0 on the diagonal: all pairs, by weights."""
    A, dtype = lengths_of(A, True)
    D = Vector.from_scalar(0, A.nrows, dtype).diag()
    D = min_plus.monoid(D | A).new()
    while True:
        following = min_plus.monoid(D | min_plus[dtype](D @ D)).new()
        if following.isequal(D):
            return D
        D = following
