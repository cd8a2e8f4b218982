"""Traversals for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla.graph import Graph
from graphla.networkx.graphs import (
    NetworkXGraph,
    find,
    new_graph,
    nodes_of,
    pause_collection,
)
from graphla.networkx.searches import Neighbors, Tree, depth_first, neighbors_of, node_number
from graphla.sparse import Matrix


def bfs_edges(
    G: Graph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.bfs_edges`."""
    # NetworkX reports a missing source when the first edge is read.
    tree = _search(G, source, reverse, depth_limit, sort_neighbors)
    yield from zip(*(nodes_of(G, ends) for ends in tree.edges()), strict=True)


def generic_bfs_edges(
    G: Graph, source: Any, neighbors: Any = None, depth_limit: int | None = None
) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.generic_bfs_edges`."""
    return bfs_edges(G, source, depth_limit=depth_limit)


def bfs_predecessors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.bfs_predecessors`."""
    for parent, child in bfs_edges(G, source, False, depth_limit, sort_neighbors):
        yield child, parent


def bfs_successors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Implement `networkx.bfs_successors`."""
    tree = _search(G, source, False, depth_limit, sort_neighbors)
    parents, children = tree.edges()
    if not parents.size:
        yield source, []
        return
    starts = np.flatnonzero(np.diff(parents, prepend=-1)).tolist()
    names, listed = nodes_of(G, parents[starts]), nodes_of(G, children)
    for name, i, j in zip(names, starts, [*starts[1:], len(listed)], strict=True):
        yield name, listed[i:j]


def bfs_tree(
    G: Graph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> NetworkXGraph:
    """Implement `networkx.bfs_tree`."""
    if find(G, source) is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    tree = _search(G, source, reverse, depth_limit, sort_neighbors)
    return _as_graph(G, tree.order, tree.parents)


def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Any]]:
    """Implement `networkx.bfs_layers`."""
    chosen = [sources] if find(G, sources) is not None else set(sources)
    starts = [_source(G, node) for node in chosen]
    if starts:
        tree = neighbors_of(G).search(starts)
        bounds = np.cumsum(np.bincount(tree.lengths)).tolist()
        nodes = tree.nodes
        for i, j in pairwise([0, *bounds]):
            yield nodes[i:j]


def descendants_at_distance(G: Graph, source: Any, distance: Any) -> set[Any]:
    """Implement `networkx.descendants_at_distance`."""
    start = _source(G, source)
    if not 0 <= distance < len(G):
        return set()
    tree = neighbors_of(G).search([start], cutoff=distance)
    return set(nodes_of(G, tree.order[tree.lengths == distance]))


def _source(G: Graph, node: Any) -> int:
    k = find(G, node)
    if k is None:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return k


def _search(
    G: Graph, source: Any, reverse: bool, depth_limit: int | None, sort_neighbors: Any
) -> Tree:
    start = node_number(G, source)
    if sort_neighbors is None:
        return neighbors_of(G, reverse=reverse).search([start], cutoff=depth_limit)
    neighbors = Neighbors(G, reverse=reverse)
    neighbors.sort(sort_neighbors, [start])
    return neighbors.search([start], cutoff=depth_limit)


def _as_graph(G: Graph, order: np.ndarray, parents: np.ndarray) -> NetworkXGraph:
    """Return the directed tree, with an edge from parent to child for each vertex but the roots."""
    place = np.empty(len(G), np.int64)
    place[order] = np.arange(order.size)
    below = order != parents
    rows, columns = place[parents[below]], place[order[below]]
    shape: dict[str, Any] = {"nrows": order.size, "ncols": order.size}
    A = Matrix.from_coo(rows, columns, True, **shape)
    return new_graph(Graph(A, directed=True, labels=nodes_of(G, order)))


# --- depth-first --------------------------------------------------------------------------------


def dfs_edges(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.dfs_edges`."""
    order, parents, _ = _search_depth_first(G, source, depth_limit, sort_neighbors)
    below = order != parents
    yield from zip(nodes_of(G, parents[below]), nodes_of(G, order[below]), strict=True)


def dfs_tree(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> NetworkXGraph:
    """Implement `networkx.dfs_tree`."""
    order, parents, _ = _search_depth_first(G, source, depth_limit, sort_neighbors)
    return _as_graph(G, order, parents)


def dfs_predecessors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Any, Any]:
    """Implement `networkx.dfs_predecessors`."""
    return {
        child: parent
        for parent, child in dfs_edges(G, source, depth_limit, sort_neighbors=sort_neighbors)
    }


def dfs_successors(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> dict[Any, list[Any]]:
    """Implement `networkx.dfs_successors`."""
    order, parents, _ = _search_depth_first(G, source, depth_limit, sort_neighbors)
    below = order != parents
    children, parents = order[below], parents[below]
    if not parents.size:
        return {}
    # Parents are in the order of their first children.
    first = np.zeros(len(G), np.int64)
    first[parents[::-1]] = np.arange(parents.size, 0, -1)
    by_parent = np.argsort(first[parents], kind="stable")
    children, parents = children[by_parent], parents[by_parent]
    starts = np.flatnonzero(np.diff(parents, prepend=-1)).tolist()
    names, listed = nodes_of(G, parents[starts]), nodes_of(G, children)
    with pause_collection():
        return {
            name: listed[i:j]
            for name, i, j in zip(names, starts, [*starts[1:], len(listed)], strict=True)
        }


def dfs_preorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    """Implement `networkx.dfs_preorder_nodes`."""
    yield from nodes_of(G, _search_depth_first(G, source, depth_limit, sort_neighbors)[0])


def dfs_postorder_nodes(
    G: Graph, source: Any = None, depth_limit: int | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    """Implement `networkx.dfs_postorder_nodes`."""
    order, parents, finished = _search_depth_first(G, source, depth_limit, sort_neighbors)
    if depth_limit is not None:
        # NetworkX leaves out the nodes at the limit.
        depth = {}
        for v, parent in zip(order.tolist(), parents.tolist(), strict=True):
            depth[v] = 0 if v == parent else depth[parent] + 1
        bound = max(1, depth_limit)
        finished = np.array([v for v in finished.tolist() if depth[v] < bound], np.int64)
    yield from nodes_of(G, finished)


def _search_depth_first(
    G: Graph, source: Any, depth_limit: int | None, sort_neighbors: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    roots = range(len(G)) if source is None else [node_number(G, source)]
    return depth_first(G, roots, depth_limit, sort_neighbors)
