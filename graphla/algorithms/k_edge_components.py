"""Components that stay connected when fewer than k edges are removed.

Two vertices are equivalent if at least k edges must be removed to separate them, in either
direction. The components are the equivalence classes. For k ≤ 2, they follow from connected
components and bridges. For larger k, minimum cuts with unit capacities split sets of vertices: a
cut of fewer than k edges cannot divide a component. Each cut either splits a set or shows that two
vertices are equivalent, so at most n - 1 cuts are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.biconnected import bridges
from graphla.algorithms.components import connected_components
from graphla.algorithms.maximum_flow import minimum_cut
from graphla.algorithms.strong_components import strong_components
from graphla.graph.cached_properties import is_symmetric
from graphla.sparse import Matrix, Vector
from semirings import select


@graph_algorithm(gives=("",))
def k_edge_components(A: Matrix, k: int, *, directed: bool | None = None) -> Vector:
    """``f(i) = min {j : every cut between i and j has at least k edges}``.

    Label each vertex with the smallest vertex of its k-edge-connected component.

    Takes about O(n + m) time if k = 1, or if k = 2 and the graph is undirected; otherwise it
    computes up to n maximum flows (2 n in a directed graph) on the CPU.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        k: the number of edges that must be removed to separate two vertices of a component, at
            least 1.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64. Paths between two vertices of a
            component may lead through vertices of other components.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If `k` is less than 1, or `directed` is False but A is not symmetric.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import k_edge_components
        >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], 1, nrows=4, ncols=4)
        >>> k_edge_components(binary.any(A | A.T), 2).to_dense().tolist()
        [0, 0, 0, 3]

    References:
        T. Wang et al., *A Simple Algorithm for Finding All k-Edge-Connected Components*, 2015.
    """
    k = validation.count("k", k, least=1)
    if directed is False:
        validation.symmetric(A)
    elif directed is None:
        directed = not is_symmetric(A)
    if directed:
        labels = strong_components(A)
        if k == 1:
            return labels
    elif k == 1:
        return connected_components(A)
    else:
        labels = connected_components(A.dup(mask=~bridges(A).S))
        if k == 2:
            return labels
    split = _split(select.offdiag(A).new().to("cpu"), k, labels.to_dense(), directed)
    return Vector.from_dense(split)


def _split(A: Matrix, k: int, labels: np.ndarray, directed: bool) -> np.ndarray:
    """Split sets of vertices until none of them has a cut of fewer than k edges.

    A has no self-loops. `labels` maps each vertex to the smallest vertex of its set. Vertices of
    different sets are separated by fewer than k edges.
    """
    rows, columns, _ = A.to_coo()
    n = A.nrows
    degree = np.minimum(np.bincount(rows, minlength=n), np.bincount(columns, minlength=n))
    found = np.arange(n)
    # A vertex with fewer than k edges forms a component by itself.
    rest = np.flatnonzero(degree >= k)
    order = rest[np.argsort(labels[rest], kind="stable")]
    changes = np.flatnonzero(np.diff(labels[order])) + 1
    stack: list[Any] = [part for part in np.split(order, changes) if part.size]
    while stack:
        part = stack.pop()
        source, left, together = int(part[0]), part[1:], [int(part[0])]
        while left.size:
            target = int(left[0])
            side = _cut(A, source, target, k, directed)
            if side is None:
                together.append(target)
                left = left[1:]
            else:
                near = side[left] == side[source]
                stack.append(left[~near])
                left = left[near]
        found[together] = min(together)
    return found


def _cut(A: Matrix, source: int, target: int, k: int, directed: bool) -> np.ndarray | None:
    """Return the side of each vertex in a cut of fewer than k edges, or None if none exists."""
    for first, last in ((source, target), (target, source))[: 1 + directed]:
        value, side = minimum_cut(A, first, last, None)
        if value < k:
            return side.to_dense(False)
    return None
