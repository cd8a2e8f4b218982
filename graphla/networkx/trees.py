"""Spanning trees and recognition of trees for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import (
    NetworkXGraph,
    edge_ends,
    nodes_of,
    pause_collection,
    subgraph,
    to_networkx,
    with_attributes,
    without_weights,
)
from graphla.sparse import Matrix
from semirings import binary

ALGORITHMS = ("kruskal", "prim", "boruvka", "borůvka")


class NotANumber(ValueError):
    """Raised if the weight of an edge is NaN."""


def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Implement `networkx.minimum_spanning_edges`."""
    return _edges(with_attributes(G), algorithm, weight, keys, data, ignore_nan, maximum=False)


def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Implement `networkx.maximum_spanning_edges`."""
    return _edges(with_attributes(G), algorithm, weight, keys, data, ignore_nan, maximum=True)


def minimum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    """Implement `networkx.minimum_spanning_tree`."""
    return _tree(with_attributes(G), weight, algorithm, ignore_nan, maximum=False)


def maximum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    """Implement `networkx.maximum_spanning_tree`."""
    return _tree(with_attributes(G), weight, algorithm, ignore_nan, maximum=True)


def is_tree(G: Graph) -> bool:
    """Implement `networkx.is_tree`."""
    return _count_edges(G) == len(G) - 1 and _count_components(G) == 1


def is_forest(G: Graph) -> bool:
    """Implement `networkx.is_forest`."""
    return _count_edges(G) == len(G) - _count_components(G)


def is_arborescence(G: Graph) -> bool:
    """Implement `networkx.is_arborescence`."""
    return is_tree(G) and _greatest_in_degree(G) <= 1


def is_branching(G: Graph) -> bool:
    """Implement `networkx.is_branching`."""
    return is_forest(G) and _greatest_in_degree(G) <= 1


def _count_edges(G: Graph) -> int:
    """Return the number of edges, counting parallel edges."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    rows, columns = edge_ends(G)
    return int(rows.size if G.directed else (rows <= columns).sum())


def _count_components(G: Graph) -> int:
    return algorithms.component_count(without_weights(G).matrix)


def _greatest_in_degree(G: Graph) -> int:
    """Return the largest in-degree, counting parallel edges."""
    _, columns = edge_ends(G)
    return int(np.bincount(columns, minlength=1).max())


def _edges(
    G: NetworkXGraph,
    algorithm: str,
    weight: str,
    keys: bool,
    data: bool,
    ignore_nan: bool,
    *,
    maximum: bool,
) -> Iterator[tuple[Any, ...]]:
    """Return the edges of a spanning forest in order of weight."""
    try:
        places = _choose(G, algorithm, weight, ignore_nan, maximum=maximum)
    except NotANumber as error:
        return _raise_later(ValueError(str(error)))
    if algorithm != "kruskal":
        # The algorithm never chooses an edge that is in no optimal forest. So it yields the same
        # edges in the same order if these edges are left out.
        T = to_networkx(subgraph(G, edges=_both_ways(G, places)))
        name = "maximum_spanning_edges" if maximum else "minimum_spanning_edges"
        return getattr(nx, name)(T, algorithm, weight, keys, data, ignore_nan, backend="networkx")
    rows, columns = edge_ends(G)
    parts = [nodes_of(G, rows[places]), nodes_of(G, columns[places])]
    if keys and G._keys is not None:
        parts.append([G._keys[k] for k in places.tolist()])
    if data:
        parts.append(_dicts(G, places))
    return zip(*parts, strict=True)


def _raise_later(error: Exception) -> Iterator[Any]:
    """Return an iterator that raises an exception when its first item is read."""
    raise error
    yield


@pause_collection()
def _dicts(G: NetworkXGraph, places: np.ndarray) -> list[dict[Any, Any]]:
    """Return the attribute dicts of some edges."""
    listed = places.tolist()
    if G._data is not None:
        return [G._data[k] for k in listed]
    if not G._attributes:
        return [{} for _ in listed]
    columns = [
        values[places].tolist() if isinstance(values, np.ndarray) else [values[k] for k in listed]
        for values in G._attributes.values()
    ]
    names = list(G._attributes)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _tree(
    G: NetworkXGraph, weight: str, algorithm: str, ignore_nan: bool, *, maximum: bool
) -> Graph:
    """Return the graph with only the edges of a spanning forest."""
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    try:
        places = _choose(G, algorithm, weight, ignore_nan, maximum=maximum)
    except NotANumber as error:
        raise ValueError(str(error)) from error
    T = subgraph(G, edges=_both_ways(G, places))
    if algorithm == "kruskal":
        return T
    name = "maximum_spanning_tree" if maximum else "minimum_spanning_tree"
    return getattr(nx, name)(to_networkx(T), weight, algorithm, ignore_nan, backend="networkx")


