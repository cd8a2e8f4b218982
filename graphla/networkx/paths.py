"""Shortest paths for NetworkX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms.astar import search_for
from graphla.graph import Graph
from graphla.networkx.graphs import find, nodes_of, number, numbers, with_weights
from graphla.networkx.searches import Neighbors, Tree, all_paths, neighbors_of
from graphla.networkx.selections import VERSION
from graphla.traversal.cycles import EndlessCycle
from semirings.exceptions import InvalidValue

METHODS = ("dijkstra", "bellman-ford")

# --- without weights ----------------------------------------------------------------------------


def single_source_shortest_path_length(
    G: Graph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """Implement `networkx.single_source_shortest_path_length`."""
    start = number(G, source, "Source {} is not in G")
    return neighbors_of(G).search([start], cutoff).distances()


def single_target_shortest_path_length(
    G: Graph, target: Any, cutoff: float | None = None
) -> dict[Any, int] | Iterator[tuple[Any, int]]:
    """Implement `networkx.single_target_shortest_path_length`."""
    start = number(G, target, "Target {} is not in G")
    found = neighbors_of(G, reverse=True).search([start], cutoff).distances()
    return found if VERSION >= (3, 5) else iter(found.items())


def all_pairs_shortest_path_length(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Implement `networkx.all_pairs_shortest_path_length`."""
    return _each_source(neighbors_of(G), Tree.distances, cutoff)


