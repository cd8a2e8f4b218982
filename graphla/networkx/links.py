"""Link prediction for NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isinf, isnan
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms._shared import common_neighbors, vertex_pairs
from graphla.algorithms.leiden import inside
from graphla.algorithms.links import degrees_with_loops
from graphla.graph import Graph
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    NetworkXGraph,
    find_all,
    neighbor_lists,
    nodes_of,
    without_weights,
)
from graphla.settings import config
from graphla.sparse import Matrix, Vector

Pairs = Iterable[tuple[Any, Any]] | None
Predictions = Iterator[tuple[Any, Any, float]]
WEDGES = 1 << 24
"""Maximum number of pairs with common neighbors if all pairs are scored, at 12 bytes each."""


def jaccard_coefficient(G: Graph, ebunch: Pairs = None) -> Predictions:
    """Implement `networkx.jaccard_coefficient`."""
    return _predict(G, ebunch, algorithms.jaccard)


def adamic_adar_index(G: Graph, ebunch: Pairs = None) -> Predictions:
    """Implement `networkx.adamic_adar_index`."""
    return _predict(G, ebunch, algorithms.adamic_adar)


def resource_allocation_index(G: Graph, ebunch: Pairs = None) -> Predictions:
    """Implement `networkx.resource_allocation_index`."""
    return _predict(G, ebunch, algorithms.resource_allocation)


def preferential_attachment(G: Graph, ebunch: Pairs = None) -> Predictions:
    """Implement `networkx.preferential_attachment`."""
    degree = degrees_with_loops(without_weights(G).matrix.to("cpu"))
    if ebunch is None:
        return _predict_all(G, lambda u: degree[u] * degree)
    pairs, ends = _read(G, ebunch)
    return _triples(pairs, degree[ends[:, 0]] * degree[ends[:, 1]])


def common_neighbor_centrality(G: Graph, ebunch: Pairs = None, alpha: float = 0.8) -> Predictions:
    """Implement `networkx.common_neighbor_centrality`."""
    if ebunch is None:
        raise NotImplementedError("ebunch is missing, but graphla needs the pairs of nodes")
    pairs, ends = _read(G, ebunch)
    if not pairs:
        return iter(())
    A = without_weights(G).matrix
    u, v, both = algorithms.common_neighbors(A, ends).to_coo()
    keys = ends[:, 0] * len(G) + ends[:, 1]
    scores = both[np.searchsorted(u * len(G) + v, keys)]
    if alpha != 1:
        sources, row = np.unique(ends[:, 0], return_inverse=True)
        levels = by_rows(algorithms.all_pairs_lengths(A, sources))
        rows = np.repeat(np.arange(sources.size), np.diff(levels.indptr))
        place = np.searchsorted(rows * len(G) + levels.columns, row * len(G) + ends[:, 1])
        place = np.minimum(place, rows.size - 1)
        found = (rows[place] == row) & (levels.columns[place] == ends[:, 1])
        length = np.where(found & (ends[:, 0] != ends[:, 1]), levels.values[place], np.inf)
        scores = alpha * scores + (1 - alpha) * len(G) / length
    return _distinct(pairs, scores)


def _distinct(pairs: list[tuple[Any, Any]], scores: np.ndarray) -> Predictions:
    """Yield (u, v, score) for each pair, and raise NetworkX's error for a pair of equal nodes."""
    for (u, v), score in zip(pairs, scores.tolist(), strict=True):
        if u == v:
            raise nx.NetworkXAlgorithmError("Self loops are not supported")
        yield u, v, score


def cn_soundarajan_hopcroft(
    G: Graph, ebunch: Pairs = None, community: Any = "community"
) -> Predictions:
    """Implement `networkx.cn_soundarajan_hopcroft`."""
    return _predict_in_communities(
        G, ebunch, community, lambda both, within, _: (both + within).astype(np.int64), None
    )


def ra_index_soundarajan_hopcroft(
    G: Graph, ebunch: Pairs = None, community: Any = "community"
) -> Predictions:
    """Implement `networkx.ra_index_soundarajan_hopcroft`."""
    return _predict_in_communities(
        G,
        ebunch,
        community,
        lambda _both, within, same: within * same,
        lambda degree: 1 / np.maximum(degree, 1),
    )


def within_inter_cluster(
    G: Graph, ebunch: Pairs = None, delta: float = 0.001, community: Any = "community"
) -> Predictions:
    """Implement `networkx.within_inter_cluster`."""
    if delta <= 0:
        raise nx.NetworkXAlgorithmError("Delta must be greater than zero")
    return _predict_in_communities(
        G,
        ebunch,
        community,
        lambda both, within, same: same * within / (both - within + delta),
        None,
    )


def _predict_in_communities(
    G: Graph,
    ebunch: Pairs,
    community: Any,
    combine: Callable[[Any, Any, Any], Any],
    weigh: Callable[[Any], Any] | None,
) -> Predictions:
    """Score pairs by their common neighbors, using the communities of the nodes.

    `combine` computes the score of u and v from three values: the number of their common neighbors,
    the number of these that are in the community of u and v (the sum of their weights if `weigh` is
    given), and whether u and v are in the same community. If they are not, the second value is 0.
    """
    labels, lacks = _community_labels(G, community)
    if ebunch is None and lacks.any():
        raise NotImplementedError(f"a node has no attribute {community!r}")

    def score(A: Matrix, pairs: Any) -> Matrix:
        with config.set(device="cpu"):
            return _score(A.to("cpu"), pairs, (labels, lacks), combine, weigh)

    return _predict(G, ebunch, score)


