"""Assortativity, mixing and the degrees of neighbors for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms.assortativity import correlate
from graphla.graph import Graph
from graphla.io.adjacency_dicts import as_numbers
from graphla.networkx.graphs import (
    NetworkXGraph,
    neighbor_lists,
    nodes_of,
    with_weights,
    without_weights,
)
from graphla.networkx.selections import add_up, bunch, degrees, entries, is_node, mark
from graphla.sparse import Vector

DIRECTIONS = ("in", "out", "in+out")
DENSE = 1 << 16
"""Up to this many counters are allocated even if there are fewer pairs to count."""

# --- degrees of neighbors -----------------------------------------------------------------------


def average_neighbor_degree(
    G: Graph, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> dict[Any, float]:
    """Implement `networkx.average_neighbor_degree`."""
    for name, direction in (("source", source), ("target", target)):
        if G.directed and direction not in DIRECTIONS:
            raise nx.NetworkXError(f"{name} argument {direction} must be 'in', 'out' or 'in+out'")
    if not G.directed and (source != "out" or target != "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    if nodes is not None and is_node(G, nodes):
        raise TypeError("'int' object is not iterable")
    chosen = bunch(G, nodes)
    A = with_weights(G, weight).matrix
    is_weighted = weight is not None
    k = algorithms.average_neighbor_degree(
        A, source, target, weight=is_weighted, directed=G.directed
    )
    return dict(zip(nodes_of(G, chosen), k.to_dense()[chosen].tolist(), strict=True))


def average_degree_connectivity(
    G: Graph, source: str = "in+out", target: str = "in+out", nodes: Any = None, weight: Any = None
) -> dict[Any, float]:
    """Implement `networkx.average_degree_connectivity`."""
    for name, direction in (("source", source), ("target", target)):
        if G.directed and direction not in DIRECTIONS:
            raise nx.NetworkXError(f'{name} must be one of "in", "out", or "in+out"')
    if not G.directed and (source != "in+out" or target != "in+out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    rows, columns, values = entries(G, weight)
    if G.directed and source == "in":
        rows, columns = columns, rows
    k = degrees(G, source)
    d = k if source == target else degrees(G, target)
    sums = add_up(rows, values * d[columns], len(G))
    # A node that is listed twice counts once, as in NetworkX's degree views.
    chosen = list(dict.fromkeys(bunch(G, nodes)))
    keys, first, group = np.unique(k[chosen], return_index=True, return_inverse=True)
    s = k if weight is None else degrees(G, source, weight)
    norms = add_up(group, s[chosen], keys.size)
    totals = add_up(group, sums[chosen], keys.size)
    means = totals / np.where(norms == 0, 1, norms)
    order = np.argsort(first)
    return dict(zip(keys[order].tolist(), means[order].tolist(), strict=True))


# --- correlation of degrees ---------------------------------------------------------------------


def degree_assortativity_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Implement `networkx.degree_assortativity_coefficient`."""
    _check_directions(G, x, y)
    if G.is_multigraph():
        return correlate(*_degree_pairs(G, x, y, weight, nodes))
    chosen = None if nodes is None else bunch(G, nodes)
    A, is_weighted = with_weights(G, weight).matrix, weight is not None
    return algorithms.degree_assortativity(A, x, y, is_weighted, chosen, directed=G.directed)


