"""Rules that reject arguments before NetworkX converts the graph.

A rule takes the positional and the keyword arguments of a call. It returns None, or a sentence that
says why graphla rejects the call. It must be fast, and must not consume an iterator or a random
generator.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
from networkx.algorithms.coloring import greedy_coloring

ACCEPT_ITERATORS = ("is_partition", "modularity")
"""Functions that never reject a call after they have consumed an iterator."""


_CLASSES = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], position: int, name: str, default: Any = None
) -> Any:
    """Return one argument of a call.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.
        position: the position of the parameter.
        name: the name of the parameter.
        default: its default.

    Returns:
        The argument.
    """
    return args[position] if len(args) > position else kwargs.get(name, default)


def always(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject NaN, and reject iterators, because a call that is rejected later would consume them.

    Args:
        name: the name of the function.
        args: the positional arguments.
        kwargs: the keyword arguments.

    Returns:
        The reason, or None.
    """
    for each in (*args, *kwargs.values()):
        if hasattr(each, "__next__") and name not in ACCEPT_ITERATORS:  # cheaper than isinstance
            return "an argument is an iterator, but graphla needs a collection"
        if isinstance(each, float) and each != each:
            return "an argument is NaN"
    return None


def attribute_weight(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a callable `weight`."""
    weight = kwargs.get("weight")
    if callable(weight) or any(map(callable, args[1:])):
        return "the weight is a function, but graphla supports only names of edge attributes here"
    return None


def distance(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a callable `distance`."""
    if callable(argument(args, kwargs, 2, "distance")):
        return "the distance is a function, but graphla supports only names of edge attributes here"
    return None


def simple(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a multigraph."""
    if _graph(args, kwargs).is_multigraph():
        return "the graph is a multigraph, and graphla ignores parallel edges here"
    return None


def simple_weight(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a multigraph and a callable `weight`."""
    return simple(args, kwargs) or attribute_weight(args, kwargs)


def undirected(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a directed graph."""
    if _graph(args, kwargs).is_directed():
        return "the graph is directed, but graphla supports only undirected graphs here"
    return None


def projected_graph(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject `multigraph`."""
    if argument(args, kwargs, 2, "multigraph"):
        return "multigraph is true, but graphla does not build parallel edges here"
    return None


def relabel_nodes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a subclass, and `copy=False`, which would change the graph."""
    if not argument(args, kwargs, 2, "copy", True):
        return "copy is false, but graphla does not change a graph"
    return own_class(args, kwargs)


def generic_bfs_edges(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject `neighbors`, a function that reads the user's graph."""
    if argument(args, kwargs, 2, "neighbors") is not None:
        return "neighbors is a function, but graphla reads the neighbors from the converted graph"
    return None


def reverse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a multigraph, a subclass, and `copy=False`, which returns a view."""
    if not argument(args, kwargs, 1, "copy", True):
        return "copy is false, but graphla does not build views"
    return simple(args, kwargs) or own_class(args, kwargs)


def own_class(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a graph of a subclass, because the result would be of the same subclass."""
    kind = type(_graph(args, kwargs))
    if issubclass(kind, nx.Graph) and kind not in _CLASSES:
        return f"the graph is a {kind.__name__}, but graphla builds NetworkX's own graphs only"
    return None


def barycenter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject `attr`, which would change the graph."""
    if argument(args, kwargs, 2, "attr") is not None:
        return "attr is given, but graphla cannot add attributes to the graph"
    return attribute_weight(args, kwargs)


def greedy_color(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a directed graph, and a user-defined function as `strategy`."""
    strategy = argument(args, kwargs, 1, "strategy", "largest_first")
    functions = greedy_coloring.STRATEGIES
    if not isinstance(strategy, str) and strategy not in functions.values():
        return "the strategy is not a string, and not one of NetworkX's functions"
    by_degree = functions["smallest_last"], functions["independent_set"]
    if functions.get(strategy, strategy) in by_degree and _graph(args, kwargs).is_multigraph():
        return "the graph is a multigraph, and the strategy counts parallel edges"
    return undirected(args, kwargs)


def _graph(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs["G"]


def forceatlas2_layout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject `store_pos_as`, which would change the graph."""
    if kwargs.get("store_pos_as") is not None:
        return "store_pos_as is given, but graphla cannot add attributes to the graph"
    return None


def given_pairs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Reject a call without `ebunch`, which would mean all pairs of nodes."""
    if argument(args, kwargs, 1, "ebunch") is None:
        return "ebunch is missing, but graphla needs the pairs of nodes"
    return None
