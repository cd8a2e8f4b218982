"""When graphla is faster than NetworkX: the least number of edges for each class of cost.

NetworkX asks before it converts a graph, so the numbers include the conversion, which takes about
as long as a pass of NetworkX over all edges. `benchmarks/networkx_backend.py` measures them.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx

from semirings.exceptions import InvalidValue

config: Any = nx.config

LEAST_EDGES = {
    "local": None,
    "linear": 5_000,
    "iterations": 2_000,
    "products": 1_500,
    "all_pairs": 500,
    "build": 0,
}
"""The class of cost of a function, and from how many edges on graphla is faster.

None means that the function visits few nodes of the graph, so that a conversion never pays."""

LEAST_IF_CONVERTED = 1_500
"""From how many edges on graphla is faster if the converted graph is in NetworkX's cache."""

_SAMPLED = 16
"""Number of nodes whose degrees estimate the number of edges, which NetworkX counts in O(n)."""


def should_run(cost: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return whether a call is likely to be faster with graphla, or the reason why it is not.

    Args:
        cost: the class of cost of the function.
        args: the positional arguments of the call.
        kwargs: its keyword arguments.

    Returns:
        True, or a sentence.

    Raises:
        InvalidValue: `nx.config.backends.graphla.min_edges` is neither None nor an integer of at
            least 0.
    """
    least = config.backends.graphla.min_edges
    if least is not None and not (isinstance(least, int) and least >= 0):
        raise InvalidValue(
            f"nx.config.backends.graphla.min_edges is {least!r}, but must be None or an integer of "
            "at least 0"
        )
    graph = args[0] if args else kwargs.get("G")
    if least == 0 or not isinstance(graph, nx.Graph):
        return True
    if least is None:
        least = LEAST_EDGES[cost]
        cache = getattr(graph, "__networkx_cache__", None)
        if cache and cache.get("backends", {}).get("graphla"):
            least = LEAST_IF_CONVERTED if least is None else min(least, LEAST_IF_CONVERTED)
        elif least is None:
            return "the function visits few nodes, so converting the graph takes longer"
    edges = estimated_edges(graph, least)
    if edges >= least:
        return True
    return f"the graph has about {edges} edges, and graphla is faster from {least} on"


def estimated_edges(graph: Any, least: int) -> int:
    """Return the number of edges, estimated from a few nodes.

    Args:
        graph: a NetworkX graph.
        least: a number of edges; a larger number needs no closer estimate.

    Returns:
        The estimate; for a view it is that of the graph whose edges it shows.
    """
    adjacency = graph._adj
    if type(adjacency) is not dict:  # counting the nodes of a view takes O(n) time
        adjacency = getattr(getattr(graph, "_graph", None), "_adj", None)
        if type(adjacency) is not dict:
            return least
    n = len(adjacency)
    if not n:
        return 0
    # Generators of random graphs often add hubs first, so the last nodes are closer to the average.
    degrees = list(map(len, islice(reversed(adjacency.values()), _SAMPLED)))
    entries = n * sum(degrees) // len(degrees)
    return entries if graph.is_directed() else entries // 2
