"""Shortest paths for NetworkX."""

from __future__ import annotations

from typing import Any

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import number, structure, weighted


def shortest_path_length(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Answer `networkx.shortest_path_length`."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None or target is None:
        raise NotImplementedError("graphla answers only calls with a source and a target")
    i, j = number(G, source), number(G, target)
    A = structure(G).matrix if weight is None else weighted(G, weight).matrix
    return algorithms.shortest_path_length(A, i, j, weight is not None, method)
