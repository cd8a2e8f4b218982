"""Triangles and clustering for NetworkX."""

from __future__ import annotations

from typing import Any

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import find, nodes_of, number, per_node, structure


def triangles(G: Graph, nodes: Any = None) -> Any:
    """Answer `networkx.triangles`."""
    if nodes is None:
        return per_node(G, algorithms.triangles(structure(G)))
    if find(G, nodes) is not None:
        return int(algorithms.triangles(structure(G).matrix, number(G, nodes)))
    chosen = [k for node in nodes if (k := find(G, node)) is not None]
    counts = algorithms.triangles(structure(G).matrix).to_dense()
    return dict(zip(nodes_of(G, chosen), counts[chosen].tolist(), strict=True))
