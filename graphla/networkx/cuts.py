"""Cut sizes and expansions for NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from graphla.graph import Graph
from graphla.networkx.graphs import (
    edge_ends,
    find,
    neighbor_lists,
    refuse_large,
    with_attributes,
    with_weights,
)
from semirings import monoid

KNOWN = (list, tuple, set, frozenset, dict, range)


def cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.cut_size`."""
    source = _members(G, S)
    if T is None and G.directed:
        raise NotImplementedError("graphla needs both sides of a cut of a directed graph")
    target = ~source if T is None else _members(G, T)
    rows, columns = edge_ends(G)
    values = _weights(G, weight)
    forward = source[rows] & target[columns]
    backward = target[rows] & source[columns]
    if G.directed:
        # As in NetworkX, an edge counts once for each side that contains its source.
        sides = (each[rows] & (forward | backward) for each in (source, target))
        return sum(values[side].sum().item() for side in sides)
    return values[(forward | backward) & (rows <= columns)].sum().item()


def volume(G: Graph, S: Any, weight: str | None = None) -> Any:
    """Implement `networkx.volume`."""
    _members(G, S)
    A = with_weights(G, weight, parallel="sum").matrix
    degrees = A.reduce_rowwise(monoid.plus).new().to("cpu").to_dense(0)
    if not G.directed:
        degrees = degrees + A.diag().to("cpu").to_dense(0)
    numbers = [k for node in S if (k := find(G, node)) is not None]
    return degrees[numbers].sum().item() if numbers else 0


def normalized_cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.normalized_cut_size`."""
    T = _complement(G, S) if T is None else T
    size = cut_size(G, S, T, weight)
    return size * (1 / volume(G, S, weight) + 1 / volume(G, T, weight))


def conductance(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.conductance`."""
    T = _complement(G, S) if T is None else T
    return cut_size(G, S, T, weight) / min(volume(G, S, weight), volume(G, T, weight))


def edge_expansion(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.edge_expansion`."""
    T = _complement(G, S) if T is None else T
    return cut_size(G, S, T, weight) / min(len(S), len(T))


def mixing_expansion(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.mixing_expansion`."""
    rows, columns = edge_ends(G)
    edges = rows.size if G.directed else int((rows <= columns).sum())
    return cut_size(G, S, T, weight) / (2 * edges)


def node_expansion(G: Graph, S: Any) -> float:
    """Implement `networkx.node_expansion`."""
    source = _members(G, S)
    if any(find(G, node) is None for node in S):
        raise nx.NetworkXError("a node of S is not in the graph")
    return int(_neighbors(G, source).sum()) / len(S)


def boundary_expansion(G: Graph, S: Any) -> float:
    """Implement `networkx.boundary_expansion`."""
    source = _members(G, S)
    return int((_neighbors(G, source) & ~source).sum()) / len(S)


def _members(G: Graph, nodes: Any) -> np.ndarray:
    """Return for each node of the graph whether it is one of the given nodes."""
    if not isinstance(nodes, KNOWN):
        raise NotImplementedError("graphla needs a list or a set of nodes")
    chosen = np.zeros(len(G), bool)
    chosen[[k for node in nodes if (k := find(G, node)) is not None]] = True
    return chosen


def _complement(G: Graph, nodes: Any) -> set[Any]:
    """Return the nodes of the graph that are not among the given nodes."""
    _members(G, nodes)
    return set(G.labels) - set(nodes)


def _weights(G: Graph, weight: str | None) -> np.ndarray:
    """Return the weight of each edge, in the order of `edge_ends`."""
    if weight is None:
        return np.ones(edge_ends(G)[0].size, np.int64)
    values = with_attributes(G).attribute(weight)
    if not isinstance(values, np.ndarray):
        raise NotImplementedError(f"the edge attribute {weight!r} has a value that is not a number")
    refuse_large(values)
    return values.astype(np.int64) if values.dtype == bool else values


def _neighbors(G: Graph, source: np.ndarray) -> np.ndarray:
    """Return for each node whether an edge leads to it from a node of `source`."""
    indptr, columns = neighbor_lists(G)
    reached = np.zeros(len(G), bool)
    reached[columns[np.repeat(source, np.diff(indptr))]] = True
    return reached
