"""Bipartite graphs for NetworkX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms._shared import common_neighbors
from graphla.algorithms.bipartite import search
from graphla.algorithms.projection import join_by_neighbors
from graphla.algorithms.square_clustering import count_squares
from graphla.graph import Graph
from graphla.graph.labels import Labels
from graphla.io.adjacency_dicts import as_numbers
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    NetworkXGraph,
    find,
    neighbor_lists,
    new_graph,
    nodes_of,
    to_networkx,
    to_node_dict,
    without_weights,
)
from graphla.networkx.selections import degrees, entries, mark, number_of_key, refuse_loops
from graphla.sparse import Matrix
from graphla.traversal import many
from semirings.semiring import plus_pair

# --- colors and sides ---------------------------------------------------------------------------


def color(G: Graph) -> dict[Any, int]:
    """Implement `networkx.bipartite.color`."""
    return to_node_dict(G, _colors(G))


def is_bipartite(G: Graph) -> bool:
    """Implement `networkx.bipartite.is_bipartite`."""
    return algorithms.is_bipartite(without_weights(G).matrix)


def sets(G: Graph, top_nodes: Any = None) -> tuple[set[Any], set[Any]]:
    """Implement `networkx.bipartite.sets`."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G.labels) - top
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not algorithms.is_connected(without_weights(G).matrix):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    colors = _colors(G)
    top, bottom = (set(nodes_of(G, (colors == c).nonzero()[0])) for c in (1, 0))
    return top, bottom


def is_bipartite_node_set(G: Graph, nodes: Any) -> bool:
    """Implement `networkx.bipartite.is_bipartite_node_set`."""
    chosen = set(nodes)
    if len(chosen) < len(nodes):
        raise nx.AmbiguousSolution("The input node set contains duplicates.")
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    flags = mark(G, chosen)
    A = without_weights(G).matrix
    colors, edge = search(A)
    colors, parts = colors.to_dense(), algorithms.connected_components(A).to_dense()
    # fails[p]: in component p, `nodes` contains neither exactly the nodes of color 0 nor exactly
    # those of color 1
    fails = np.ones(len(G), bool)
    for c in (0, 1):
        wrong = np.zeros(len(G), bool)
        wrong[parts[flags != (colors == c)]] = True
        fails &= wrong
    odd = np.zeros(len(G), bool)
    if edge is not None:
        rows, columns, _ = entries(G)
        odd[parts[rows[colors[rows] == colors[columns]]]] = True
    first = (fails | odd).nonzero()[0]
    if first.size and odd[first[0]]:
        raise nx.NetworkXError("Graph is not bipartite.")
    return not first.size


def density(B: Graph, nodes: Any) -> float:
    """Implement `networkx.bipartite.density`."""
    m, top = _number_of_edges(B), len(nodes)
    if m == 0:
        return 0.0
    return m / ((2 if B.directed else 1) * top * (len(B) - top))


def _number_of_edges(G: Graph) -> int:
    rows, columns, counts = entries(G)
    return int(counts.sum() if G.directed else counts[rows <= columns].sum())


def _colors(G: Graph) -> np.ndarray:
    """Return NetworkX's coloring with two colors, as an array on the host."""
    A = without_weights(G).matrix
    try:
        colors = algorithms.two_color(A).to_dense()
    except algorithms.NotBipartite as error:
        raise nx.NetworkXError("Graph is not bipartite.") from error
    if not G.directed:
        return colors
    # NetworkX gives color 1 to the first node of each component that has an edge to another node.
    parts = algorithms.connected_components(A).to_dense()
    sources = (degrees(G, "out") > 0).nonzero()[0]
    part, first = np.unique(parts[sources], return_index=True)
    flips = np.zeros(len(G), bool)
    flips[part] = colors[sources[first]] == 0
    is_isolated = degrees(G) == 0
    return np.where(flips[parts] & ~is_isolated, 1 - colors, colors)


# --- centrality ---------------------------------------------------------------------------------


def degree_centrality(G: Graph, nodes: Any) -> dict[Any, float]:
    """Implement `networkx.bipartite.degree_centrality`."""
    top, flags = _sides(G, nodes)
    factors = 1.0 / (len(G) - top), 1.0 / top
    values = degrees(G) * np.where(flags, *factors)
    return dict(zip(G.labels, values.tolist(), strict=True))


