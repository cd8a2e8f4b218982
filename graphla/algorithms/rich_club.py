"""Rich-club coefficient: how densely the vertices of high degree are connected.

The coefficient was introduced by S. Zhou and R. Mondragón (2004).
"""

from __future__ import annotations

import numpy as np

from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import degrees, loops, self_loops
from graphla.graph.labels import vertex_name
from graphla.operations.moving import send
from graphla.sparse import Matrix
from semirings.exceptions import InvalidValue


@graph_algorithm(undirected=True)
def rich_club(A: Matrix) -> np.ndarray:
    """``φ(k) = 2 E(k) / (N(k) (N(k) - 1))``.

    Compute, for each degree k, how densely the vertices with degree above k are joined.

    N(k) is the number of vertices whose degree exceeds k, and E(k) is the number of edges between
    them. Takes O(n + m) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.

    Returns:
        np.ndarray: an FP64 array with the coefficient for each k = 0, 1, ... for which at least two
            vertices have a degree above k; empty if the graph has no edges.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph, is not symmetric, or has a self-loop.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import rich_club
        >>> A = Matrix.from_coo([0, 1, 0, 2, 1, 2, 2, 3], [1, 0, 2, 0, 2, 1, 3, 2], 1)
        >>> rich_club(A).round(2).tolist()
        [0.67, 1.0]

    References:
        S. Zhou and R. Mondragón, *The Rich-Club Phenomenon in the Internet Topology*, 2004.
    """
    if self_loops(A):
        i = int(loops(A).to_coo()[0][0])
        raise InvalidValue(
            f"A has a self-loop at vertex {vertex_name(i)}, but the rich-club coefficient is "
            f"defined only for graphs without self-loops; select.offdiag(A) leaves them out"
        )
    if A.nvals == 0:
        return np.zeros(0)
    degree = degrees(A).to_dense(copy=False)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    # ends[d]: the number of edges, counted in both directions, whose smaller end degree is d
    ends = send(np.bincount(np.minimum(degree[rows], degree[columns])), "cpu")
    # Subtract the counts for degrees up to k from n to get N(k), and from 2 m to get 2 E(k).
    N = A.nrows - send(np.bincount(degree), "cpu").cumsum()
    N = N[N > 1]
    E = A.nvals - ends.cumsum()
    E = np.append(E, np.zeros(max(N.size - E.size, 0), E.dtype))[: N.size]
    return E / (N * (N - 1))
