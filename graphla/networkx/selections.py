"""Shared functions: select nodes as NetworkX does, read entries as arrays, and compute degrees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from graphla.graph import Graph
from graphla.graph.cached_properties import self_loops
from graphla.io.entries import by_rows
from graphla.networkx.graphs import find, with_weights

VERSION = tuple(map(int, nx.__version__.split(".")[:2]))
"""The version of NetworkX, on which some results depend."""

EXACT = 2.0**53
"""Sums of integers up to this bound are exact in FP64."""


def bunch(G: Graph, nodes: Any) -> list[int]:
    """Return the numbers of nodes as NetworkX's `nbunch_iter` selects them.

    Args:
        G: the graph.
        nodes: None for all nodes, a node, or an iterable of objects. Objects that are not nodes are
            left out.

    Returns:
        A list of numbers in the given order, which may have duplicates.

    Raises:
        NetworkXError: `nodes` is neither a node nor iterable, or an object is not hashable.
    """
    if nodes is None:
        return list(range(len(G)))
    if is_node(G, nodes):
        return [find(G, nodes)]  # pyright: ignore[reportReturnType]
    if not isinstance(nodes, Iterable):
        raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.")
    try:
        return [k for node in nodes if hash(node) is not None and (k := find(G, node)) is not None]
    except TypeError as error:
        raise nx.NetworkXError(f"a node of the sequence nbunch is not valid: {error}") from error


def is_node(G: Graph, node: Any) -> bool:
    """Return whether an object is a node.

    Args:
        G: the graph.
        node: any object.

    Returns:
        False for an object that is not hashable.
    """
    try:
        hash(node)
    except TypeError:
        return False
    return find(G, node) is not None


def number_of_key(G: Graph, node: Any) -> int:
    """Return the number of a node.

    Args:
        G: the graph.
        node: the node.

    Returns:
        An int from 0 to n - 1.

    Raises:
        KeyError: the graph lacks the node. NetworkX raises this error when it looks the node up in
            a dict.
    """
    k = find(G, node)
    if k is None:
        raise KeyError(node)
    return k


def mark(G: Graph, nodes: Any) -> np.ndarray:
    """Return an array of booleans that is true at the given nodes.

    Args:
        G: the graph.
        nodes: as in `bunch`.

    Returns:
        An array of size n.
    """
    flags = np.zeros(len(G), bool)
    flags[bunch(G, nodes)] = True
    return flags


def entries(G: Graph, weight: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of adjacent nodes with their weights; an undirected edge gives two pairs.

    Args:
        G: the graph.
        weight: the name of an edge attribute; None gives the number of parallel edges.

    Returns:
        (rows, columns, values): arrays on the host. The weights of parallel edges are added.
    """
    rows = by_rows(with_weights(G, weight, parallel="sum").matrix)
    sources = np.repeat(np.arange(len(G)), np.diff(rows.indptr))
    values = rows.values.astype(np.int64) if rows.values.dtype == bool else rows.values
    return sources, rows.columns, values


def degrees(G: Graph, direction: str = "in+out", weight: Any = None) -> np.ndarray:
    """Return the degree of each node as NetworkX defines it.

    Args:
        G: the graph.
        direction: which edges count in a directed graph: "in", "out" or "in+out".
        weight: the name of an edge attribute; None counts edges.

    Returns:
        An array of INT64 or FP64. A self-loop of an undirected graph counts twice.

    Raises:
        NotImplementedError: a sum of integer weights exceeds 2^53.
    """
    rows, columns, values = entries(G, weight)
    if not G.directed:
        # A self-loop has only one entry, but counts twice.
        loops = rows == columns
        return add_up(rows, values, len(G)) + add_up(rows[loops], values[loops], len(G))
    total = np.zeros(len(G), values.dtype)
    if direction != "in":
        total = total + add_up(rows, values, len(G))
    if direction != "out":
        total = total + add_up(columns, values, len(G))
    return total


def add_up(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Return the sum of the values at each place.

    Args:
        places: an array of integers from 0 to size - 1.
        values: an array of numbers.
        size: the size of the result.

    Returns:
        An array of INT64 if the values are integers, otherwise of FP64.

    Raises:
        NotImplementedError: a sum of integers exceeds 2^53.
    """
    if values.dtype.kind == "f":
        return np.bincount(places, values, size)
    if values.strides == (0,) and values.size:  # all values are equal
        return np.bincount(places, minlength=size) * values[0]
    most = max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0
    if most * values.size > EXACT and np.bincount(places, np.abs(values), size).max() > EXACT:
        raise NotImplementedError("the sums of integer weights exceed 2**53")
    return np.bincount(places, values, size).astype(np.int64)


def refuse_loops(G: Graph, name: str) -> None:
    """Raise NotImplementedError if the graph has self-loops.

    Args:
        G: the graph.
        name: the name of the function.

    Raises:
        NotImplementedError: the graph has a self-loop.
    """
    if self_loops(G.matrix):
        raise NotImplementedError(f"the graph has self-loops, and graphla's {name} ignores them")
