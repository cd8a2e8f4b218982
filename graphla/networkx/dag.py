"""Directed acyclic graphs for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms.dag_longest_path import find_longest_in_order
from graphla.algorithms.topological_sort import remove_generations
from graphla.graph import Graph
from graphla.io.adjacency_dicts import AdjacencyDicts
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    NetworkXGraph,
    edge_dicts,
    find,
    neighbor_lists,
    new_graph,
    nodes_of,
    to_networkx,
    without_weights,
)
from graphla.networkx.searches import Neighbors, neighbors_of, node_number
from graphla.networkx.selections import VERSION
from graphla.sparse import Matrix
from semirings import binary, unary

UNDIRECTED = "Topological sort not defined on undirected graphs."
CYCLE = "Graph contains a cycle or graph changed during iteration"

# --- orders -------------------------------------------------------------------------------------


def topological_generations(G: Graph) -> Iterator[list[Any]]:
    """Implement `networkx.topological_generations`."""
    if not G.directed:
        raise nx.NetworkXError(UNDIRECTED)
    order, generation = _remove(G)
    nodes = nodes_of(G, order)
    bounds = np.cumsum(np.bincount(generation[order])).tolist()
    for i, j in pairwise([0, *bounds]):
        yield nodes[i:j]
    if order.size < len(G):
        raise nx.NetworkXUnfeasible(CYCLE)


def topological_sort(G: Graph) -> Iterator[Any]:
    """Implement `networkx.topological_sort`."""
    if not G.directed:
        raise nx.NetworkXError(UNDIRECTED)
    order, _ = _remove(G)
    yield from nodes_of(G, order)
    if order.size < len(G):
        raise nx.NetworkXUnfeasible(CYCLE)


def lexicographical_topological_sort(G: Graph, key: Any = None) -> Iterator[Any]:
    """Implement `networkx.lexicographical_topological_sort`."""
    if not G.directed:
        raise nx.NetworkXError(UNDIRECTED)
    nodes = list(G.labels)
    indptr, columns = (each.tolist() for each in neighbor_lists(G))
    degrees = np.bincount(columns, minlength=len(nodes)).tolist()

    def element(v: int) -> tuple[Any, int]:
        return nodes[v] if key is None else key(nodes[v]), v

    heap, count = [element(v) for v in range(len(nodes)) if degrees[v] == 0], 0
    try:
        heapify(heap)
        while heap:
            v = heappop(heap)[1]
            for w in columns[indptr[v] : indptr[v + 1]]:
                degrees[w] -= 1
                if degrees[w] == 0:
                    heappush(heap, element(w))
            count += 1
            yield nodes[v]
    except TypeError as error:
        raise TypeError(
            f"{error}\nConsider using `key=` parameter to resolve ambiguities in the sort order."
        ) from error
    if count < len(nodes):
        raise nx.NetworkXUnfeasible(CYCLE)


def has_cycle(G: Graph) -> bool:
    """Implement `networkx.algorithms.dag.has_cycle`."""
    if not G.directed:
        raise nx.NetworkXError(UNDIRECTED)
    return _remove(G)[0].size < len(G)


def is_directed_acyclic_graph(G: Graph) -> bool:
    """Implement `networkx.is_directed_acyclic_graph`."""
    return G.directed and not has_cycle(G)


def is_aperiodic(G: Graph) -> bool:
    """Implement `networkx.is_aperiodic`."""
    if not G.directed:
        raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
    if not len(G):
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    if not algorithms.is_strongly_connected(without_weights(G).matrix):
        if VERSION < (3, 5):
            raise NotImplementedError("the graph is not strongly connected")
        raise nx.NetworkXError("Graph is not strongly connected.")
    levels = algorithms.bfs(without_weights(G).matrix, 0, parents=False).levels.to_dense()
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    # The lengths of all cycles are integer combinations of these differences.
    return int(np.gcd.reduce(levels[rows] - levels[columns] + 1, initial=0)) == 1


def _check_order(G: Graph, order: Any) -> None:
    """Reject an order that is not topological; the result is the same for all valid orders."""
    if order is None:
        return
    if not isinstance(order, list | tuple) or set(order) != set(G.labels):
        raise NotImplementedError("topo_order is not a list of all nodes")
    place = np.empty(len(G), np.int64)
    place[[node_number(G, node) for node in order]] = np.arange(len(G))
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G)), np.diff(indptr))
    if len(order) != len(G) or (place[rows] >= place[columns]).any():
        raise NotImplementedError("topo_order is not a topological order")


def _remove(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices that Kahn's algorithm removes, in order, and their generations."""
    return remove_generations(*neighbor_lists(G))


# --- ancestors and descendants ------------------------------------------------------------------


def descendants(G: Graph, source: Any) -> set[Any]:
    """Implement `networkx.descendants`."""
    return _find_reached(G, source, reverse=False)


def ancestors(G: Graph, source: Any) -> set[Any]:
    """Implement `networkx.ancestors`."""
    return _find_reached(G, source, reverse=True)


def _find_reached(G: Graph, source: Any, *, reverse: bool) -> set[Any]:
    tree = neighbors_of(G, reverse=reverse).search([node_number(G, source)])
    return set(nodes_of(G, tree.order[1:]))


# --- closures and reductions --------------------------------------------------------------------


