"""Communities by greedy mergers: always merge the two communities with the largest gain.

The method is due to A. Clauset, M. Newman and C. Moore (2004). The CPU runs a compiled loop; the
definition is a loop over dictionaries and a heap.

Invariants of `definition`, before each merger:
- gains[u][v] = gains[v][u] is the gain in modularity of a merger of the communities u and v, which
  are neighbors; a community is named by one of its vertices
- the heap contains (-gain, u, v) for each current gain, and also entries that are out of date
- out[c] and into[c] are the fractions of the edges out of and into community c
"""

from __future__ import annotations

import heapq
import math
from functools import partial

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms.louvain import name_by_smallest
from graphla.graph.cached_properties import is_symmetric
from graphla.operations.accelerate import Mergers, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, select, unary
from semirings.exceptions import InvalidValue


@graph_algorithm(gives=("",))
def greedy_modularity_communities(
    A: Matrix,
    weight: bool | str | None = None,
    resolution: float = 1,
    cutoff: int = 1,
    best_n: int | None = None,
    *,
    directed: bool | None = None,
) -> Vector:
    """``l(i)`` is the smallest vertex of i's community; the two best communities merge repeatedly.

    Find communities by greedy mergers that raise the modularity.

    Initially each vertex is its own community. Then the two neighboring communities whose merger
    raises the modularity the most are merged, until no merger raises it. Each community is named by
    one of its vertices; among equal gains, the smallest pair of names comes first, as in NetworkX.
    Takes about O(m d log n) time, where d is the depth of the dendrogram. Runs on the CPU; a Matrix
    on a GPU is copied.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used. Values must be at least 0.
        resolution: the resolution γ of the modularity, at least 0; values above 1 favor smaller
            communities.
        cutoff: the minimum number of communities, from 1 to n, at which mergers end.
        best_n: the maximum number of communities. As long as there are more, communities merge even
            if this lowers the modularity. None means n. The result may have more communities if no
            edge leads from one to another.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. In an undirected graph each self-loop
            counts twice, as in NetworkX.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64; each is the smallest vertex of
            its community.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a weight is negative or NaN, if the sum of the weights is not finite, if
            `directed` is False but A is not symmetric, or if another argument is out of range.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import greedy_modularity_communities
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1, nrows=6, ncols=6)
        >>> greedy_modularity_communities(binary.any(A | A.T)).to_dense().tolist()
        [0, 0, 0, 3, 3, 3]

    References:
        A. Clauset, M. Newman and C. Moore, *Finding Community Structure in Very Large Networks*,
            2004.
    """
    is_weighted = validation.weighs("weight", weight)
    resolution = validation.real("resolution", resolution, low=0)
    cutoff = validation.count("cutoff", cutoff, least=1)
    most = A.nrows if best_n is None else validation.count("best_n", best_n, least=cutoff)
    if directed is None:
        directed = not is_symmetric(A)
    if A.device != "cpu":
        options = {"directed": directed}
        found = greedy_modularity_communities(
            A.to("cpu"), is_weighted, resolution, cutoff, best_n, **options
        )
        return found.to(A.device)
    pairs = mergers(A, is_weighted, resolution, cutoff, most, directed=directed)
    return name_by_smallest(Vector.from_dense(follow(pairs, A.nrows), copy=False), A.nrows)


def mergers(
    A: Matrix, weight: bool, resolution: float, fewest: int, most: int, *, directed: bool
) -> np.ndarray:
    """Return the mergers (u, v) in order: community u joins community v. A is on the CPU."""
    if not directed:
        validation.symmetric(A)
    if weight:
        validation.nonnegative(A)
    W = A.dup("FP64") if weight else unary.one["FP64"](A).new()
    rows, columns, values = W.to_coo(copy=False)
    total = float(values.sum())
    if not math.isfinite(total):
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    if total == 0:
        return np.empty((0, 2), np.int64)
    n, is_loop = A.nrows, rows == columns
    out = np.bincount(rows, values, n)
    into = np.bincount(columns, values, n)
    if not directed:
        out += np.bincount(rows[is_loop], values[is_loop], n)
        into = out
        total = float(out.sum()) / 2
    share, half = 1 / total, 1.0 if directed else 0.5
    out, into = (x * share * half for x in (out, into))
    # links(u, v) = the weight of the edges between u and v, in both directions
    links = select.offdiag(W).new()
    if directed:
        links = binary.plus(links | links.T).new()
    indptr, v, weights = links.to_csr(copy=False)
    u = np.arange(n).repeat(np.diff(indptr))
    if not directed and (np.sort(v.astype(np.int64) * n + u) != u * n + v).any():
        # The loop would not find the entry (v, u) for some entry (u, v).
        raise InvalidValue("A was made with symmetric=True, but is not symmetric")
    gains = share * weights - resolution * (out[u] * into[v] + into[u] * out[v])
    D = Matrix.from_csr(indptr, v, gains, ncols=n, copy=False)
    sums = Vector.from_dense(out), Vector.from_dense(into)
    limits = resolution, fewest, most
    return accelerated(Mergers(D, *sums, *limits), partial(definition, D, *sums, *limits))


def definition(
    D: Matrix, out: Vector, into: Vector, resolution: float, fewest: int, most: int
) -> np.ndarray:
    """Return the mergers (u, v) in order; D(u, v) is the gain of merging vertices u and v first."""
    fractions = out.to_dense().tolist(), into.to_dense().tolist()
    gains = {u: dict(row) for u, row in D.to_dicts().items()}
    heap = [(-gain, u, v) for u, row in gains.items() for v, gain in row.items()]
    heapq.heapify(heap)
    pairs: list[tuple[int, int]] = []
    while heap and D.nrows - len(pairs) > fewest:
        loss, u, v = heapq.heappop(heap)
        if gains[u].get(v) != -loss:
            continue
        if loss > 0 and D.nrows - len(pairs) <= most:
            break
        pairs.append((u, v))
        _merge(gains, heap, u, v, fractions, resolution)
    return np.array(pairs, np.int64).reshape(-1, 2)


def _merge(
    gains: dict[int, dict[int, float]],
    heap: list[tuple[float, int, int]],
    u: int,
    v: int,
    fractions: tuple[list[float], list[float]],
    resolution: float,
) -> None:
    """Merge community u into community v, and update the gains and the heap."""
    out, into = fractions
    of_u, of_v = gains[u], gains[v]
    for w in (of_u.keys() | of_v.keys()) - {u, v}:
        if w not in of_u:
            gain = of_v[w] - resolution * (out[u] * into[w] + out[w] * into[u])
        elif w not in of_v:
            gain = of_u[w] - resolution * (out[v] * into[w] + out[w] * into[v])
        else:
            gain = of_v[w] + of_u[w]
        of_v[w] = gains[w][v] = gain
        gains[w].pop(u, None)
        heapq.heappush(heap, (-gain, v, w))
        heapq.heappush(heap, (-gain, w, v))
    gains[u] = {}
    of_v.pop(u)
    for x in fractions:
        x[v] += x[u]
        x[u] = 0.0


def follow(pairs: np.ndarray, n: int) -> np.ndarray:
    """Return the community of each vertex, given the mergers (u, v) in order."""
    community = np.arange(n)
    for u, v in pairs[::-1].tolist():  # label v is final, because later mergers came first
        community[u] = community[v]
    return community
