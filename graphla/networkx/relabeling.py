"""Relabeling, ego graphs, lists of neighbors and negative weights for NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import backends

from graphla.graph import Graph
from graphla.io.adjacency_dicts import are_range
from graphla.networkx import paths
from graphla.networkx.graphs import (
    NetworkXGraph,
    convert,
    find,
    neighbor_lists,
    nodes_of,
    number,
    subgraph,
    to_networkx,
    with_attributes,
    with_weights,
)

dispatch: Any = backends

_ORDERS: dict[str, Callable[[Any], list[Any]]] = {
    "default": list,
    "sorted": sorted,
    "increasing degree": lambda G: _by_degree(G),
    "decreasing degree": lambda G: _by_degree(G)[::-1],
}


def relabel_nodes(G: Graph, mapping: Any, copy: bool = True) -> NetworkXGraph:
    """Implement `networkx.relabel_nodes`."""
    if callable(mapping):
        mapping = {node: mapping(node) for node in G}
    return _relabel(G, mapping)


def convert_node_labels_to_integers(
    G: Graph, first_label: int = 0, ordering: str = "default", label_attribute: Any = None
) -> NetworkXGraph:
    """Implement `networkx.convert_node_labels_to_integers`."""
    if ordering not in _ORDERS:
        raise nx.NetworkXError(f"Unknown node ordering: {ordering}")
    order = _ORDERS[ordering](G)
    H = _relabel(G, {node: k for k, node in enumerate(order, first_label)})
    if label_attribute is not None:
        before = H._nodes or [{} for _ in G]
        H._nodes = [
            {**data, label_attribute: node} for data, node in zip(before, G.labels, strict=True)
        ]
    return H


def _by_degree(G: Graph) -> list[Any]:
    """Return the nodes sorted by degree, then by node."""
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    counts = G._entries.counts if isinstance(G, NetworkXGraph) else None
    counts = np.ones(columns.size, np.int64) if counts is None else counts
    at_end = np.ones(columns.size, bool) if G.directed else rows == columns
    degrees = np.bincount(rows, counts, len(G)) + np.bincount(
        columns[at_end], counts[at_end], len(G)
    )
    return [node for _, node in sorted(zip(degrees.tolist(), G.labels, strict=True))]


def _relabel(G: Graph, mapping: Mapping[Any, Any]) -> NetworkXGraph:
    """Return the graph with nodes replaced by `mapping[node]` where the mapping has the node."""
    G = with_attributes(G)
    names = tuple(mapping.get(node, node) for node in G.labels)
    numbers = {name: k for k, name in enumerate(names)}
    if len(numbers) < len(names):  # NetworkX merges nodes that get the same name
        merged = dispatch._registered_algorithms["relabel_nodes"].orig_func(to_networkx(G), mapping)
        return convert(merged, None, None, True, True, G._device)
    if None in numbers:
        raise ValueError("None cannot be a node")
    entries = copy(G._entries)
    are_numbers = are_range(names)
    entries.nodes = range(len(names)) if are_numbers else names
    entries.numbers = None if are_numbers else numbers
    nodes = None if G._nodes is None else list(map(dict, G._nodes))
    return NetworkXGraph(entries, dict(G._attributes), G._data, nodes, dict(G.graph), G._device)


def ego_graph(
    G: Graph,
    n: Any,
    radius: float = 1,
    center: bool = True,
    undirected: bool = False,
    distance: Any = None,
) -> NetworkXGraph:
    """Implement `networkx.ego_graph`."""
    if undirected and G.directed:
        raise NotImplementedError(
            "undirected is true, but graphla follows the edges of a directed graph forward"
        )
    if distance is None:
        near = paths.single_source_shortest_path_length(G, n, radius)
    else:
        near = paths.single_source_dijkstra_path_length(G, n, radius, distance)
    chosen = np.zeros(len(G), bool)
    chosen[[number(G, node) for node in near]] = True
    chosen[number(G, n)] = center
    return subgraph(G, nodes=chosen)


def to_dict_of_lists(G: Graph, nodelist: Any = None) -> dict[Any, list[Any]]:
    """Implement `networkx.to_dict_of_lists`."""
    indptr, columns = neighbor_lists(G)
    targets, bounds = nodes_of(G, columns), indptr.tolist()
    if nodelist is None:
        rows = (targets[i:j] for i, j in pairwise(bounds))
        return dict(zip(G.labels, rows, strict=True))
    found: dict[Any, list[Any]] = {}
    for node in nodelist:
        k = find(G, node)
        if k is None:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
        found[node] = [v for v in targets[bounds[k] : bounds[k + 1]] if v in nodelist]
    return found


def is_negatively_weighted(G: Graph, edge: Any = None, weight: Any = "weight") -> bool:
    """Implement `networkx.is_negatively_weighted`."""
    A = with_weights(G, weight)
    if edge is None:
        values = A._matrix.to_coo(copy=False)[2]
        return bool((values < 0).any())
    u, v = edge
    value = A._value(u, v)
    if value is None:
        raise nx.NetworkXError(f"Edge {edge!r} does not exist.")
    return bool(value < 0)
