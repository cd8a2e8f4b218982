"""Greedy coloring for NetworkX.

A strategy determines the order of the nodes, and each node gets the smallest color that no neighbor
has. NetworkX resolves ties of some strategies by the order of a set. graphla resolves ties by the
order of the nodes.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.coloring import greedy_coloring

from graphla import algorithms
from graphla.algorithms.coloring import color_in_order
from graphla.graph import Graph
from graphla.networkx.graphs import neighbor_lists, without_weights
from graphla.networkx.searches import depth_first, neighbors_of
from graphla.networkx.selections import degrees, refuse_loops
from graphla.operations.serial import run_serial
from graphla.sparse import Vector

NAMES: dict[Any, str] = {
    function: name for name, function in reversed(greedy_coloring.STRATEGIES.items())
}
"""Maps the functions that NetworkX accepts as strategies to the names of the strategies."""


def greedy_color(
    G: Graph, strategy: Any = "largest_first", interchange: bool = False
) -> dict[Any, int]:
    """Implement `networkx.greedy_color`."""
    if not len(G):
        return {}
    name = NAMES.get(greedy_coloring.STRATEGIES.get(strategy, strategy))
    if name is None:
        raise nx.NetworkXError(
            f"strategy must be callable or a valid string. {strategy} not valid."
        )
    if interchange and name in ("independent_set", "saturation_largest_first"):
        raise nx.NetworkXPointlessConcept(f"interchange cannot be used with {name}")
    if name == "saturation_largest_first":
        colors = _color_by_saturation(G)
    else:
        color = _color_with_interchange if interchange else _color_in_order
        colors = color(G, ORDERS[name](G))
    return dict(zip(G.labels, colors.tolist(), strict=True))


def _color_in_order(G: Graph, order: np.ndarray) -> np.ndarray:
    """Return the colors that result from coloring the nodes in this order."""
    A, positions = without_weights(G).matrix, np.empty(len(G), np.int64)
    positions[order] = np.arange(len(G), 0, -1)
    return color_in_order(A, Vector.from_dense(positions).to(A.device)).to_dense()


def _color_with_interchange(G: Graph, order: np.ndarray) -> np.ndarray:
    """Return the colors that result if two colors are exchanged whenever that avoids a new one."""
    refuse_loops(G, "interchange of colors")
    n, (indptr, columns) = len(G), neighbor_lists(G)
    colors, marks = np.full(n, -1, np.int64), np.zeros(n + 1, np.int64)
    arrays = (indptr, columns, order, colors, marks, *(np.zeros(n, np.int64) for _ in range(2)))
    run_serial("serial_colors.interchange", arrays, n + columns.size)
    return colors


def _color_by_saturation(G: Graph) -> np.ndarray:
    """Repeatedly color a node whose neighbors have the most different colors; return the colors.

    If there are several such nodes, the first one with the greatest degree is colored next.
    """
    n, (indptr, columns) = len(G), neighbor_lists(G)
    by_rank, ranks = _by_degree(G), np.empty(n, np.int64)
    ranks[by_rank] = np.arange(n)
    colors, heap = np.full(n, -1, np.int64), np.empty(n + columns.size, np.int64)
    seen, counts, marks = (np.zeros(size, np.int64) for size in (columns.size, n, n + 1))
    arrays = (indptr, columns, ranks, by_rank, colors, seen, counts, marks, heap)
    run_serial("serial_colors.saturation", arrays, n + columns.size)
    return colors


# --- orders ---------------------------------------------------------------------------------------


def _by_degree(G: Graph) -> np.ndarray:
    """Return the nodes by descending degree."""
    return np.argsort(-degrees(G), kind="stable")


def _smallest_last(G: Graph) -> np.ndarray:
    """Return the nodes in smallest-last order.

    Each node has the least degree in the subgraph of this node and the nodes before it.
    """
    refuse_loops(G, "strategy smallest_last")
    n, (indptr, columns) = len(G), neighbor_lists(G)
    order, heap = np.empty(n, np.int64), np.empty(n + columns.size, np.int64)
    arrays = (indptr, columns, order, np.diff(indptr).astype(np.int64), heap)
    run_serial("serial_colors.smallest_last", arrays, n + columns.size)
    return order


def _by_independent_sets(G: Graph) -> np.ndarray:
    """Return the nodes, one maximal independent set of the remaining graph after another."""
    n, (indptr, columns) = len(G), neighbor_lists(G)
    order, states, seen = (np.zeros(n, np.int64) for _ in range(3))
    heap = np.empty(n + columns.size, np.int64)
    arrays = (indptr, columns, order, states, seen, heap)
    run_serial("serial_colors.independent_sets", arrays, n + columns.size)
    return order


def _breadth_first(G: Graph) -> np.ndarray:
    """Return the nodes in breadth-first order from the first node of each component."""
    labels = algorithms.connected_components(without_weights(G).matrix).to_dense()
    return neighbors_of(G).search(np.flatnonzero(np.bincount(labels)).tolist()).order


def _depth_first(G: Graph) -> np.ndarray:
    """Return the nodes in depth-first order from the first node of each component."""
    return depth_first(G, range(len(G)))[0]


def _in_random_order(G: Graph) -> np.ndarray:
    return np.random.default_rng().permutation(len(G))


ORDERS = {
    "largest_first": _by_degree,
    "random_sequential": _in_random_order,
    "smallest_last": _smallest_last,
    "independent_set": _by_independent_sets,
    "connected_sequential_bfs": _breadth_first,
    "connected_sequential_dfs": _depth_first,
    "connected_sequential": _breadth_first,
}
"""For each strategy that fixes the order of the nodes in advance, the function for this order."""
