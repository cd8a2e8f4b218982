"""Levels from many sources: a breadth-first search from each, 64 at a time in the bits of a word.

A vertex has one word that says which searches have reached it; an edge hands on the words of all of
them at once (M. Then et al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, 2014).
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms import arguments
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import many


@arguments.beside_its_graph
def bfs_levels(
    A: Matrix,
    sources: Any,
    *,
    dtype: Any = "INT32",
    limit: int | None = None,
    mask: Mask | Vector | None = None,
) -> Any:
    """L(i, v) = how many edges v is away from sources[i]: a dense array, as fast as it gets.

    An array of NumPy's or of CuPy's, of shape (len(sources), n), which is a view of a table in
    which the levels of one vertex lie together. A vertex that is not reached has -1; of `dtype`
    "UINT8", a quarter of the memory, 255: a level above 254 raises OverflowError. A vertex off the
    `mask` is neither reached nor passed, unless a search starts there; `limit` ends each search
    that many edges away.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import bfs_levels
    >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=4, ncols=4)
    >>> bfs_levels(A.to("cpu"), [0, 1]).tolist()
    [[0, 1, 2, -1], [-1, 0, 1, -1]]
    """
    A = arguments.adjacency(A)
    sources = arguments.vertices("sources", sources, A.nrows)
    dtype = arguments.one_of("dtype", dtype, ("INT32", "UINT8"))
    limit = None if limit is None else arguments.count("limit", limit, least=0)
    return many.levels(A, sources, dtype=dtype, limit=limit, mask=mask)


@arguments.beside_its_graph
def all_pairs_lengths(A: Matrix, sources: Any = None, *, limit: int | None = None) -> Matrix:
    """L(i, v) = how many edges v is away from sources[i], or from i; no entry where unreached.

    The result holds an entry for each pair that a path joins: for all pairs of a connected graph n²
    of them, so ask for `sources`, or set a `limit`, in a graph that is not small.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import all_pairs_lengths
    >>> A = Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    >>> all_pairs_lengths(A).to_dicts()
    {0: {0: 0, 1: 1, 2: 2}, 1: {1: 0, 2: 1}, 2: {2: 0}}
    """
    A = arguments.adjacency(A)
    sources = arguments.vertices("sources", sources, A.nrows)
    limit = None if limit is None else arguments.count("limit", limit, least=0)
    return many.as_matrix(many.levels(A, sources, dtype="INT32", limit=limit), A.device)
