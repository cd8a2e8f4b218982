"""Cycles for NetworkX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from graphla.graph import Graph
from graphla.networkx.graphs import NetworkXGraph, find, neighbor_lists, nodes_of
from graphla.operations.serial import run_serial


class _Steps(NamedTuple):
    """The steps of a search along edges, by rows.

    Attributes:
        indptr: the steps from vertex v are those from indptr[v] to indptr[v + 1] - 1.
        columns: the vertex to which each step leads.
        edges: the number of the edge of each step.
        places: the position of the step's edge in the result of `_edges`.
        backward: whether each step goes against the direction of its edge.
    """

    indptr: np.ndarray
    columns: np.ndarray
    edges: np.ndarray
    places: np.ndarray
    backward: np.ndarray


def find_cycle(G: Graph, source: Any = None, orientation: str | None = None) -> list[Any]:
    """Implement `networkx.find_cycle`."""
    roots = np.fromiter(_roots(G, source), np.int32)
    known = (None, "original", "reverse", "ignore")
    if G.directed and roots.size and orientation not in known:
        raise nx.NetworkXError("invalid orientation argument.")
    rows, columns, keys = _edges(G)
    steps = _steps(G, rows, columns, orientation if G.directed else None)
    n = len(G)
    colors, path = np.zeros(n, np.int8), np.empty(n, np.int32)
    following, entries = np.empty(max(n, 1), np.int64), np.zeros(n, np.int64)
    arrays = (steps.indptr, steps.columns, steps.edges, roots, colors, following, path, entries)
    depth = run_serial("serial_search.find_cycle", arrays, n + steps.columns.size)
    if not depth:
        raise nx.NetworkXNoCycle("No cycle found.")
    last = following[0]
    start = np.flatnonzero(path[:depth] == steps.columns[last])[0]
    taken = np.append(entries[path[start + 1 : depth]], last)
    places, backward = steps.places[taken], steps.backward[taken]
    parts: list[Any] = [nodes_of(G, rows[places]), nodes_of(G, columns[places])]
    if keys is not None:
        parts.append([keys[k] for k in places.tolist()])
    if orientation is not None:
        parts.append(["reverse" if each else "forward" for each in backward.tolist()])
    return list(zip(*parts, strict=True))


def _edges(G: Graph) -> tuple[np.ndarray, np.ndarray, list[Any] | None]:
    """Return the row, the column and the key of each parallel edge in dict order."""
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G), dtype=np.int32), np.diff(indptr))
    if not isinstance(G, NetworkXGraph) or G._keys is None:
        return rows, columns, None
    counts = G._entries.counts
    return np.repeat(rows, counts), np.repeat(columns, counts), G._keys


def _steps(G: Graph, rows: np.ndarray, columns: np.ndarray, orientation: str | None) -> _Steps:
    places = np.arange(rows.size)
    edges = places
    if not G.directed and rows.size:
        # Give both directions of an edge the same number; the k-th parallel edge from u to v is the
        # same edge as the k-th from v to u.
        keys = np.minimum(rows, columns) * np.int64(len(G)) + np.maximum(rows, columns)
        runs = rows * np.int64(len(G)) + columns
        first = np.flatnonzero(np.diff(runs, prepend=-1))
        nth = places - np.repeat(first, np.diff(first, append=rows.size))
        edges = np.unique(keys * (int(nth.max()) + 1) + nth, return_inverse=True)[1]
    starts, ends, backward = rows, columns, np.zeros(rows.size, bool)
    if orientation == "reverse":
        starts, ends, backward = columns, rows, ~backward
    elif orientation == "ignore":
        starts, ends = np.concatenate((rows, columns)), np.concatenate((columns, rows))
        backward = np.concatenate((backward, ~backward))
        places, edges = np.tile(places, 2), np.tile(edges, 2)
    order = np.argsort(starts, kind="stable")
    indptr = np.zeros(len(G) + 1, np.int64)
    np.cumsum(np.bincount(starts, minlength=len(G)), out=indptr[1:])
    return _Steps(
        indptr, ends[order], edges[order].astype(np.int64), places[order], backward[order]
    )


def _roots(G: Graph, source: Any) -> Iterable[int]:
    """Return the number of a node, or of each node in a collection; None means all nodes."""
    if source is None:
        return range(len(G))
    k = find(G, source)
    if k is not None:
        return [k]
    try:
        nodes = iter(source)
    except TypeError as error:
        raise nx.NetworkXError(f"Node {source} is not in the graph.") from error
    return [k for node in nodes if (k := find(G, node)) is not None]