def single_source_shortest_path(
    G: Graph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Implement `networkx.single_source_shortest_path`."""
    start = number(G, source, "Source {} not in G")
    return neighbors_of(G).search([start], cutoff).paths()


def single_target_shortest_path(
    G: Graph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Implement `networkx.single_target_shortest_path`."""
    start = number(G, target, "Target {} not in G")
    return neighbors_of(G, reverse=True).search([start], cutoff).paths(reverse=True)


def all_pairs_shortest_path(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """Implement `networkx.all_pairs_shortest_path`."""
    return _each_source(neighbors_of(G), Tree.paths, cutoff)


def bidirectional_shortest_path(G: Graph, source: Any, target: Any) -> list[Any]:
    """Implement `networkx.bidirectional_shortest_path`."""
    i = number(G, source, "Source {} is not in G")
    j = number(G, target, "Target {} is not in G")
    found = neighbors_of(G).find_path(i, j)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return nodes_of(G, found[1])


def predecessor(
    G: Graph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    return_seen: bool | None = None,
) -> Any:
    """Implement `networkx.predecessor`."""
    start = number(G, source, "Source {} not in G")
    neighbors = neighbors_of(G)
    # NetworkX treats a cutoff of 0 as no cutoff, and takes at least one step.
    tree = neighbors.search([start], max(1, cutoff) if cutoff else None)
    parents, levels = neighbors.tight_parents(tree), tree.distances()
    if target is None:
        return (parents, levels) if return_seen else parents
    before = parents.get(target, [])
    return (before, levels.get(target, -1)) if return_seen else before


# --- any method ---------------------------------------------------------------------------------


def has_path(G: Graph, source: Any, target: Any) -> bool:
    """Implement `networkx.has_path`."""
    try:
        bidirectional_shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def shortest_path(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Implement `networkx.shortest_path`."""
    _check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        if method == "dijkstra":
            return bidirectional_dijkstra(G, source, target, weight)[1]
        return bellman_ford_path(G, source, target, weight)
    if source is not None:
        return _tree(G, source, weight, method).paths()
    if target is not None:
        return _tree(G, target, weight, method, reverse=True).paths(reverse=True)
    found = _all_trees(G, weight, method, Tree.paths)
    return found if VERSION >= (3, 5) else dict(found)


def shortest_path_length(
    G: Graph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    """Implement `networkx.shortest_path_length`."""
    _check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        if method == "dijkstra":
            return dijkstra_path_length(G, source, target, weight)
        return bellman_ford_path_length(G, source, target, weight)
    if source is not None:
        return _tree(G, source, weight, method).distances()
    if target is not None:
        return _tree(G, target, weight, method, reverse=True).distances()
    return _all_trees(G, weight, method, Tree.distances)


def average_shortest_path_length(G: Graph, weight: Any = None, method: str | None = None) -> float:
    """Implement `networkx.average_shortest_path_length`."""
    known = ("unweighted", *METHODS, "floyd-warshall", "floyd-warshall-numpy")
    method = method or ("unweighted" if weight is None else "dijkstra")
    if method not in known:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    if G.directed and not algorithms.is_strongly_connected(G._matrix):
        raise nx.NetworkXError("Graph is not strongly connected.")
    if not G.directed and not algorithms.is_connected(G._matrix):
        raise nx.NetworkXError("Graph is not connected.")
    if method == "unweighted":
        weight = None
    neighbors = neighbors_of(G, weight)
    return algorithms.average_path_length(neighbors.matrix, weight is not None)


def all_shortest_paths(
    G: Graph, source: Any, target: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[list[Any]]:
    """Implement `networkx.all_shortest_paths`."""
    return all_paths(source, target, _all_parents(G, source, weight, method))


def single_source_all_shortest_paths(
    G: Graph, source: Any, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Implement `networkx.single_source_all_shortest_paths`."""
    neighbors = (
        None if weight is None else neighbors_of(G, weight, bellman_ford=method != "dijkstra")
    )
    return _each_target(G, source, weight, method, neighbors)


def all_pairs_all_shortest_paths(
    G: Graph, weight: Any = None, method: str = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    """Implement `networkx.all_pairs_all_shortest_paths`."""
    neighbors = neighbors_of(G, weight, bellman_ford=method != "dijkstra")

    def paths() -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
        for node in G.labels:
            yield node, dict(_each_target(G, node, weight, method, neighbors))

    return paths()


def _check_method(method: Any) -> None:
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")


def _each_target(
    G: Graph, source: Any, weight: Any, method: str, neighbors: Neighbors | None
) -> Iterator[tuple[Any, list[list[Any]]]]:
    parents = _all_parents(G, source, weight, method, neighbors)
    # NetworkX 3.4 lists the nodes in the order of the graph.
    nodes = parents if VERSION >= (3, 5) else [node for node in G.labels if node in parents]
    for node in nodes:
        yield node, list(all_paths(source, node, parents))


def _all_parents(
    G: Graph, source: Any, weight: Any, method: str, neighbors: Neighbors | None = None
) -> dict[Any, list[Any]]:
    """Return the parents of each reached node on all shortest paths."""
    if weight is not None:
        _check_method(method)
    start = number(G, source, "Source {} not in G")
    neighbors = neighbors or neighbors_of(G, weight, bellman_ford=method != "dijkstra")
    return neighbors.tight_parents(_search(neighbors, start))


def _tree(G: Graph, source: Any, weight: Any, method: str, *, reverse: bool = False) -> Tree:
    start = number(G, source, "Source {} is not in G")
    return _search(
        neighbors_of(G, weight, reverse=reverse, bellman_ford=method != "dijkstra"), start
    )


def _all_trees(
    G: Graph, weight: Any, method: str, read: Callable[[Tree], Any]
) -> Iterator[tuple[Any, Any]]:
    return _each_source(neighbors_of(G, weight, bellman_ford=method != "dijkstra"), read)


def _each_source(
    neighbors: Neighbors, read: Callable[[Tree], Any], cutoff: float | None = None
) -> Iterator[tuple[Any, Any]]:
    """Return an iterator over (node, read(tree)), where `tree` is the search tree of the node."""

    def pairs() -> Iterator[tuple[Any, Any]]:
        for k, node in enumerate(neighbors.G.labels):
            yield node, read(_search(neighbors, k, cutoff))

    return pairs()


def _search(
    neighbors: Neighbors, start: int, cutoff: float | None = None, target: int | None = None
) -> Tree:
    """Search from one vertex, with the algorithm of Bellman and Ford if a weight is negative."""
    if not neighbors.is_negative:
        return neighbors.search([start], cutoff, target)
    try:
        distances, parents = algorithms.bellman_ford(neighbors.matrix, start, parents=True)
    except InvalidValue as error:
        if isinstance(error.__cause__, EndlessCycle) and not error.__cause__.is_rounded:
            raise nx.NetworkXUnbounded("Negative cycle detected.") from error
        raise
    vertices, lengths = distances.to_coo()
    before = parents.to_coo()[1]
    # A parent must come before its children.
    depth = np.full(neighbors.n, -1, np.int64)
    depth[start] = 0
    above = np.full(neighbors.n, -1, np.int64)
    above[vertices] = before
    frontier = vertices[vertices != start]
    level = 0
    while frontier.size:
        level += 1
        ready = depth[above[frontier]] == level - 1
        depth[frontier[ready]] = level
        frontier = frontier[~ready]
    order = np.argsort(depth[vertices], kind="stable")
    return Tree(neighbors.G, vertices[order], lengths[order], before[order])


def _reaches(tree: Tree, target: int) -> bool:
    return bool((tree.order[::-1] == target).any())


def _length(tree: Tree, target: int) -> Any:
    return tree.lengths[np.flatnonzero(tree.order == target)[0]].item()


# --- Dijkstra -----------------------------------------------------------------------------------


def dijkstra_path(G: Graph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    """Implement `networkx.dijkstra_path`."""
    return single_source_dijkstra(G, source, target, weight=weight)[1]


def dijkstra_path_length(G: Graph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Implement `networkx.dijkstra_path_length`."""
    start = number(G, source, "Node {} not found in graph")
    if source == target:
        return 0
    tree, end = _search_for(neighbors_of(G, weight), [start], target)
    if end is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return _length(tree, end)


def single_source_dijkstra_path(
    G: Graph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """Implement `networkx.single_source_dijkstra_path`."""
    return _multi_source(G, [source], cutoff, weight).paths()


def single_source_dijkstra_path_length(
    G: Graph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Implement `networkx.single_source_dijkstra_path_length`."""
    return _multi_source(G, [source], cutoff, weight).distances()


def single_source_dijkstra(
    G: Graph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    weight: Any = "weight",
) -> Any:
    """Implement `networkx.single_source_dijkstra`."""
    return multi_source_dijkstra(G, [source], target, cutoff, weight)


def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """Implement `networkx.multi_source_dijkstra_path`."""
    return _multi_source(G, sources, cutoff, weight).paths()


def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Implement `networkx.multi_source_dijkstra_path_length`."""
    return _multi_source(G, sources, cutoff, weight).distances()


def multi_source_dijkstra(
    G: Graph,
    sources: Any,
    target: Any = None,
    cutoff: float | None = None,
    weight: Any = "weight",
) -> Any:
    """Implement `networkx.multi_source_dijkstra`."""
    if target is None:
        tree = _multi_source(G, sources, cutoff, weight)
        return tree.distances(), tree.paths()
    starts = _sources(G, sources)
    if target in sources:
        return 0, [target]
    tree, end = _search_for(neighbors_of(G, weight), starts, target, cutoff)
    if end is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return _length(tree, end), tree.path(end)


def dijkstra_predecessor_and_distance(
    G: Graph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Implement `networkx.dijkstra_predecessor_and_distance`."""
    start = number(G, source, "Node {} is not found in the graph")
    neighbors = neighbors_of(G, weight)
    tree = neighbors.search([start], cutoff)
    return neighbors.tight_parents(tree), tree.distances()


def bidirectional_dijkstra(
    G: Graph, source: Any, target: Any, weight: Any = "weight"
) -> tuple[Any, list[Any]]:
    """Implement `networkx.bidirectional_dijkstra`."""
    start = number(G, source, "Source {} is not in G")
    end = number(G, target, "Target {} is not in G")
    if source == target:
        return 0, [source]
    found = neighbors_of(G, weight).find_path(start, end)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found[0], nodes_of(G, found[1])


def all_pairs_dijkstra(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, tuple[dict[Any, Any], dict[Any, list[Any]]]]]:
    """Implement `networkx.all_pairs_dijkstra`."""
    return _each_source(
        neighbors_of(G, weight), lambda tree: (tree.distances(), tree.paths()), cutoff
    )


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Implement `networkx.all_pairs_dijkstra_path_length`."""
    return _each_source(neighbors_of(G, weight), Tree.distances, cutoff)


def all_pairs_dijkstra_path(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """Implement `networkx.all_pairs_dijkstra_path`."""
    return _each_source(neighbors_of(G, weight), Tree.paths, cutoff)


def _sources(G: Graph, sources: Iterable[Any]) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return list(dict.fromkeys(numbers(G, sources, "Node {} not found in graph").tolist()))


def _multi_source(G: Graph, sources: Any, cutoff: float | None, weight: Any) -> Tree:
    return neighbors_of(G, weight).search(_sources(G, sources), cutoff)


def _search_for(
    neighbors: Neighbors, starts: list[int], target: Any, cutoff: float | None = None
) -> tuple[Tree, int | None]:
    """Return the tree of a search for a target, and the target's number if it is reached."""
    end = find(neighbors.G, target)
    tree = neighbors.search(starts, cutoff, end)
    return tree, end if end is not None and _reaches(tree, end) else None


# --- A* -----------------------------------------------------------------------------------------


def astar_path(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: Any = "weight",
    *,
    cutoff: float | None = None,
) -> list[Any]:
    """Implement `networkx.astar_path`."""
    return nodes_of(G, _search_by_estimates(G, source, target, heuristic, weight, cutoff)[0])


def astar_path_length(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: Any = "weight",
    *,
    cutoff: float | None = None,
) -> Any:
    """Implement `networkx.astar_path_length`."""
    if find(G, source) is None or find(G, target) is None:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    path, neighbors = _search_by_estimates(G, source, target, heuristic, weight, cutoff)
    return sum(neighbors.step(u, v) for u, v in pairwise(path))


def _search_by_estimates(
    G: Graph, source: Any, target: Any, heuristic: Any, weight: Any, cutoff: float | None
) -> tuple[list[int], Neighbors]:
    """Return the path that A* finds, and the Neighbors object that the search uses."""
    start = number(G, source, "Source {} is not in G")
    end = number(G, target, "Target {} is not in G")
    neighbors = neighbors_of(G, weight)
    values = neighbors.values
    if values is None:
        values = np.ones(neighbors.columns.size, np.int64)
    labels = G.labels

    def estimate(v: int, _: int) -> Any:
        return heuristic(labels[v], target)

    path = search_for(
        neighbors.indptr,
        neighbors.columns,
        values,
        None if heuristic is None else estimate,
        start,
        end,
        cutoff or math.inf,
    )
    if path is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return path, neighbors


# --- negative weights ---------------------------------------------------------------------------


def bellman_ford_path(G: Graph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    """Implement `networkx.bellman_ford_path`."""
    return single_source_bellman_ford(G, source, target, weight)[1]


def bellman_ford_path_length(G: Graph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """Implement `networkx.bellman_ford_path_length`."""
    return single_source_bellman_ford(G, source, target, weight)[0]


def single_source_bellman_ford_path(
    G: Graph, source: Any, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """Implement `networkx.single_source_bellman_ford_path`."""
    return _bellman_ford(G, source, weight).paths()


def single_source_bellman_ford_path_length(
    G: Graph, source: Any, weight: Any = "weight"
) -> dict[Any, Any]:
    """Implement `networkx.single_source_bellman_ford_path_length`."""
    return _bellman_ford(G, source, weight).distances()


def single_source_bellman_ford(
    G: Graph, source: Any, target: Any = None, weight: Any = "weight"
) -> Any:
    """Implement `networkx.single_source_bellman_ford`."""
    if target is None:
        tree = _bellman_ford(G, source, weight)
        return tree.distances(), tree.paths()
    if source == target:
        number(G, source, "Node {} is not found in the graph")
        return 0, [source]
    end = find(G, target)
    tree = _bellman_ford(G, source, weight)
    if end is None or not _reaches(tree, end):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return _length(tree, end), tree.path(end)


def bellman_ford_predecessor_and_distance(
    G: Graph,
    source: Any,
    target: Any = None,
    weight: Any = "weight",
    heuristic: bool = False,
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Implement `networkx.bellman_ford_predecessor_and_distance`."""
    start = number(G, source, "Node {} is not found in the graph")
    neighbors = neighbors_of(G, weight, bellman_ford=True)
    tree = _search(neighbors, start)
    if len(G) == 1:
        return {source: []}, {source: 0}
    return neighbors.tight_parents(tree), tree.distances()


def goldberg_radzik(
    G: Graph, source: Any, weight: Any = "weight"
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Implement `networkx.goldberg_radzik`."""
    tree = _bellman_ford(G, source, weight)
    parents = dict(zip(tree.nodes, nodes_of(G, tree.parents), strict=True))
    return parents | {source: None}, tree.distances()


def all_pairs_bellman_ford_path_length(
    G: Graph, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Implement `networkx.all_pairs_bellman_ford_path_length`."""
    return _each_source(neighbors_of(G, weight, bellman_ford=True), Tree.distances)


def all_pairs_bellman_ford_path(
    G: Graph, weight: Any = "weight"
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """Implement `networkx.all_pairs_bellman_ford_path`."""
    return _each_source(neighbors_of(G, weight, bellman_ford=True), Tree.paths)


def johnson(G: Graph, weight: Any = "weight") -> dict[Any, dict[Any, list[Any]]]:
    """Implement `networkx.johnson`."""
    neighbors = neighbors_of(G, weight, bellman_ford=True)
    if neighbors.is_negative and algorithms.negative_cycle(neighbors.matrix) is not None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return dict(_each_source(neighbors, Tree.paths))


def negative_edge_cycle(G: Graph, weight: Any = "weight", heuristic: bool = True) -> bool:
    """Implement `networkx.negative_edge_cycle`."""
    neighbors = neighbors_of(G, weight, bellman_ford=True)
    return neighbors.is_negative and algorithms.negative_cycle(neighbors.matrix) is not None


def find_negative_cycle(G: Graph, source: Any, weight: Any = "weight") -> list[Any]:
    """Implement `networkx.find_negative_cycle`."""
    start = number(G, source, "Source {} not in G")
    neighbors = neighbors_of(G, weight, bellman_ford=True)
    cycle = algorithms.negative_cycle(neighbors.matrix, start) if neighbors.is_negative else None
    if cycle is None:
        raise nx.NetworkXError("No negative cycles detected.")
    return nodes_of(G, cycle)


def _bellman_ford(G: Graph, source: Any, weight: Any) -> Tree:
    start = number(G, source, "Source {} not in G")
    return _search(neighbors_of(G, weight, bellman_ford=True), start)


# --- dense --------------------------------------------------------------------------------------


def floyd_warshall(G: Graph, weight: Any = "weight") -> dict[Any, dict[Any, Any]]:
    """Implement `networkx.floyd_warshall`."""
    return floyd_warshall_predecessor_and_distance(G, weight)[1]


def floyd_warshall_predecessor_and_distance(
    G: Graph, weight: Any = "weight"
) -> tuple[dict[Any, dict[Any, Any]], dict[Any, dict[Any, Any]]]:
    """Implement `networkx.floyd_warshall_predecessor_and_distance`."""
    neighbors = neighbors_of(G, weight, bellman_ford=True)
    if neighbors.is_negative and algorithms.negative_cycle(neighbors.matrix) is not None:
        raise NotImplementedError("the graph has a negative cycle")
    nodes = list(G.labels)
    loops = set(_loops(neighbors).tolist())
    parents: dict[Any, dict[Any, Any]] = {}
    distances: dict[Any, dict[Any, Any]] = {}
    unreached = dict.fromkeys(nodes, float("inf"))
    for k, node in enumerate(nodes):
        tree = _search(neighbors, k)
        distances[node] = unreached | tree.distances()
        before = dict(zip(tree.nodes, nodes_of(G, tree.parents), strict=True))
        if k not in loops:  # NetworkX lists a node with a self-loop as its own predecessor
            del before[node]
        if before:
            parents[node] = before
    return parents, distances


def floyd_warshall_numpy(
    G: Graph, nodelist: list[Any] | None = None, weight: Any = "weight"
) -> np.ndarray:
    """Implement `networkx.floyd_warshall_numpy`."""
    order = np.arange(len(G))
    if nodelist is not None:
        if not len(nodelist) == len(G) == len(set(nodelist)):
            raise nx.NetworkXError(
                "nodelist must contain every node in G with no repeats."
                "If you wanted a subgraph of G use G.subgraph(nodelist)"
            )
        if any(find(G, node) is None for node in nodelist):
            raise nx.NetworkXError("nodelist contains a node that is not in G")
        order = numbers(G, nodelist)
    W = with_weights(G, weight)._matrix
    if algorithms.negative_cycle(W) is not None:
        raise NotImplementedError("the graph has a negative cycle")
    lengths = algorithms.all_pairs_lengths(W.dup("FP64"), weight=True).to_dense(np.inf)
    return lengths[np.ix_(order, order)]


def _loops(neighbors: Neighbors) -> np.ndarray:
    """Return the vertices with a self-loop."""
    rows = np.repeat(np.arange(neighbors.n), np.diff(neighbors.indptr))
    return rows[rows == neighbors.columns]