def _score(
    A: Matrix,
    pairs: Any,
    known: tuple[np.ndarray, np.ndarray],
    combine: Callable[[Any, Any, Any], Any],
    weigh: Callable[[Any], Any] | None,
) -> Matrix:
    """Return the scores for `_predict_in_communities`.

    `known` is the result of `_community_labels`.
    """
    labels, lacks = known
    counts = algorithms.common_neighbors(A, pairs)
    N = common_neighbors.pattern(common_neighbors.drop_loops(A), symmetric=True)
    community = Vector.from_dense(labels)
    inner, joint = inside(N, community), inside(counts, community)
    u, v, both = counts.to_coo()
    same = labels[u] == labels[v]
    within = np.zeros(both.size)
    if weigh is None:
        within[same] = vertex_pairs.count_common(inner, joint).to_coo()[2]
    else:
        within[same] = _sum_common(inner, weigh(degrees_with_loops(A)), joint).to_coo()[2]
    scores = combine(both, within, same)
    if lacks.any():  # nodes without a community share one label; their scores are NaN
        unknown = _sum_common(N, lacks * 1.0, counts).to_coo()[2] * same > 0
        scores = np.where(lacks[u] | lacks[v] | unknown, np.nan, scores)
    return common_neighbors.pattern(counts, scores)


def _sum_common(N: Matrix, weights: np.ndarray, pairs: Matrix) -> Matrix:
    """For each pair, return the sum of the weights of its common neighbors in N."""
    W = common_neighbors.pattern(N, weights[by_rows(N).columns])
    return vertex_pairs.sum_common(W, common_neighbors.pattern(N, symmetric=True), pairs)


def _community_labels(G: Graph, community: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each node, a number for the value of its attribute and whether it is None."""
    given = G.node_attribute(community) if isinstance(G, NetworkXGraph) else [None] * len(G)
    numbers: dict[Any, int] = {}
    listed = [numbers.setdefault(each, len(numbers)) for each in given]
    return np.array(listed, np.int64), np.array([each is None for each in given], np.bool_)


def _predict(G: Graph, ebunch: Pairs, score: Callable[[Matrix, Any], Matrix]) -> Predictions:
    """Score pairs of nodes; by default all pairs that are not adjacent.

    `score` takes the matrix and the pairs, or None for all pairs with a common neighbor.
    """
    A, n = without_weights(G).matrix, len(G)
    if ebunch is None:
        degree = np.diff(neighbor_lists(G)[0]).astype(np.float64)
        if (degree * degree).sum() > WEDGES:
            raise NotImplementedError("too many pairs of nodes have a common neighbor")
        rows = by_rows(score(A, None))

        def row(u: int) -> np.ndarray:
            values = np.zeros(n, rows.values.dtype)
            part = slice(*rows.indptr[u : u + 2])
            values[rows.columns[part]] = rows.values[part]
            return values

        return _predict_all(G, row)
    pairs, ends = _read(G, ebunch)
    if not pairs:
        return iter(())
    u, v, values = score(A, ends).to_coo()
    places = np.searchsorted(u * n + v, ends[:, 0] * n + ends[:, 1])
    return _triples(pairs, values[places])


def _predict_all(G: Graph, row: Callable[[int], np.ndarray]) -> Predictions:
    """Yield (u, v, score) for all pairs that are not adjacent.

    row(u) returns the scores of u with every node.
    """
    indptr, columns = neighbor_lists(G)
    nodes = G.labels
    for u in range(len(G)):
        is_apart = np.ones(len(G), np.bool_)
        is_apart[: u + 1] = False
        is_apart[columns[indptr[u] : indptr[u + 1]]] = False
        others = is_apart.nonzero()[0]
        scores = row(u)[others].tolist()
        yield from zip([nodes[u]] * len(scores), nodes_of(G, others), scores, strict=True)


def _read(G: Graph, ebunch: Iterable[tuple[Any, Any]]) -> tuple[list[Any], np.ndarray]:
    """Return the pairs, and the numbers of their nodes as an array with two columns."""
    pairs = [(u, v) for u, v in ebunch]
    nodes = list(chain.from_iterable(pairs))
    ends = find_all(G, nodes)
    if (ends < 0).any():
        raise nx.NodeNotFound(f"Node {nodes[int(np.argmax(ends < 0))]} not in G.")
    return pairs, ends.reshape(-1, 2)


def _triples(pairs: list[tuple[Any, Any]], scores: np.ndarray) -> Predictions:
    """Yield (u, v, score) for each pair; raise NetworkX's error if a score is not finite."""
    if np.isfinite(scores).all():
        yield from ((u, v, score) for (u, v), score in zip(pairs, scores.tolist(), strict=True))
        return
    for (u, v), score in zip(pairs, scores.tolist(), strict=True):
        if isinf(score):  # a common neighbor has degree 1, so the logarithm is 0
            raise ZeroDivisionError("float division by zero")
        if isnan(score):
            raise nx.NetworkXAlgorithmError(
                f"No community information available for Node {u}, {v} or a common neighbor"
            )
        yield u, v, score