def betweenness_centrality(G: Graph, nodes: Any) -> dict[Any, float]:
    """Implement `networkx.bipartite.betweenness_centrality`."""
    n, flags = _sides(G, nodes)
    m = len(G) - n
    limits = _largest_betweenness(n, m), _largest_betweenness(m, n)
    found = algorithms.betweenness(without_weights(G).matrix, normalized=False, directed=G.directed)
    values = found.to_dense(0.0)
    if any(limit == 0 for limit in limits):
        raise ZeroDivisionError("float division by zero")
    return dict(zip(G.labels, (values / np.where(flags, *limits)).tolist(), strict=True))


def _largest_betweenness(n: int, m: int) -> float:
    """Return the largest betweenness of one of n nodes if the other side has m nodes."""
    s, t = divmod(n - 1, m)
    return (m**2 * (s + 1) ** 2 + m * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2.0


def closeness_centrality(G: Graph, nodes: Any, normalized: bool = True) -> dict[Any, float]:
    """Implement `networkx.bipartite.closeness_centrality`."""
    n, flags = _sides(G, nodes)
    m = len(G) - n
    if not len(G):
        return {}
    reach = many.reach(without_weights(G).matrix, np.arange(len(G)), "closeness")
    total = np.where(reach.total > 0, reach.total, 1)
    least = np.where(flags, m + 2 * (n - 1), n + 2 * (m - 1))
    values = least / total * (reach.total > 0)
    if normalized and len(G) > 1:
        values = values * ((reach.count - 1) / (len(G) - 1))
    return dict(zip(G.labels, values.tolist(), strict=True))


def _sides(G: Graph, nodes: Any) -> tuple[int, np.ndarray]:
    """Return the number of the given nodes, and an array that is true at these nodes."""
    top = set(nodes)
    if any(find(G, node) is None for node in top):
        raise NotImplementedError("one of the given nodes is not in the graph")
    return len(top), mark(G, top)


# --- clustering ---------------------------------------------------------------------------------


def latapy_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> dict[Any, float]:
    """Implement `networkx.bipartite.latapy_clustering`."""
    A = without_weights(G).matrix
    if not algorithms.is_bipartite(A):
        raise nx.NetworkXError("Graph is not bipartite")
    if mode not in ("dot", "min", "max"):
        raise nx.NetworkXError("Mode for bipartite clustering must be: dot, min or max")
    listed = list(G.labels) if nodes is None else list(nodes)
    chosen = np.array([number_of_key(G, node) for node in listed], np.int64)
    P = by_rows(join_by_neighbors(A, np.unique(chosen), "common"))
    rows, degree = np.repeat(np.arange(len(G)), np.diff(P.indptr)), _neighbor_counts(G)
    d, e = degree[rows], degree[P.columns]
    most = {"dot": d + e - P.values, "min": np.minimum(d, e), "max": np.maximum(d, e)}[mode]
    sums = np.bincount(rows, P.values / most, len(G))
    values = sums / np.maximum(np.diff(P.indptr), 1)
    return dict(zip(listed, values[chosen].tolist(), strict=True))


def average_clustering(G: Graph, nodes: Any = None, mode: str = "dot") -> float:
    """Implement `networkx.bipartite.average_clustering`."""
    listed = list(G.labels) if nodes is None else nodes
    found = latapy_clustering(G, listed, mode)
    return sum(found[v] for v in listed) / len(listed)


def robins_alexander_clustering(G: Graph) -> float:
    """Implement `networkx.bipartite.robins_alexander_clustering`."""
    refuse_loops(G, "robins_alexander_clustering")
    A = without_weights(G).matrix
    if len(G) < 4 or A.nvals < 6:
        return 0
    rows, columns, _ = entries(G)
    degree = _neighbor_counts(G) - 1
    # Each edge is the middle of (d(u) - 1) (d(v) - 1) walks of three edges. A walk whose ends
    # coincide is a triangle, not a path.
    closed = 6 * algorithms.triangle_count(A)
    paths = (int((degree[rows] * degree[columns]).sum()) - closed) // 2
    if paths == 0:
        return 0
    N = common_neighbors.pattern(A, symmetric=True)
    corners = count_squares(N, common_neighbors.degrees(N))
    return 4.0 * (int(corners.sum()) // 4) / paths


def node_redundancy(G: Graph, nodes: Any = None) -> dict[Any, float]:
    """Implement `networkx.bipartite.node_redundancy`."""
    refuse_loops(G, "node_redundancy")
    listed = list(G.labels) if nodes is None else list(nodes)
    degree, chosen = _neighbor_counts(G), np.empty(len(listed), np.int64)
    for place, node in enumerate(listed):
        chosen[place] = k = number_of_key(G, node)
        if degree[k] < 2:
            raise nx.NetworkXError(
                "Cannot compute redundancy coefficient for a node that has fewer than two "
                "neighbors."
            )
    N = common_neighbors.pattern(without_weights(G).matrix, symmetric=True)
    # Q holds the pairs of nodes with at least two common neighbors.
    Q = join_by_neighbors(N, np.arange(len(G)), "common").select(">=", 2).new()
    pairs = plus_pair["INT64"](N @ Q).new(mask=N.S).reduce_rowwise().new().to_dense(0)
    values = pairs[chosen] / (degree[chosen] * (degree[chosen] - 1))
    return dict(zip(listed, values.tolist(), strict=True))


def _neighbor_counts(G: Graph) -> np.ndarray:
    """Return the number of distinct neighbors of each node."""
    return np.diff(neighbor_lists(G)[0])


# --- projections --------------------------------------------------------------------------------


def projected_graph(B: Graph, nodes: Any, multigraph: bool = False) -> NetworkXGraph:
    """Implement `networkx.bipartite.projected_graph`."""
    if B.is_multigraph():
        raise nx.NetworkXError("not defined for multigraphs")
    return _project(B, nodes, None)


def weighted_projected_graph(B: Graph, nodes: Any, ratio: bool = False) -> NetworkXGraph:
    """Implement `networkx.bipartite.weighted_projected_graph`."""
    others = len(B) - len(nodes)
    if others < 1:
        raise nx.NetworkXAlgorithmError(
            f"the size of the nodes to project onto ({len(nodes)}) is >= the graph size "
            f"({len(B)}).\nThey are either not a valid bipartite partition or contain duplicates"
        )
    return _project(B, nodes, "common", others if ratio else None)


def collaboration_weighted_projected_graph(B: Graph, nodes: Any) -> NetworkXGraph:
    """Implement `networkx.bipartite.collaboration_weighted_projected_graph`."""
    return _project(B, nodes, "collaboration")


def overlap_weighted_projected_graph(B: Graph, nodes: Any, jaccard: bool = True) -> NetworkXGraph:
    """Implement `networkx.bipartite.overlap_weighted_projected_graph`."""
    return _project(B, nodes, "jaccard" if jaccard else "overlap")


def generic_weighted_projected_graph(
    B: Graph, nodes: Any, weight_function: Any = None
) -> NetworkXGraph:
    """Implement `networkx.bipartite.generic_weighted_projected_graph`."""
    if weight_function is None:
        return _project(B, nodes, "common")
    made = _project(B, nodes, None)
    H = to_networkx(B if isinstance(B, NetworkXGraph) else new_graph(B))
    listed, rows = list(made.labels), by_rows(made.matrix)
    u, v = np.repeat(np.arange(len(listed)), np.diff(rows.indptr)), rows.columns
    if not B.directed:
        # For an edge {u, v}, NetworkX computes both weights, (u, v) and (v, u), and keeps the
        # second one: that from the larger to the smaller node number.
        u, v = np.maximum(u, v), np.minimum(u, v)
    pairs = zip(nodes_of(made, u), nodes_of(made, v), strict=True)
    weights = as_numbers([weight_function(H, *pair) for pair in pairs])
    return new_graph(made, attributes={"weight": weights}, nodes=made._nodes, graph=made.graph)


def _project(
    B: Graph, nodes: Iterable[Any], measure: str | None, divisor: int | None = None
) -> NetworkXGraph:
    """Return the projection onto the given nodes with their attributes."""
    listed = list(dict.fromkeys(nodes))
    chosen = np.array([number_of_key(B, node) for node in listed], np.int64)
    P = join_by_neighbors(without_weights(B).matrix, np.unique(chosen), measure)
    inside: Matrix = P[:, chosen].new()  # pyright: ignore[reportAssignmentType]
    if inside.nvals < P.nvals:
        raise NotImplementedError("the given nodes have common neighbors with other nodes")
    inside = inside[chosen, :].new()  # pyright: ignore[reportAssignmentType]
    if divisor is not None:
        inside = inside.apply("truediv", right=divisor).new()
    attributes = None
    if isinstance(B, NetworkXGraph) and B.source_nodes is not None:
        attributes = [dict(B.source_nodes[node]) for node in listed]
    elif isinstance(B, NetworkXGraph) and B._nodes is not None:
        attributes = [B._nodes[k] for k in chosen.tolist()]
    made = Graph(inside, directed=B.directed, labels=Labels(listed, len(listed)))
    weight = None if measure is None else "weight"
    graph = B.graph if isinstance(B, NetworkXGraph) else None
    return new_graph(made, weight=weight, nodes=attributes, graph=graph)
