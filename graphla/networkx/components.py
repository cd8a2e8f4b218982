"""Components for NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.algorithms.biconnected import Blocks, component_of_edges, find_blocks_in
from graphla.graph import Graph
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    NetworkXGraph,
    groups,
    neighbor_lists,
    new_graph,
    node_sets,
    nodes_of,
    pause_collection,
    without_weights,
)
from graphla.networkx.searches import depth_first, neighbors_of, node_number
from graphla.networkx.selections import refuse_loops
from graphla.sparse import Matrix

NULL = "Connectivity is undefined for the null graph."

# --- connected components -----------------------------------------------------------------------


def connected_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.connected_components`."""
    yield from node_sets(G, _weak_labels(G))


def number_connected_components(G: Graph) -> int:
    """Implement `networkx.number_connected_components`."""
    return algorithms.component_count(without_weights(G).matrix)


def is_connected(G: Graph) -> bool:
    """Implement `networkx.is_connected`."""
    if not len(G):
        raise nx.NetworkXPointlessConcept(NULL)
    return number_connected_components(G) == 1


def node_connected_component(G: Graph, n: Any) -> set[Any]:
    """Implement `networkx.node_connected_component`."""
    if n not in G:
        raise KeyError(n)
    return set(neighbors_of(G).search([node_number(G, n)]).nodes)


def weakly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.weakly_connected_components`."""
    return connected_components(G)


def number_weakly_connected_components(G: Graph) -> int:
    """Implement `networkx.number_weakly_connected_components`."""
    return number_connected_components(G)


def is_weakly_connected(G: Graph) -> bool:
    """Implement `networkx.is_weakly_connected`."""
    return is_connected(G)


def _weak_labels(G: Graph) -> np.ndarray:
    return np.asarray(algorithms.connected_components(without_weights(G).matrix).to_dense())


# --- strong components --------------------------------------------------------------------------


def strongly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.strongly_connected_components`."""
    yield from _strong_sets(G)


def kosaraju_strongly_connected_components(G: Graph, source: Any = None) -> Iterator[set[Any]]:
    """Implement `networkx.kosaraju_strongly_connected_components`."""
    if source is not None:
        raise NotImplementedError("source is given, but graphla finds all strong components")
    return strongly_connected_components(G)


def number_strongly_connected_components(G: Graph) -> int:
    """Implement `networkx.number_strongly_connected_components`."""
    return int(np.count_nonzero(np.bincount(_strong_labels(G))))


def is_strongly_connected(G: Graph) -> bool:
    """Implement `networkx.is_strongly_connected`."""
    if not len(G):
        raise nx.NetworkXPointlessConcept(NULL)
    return algorithms.is_strongly_connected(without_weights(G).matrix)


def condensation(G: Graph, scc: Iterable[Any] | None = None) -> NetworkXGraph:
    """Implement `networkx.condensation`."""
    parts = _strong_sets(G) if scc is None else [set(part) for part in scc]
    mapping = {node: k for k, part in enumerate(parts) for node in part}
    component = np.fromiter(map(mapping.__getitem__, G.labels), np.int64, len(G))
    rows, columns = _ends(G)
    rows, columns = component[rows], component[columns]
    between = rows != columns
    shape: dict[str, Any] = {"nrows": len(parts), "ncols": len(parts)}
    A = Matrix.from_coo(rows[between], columns[between], True, dup_op="any", **shape)
    members = [{"members": part} for part in parts]
    result = Graph(A, directed=True)
    return new_graph(result, nodes=members, graph={"mapping": mapping})


def attracting_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.attracting_components`."""
    yield from _attracting_sets(G)


def number_attracting_components(G: Graph) -> int:
    """Implement `networkx.number_attracting_components`."""
    labels = _strong_labels(G)
    roots = labels == np.arange(labels.size)
    return int(np.count_nonzero(roots & ~_has_exit(G, labels)))


def is_attracting_component(G: Graph) -> bool:
    """Implement `networkx.is_attracting_component`."""
    parts = _attracting_sets(G)
    return len(parts) == 1 and len(parts[0]) == len(G)


