"""Flows, cuts and bipartite matchings for NetworkX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from networkx.algorithms import flow as flows

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import (
    convert,
    edge_values,
    find,
    neighbor_lists,
    nodes_of,
    with_weights,
    without_weights,
)
from graphla.networkx.selections import EXACT
from graphla.sparse import Matrix
from semirings import binary, unary
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
    network = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    value, flow = network.maximum_flow()
    return value, _in_dict_order(flowG, flow)


def maximum_flow_value(
    flowG: Graph,
    _s: Any,
    _t: Any,
    capacity: str = "capacity",
    flow_func: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Implement `networkx.maximum_flow_value` and `networkx.minimum_cut_value`."""
    network = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    return network.maximum_flow()[0]


def minimum_cut(
    flowG: Graph,
    _s: Any,
    _t: Any,
    capacity: str = "capacity",
    flow_func: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Implement `networkx.minimum_cut`."""
    if kwargs.get("cutoff") is not None:
        raise NotImplementedError("cutoff is given, so the flow need not determine a minimum cut")
    network = _network(flowG, _s, _t, capacity, flow_func, kwargs)
    value, is_near = network.minimum_cut()
    near, far = (set(nodes_of(flowG, np.flatnonzero(x))) for x in (is_near, ~is_near))
    return value, (near, far)


def hopcroft_karp_matching(G: Graph, top_nodes: Iterable[Any] | None = None) -> dict[Any, Any]:
    """Implement `networkx.bipartite.hopcroft_karp_matching` and `eppstein_matching`."""
    if G.directed:
        raise NotImplementedError(
            "the graph is directed, but graphla matches only undirected graphs"
        )
    A = without_weights(G).matrix
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


class _Residual(NamedTuple):
    """A residual network of NetworkX, to which the flow is to be written.

    Attributes:
        network: the DiGraph.
        graph: the same graph, converted.
    """

    network: Any
    graph: Graph


class _Network(NamedTuple):
    """A flow network, and the residual network to which NetworkX expects the flow to be written.

    Attributes:
        capacities: a Matrix on the CPU.
        source: the number of the vertex where the flow starts.
        target: the number of the vertex where the flow ends.
        residual: the residual network that receives the flow, or None.
        cutoff: the value that the flow need not exceed, or None.
    """

    capacities: Matrix
    source: int
    target: int
    residual: _Residual | None = None
    cutoff: int | None = None

    def maximum_flow(self) -> tuple[Any, Matrix]:
        """Return the value and a Matrix with the flow of each edge."""
        A, source, n = self.capacities, self.source, self.capacities.nrows
        if self.cutoff is not None:
            # All flow comes from a new vertex n through an edge that has the cutoff as capacity.
            A = A.dup()
            A.resize(n + 1, n + 1)
            A[n, source] << min(self.cutoff, int(EXACT))
            source = n
        value, flow = _call_if_bounded(algorithms.maximum_flow, A, source, self.target)
        flow = flow if self.cutoff is None else flow[:n, :n].new()
        if _are_whole(self.capacities):
            value, flow = int(value), flow.dup("INT64")
        if self.residual is not None:
            _write_residual(self.residual, value, flow)
        return value, flow

    def minimum_cut(self) -> tuple[Any, np.ndarray]:
        """Return the value, and an array that is true at the vertices on the source's side."""
        if self.residual is None:
            value, side = _call_if_bounded(algorithms.minimum_cut, *self[:3])
            return int(value) if _are_whole(self.capacities) else value, side.to_dense(False)
        value, flow = self.maximum_flow()
        # L = A - F + Fᵀ is the capacity that is left. A vertex is on the target's side if a path of
        # edges with L > 0 leads from it to the target.
        left = self.capacities.ewise_union(flow, binary.minus, 0, 0).new()
        left = left.ewise_union(flow.T, binary.plus, 0, 0).new().select(">", 0).new()
        far = algorithms.reachable(left.T.new(), self.target)
        return value, ~far.to_dense(False)


def _network(
    G: Graph, source: Any, target: Any, capacity: str, function: Any, options: dict[str, Any]
) -> _Network:
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
        if value is not None and not is_method and name not in ("residual", "cutoff"):
            raise NotImplementedError(f"graphla does not support the argument {name}")
    ends = []
    for node, name in ((source, "source"), (target, "sink")):
        k = find(G, node)
        if k is None:
            raise nx.NetworkXError(f"node {node} ({name}) not in graph")
        ends.append(k)
    if ends[0] == ends[1]:
        raise nx.NetworkXError("source and sink are the same node")
    residual = None
    if options.get("residual") is not None:
        residual = _convert_residual(options["residual"])
        A = _capacities_of(residual, G)
    else:
        A = with_weights(G, capacity, float("inf"), infinite=True).matrix.to("cpu")
    values = A.to_csr(copy=False)[2]
    if values.dtype.kind == "f" and np.abs(values[np.isfinite(values)]).sum() > EXACT:
        raise NotImplementedError("sums of capacities might be rounded")
    cutoff = options.get("cutoff")
    if cutoff is not None and (
        function is flows.preflow_push
        or not isinstance(cutoff, int)
        or cutoff < 0
        or np.isinf(values).any()
    ):
        raise NotImplementedError(f"graphla does not support the cutoff {cutoff!r} here")
    # As in NetworkX, an edge with a capacity below 0 carries no flow.
    return _Network(binary.max(A, 0).new(), ends[0], ends[1], residual, cutoff)


def _are_whole(A: Matrix) -> bool:
    """Return whether A has infinite capacities, and all its finite capacities are whole numbers.

    An edge without a capacity has infinite capacity, which only floats can represent. So the
    integer capacities of such a graph were converted to floats.
    """
    values = A.to_csr(copy=False)[2]
    infinite = np.isinf(values)
    return bool(infinite.any() and (values[~infinite] == np.floor(values[~infinite])).all())


def _call_if_bounded(function: Callable[..., Any], A: Matrix, source: int, target: int) -> Any:
    try:
        return function(A, source, target)
    except algorithms.UnboundedFlow as error:
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.") from error


def _convert_residual(network: Any) -> _Residual:
    """Return a residual network with its converted graph."""
    if type(network) is not nx.DiGraph or "inf" not in network.graph:
        raise NotImplementedError("residual is not a residual network of NetworkX")
    return _Residual(network, convert(network, {"capacity": None}, None, False, False, "cpu"))


def _capacities_of(residual: _Residual, G: Graph) -> Matrix:
    """Return the capacities of a residual network, which NetworkX uses instead of those of G."""
    if list(residual.graph.labels) != list(G.labels):
        raise NotImplementedError("residual does not have the nodes of the graph")
    A = with_weights(residual.graph, "capacity").matrix
    if A.dup(mask=~without_weights(G).matrix.to("cpu").S).select(">", 0).new().nvals:
        raise NotImplementedError("residual has an edge that the graph lacks")
    # This finite value stands for an infinite capacity.
    infinite = A.select("==", residual.network.graph["inf"]).new()
    if infinite.nvals:
        A = A.dup("FP64")
        A(infinite.S) << math.inf
    return A


def _write_residual(residual: _Residual, value: Any, flow: Matrix) -> None:
    """Store a flow in a residual network; the flows of two opposite edges add up to 0."""
    values = edge_values(residual.graph, flow.ewise_union(flow.T, binary.minus, 0, 0).new())
    network = residual.network
    edges = chain.from_iterable(row.values() for row in network._adj.values())
    for data, each in zip(edges, values.tolist(), strict=True):
        data["flow"] = each
    network.graph["flow_value"] = value


def _in_dict_order(G: Graph, flow: Matrix) -> dict[Any, dict[Any, Any]]:
    """Return {u: {v: flow}} with the neighbors in NetworkX's order; missing flows are 0."""
    A = without_weights(G).matrix.to("cpu")
    F = binary.times(unary.one[flow.dtype](A).new(), 0).new()
    F(A.S, binary.plus) << flow
    starts, columns = neighbor_lists(G)
    neighbors, listed = nodes_of(G, columns), edge_values(G, F).tolist()
    return {
        node: dict(zip(neighbors[i:j], listed[i:j], strict=True))
        for node, (i, j) in zip(G.labels, pairwise(starts.tolist()), strict=True)
    }
