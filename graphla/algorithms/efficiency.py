"""Efficiency: the mean of the reciprocals of distances, in a graph or around each vertex.

The measures are due to V. Latora and M. Marchiori (2001).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.bfs import bfs
from graphla.algorithms.harmonic import harmonic
from graphla.graph import cached_properties
from graphla.operations.moving import send
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid
from semirings.semiring import plus_second

ENTRIES = 1 << 24
"""Approximate number of wedges that are expanded at a time."""

DENSE = 1 << 22
"""If at most this many multiplications are needed, the CPU multiplies dense arrays.

A few NumPy operations then take less time than one search per neighbor.
"""


@graph_algorithm()
def global_efficiency(A: Matrix) -> float:
    """``E = Σ 1 / d(u, v) / (n (n - 1))``, over all pairs of vertices u ≠ v.

    Compute the mean of the reciprocal distances between two vertices.

    The reciprocal is 0 if no path leads from u to v. Takes O(n m / 64) time in the best case.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        float: the efficiency, from 0 to 1; 0 if the graph has fewer than two vertices.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import global_efficiency
        >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
        >>> round(global_efficiency(A), 3)
        0.833

    References:
        V. Latora and M. Marchiori, *Efficient Behavior of Small-World Networks*, 2001.
    """
    n = A.nrows
    if n < 2:
        return 0.0
    return float(harmonic(A).reduce(monoid.plus).get(0.0)) / (n * (n - 1))


@graph_algorithm(undirected=True)
def local_efficiency(A: Matrix) -> float:
    """``E = Σ E(v) / n``, where E(v) is the efficiency of the subgraph of the neighbors of v.

    Compute the mean of the efficiencies of the neighborhoods.

    The subgraph of the neighbors of v has the edges that join two neighbors of v. Self-loops are
    ignored. One breadth-first search covers many neighborhoods: search k starts from the k-th
    vertex of each of them. Takes O(Σ degree(v) (degree(v) + t(v))) time, where t(v) is the number
    of triangles at v.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        float: the efficiency, from 0 to 1; 0 if the graph has no vertices.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import local_efficiency
        >>> A = Matrix.from_coo([0, 1, 0, 2, 1, 2, 2, 3], [1, 0, 2, 0, 2, 1, 3, 2], 1)
        >>> round(local_efficiency(A), 3)
        0.583

    References:
        V. Latora and M. Marchiori, *Efficient Behavior of Small-World Networks*, 2001.
    """
    N = common_neighbors.pattern(common_neighbors.drop_loops(A), symmetric=True)
    degree = common_neighbors.degrees(N)
    L = common_neighbors.orient_to_hubs(N, degree)
    total = 0.0
    for owners in _similar_vertices(N, L):
        H, starts = _neighborhoods(N, L, owners)
        sizes = degree[owners]
        small = A.device == "cpu" and owners.size * int(sizes.max()) ** 3 <= DENSE
        sums = (_search_densely if small else _search)(H, starts, sizes)
        total += float((sums / (sizes * (sizes - 1))).sum())
    return total / A.nrows if A.nrows else 0.0


def _search(H: Matrix, starts: Any, sizes: Any) -> Any:
    """Return the sum of the reciprocal distances between the vertices of each diagonal block of H.

    Block b begins at vertex starts[b] and has sizes[b] vertices. Search k starts from the k-th
    vertex with edges of every block that has at least k such vertices.
    """
    has_edges = common_neighbors.degrees(H) > 0
    if not has_edges.all():
        places = np.flatnonzero(has_edges)
        before = np.concatenate((np.zeros_like(starts, shape=1), has_edges.cumsum()))
        H, starts, sizes = H[places, places].new(), before[starts], before[starts + sizes]
        sizes = sizes - starts
    found = np.zeros_like(starts, shape=H.nrows, dtype=np.float64)
    for k in range(int(sizes.max())):
        sources = Vector.from_coo(starts[sizes > k] + k, True, size=H.nrows)
        levels = bfs(H, sources, parents=False).levels.to_dense(0, copy=False)
        found += (levels > 0) / np.maximum(levels, 1)
    ends = np.concatenate((np.zeros_like(found, shape=1), found.cumsum()))
    return ends[starts + sizes] - ends[starts]


def _search_densely(H: Matrix, starts: Any, sizes: Any) -> Any:
    """Return the sums of `_search`, computed by NumPy from a dense array for each block."""
    rows, columns, _ = H.to_coo(values=False, copy=False)
    block, size = np.searchsorted(starts, rows, side="right") - 1, int(sizes.max())
    first = starts[block]
    shape = starts.size, size, size
    T = np.zeros_like(starts, shape=shape, dtype=np.float32)
    T[block, rows - first, columns - first] = 1
    # reached(b, i, j): whether a path of at most d - 1 edges leads from i to j in block b
    reached = np.zeros_like(T)
    diagonal = np.arange(size, like=starts)
    reached[:, diagonal, diagonal] = 1
    sums, d = np.zeros_like(starts, dtype=np.float64), 1
    while True:
        further = (np.matmul(reached, T) > 0) & (reached == 0)
        count = further.sum(axis=(1, 2))
        if not count.any():
            return sums
        sums += count / d
        reached, d = reached + further, d + 1


def _similar_vertices(N: Matrix, L: Matrix) -> Iterator[Any]:
    """Yield arrays of vertices whose degrees differ by less than a factor of 2.

    The number of searches for an array equals the largest degree in it, so little work is wasted if
    the degrees are similar. Vertices of degree 0 and 1 are left out, because their neighborhoods
    have no pair of vertices. The vertices of an array have about ENTRIES wedges in total, unless
    the array holds only one vertex.
    """
    # w(v) = Σ over the neighbors u of v of the number of entries in row u of L
    w = plus_second["INT64"](N @ cached_properties.degrees(L)).new().to("cpu").to_dense(0)
    degree = cached_properties.degrees(N).to("cpu").to_dense()
    order = np.argsort(degree, kind="stable")
    bounds = np.searchsorted(degree[order], 1 << np.arange(1, 62))
    for first, last in pairwise(bounds.tolist()):
        group = order[first:last]
        if not group.size:
            continue
        ends = w[group].cumsum()
        cuts = np.searchsorted(ends, np.arange(ENTRIES, int(ends[-1]), ENTRIES), side="right")
        for start, stop in pairwise([0, *cuts.tolist(), group.size]):
            if start < stop:
                yield send(group[start:stop], N.device)


def _neighborhoods(N: Matrix, L: Matrix, owners: Any) -> tuple[Matrix, Any]:
    """Return the neighborhoods of the vertices `owners` as the blocks of one symmetric matrix.

    The neighborhood of an owner is the subgraph of its neighbors. Row e of the matrix stands for
    the e-th entry of N[owners, :], that is, for a neighbor of an owner. Also return the first row
    of each block.
    """
    R: Matrix = N[owners, :].new()  # pyright: ignore[reportAssignmentType]
    block, nodes, _ = R.to_coo(values=False, copy=False)
    first, ends, _ = L.to_csr(copy=False)
    # For each neighbor u of a vertex in `owners`, list the edges u -> w in L.
    counts = (first[1:] - first[:-1])[nodes].astype(np.int64)
    after = counts.cumsum()
    places = np.arange(int(after[-1]), dtype=np.int64, like=after)
    row = np.searchsorted(after, places, side="right")
    w = ends[first[nodes[row]] + places - (after - counts)[row]]
    # The block of an owner contains the edge u -> w if w is also a neighbor of the owner.
    keys = block.astype(np.int64) * N.ncols + nodes
    wanted = keys[row] - nodes[row] + w
    column = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    kept = keys[column] == wanted
    row, column, size = row[kept], column[kept], nodes.size
    half = Matrix.from_coo(row, column, True, nrows=size, ncols=size)
    return binary.any(half | half.T).new(), R.to_csr(copy=False)[0][:-1]