def is_semiconnected(G: Graph) -> bool:
    """Implement `networkx.is_semiconnected`."""
    if not len(G):
        raise nx.NetworkXPointlessConcept(NULL)
    C = algorithms.condensation(without_weights(G).matrix).matrix
    order = np.array(algorithms.topological_sort(C))
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    # Each component must have an edge to the next one in the topological order.
    rows, columns, _ = C.to_coo()
    return int(np.count_nonzero(place[columns] - place[rows] == 1)) == order.size - 1


def _strong_labels(G: Graph) -> np.ndarray:
    return np.asarray(algorithms.strong_components(without_weights(G).matrix).to_dense())


def _strong_sets(G: Graph) -> list[set[Any]]:
    with pause_collection():
        return list(map(set, _strong_parts(G)))


def _strong_parts(G: Graph) -> list[list[Any]]:
    """Return the strong components in the order in which NetworkX completes them, sinks first."""
    labels = _strong_labels(G)
    _, _, finished = depth_first(G, range(len(G)))
    # The search leaves a component when it leaves the first vertex that it discovered there.
    last = np.zeros(labels.size, np.int64)
    np.maximum.at(last, labels[finished], np.arange(labels.size))
    parts = groups(G, labels)
    roots = np.flatnonzero(np.bincount(labels))
    return [parts[k] for k in np.argsort(last[roots]).tolist()]


def _attracting_sets(G: Graph) -> list[set[Any]]:
    labels = _strong_labels(G)
    has_exit = _has_exit(G, labels)
    numbers = {label: k for k, label in enumerate(G.labels)}
    return [set(part) for part in _strong_parts(G) if not has_exit[labels[numbers[part[0]]]]]


def _has_exit(G: Graph, labels: np.ndarray) -> np.ndarray:
    """Return an array that is true at the label of each component with an edge to another."""
    rows, columns = _ends(G)
    has_exit = np.zeros(labels.size, bool)
    has_exit[labels[rows[labels[rows] != labels[columns]]]] = True
    return has_exit


