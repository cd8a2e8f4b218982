"""Cores, shells, trusses and onion layers for NetworkX."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.graph.cached_properties import self_loops
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    NetworkXGraph,
    neighbor_lists,
    subgraph,
    to_node_dict,
    without_weights,
)

LOOPS = (
    "Input graph {} self loops which is not permitted; "
    "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
)


def core_number(G: Graph) -> dict[Any, int]:
    """Implement `networkx.core_number`."""
    return to_node_dict(G, _core_numbers(G))


def onion_layers(G: Graph) -> dict[Any, int]:
    """Implement `networkx.onion_layers`."""
    _refuse_loops(G, "contains")
    return to_node_dict(G, algorithms.onion_layers(without_weights(G).matrix), ascending=True)


def k_core(
    G: Graph, k: float | None = None, core_number: Mapping[Any, float] | None = None
) -> NetworkXGraph:
    """Implement `networkx.k_core`."""
    numbers = _numbers(G, core_number)
    return subgraph(G, nodes=numbers >= (_largest(numbers) if k is None else k))


def k_shell(
    G: Graph, k: float | None = None, core_number: Mapping[Any, float] | None = None
) -> NetworkXGraph:
    """Implement `networkx.k_shell`."""
    numbers = _numbers(G, core_number)
    return subgraph(G, nodes=numbers == (_largest(numbers) if k is None else k))


def k_crust(
    G: Graph, k: float | None = None, core_number: Mapping[Any, float] | None = None
) -> NetworkXGraph:
    """Implement `networkx.k_crust`."""
    numbers = _numbers(G, core_number)
    return subgraph(G, nodes=numbers <= (_largest(numbers) - 1 if k is None else k))


def k_corona(G: Graph, k: float, core_number: Mapping[Any, float] | None = None) -> NetworkXGraph:
    """Implement `networkx.k_corona`."""
    numbers = _numbers(G, core_number)
    if k is None:
        k = _largest(numbers)
    if np.isnan(numbers).any():
        raise NotImplementedError("core_number lacks a node")
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    neighbors = np.bincount(rows[numbers[columns] >= k], minlength=len(G))
    return subgraph(G, nodes=(numbers == k) & (neighbors == k))


def k_truss(G: Graph, k: float) -> NetworkXGraph:
    """Implement `networkx.k_truss`."""
    _refuse_loops(G, "has")
    n = len(G)
    truss = by_rows(algorithms.k_truss(without_weights(G).matrix, max(ceil(k), 0)))
    indptr, columns = neighbor_lists(G)
    # Encode each entry as one number. The entries of the truss are sorted, so that a binary search
    # finds whether the truss contains an entry of the graph.
    entries = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr)) * n + columns
    kept = np.repeat(np.arange(n, dtype=np.int64), np.diff(truss.indptr)) * n + truss.columns
    edges = np.append(kept, n * n)[np.searchsorted(kept, entries)] == entries
    # As in NetworkX, nodes without edges are left out.
    return subgraph(G, nodes=np.diff(truss.indptr) > 0, edges=edges)


def _core_numbers(G: Graph) -> Any:
    _refuse_loops(G, "has")
    return algorithms.core_numbers(without_weights(G).matrix, directed=G.directed)


def _numbers(G: Graph, core_number: Mapping[Any, float] | None) -> np.ndarray:
    """Return the core number of each node as FP64; NaN if `core_number` lacks the node."""
    if core_number is None:
        return _core_numbers(G).to_dense().astype(np.float64)
    values = [core_number.get(node, np.nan) for node in G.labels]
    return np.array(values, np.float64)


def _largest(numbers: np.ndarray) -> float:
    if not numbers.size:
        raise ValueError("max() arg is an empty sequence")
    return np.nanmax(numbers)


def _refuse_loops(G: Graph, verb: str) -> None:
    if self_loops(without_weights(G).matrix):
        raise nx.NetworkXNotImplemented(LOOPS.format(verb))