def degree_pearson_correlation_coefficient(
    G: Graph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """Implement `networkx.degree_pearson_correlation_coefficient`."""
    _check_directions(G, x, y)
    pairs = _degree_pairs(G, x, y, weight, nodes)
    if not pairs[0].size:
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    if pairs[0].size < 2:
        raise ValueError("x and y must have length at least 2.")
    return correlate(*pairs)


def degree_mixing_dict(
    G: Graph,
    x: str = "out",
    y: str = "in",
    weight: Any = None,
    nodes: Any = None,
    normalized: bool = False,
) -> dict[Any, dict[Any, Any]]:
    """Implement `networkx.degree_mixing_dict`."""
    _check_directions(G, x, y)
    a, b = degrees(G, x, weight), degrees(G, y, weight)
    values, codes = np.unique(np.append(a, b), return_inverse=True)
    u, v = _edges_between(G, nodes)
    return _mixing(values.tolist(), codes[: a.size][u], codes[a.size :][v], normalized)


def degree_mixing_matrix(
    G: Graph,
    x: str = "out",
    y: str = "in",
    weight: Any = None,
    nodes: Any = None,
    normalized: bool = True,
    mapping: Any = None,
) -> Any:
    """Implement `networkx.degree_mixing_matrix`."""
    counts = degree_mixing_dict(G, x, y, weight, nodes)
    return _as_array(counts, mapping, normalized)


def _check_directions(G: Graph, x: str, y: str) -> None:
    """Raise the same KeyError as NetworkX for an unknown direction."""
    for direction in (x, y):
        if G.directed and direction not in ("in", "out"):
            raise KeyError(direction)


def _degree_pairs(
    G: Graph, x: str, y: str, weight: Any, nodes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the degrees of the two ends of each edge between the given nodes."""
    rows, columns = _edges_between(G, nodes)
    return degrees(G, x, weight)[rows], degrees(G, y, weight)[columns]


def _edges_between(G: Graph, nodes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of each edge between two of the given nodes; None stands for all nodes."""
    rows, columns = _edges(G)
    if nodes is None:
        return rows, columns
    flags = mark(G, nodes)
    kept = flags[rows] & flags[columns]
    return rows[kept], columns[kept]


def _edges(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of each edge in NetworkX's order; an undirected edge is listed twice."""
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    if isinstance(G, NetworkXGraph) and G.is_multigraph():
        counts = G._entries.counts
        return np.repeat(rows, counts), np.repeat(columns, counts)
    return rows, columns


# --- attributes ---------------------------------------------------------------------------------


def attribute_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Implement `networkx.attribute_assortativity_coefficient`."""
    codes, _ = _codes(_values(G, attribute))
    if not G.matrix.nvals:
        return 0.0
    if nodes is None and not G.is_multigraph():
        A = without_weights(G).matrix
        return algorithms.attribute_assortativity(A, Vector.from_dense(codes).to(A.device))
    u, v = _attribute_pairs(G, codes, nodes)
    m, size = int(u.size), int(codes.max()) + 1
    if m == 0:
        return 0.0
    a, b = (np.bincount(each, minlength=size).tolist() for each in (u, v))
    s = sum(i * j for i, j in zip(a, b, strict=True))
    return (m * int((u == v).sum()) - s) / (m * m - s) if m * m > s else float("nan")


def numeric_assortativity_coefficient(G: Graph, attribute: Any, nodes: Any = None) -> float:
    """Implement `networkx.numeric_assortativity_coefficient`."""
    values = _values(G, attribute)
    chosen = range(len(G)) if nodes is None else bunch(G, nodes)
    if any(values[k] is None for k in chosen):
        raise KeyError(attribute)
    known = as_numbers([values[k] if values[k] is not None else 0 for k in range(len(G))])
    if not isinstance(known, np.ndarray):
        raise NotImplementedError(f"a value of the attribute {attribute!r} is not a number")
    if known.dtype == bool:
        known = known.astype(np.int64)
    if nodes is None and not G.is_multigraph():
        A = without_weights(G).matrix
        return algorithms.numeric_assortativity(A, Vector.from_dense(known).to(A.device))
    u, v = _attribute_pairs(G, np.arange(len(G)), nodes)
    # NetworkX leaves out an edge whose target has a value that none of the given nodes has.
    wanted = {values[k] for k in chosen}
    kept = np.array([each in wanted for each in values], bool)[v]
    return correlate(known[u[kept]], known[v[kept]])


def attribute_mixing_dict(
    G: Graph, attribute: Any, nodes: Any = None, normalized: bool = False
) -> dict[Any, dict[Any, Any]]:
    """Implement `networkx.attribute_mixing_dict`."""
    codes, names = _codes(_values(G, attribute))
    return _mixing(names, *_attribute_pairs(G, codes, nodes), normalized)


def attribute_mixing_matrix(
    G: Graph, attribute: Any, nodes: Any = None, mapping: Any = None, normalized: bool = True
) -> Any:
    """Implement `networkx.attribute_mixing_matrix`."""
    return _as_array(attribute_mixing_dict(G, attribute, nodes), mapping, normalized)


def node_attribute_xy(G: Graph, attribute: Any, nodes: Any = None) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.node_attribute_xy`."""
    values = _values(G, attribute)
    u, v = _attribute_pairs(G, np.arange(len(G)), nodes)
    ends = ([values[k] for k in each.tolist()] for each in (u, v))
    return iter(list(zip(*ends, strict=True)))


def _values(G: Graph, attribute: Any) -> list[Any]:
    """Return the attribute of each node, with None for nodes that lack it."""
    return G.node_attribute(attribute) if isinstance(G, NetworkXGraph) else [None] * len(G)


def _codes(values: Sequence[Any]) -> tuple[np.ndarray, list[Any]]:
    """Number the distinct values; return the number of each value, and the distinct values."""
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(each, len(numbers)) for each in values]
    return np.array(codes, np.int64), list(numbers)


def _attribute_pairs(G: Graph, codes: np.ndarray, nodes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of both ends of each edge that leaves one of the given nodes."""
    rows, columns = _edges(G)
    if nodes is not None:
        kept = mark(G, nodes)[rows]
        rows, columns = rows[kept], columns[kept]
    return codes[rows], codes[columns]


# --- counts of pairs ----------------------------------------------------------------------------


def _mixing(
    names: list[Any], u: np.ndarray, v: np.ndarray, normalized: bool
) -> dict[Any, dict[Any, Any]]:
    """Return {x: {y: number of pairs (x, y)}}; keys are in the order in which they first occur."""
    size = max(len(names), 1)
    keys, first, counts = _count(u * size + v, size * size)
    shares = counts / u.size if normalized else counts
    found: dict[Any, dict[Any, Any]] = {}
    order = np.argsort(first)
    for key, count in zip(keys[order].tolist(), shares[order].tolist(), strict=True):
        x, y = names[key // size], names[key % size]
        found.setdefault(x, {})[y] = count
        found.setdefault(y, {})
    return found


def _count(places: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct integers (below `size`), their first positions, and their counts."""
    if size > 4 * places.size + DENSE:
        return np.unique(places, return_index=True, return_counts=True)
    counts, first = np.bincount(places, minlength=size), np.empty(size, np.int64)
    # If an element is written several times, the last value remains, so write in reverse order.
    first[places[::-1]] = np.arange(places.size - 1, -1, -1)
    keys = counts.nonzero()[0]
    return keys, first[keys], counts[keys]


def _as_array(counts: dict[Any, dict[Any, Any]], mapping: Any, normalized: bool) -> Any:
    """Return the counts as an array in NetworkX's order."""
    a = nx.utils.dict_to_numpy_array(counts, mapping=mapping)
    return a / a.sum() if normalized else a
