"""Efficiency, reciprocity, structural holes, triads and similar measures for NetworkX."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import PythonRandomInterface

from graphla import algorithms
from graphla.graph import Graph
from graphla.graph.cached_properties import self_loops
from graphla.io.adjacency_dicts import AdjacencyDicts
from graphla.networkx.graphs import (
    NetworkXGraph,
    edge_ends,
    find,
    neighbor_lists,
    new_graph,
    nodes_of,
    number,
    to_networkx,
    with_attributes,
    with_weights,
    without_weights,
)
from graphla.networkx.selections import (
    VERSION,
    bunch,
    degrees,
    entries,
    is_node,
    mark,
    number_of_key,
    refuse_loops,
)
from graphla.sparse import Matrix

SCALED_FROM = 3, 5
"""The first NetworkX version that computes structural holes in another way if `nodes` is None."""

# --- efficiency ---------------------------------------------------------------------------------


def efficiency(G: Graph, u: Any, v: Any) -> float:
    """Implement `networkx.efficiency`."""
    source, target = number(G, u), number(G, v)
    if source == target:
        raise ZeroDivisionError("division by zero")
    try:
        return 1 / algorithms.shortest_path_length(without_weights(G).matrix, source, target)
    except algorithms.NoPath:
        return 0


def global_efficiency(G: Graph) -> float:
    """Implement `networkx.global_efficiency`."""
    return algorithms.global_efficiency(without_weights(G).matrix)


def local_efficiency(G: Graph) -> float:
    """Implement `networkx.local_efficiency`."""
    if not len(G):
        raise ZeroDivisionError("division by zero")
    refuse_loops(G, "local_efficiency")
    return algorithms.local_efficiency(without_weights(G).matrix)


# --- reciprocity --------------------------------------------------------------------------------


def overall_reciprocity(G: Graph) -> float:
    """Implement `networkx.overall_reciprocity`."""
    if not G.matrix.nvals:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not G.directed:
        return 0.0
    if G.is_multigraph():
        raise NotImplementedError("graphla does not count the keys that opposite edges share")
    return algorithms.overall_reciprocity(without_weights(G).matrix)


def reciprocity(G: Graph, nodes: Any = None) -> Any:
    """Implement `networkx.reciprocity`."""
    if nodes is None:
        return overall_reciprocity(G)
    if not G.directed:
        raise NotImplementedError("the graph is undirected, and `nodes` is given")
    chosen = bunch(G, nodes)
    found = algorithms.reciprocity(without_weights(G).matrix).to_dense(-1.0)[chosen].tolist()
    if is_node(G, nodes):
        if found[0] < 0:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return found[0]
    values = [None if each < 0 else each for each in found]
    return dict(zip(nodes_of(G, chosen), values, strict=True))


# --- structural holes ---------------------------------------------------------------------------


def constraint(G: Graph, nodes: Any = None, weight: Any = None) -> dict[Any, float]:
    """Implement `networkx.constraint`."""
    nodes = list(G.labels) if nodes is None and VERSION < SCALED_FROM else nodes
    values = _by_holes(G, nodes, weight, algorithms.constraint)
    if nodes is None:
        return dict(zip(G.labels, values.tolist(), strict=True))
    # With `nodes`, NetworkX returns NaN only for nodes without out-edges. For a node whose only
    # edge is a self-loop, P = 1, so the constraint is (P + PP)² = 4.
    has_edges = degrees(G, "out") > 0
    values = np.where(has_edges, np.where(np.isnan(values), 4.0, values), math.nan)
    return _at_nodes(G, values, nodes)


def effective_size(G: Graph, nodes: Any = None, weight: Any = None) -> dict[Any, float]:
    """Implement `networkx.effective_size`."""
    if G.is_multigraph() and len(G):
        raise NotImplementedError("the graph is a multigraph")
    if VERSION < SCALED_FROM:
        refuse_loops(G, "effective_size")
    nodes = list(G.labels) if nodes is None and VERSION < SCALED_FROM else nodes
    if nodes is None:
        if len(G) and (G.directed or weight is not None):
            raise NotImplementedError(
                "the graph is directed or weighted, and graphla then needs `nodes`, because "
                "NetworkX scales the weights differently without `nodes`"
            )
        values = _by_holes(G, nodes, weight, algorithms.effective_size)
        return dict(zip(G.labels, values.tolist(), strict=True))
    rows, columns, _ = entries(G)
    others = rows != columns
    neighbors = np.bincount(rows[others], minlength=len(G))
    if G.directed or weight is not None:
        values = _by_holes(G, nodes, weight, algorithms.effective_size)
    else:
        # With `nodes`, a self-loop counts as one of the edges between the neighbors.
        is_loop = np.bincount(rows[~others], minlength=len(G))
        loops = np.bincount(rows[others], is_loop[columns[others]], len(G))
        t = algorithms.triangles(without_weights(G).matrix).to_dense()
        values = neighbors - 2 * (t + loops) / np.maximum(neighbors, 1)
    # With `nodes`, NetworkX treats a node without edges to other nodes as isolated.
    return _at_nodes(G, np.where(neighbors > 0, values, math.nan), nodes)


def _by_holes(G: Graph, nodes: Any, weight: Any, measure: Any) -> np.ndarray:
    """Return a measure of structural holes for each node; NaN for nodes without neighbors."""
    W = with_weights(G, weight, parallel="sum").matrix
    if nodes is None:
        if not len(G):
            raise nx.NetworkXError("Graph has no nodes or edges")
        if (weight is not None or G.is_multigraph()) and self_loops(W):
            raise NotImplementedError("NetworkX compares sums of weights with shares at self-loops")
    else:
        if G.is_multigraph() and len(G):
            raise NotImplementedError("the graph is a multigraph, and `nodes` is given")
        if weight is not None and W.nvals and (W.to_coo()[2] == 0).any():
            raise NotImplementedError("an edge has weight 0, and `nodes` is given")
    return measure(W, weight=weight is not None or G.is_multigraph()).to_dense(math.nan)


def _at_nodes(G: Graph, values: np.ndarray, nodes: Any) -> dict[Any, float]:
    """Return the values of the given nodes. For any other object raise KeyError, as a dict does."""
    listed = list(nodes)
    chosen = [number_of_key(G, node) for node in listed]
    return dict(zip(listed, values[chosen].tolist(), strict=True))


# --- triads, rich club, votes -------------------------------------------------------------------


def triadic_census(G: Graph, nodelist: Any = None) -> dict[str, int]:
    """Implement `networkx.triadic_census`."""
    whole = algorithms.triadic_census(without_weights(G).matrix)
    if nodelist is None:
        return whole
    flags = mark(G, nodelist)
    if len(nodelist) != flags.sum():
        raise ValueError("nodelist includes duplicate nodes or nodes not in G")
    if len(nodelist) < len(G):
        refuse_loops(G, "triadic_census")  # NetworkX then returns counts that may be negative
    # Triads with a node of the list: all triads, minus the triads among the other nodes.
    others = (~flags).nonzero()[0]
    rest = algorithms.triadic_census(without_weights(G).matrix[others, others].new())
    return {name: count - rest[name] for name, count in whole.items()}


def rich_club_coefficient(
    G: Graph, normalized: bool = True, Q: float = 100, seed: Any = None
) -> dict[int, float]:
    """Implement `networkx.rich_club_coefficient`."""
    rows, columns, _ = entries(G)
    if (rows == columns).any():
        message = "rich_club_coefficient is not implemented for graphs with self loops."
        raise Exception(message)
    found = dict(enumerate(algorithms.rich_club(without_weights(G).matrix).tolist()))
    if not normalized:
        return found
    # The random swaps depend on the order of the neighbors. NetworkX also copies the graph, which
    # changes this order.
    R = to_networkx(G if isinstance(G, NetworkXGraph) else new_graph(G)).copy()
    swaps = Q * R.number_of_edges()
    nx.double_edge_swap(R, swaps, max_tries=swaps * 10, seed=seed, backend="networkx")
    random = algorithms.rich_club(Graph.from_networkx(R, weight=None).matrix).tolist()
    return {k: value / random[k] for k, value in found.items()}


def voterank(G: Graph, number_of_nodes: int | None = None) -> list[Any]:
    """Implement `networkx.voterank`."""
    if number_of_nodes is not None and number_of_nodes <= 0:
        return []
    A, is_weighted = with_weights(G, None, parallel="sum").matrix, G.is_multigraph()
    found = algorithms.voterank(A, number_of_nodes, is_weighted, directed=G.directed)
    return nodes_of(G, found)


def s_metric(G: Graph) -> float:
    """Implement `networkx.s_metric`."""
    rows, columns, counts = entries(G)
    degree = degrees(G)
    kept = slice(None) if G.directed else rows <= columns
    products = degree[rows[kept]] * degree[columns[kept]] * counts[kept]
    return float(products.sum())


# --- sets ---------------------------------------------------------------------------------------


def maximal_independent_set(G: Graph, nodes: Any = None, seed: Any = None) -> list[Any]:
    """Implement `networkx.maximal_independent_set`."""
    refuse_loops(G, "maximal_independent_set")
    if isinstance(seed, PythonRandomInterface):
        raise NotImplementedError("the seed is a generator of NumPy")
    chosen: list[Any] = list(dict.fromkeys(nodes)) if nodes else []
    if not chosen and not len(G):
        raise IndexError("Cannot choose from an empty sequence")
    places = [k for node in chosen if (k := find(G, node)) is not None]
    if len(places) < len(chosen):
        raise nx.NetworkXUnfeasible(f"{set(chosen)} is not a subset of the nodes of G")
    rows, columns, _ = entries(G)
    flags = np.zeros(len(G), bool)
    flags[places] = True
    if (flags[rows] & flags[columns]).any():
        raise nx.NetworkXUnfeasible(f"{set(chosen)} is not an independent set of G")
    seed = seed.getrandbits(62)
    found = algorithms.maximal_independent_set(without_weights(G).matrix, places or None, seed)
    others = [k for k in found.to_coo()[0].tolist() if not flags[k]]
    return chosen + nodes_of(G, others)


def maximal_matching(G: Graph) -> set[tuple[Any, Any]]:
    """Implement `networkx.maximal_matching`."""
    indptr, columns = neighbor_lists(G)
    n, rows = len(G), np.repeat(np.arange(len(G)), np.diff(indptr))
    first = rows < columns
    u, v = rows[first], columns[first]
    # The weights descend in NetworkX's order of the edges, and heavier edges are taken first.
    weights = np.tile(np.arange(u.size, 0, -1), 2)
    W = Matrix.from_coo(np.append(u, v), np.append(v, u), weights, nrows=n, ncols=n).to(G.device)
    ends, mates = algorithms.maximal_matching(W, weight=True).to_coo()
    kept = ends < mates
    return set(zip(nodes_of(G, ends[kept]), nodes_of(G, mates[kept]), strict=True))


def is_dominating_set(G: Graph, nbunch: Any) -> bool:
    """Implement `networkx.is_dominating_set`."""
    flags = np.zeros(len(G), bool)
    flags[[k for node in nbunch if (k := find(G, node)) is not None]] = True
    rows, columns, _ = entries(G)
    near = flags.copy()
    near[columns[flags[rows]]] = True
    return bool(near.all())


def complement(G: Graph) -> NetworkXGraph:
    """Implement `networkx.complement`."""
    C = algorithms.complement(without_weights(G).matrix)
    return new_graph(Graph(C, directed=G.directed, labels=G._labels))


def reverse(G: Graph, copy: bool = True) -> NetworkXGraph:
    """Implement `networkx.reverse`."""
    if not G.directed:
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    G = with_attributes(G)
    rows, columns = edge_ends(G)
    order = np.argsort(columns, kind="stable")
    rows, columns = rows[order], columns[order]
    edges: dict[Any, Any] = {"attributes": {}, "data": None}
    if G.source_nodes is None:
        edges["attributes"] = {
            name: values[order] if isinstance(values, np.ndarray) else _take(values, order)
            for name, values in G._attributes.items()
        }
        edges["data"] = None if G._data is None else _take(G._data, order)
        nodes = G._nodes
    else:
        # NetworkX passes no attributes to a backend here, but its own result has them.
        nodes = [deepcopy(G.source_nodes[node]) for node in G.labels]
        edges["data"] = _data_of_source(G, nodes_of(G, rows), nodes_of(G, columns))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(columns, minlength=len(G)))))
    names, numbers = G._entries.nodes, G._entries.numbers
    entries = AdjacencyDicts(names, numbers, indptr, rows, True, False, {})
    return NetworkXGraph(entries, **edges, nodes=nodes, graph=deepcopy(G.graph), device=G._device)


def _data_of_source(G: NetworkXGraph, sources: list[Any], targets: list[Any]) -> list[Any]:
    """Return copies of the attribute dicts of the edges of the graph that was converted."""
    predecessors = G.source_predecessors
    if predecessors is None:
        raise NotImplementedError("the graph is a view, so the attributes of its edges are unknown")
    try:
        found = [predecessors[v][u] for u, v in zip(sources, targets, strict=True)]
    except KeyError as error:
        raise NotImplementedError("the graph has changed since it was converted") from error
    return list(map(deepcopy, found))


def _take(values: list[Any], places: np.ndarray) -> list[Any]:
    return [values[k] for k in places.tolist()]
