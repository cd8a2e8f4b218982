"""Flows, cuts and bipartite matchings for NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms import flow as flows

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import find, neighbor_lists, nodes_of, structure, weighted
from graphla.networkx.selections import EXACT
from graphla.sparse import Matrix
from semirings import binary
from semirings.exceptions import InvalidValue

NAMED = ("edmonds_karp", "shortest_augmenting_path", "preflow_push", "dinitz", "boykov_kolmogorov")


def maximum_flow(
    flowG: Graph,
    _s: Any,
    _t: Any,
    capacity: str = "capacity",
    flow_func: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, dict[Any, dict[Any, Any]]]:
    """Implement `networkx.maximum_flow`."""
    A, *ends = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    value, found = _call_if_bounded(algorithms.maximum_flow, A, *ends)
    indptr, indices, flows = found.to_csr(copy=False)
    if _are_whole(A):
        value, flows = int(value), flows.astype(np.int64)
    return value, _in_dict_order(flowG, indptr, indices, flows)


def maximum_flow_value(
    flowG: Graph,
    _s: Any,
    _t: Any,
    capacity: str = "capacity",
    flow_func: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Implement `networkx.maximum_flow_value` and `networkx.minimum_cut_value`."""
    A, *ends = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    value = _call_if_bounded(algorithms.maximum_flow, A, *ends).value
    return int(value) if _are_whole(A) else value


def minimum_cut(
    flowG: Graph,
    _s: Any,
    _t: Any,
    capacity: str = "capacity",
    flow_func: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Implement `networkx.minimum_cut`."""
    A, *ends = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    value, side = _call_if_bounded(algorithms.minimum_cut, A, *ends)
    is_near = side.to_dense(False)
    near, far = (set(nodes_of(flowG, np.flatnonzero(x))) for x in (is_near, ~is_near))
    return int(value) if _are_whole(A) else value, (near, far)


def hopcroft_karp_matching(G: Graph, top_nodes: Iterable[Any] | None = None) -> dict[Any, Any]:
    """Implement `networkx.bipartite.hopcroft_karp_matching` and `eppstein_matching`."""
    if G.directed:
        raise NotImplementedError(
            "the graph is directed, but graphla matches only undirected graphs"
        )
    A = structure(G).matrix
    top = None
    if top_nodes is not None:
        if not isinstance(top_nodes, (list, tuple, set, frozenset, dict)):
            raise NotImplementedError("top_nodes is not a list or a set, but graphla needs one")
        top = [find(G, node) for node in top_nodes]
        if None in top:
            raise NotImplementedError("top_nodes has an object that is not a node of the graph")
    elif len(G) == 0:
        raise nx.NetworkXPointlessConcept("the null graph is not connected")
    elif not algorithms.is_connected(A):
        raise nx.AmbiguousSolution("the graph is not connected, so its two sides are ambiguous")
    try:
        mates = algorithms.hopcroft_karp_matching(A, top)
    except InvalidValue as error:
        if top is not None:  # NetworkX does not check the sides that it is given
            raise
        raise nx.NetworkXError("Graph is not bipartite.") from error
    left, right = (nodes_of(G, each) for each in mates.to("cpu").to_coo())
    return dict(zip(left, right, strict=True))


# --- networks -------------------------------------------------------------------------------------


def _network(
    G: Graph, source: Any, target: Any, capacity: str, function: Any, options: dict[str, Any]
) -> tuple[Matrix, int, int]:
    """Return the capacities on the CPU, and the numbers of the source and the target."""
    if function is None and options:
        raise nx.NetworkXError("flow_func must be given if there are further arguments")
    if function is not None and not callable(function):
        raise nx.NetworkXError("flow_func has to be callable.")
    if G.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    known = [getattr(flows, name) for name in NAMED]
    if function is not None and function not in known:
        raise NotImplementedError("flow_func is not one of NetworkX's functions")
    for name, value in options.items():
        is_method = (name == "two_phase" and function is flows.shortest_augmenting_path) or (
            name == "global_relabel_freq" and function is flows.preflow_push and (value or 0) >= 0
        )
        if value is not None and not is_method:
            raise NotImplementedError(f"graphla does not support the argument {name}")
    ends = []
    for node, name in ((source, "source"), (target, "sink")):
        k = find(G, node)
        if k is None:
            raise nx.NetworkXError(f"node {node} ({name}) not in graph")
        ends.append(k)
    if ends[0] == ends[1]:
        raise nx.NetworkXError("source and sink are the same node")
    A = weighted(G, capacity, float("inf"), infinite=True).matrix.to("cpu")
    values = A.to_csr(copy=False)[2]
    if values.dtype.kind == "f" and np.abs(values[np.isfinite(values)]).sum() > EXACT:
        raise NotImplementedError("sums of capacities might be rounded")
    # As in NetworkX, an edge with a capacity below 0 carries no flow.
    return (binary.max(A, 0).new(), *ends)


def _are_whole(A: Matrix) -> bool:
    """Return whether A has infinite capacities, and all its finite capacities are whole numbers.

    A missing capacity is infinite, so the integers of the graph were converted to floats.
    """
    values = A.to_csr(copy=False)[2]
    infinite = np.isinf(values)
    return bool(infinite.any() and (values[~infinite] == np.floor(values[~infinite])).all())


def _call_if_bounded(function: Callable[..., Any], A: Matrix, source: int, target: int) -> Any:
    try:
        return function(A, source, target)
    except algorithms.UnboundedFlow as error:
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.") from error


def _in_dict_order(
    G: Graph, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray
) -> dict[Any, dict[Any, Any]]:
    """Return {u: {v: value}} with the neighbors in NetworkX's order."""
    n = len(G)
    starts, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    places = np.searchsorted(rows * n + indices, rows * n + columns)
    neighbors, listed = nodes_of(G, columns), values[places].tolist()
    bounds = starts.tolist()
    return {
        node: dict(zip(neighbors[i:j], listed[i:j], strict=True))
        for node, i, j in zip(G.labels, bounds, bounds[1:], strict=False)
    }