def _both_ways(G: NetworkXGraph, places: np.ndarray) -> np.ndarray:
    """Return a flag for each element of edge data: whether it or its opposite is in `places`."""
    chosen = np.zeros(edge_ends(G)[0].size, bool)
    chosen[places] = True
    return chosen[_upper_places(G)]


def _upper_places(G: NetworkXGraph) -> np.ndarray:
    """For each position in edge data, return the position at which the edge has row <= column."""
    entries = G._entries
    if entries.counts is None:
        return entries.upper_of
    starts = np.cumsum(entries.counts) - entries.counts
    within = np.arange(len(G._keys)) - np.repeat(starts, entries.counts)
    return np.repeat(starts[entries.upper_of], entries.counts) + within


def _choose(
    G: NetworkXGraph, algorithm: str, weight: str, ignore_nan: bool, *, maximum: bool
) -> np.ndarray:
    """Return the edges of a spanning forest in order of weight, as positions in edge data.

    Among edges of equal weight, Kruskal's algorithm takes the first in NetworkX's order. If
    `algorithm` is another one, return the edges of all optimal forests, followed by the edges whose
    weight is NaN.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    is_boruvka = algorithm.startswith("bor")
    if is_boruvka and G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    rows, columns = edge_ends(G)
    values = G.attribute(weight, 1)
    if not isinstance(values, np.ndarray):
        raise NotImplementedError(f"the edge attribute {weight!r} has a value that is not a number")
    places = np.flatnonzero(rows <= columns)
    values = values[places].astype(np.float64 if values.dtype.kind == "f" else np.int64)
    odd = places[np.isnan(values)]
    if odd.size and algorithm == "kruskal" and not ignore_nan:
        u, v = (nodes_of(G, ends[odd[:1]])[0] for ends in (rows, columns))
        raise NotANumber(f"the weight of the edge {(u, v)} is NaN")
    places, values = places[~np.isnan(values)], values[~np.isnan(values)]
    if is_boruvka and values.dtype.kind == "f" and np.isinf(values).any():
        raise NotImplementedError(f"graphla would choose infinite edges, unlike {algorithm}")
    values = -values if maximum else values
    order = np.argsort(values, kind="stable")
    places, values = places[order], values[order]
    found = _kruskal(G, places)
    if algorithm != "kruskal" and (values[1:] == values[:-1]).any():
        found = _in_some_forest(rows[places].tolist(), columns[places].tolist(), values, places)
    return found if algorithm == "kruskal" else np.concatenate([found, odd])


def _in_some_forest(
    rows: list[int], columns: list[int], values: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Return the places of the edges whose ends are not connected by edges with smaller values.

    The edges are in ascending order of their values.
    """
    parents = list(range(1 + max([*rows, *columns], default=0)))

    def root(v: int) -> int:
        while parents[v] != v:
            parents[v] = v = parents[parents[v]]
        return v

    starts = np.flatnonzero(np.r_[True, np.diff(values) != 0]).tolist()
    kept = []
    for first, last in pairwise([*starts, len(rows)]):
        joins = [k for k in range(first, last) if root(rows[k]) != root(columns[k])]
        for k in joins:
            parents[root(rows[k])] = root(columns[k])
        kept += joins
    return places[kept]


def _kruskal(G: NetworkXGraph, places: np.ndarray) -> np.ndarray:
    """Return the places of the edges that do not close a cycle with earlier edges."""
    rows, columns = (ends[places] for ends in edge_ends(G))
    ranks, n = np.arange(places.size), len(G)
    U = Matrix.from_coo(rows, columns, ranks, "INT64", nrows=n, ncols=n, dup_op="min")
    U = U.to(G.device)
    F = algorithms.spanning_forest(binary.any(U | U.T).new())
    _, _, chosen = F.to("cpu").to_coo()
    is_chosen = np.zeros(places.size, bool)
    is_chosen[chosen] = True
    return places[is_chosen]