def transitive_closure(G: Graph, reflexive: bool | None = False) -> Any:
    """Implement `networkx.transitive_closure`."""
    if reflexive not in {None, True, False}:
        raise nx.NetworkXError("Incorrect value for the parameter `reflexive`")
    if not G.directed and reflexive is False:
        reflexive = None
    return _with_edges(G, algorithms.transitive_closure(without_weights(G).matrix, reflexive))


def transitive_closure_dag(G: Graph, topo_order: Any = None) -> Any:
    """Implement `networkx.transitive_closure_dag`."""
    if has_cycle(G):
        raise nx.NetworkXUnfeasible(CYCLE)
    _check_order(G, topo_order)
    return _with_edges(G, algorithms.transitive_closure(without_weights(G).matrix))


def transitive_reduction(G: Graph) -> NetworkXGraph:
    """Implement `networkx.transitive_reduction`."""
    if has_cycle(G):
        raise nx.NetworkXError("Directed Acyclic Graph required for transitive_reduction")
    rest = algorithms.transitive_reduction(without_weights(G).matrix)
    return new_graph(Graph(rest, directed=True, labels=G.labels))


def _with_edges(G: Graph, R: Matrix) -> Any:
    """Return G with an edge added for each entry of R; the nodes and edges of G keep their data."""
    if not isinstance(G, NetworkXGraph):
        raise NotImplementedError("graphla copies edge data only from converted NetworkX graphs")
    if G.is_multigraph():
        rows, columns, _ = R.dup(mask=~without_weights(G)._matrix.S).to_coo()
        once = (rows <= columns) | G.directed
        rows, columns = rows[once], columns[once]
        H = to_networkx(G)
        H.add_edges_from(zip(nodes_of(G, rows), nodes_of(G, columns), strict=True))
        return H
    n, old = len(G), G._entries
    both = by_rows(binary.lor(R | unary.one["BOOL"](without_weights(G).matrix).new()).new())
    before = old.rows * np.int64(n) + old.columns
    after = np.repeat(np.arange(n), np.diff(both.indptr)) * n + both.columns
    data: list[dict[Any, Any]] = [{} for _ in range(after.size)]
    for k, each in zip(np.searchsorted(after, before).tolist(), edge_dicts(G), strict=True):
        data[k] = each
    indptr, columns = both.indptr.astype(np.int64), both.columns
    entries = AdjacencyDicts(old.nodes, old.numbers, indptr, columns, G.directed, False, {})
    return NetworkXGraph(entries, {}, data, G._nodes, dict(G.graph), G._device)


# --- longest paths ------------------------------------------------------------------------------


def dag_longest_path(
    G: Graph, weight: Any = "weight", default_weight: Any = 1, topo_order: Any = None
) -> list[Any]:
    """Implement `networkx.dag_longest_path`."""
    if topo_order is not None:
        raise NotImplementedError("topo_order is given, but graphla does not break ties by it")
    order, lengths, parents = _longest(G, weight, default_weight)
    if not order.size:
        return []
    path = [int(order[lengths[order].argmax()])]
    while parents[path[-1]] != path[-1]:
        path.append(int(parents[path[-1]]))
    return nodes_of(G, path[::-1])


def dag_longest_path_length(G: Graph, weight: Any = "weight", default_weight: Any = 1) -> Any:
    """Implement `networkx.dag_longest_path_length`."""
    _, lengths, _ = _longest(G, weight, default_weight)
    return lengths.max(initial=0).item()


def _longest(G: Graph, weight: Any, default: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a topological order, the lengths of longest paths to the vertices, and the parents."""
    order, _ = _remove(G)
    if order.size < len(G):
        raise nx.NetworkXUnfeasible(CYCLE)
    # None is not a key of the edge data, so with weight=None NetworkX uses the default for each
    # edge.
    neighbors = Neighbors(G, weight, default=default, parallel="max", bellman_ford=True)
    lengths, parents = find_longest_in_order(
        neighbors.indptr, neighbors.columns, neighbors.values, order
    )
    return order, lengths, parents


# --- lowest common ancestors --------------------------------------------------------------------


def all_pairs_lowest_common_ancestor(G: Graph, pairs: Any = None) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.all_pairs_lowest_common_ancestor`."""
    if not is_directed_acyclic_graph(G):
        raise nx.NetworkXError("LCA only defined on directed acyclic graphs.")
    if not len(G):
        raise nx.NetworkXPointlessConcept("LCA meaningless on null graphs.")
    n = len(G)
    if pairs is None:
        rows, columns = np.triu_indices(n)
    else:
        chosen = list(dict.fromkeys(pairs))
        for pair in chosen:
            missing = {node for node in pair if find(G, node) is None}
            if missing:
                raise nx.NodeNotFound(f"Node(s) {missing} from pair {pair} not in G.")
        ends = np.array([[find(G, node) for node in pair] for pair in chosen], np.int64)
        rows, columns = ends.reshape(-1, 2).T
    common = algorithms.lowest_common_ancestors(without_weights(G).matrix, np.c_[rows, columns])
    found = common >= 0
    rows, columns, common = (nodes_of(G, each[found]) for each in (rows, columns, common))
    return iter(zip(zip(rows, columns, strict=True), common, strict=True))


def lowest_common_ancestor(G: Graph, node1: Any, node2: Any, default: Any = None) -> Any:
    """Implement `networkx.lowest_common_ancestor`."""
    found = list(all_pairs_lowest_common_ancestor(G, [(node1, node2)]))
    return found[0][1] if found else default
