"""Estimate whether graphla is faster than NetworkX: thresholds for each cost class.

NetworkX calls `should_run` before it converts a graph, so the thresholds include the conversion,
which takes about as long as one pass of NetworkX over all edges. `benchmarks/networkx_backend.py`
measures them.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx

from semirings.exceptions import InvalidValue

config: Any = nx.config

LEAST_EDGES = {
    "local": None,
    "search": 50_000,
    "linear": 5_000,
    "iterations": 2_000,
    "products": 1_500,
    "all_pairs": 500,
    "build": 0,
}
"""Maps each cost class to the minimum number of edges for which graphla is faster.

None means that the functions visit few nodes of the graph, so a conversion never pays off. The
class "search" contains the functions that NetworkX computes with one simple search.
"""

LEAST_IF_CONVERTED = 1_500
"""Minimum number of edges for which graphla is faster if the graph is already converted."""

_SAMPLED = 16
"""Number of nodes whose degrees are read. NetworkX needs O(n) time to count all edges."""


def should_run(cost: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return whether a call is likely to be faster with graphla, or the reason why it is not.

    Args:
        cost: the cost class of the function.
        args: the positional arguments of the call.
        kwargs: its keyword arguments.

    Returns:
        True, or a sentence that states the reason.

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
            return "the function visits few nodes, so converting the graph would take longer"
    edges = estimate_edges(graph, least)
    if edges >= least:
        return True
    return f"the graph has about {edges} edges, but graphla is faster only from {least} edges on"


def estimate_edges(graph: Any, least: int) -> int:
    """Return the number of edges, estimated from a few nodes.

    Args:
        graph: a NetworkX graph.
        least: a threshold; the estimate need not be accurate above it.

    Returns:
        The estimate. A view of some nodes is assumed to have the average degree of the graph.
    """
    adjacency, n = graph._adj, None
    if type(adjacency) is not dict:  # counting the nodes of a view takes O(n) time
        chosen = getattr(getattr(adjacency, "NODE_OK", None), "nodes", None)
        n = len(chosen) if isinstance(chosen, set) else None
        adjacency = getattr(getattr(graph, "_graph", None), "_adj", None)
        if type(adjacency) is not dict:
            return least
    n = len(adjacency) if n is None else min(n, len(adjacency))
    if not n:
        return 0
    # Generators of random graphs often add hubs first, so the last nodes are closer to the average.
    degrees = list(map(len, islice(reversed(adjacency.values()), _SAMPLED)))
    entries = n * sum(degrees) // len(degrees)
    return entries if graph.is_directed() else entries // 2
