"""Triangles and clustering for NetworkX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.io.entries import by_rows
from graphla.networkx.graphs import (
    find,
    nodes_of,
    pause_collection,
    to_node_dict,
    with_weights,
    without_weights,
)
from graphla.networkx.selections import VERSION, refuse_loops
from graphla.sparse import Matrix


def triangles(G: Graph, nodes: Any = None) -> Any:
    """Implement `networkx.triangles`."""
    if nodes is not None:
        _refuse_multigraph(G)
    return _of_nodes(G, without_weights(G).matrix, nodes, algorithms.triangles)


def clustering(G: Graph, nodes: Any = None, weight: str | None = None) -> Any:
    """Implement `networkx.clustering`."""
    return _of_nodes(G, *_clustering(G, nodes, weight))


def average_clustering(
    G: Graph, nodes: Any = None, weight: str | None = None, count_zeros: bool = True
) -> float:
    """Implement `networkx.average_clustering`."""
    if nodes is not None and find(G, nodes) is not None:
        raise NotImplementedError("nodes is a single node, but graphla needs a collection of nodes")
    values = _of_nodes(G, *_clustering(G, nodes, weight)).values()
    kept = values if count_zeros else [each for each in values if abs(each) > 0]
    return sum(kept) / len(kept)


def transitivity(G: Graph) -> float:
    """Implement `networkx.transitivity`."""
    _refuse_multigraph(G)
    return algorithms.transitivity(without_weights(G).matrix)


def square_clustering(G: Graph, nodes: Any = None) -> Any:
    """Implement `networkx.square_clustering`."""
    if G.directed:
        raise NotImplementedError(
            "the graph is directed, but graphla counts only undirected squares"
        )
    if VERSION < (3, 5):
        refuse_loops(G, "square_clustering")
    return _of_nodes(G, without_weights(G).matrix, nodes, algorithms.square_clustering)


def generalized_degree(G: Graph, nodes: Any = None) -> Any:
    """Implement `networkx.generalized_degree`."""
    _refuse_multigraph(G)
    chosen = None if nodes is None else chosen_numbers(G, nodes)
    rows = by_rows(algorithms.generalized_degree(without_weights(G).matrix, chosen))
    columns, values, bounds = (x.tolist() for x in (rows.columns, rows.values, rows.indptr))

    def counter(k: int) -> Counter[int]:
        i, j = bounds[k], bounds[k + 1]
        counts = Counter.__new__(Counter)  # `Counter(...)` takes four times as long
        dict.update(counts, zip(columns[i:j], values[i:j], strict=True))
        return counts

    if nodes is not None and (k := find(G, nodes)) is not None:
        return counter(k)
    numbers = list(range(len(G)) if chosen is None else dict.fromkeys(chosen))
    with pause_collection():
        return dict(zip(nodes_of(G, numbers), map(counter, numbers), strict=True))


def chosen_numbers(G: Graph, nodes: Any) -> list[int]:
    """Return a list with the number of a node, or with the numbers of several nodes.

    Args:
        G: the graph.
        nodes: a node, or an iterable of objects. An object that is not a node is left out.

    Returns:
        A list of numbers in the given order.

    Raises:
        NetworkXError: `nodes` is neither a node nor iterable.
    """
    if (k := find(G, nodes)) is not None:
        return [k]
    try:
        listed = list(nodes)
    except TypeError as error:
        message = f"Node {nodes} is not in the graph."
        raise nx.NetworkXError(message) from error
    return [k for node in listed if (k := find(G, node)) is not None]


def _clustering(
    G: Graph, nodes: Any, weight: str | None
) -> tuple[Matrix, Any, Callable[[Matrix, Any], Any]]:
    _refuse_multigraph(G)
    if weight is None:
        return without_weights(G).matrix, nodes, algorithms.clustering
    A = with_weights(G, weight).matrix
    return A, nodes, lambda A, chosen: algorithms.clustering(A, chosen, True)


def _of_nodes(G: Graph, A: Matrix, nodes: Any, compute: Callable[[Matrix, Any], Any]) -> Any:
    """Return {node: value}, or the value of a single node.

    `compute` returns a Vector of the values of the given vertices.
    """
    if nodes is None:
        return to_node_dict(G, compute(A, None))
    chosen = chosen_numbers(G, nodes)
    values = compute(A, np.array(chosen, np.int64)).to_dense(0)[chosen].tolist()
    if find(G, nodes) is not None:
        return values[0]
    return dict(zip(nodes_of(G, chosen), values, strict=True))


def _refuse_multigraph(G: Graph) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
