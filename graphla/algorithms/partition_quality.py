"""Coverage and performance: how well a partition separates a graph into dense communities.

S. Fortunato (2010) describes both measures. The performance is the fraction of the pairs of
vertices that are adjacent and in the same community, or not adjacent and in different communities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import partition
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import is_symmetric
from graphla.sparse import Matrix
from semirings.exceptions import InvalidValue


class PartitionQuality(NamedTuple):
    """The result of `partition_quality`.

    Attributes:
        coverage: the fraction of the edges that are within communities.
        performance: the fraction of the pairs of vertices that are either adjacent and in the same
            community, or not adjacent and in different communities.
    """

    coverage: float
    performance: float


@graph_algorithm(vertices=("communities",), keyed=("communities",))
def partition_quality(
    A: Matrix, communities: Any, *, directed: bool | None = None
) -> PartitionQuality:
    """``inside / m`` and ``(inside + missing) / pairs``.

    Compute the coverage and the performance of a partition into communities.

    The coverage is the fraction of the m edges that are within communities; `inside` is the number
    of these edges. `missing` is the number of pairs of vertices that are not adjacent and in
    different communities. The performance is the fraction of all pairs that `inside` or `missing`
    counts. Takes O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        communities: a full Vector of n labels, a mapping from each vertex to a label, or a list of
            sets of vertices. Each vertex must be in exactly one community.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric.

    Returns:
        PartitionQuality: the coverage and the performance.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector of labels is not full or has a size other
            than n.
        IndexOutOfBound: If a vertex is not in the graph.
        DeviceMismatch: If A and a Vector of labels are not on the same device.
        InvalidValue: If a vertex is not in exactly one community, or if the graph has no edge or
            only one vertex.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import partition_quality
        >>> path = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1)
        >>> coverage, performance = partition_quality(path, [{0, 1}, {2, 3}])
        >>> round(coverage, 3), round(performance, 3)
        (0.667, 0.833)

    References:
        S. Fortunato, *Community Detection in Graphs*, 2010.
    """
    labels = partition.read_labels(communities, A).to_dense(copy=False)
    is_directed = not is_symmetric(A) if directed is None else bool(directed)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    is_inside, is_loop = labels[rows] == labels[columns], rows == columns
    loops = int(is_loop.sum())
    # Each pair is counted in both directions. So an undirected edge counts twice, and a self-loop
    # must count twice as well.
    extra = 0 if is_directed else loops
    edges, inside = A.nvals + extra, int(is_inside.sum()) + extra
    n = A.nrows
    if not edges:
        raise InvalidValue("A has no edge, but the quality of a partition needs one")
    if n < 2:
        raise InvalidValue("A has one vertex, but the quality of a partition needs a pair")
    sizes = np.bincount(labels).astype(np.float64)
    apart = float(n) * n - float((sizes * sizes).sum())  # pairs in different communities
    missing = apart - (edges - inside)
    return PartitionQuality(inside / edges, (inside + missing) / (n * (n - 1.0)))
