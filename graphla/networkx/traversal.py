"""Traversals for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphla.graph import Graph
from graphla.networkx.graphs import neighbor_lists, nodes_of, number


def bfs_edges(
    G: Graph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    """Answer `networkx.bfs_edges`."""
    start = number(G, source)
    if reverse and G.directed:
        raise NotImplementedError("graphla has no reverse search that keeps the order of NetworkX")
    parents, children = _tree(*neighbor_lists(G), start, depth_limit)
    return zip(nodes_of(G, parents), nodes_of(G, children), strict=True)


def _tree(
    indptr: np.ndarray, columns: np.ndarray, start: int, depth: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of a breadth-first search as two arrays, in the order of the search."""
    is_reached = np.zeros(indptr.size - 1, bool)
    is_reached[start] = True
    frontier = np.array([start], columns.dtype)
    parents, children, level = [frontier[:0]], [frontier[:0]], 0
    while frontier.size and (depth is None or level < depth):
        starts, counts = indptr[frontier], indptr[frontier + 1] - indptr[frontier]
        shift = np.repeat(starts - np.cumsum(counts) + counts, counts)
        targets = columns[shift + np.arange(shift.size)]
        sources = np.repeat(frontier, counts)
        is_new = ~is_reached[targets]
        targets, sources = targets[is_new], sources[is_new]
        first = np.sort(np.unique(targets, return_index=True)[1])
        frontier = targets[first]
        is_reached[frontier] = True
        parents.append(sources[first])
        children.append(frontier)
        level += 1
    return np.concatenate(parents), np.concatenate(children)