def _ends(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the column of each entry in NetworkX's order."""
    indptr, columns = neighbor_lists(G)
    return np.repeat(np.arange(len(G)), np.diff(indptr)), columns


# --- biconnected components ---------------------------------------------------------------------


def is_biconnected(G: Graph) -> bool:
    """Implement `networkx.is_biconnected`."""
    blocks = _blocks(G)
    return blocks.heads.size == 1 and int(np.count_nonzero(blocks.block >= 0)) + 1 == len(G)


def biconnected_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.biconnected_components`."""
    blocks = _blocks(G)
    below = np.flatnonzero(blocks.block >= 0)
    below = below[np.argsort(blocks.block[below], kind="stable")]
    bounds = np.searchsorted(blocks.block[below], np.arange(blocks.heads.size + 1)).tolist()
    nodes, heads = nodes_of(G, below), nodes_of(G, blocks.heads)
    for head, i, j in zip(heads, bounds[:-1], bounds[1:], strict=True):
        yield {head, *nodes[i:j]}


def biconnected_component_edges(G: Graph) -> Iterator[list[tuple[Any, Any]]]:
    """Implement `networkx.biconnected_component_edges`, which lists self-loops, too."""
    refuse_loops(G, "biconnected_component_edges")
    return _component_edges(G)


def _component_edges(G: Graph) -> Iterator[list[tuple[Any, Any]]]:
    blocks = _blocks(G)
    rows, columns = _ends(G)
    once = blocks.order[rows] < blocks.order[columns]
    rows, columns = rows[once], columns[once]
    component = component_of_edges(blocks, rows, columns)
    order = np.lexsort((blocks.order[columns], blocks.order[rows], component))
    edges = list(zip(nodes_of(G, rows[order]), nodes_of(G, columns[order]), strict=True))
    bounds = np.searchsorted(component[order], np.arange(blocks.heads.size + 1)).tolist()
    for i, j in pairwise(bounds):
        yield edges[i:j]


def articulation_points(G: Graph) -> Iterator[Any]:
    """Implement `networkx.articulation_points`."""
    blocks = _blocks(G)
    memberships = np.bincount(blocks.heads, minlength=len(G)) + (blocks.block >= 0)
    # NetworkX reports an articulation point when it completes the first component below this point,
    # and a root when it completes the root's connected component.
    heads, first = np.unique(blocks.heads, return_index=True)
    when = first.astype(np.int64)
    roots = blocks.block[heads] < 0
    last = np.zeros(len(G), np.int64)
    np.maximum.at(last, blocks.heads, np.arange(blocks.heads.size))
    when[roots] = last[heads[roots]]
    points = heads[np.argsort(when, kind="stable")]
    yield from nodes_of(G, points[memberships[points] > 1])


def bridges(G: Graph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """Implement `networkx.bridges`."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    rows, columns = _bridges(G, root)
    yield from zip(nodes_of(G, rows), nodes_of(G, columns), strict=True)


def has_bridges(G: Graph, root: Any = None) -> bool:
    """Implement `networkx.has_bridges`."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    return _bridges(G, root)[0].size > 0


def bridge_components(G: Graph) -> Iterator[set[Any]]:
    """Implement `networkx.bridge_components`."""
    A = without_weights(G).matrix
    rest = A.dup(mask=~algorithms.bridges(A).S)
    yield from node_sets(G, np.asarray(algorithms.connected_components(rest).to_dense()))


def k_edge_components(G: Graph, k: Any) -> Iterator[set[Any]]:
    """Implement `networkx.k_edge_components`."""
    if k < 1:
        raise ValueError("k cannot be less than 1")
    if k == 1:
        return strongly_connected_components(G) if G.directed else connected_components(G)
    if len(G) == 1 and (G.directed or k > 2):
        return iter(())  # NetworkX finds no component in this case
    labels = algorithms.k_edge_components(without_weights(G).matrix, k, directed=G.directed)
    return (part for part in node_sets(G, np.asarray(labels.to_dense())))


def _blocks(G: Graph) -> Blocks:
    indptr, columns = neighbor_lists(G)
    return find_blocks_in(indptr, columns)


def _bridges(G: Graph, root: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the bridges in NetworkX's order."""
    is_on_cpu = without_weights(G).matrix.device == "cpu"
    rows, columns, places = _search_bridges(G) if is_on_cpu else _find_bridges(G)
    chosen = rows <= columns
    if isinstance(G, NetworkXGraph) and G._entries.counts is not None:
        chosen &= G._entries.counts[places] == 1
    if root is not None:
        labels = _weak_labels(G)
        chosen &= labels[rows] == labels[node_number(G, root)]
    return rows[chosen], columns[chosen]


def _search_bridges(G: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the entries that are bridges by a depth-first search on the CPU.

    Return the row, the column and the position of each of these entries in NetworkX's order.
    """
    blocks = _blocks(G)
    rows, columns = _ends(G)
    above = np.full(len(G), -1)
    sizes = np.bincount(blocks.block[blocks.block >= 0], minlength=blocks.heads.size)
    ends = np.flatnonzero(blocks.block >= 0)
    ends = ends[sizes[blocks.block[ends]] == 1]
    above[ends] = blocks.heads[blocks.block[ends]]
    places = np.flatnonzero((above[rows] == columns) | (above[columns] == rows))
    return rows[places], columns[places], places


def _find_bridges(G: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the same entries as `_search_bridges`, but on the device of the matrix."""
    found = by_rows(algorithms.bridges(without_weights(G).matrix))
    n, (indptr, columns) = len(G), neighbor_lists(G)
    # Look for the bridges only among the entries of the rows that contain one.
    counts = np.where(np.diff(found.indptr) > 0, np.diff(indptr), 0)
    rows = np.repeat(np.arange(n), counts)
    places = np.arange(rows.size) + np.repeat(indptr[:-1] - np.cumsum(counts) + counts, counts)
    # Encode each entry as one number, so that a binary search finds whether it is a bridge.
    bridges = np.repeat(np.arange(n), np.diff(found.indptr)) * n + found.columns
    entries = rows * n + columns[places]
    chosen = np.append(bridges, n * n)[np.searchsorted(bridges, entries)] == entries
    rows, places = rows[chosen], places[chosen]
    return rows, columns[places], places
