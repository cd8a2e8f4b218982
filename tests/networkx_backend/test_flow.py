"""Test that flows, cuts and bipartite matchings agree with those of NetworkX, or are as good."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms import flow

from tests.networkx_backend.agreement import assert_agree, call, difference
from tests.networkx_backend.weighted_graphs import KINDS, weighted_graphs

capacities = st.integers(-1, 9) | st.sampled_from([0.5, 2.25, math.inf])
networks = weighted_graphs(KINDS[:3], weights=capacities, least=2, name="capacity")
functions = st.sampled_from(
    [None, flow.edmonds_karp, flow.preflow_push, flow.dinitz, flow.boykov_kolmogorov]
)


@given(networks, functions, st.data())
def test_maximum_flows_and_minimum_cuts_agree_with_networkx(
    G: Any, function: Any, data: st.DataObject
) -> None:
    node = st.sampled_from([*G, "absent"])
    ends = data.draw(node), data.draw(node)
    for name in ("maximum_flow_value", "minimum_cut_value", "minimum_cut"):
        assert_agree(name, G, *ends, flow_func=function)
    expected, found = (call("maximum_flow", G, *ends, backend=b) for b in ("networkx", "graphla"))
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        return
    value, flows = found
    assert value == expected[0]
    assert [(u, list(row)) for u, row in flows.items()] == [(u, list(G[u])) for u in G]
    for u in G:
        assert all(0 <= f <= max(G[u][v].get("capacity", math.inf), 0) for v, f in flows[u].items())
        excess = sum(flows[v].get(u, 0) for v in G) - sum(flows[u].values())
        assert excess == {ends[0]: -value, ends[1]: value}.get(u, 0)


def test_flows_of_integer_capacities_are_integers_even_if_a_capacity_is_missing() -> None:
    G = nx.DiGraph([(0, 1, {"capacity": 3}), (1, 2), (0, 2, {"capacity": 1}), (3, 0)])
    value, flows = call("maximum_flow", G, 0, 2, backend="graphla")
    assert [type(f) for row in flows.values() for f in row.values()] == [int] * 4
    assert type(value) is int
    for name in ("maximum_flow_value", "minimum_cut_value"):
        assert type(call(name, G, 0, 2, backend="graphla")) is int
    assert type(call("minimum_cut", G, 0, 2, backend="graphla")[0]) is int


@given(
    weighted_graphs(KINDS[:2], weights=st.integers(-1, 9) | st.just(math.inf), least=2),
    st.sampled_from([flow.edmonds_karp, flow.preflow_push, flow.dinitz]),
    st.data(),
)
def test_a_flow_is_written_into_the_given_residual_network(
    G: Any, function: Any, data: st.DataObject
) -> None:
    ends = data.draw(st.permutations(list(G)))[:2]
    R, S = (flow.build_residual_network(G, "weight", backend="networkx") for _ in range(2))
    names = ["maximum_flow_value", "minimum_cut_value", "minimum_cut", "maximum_flow"]
    for name in data.draw(st.permutations(names)):
        options = {"capacity": "weight", "flow_func": function}
        expected = call(name, G, *ends, backend="networkx", residual=R, **options)
        found = call(name, G, *ends, backend="graphla", residual=S, **options)
        if isinstance(expected, Exception):
            assert type(found) is type(expected)
            return
        if name != "maximum_flow":
            assert difference(expected, found) is None
            value = found[0] if name == "minimum_cut" else found
        else:
            value = found[0]
            assert value == expected[0]
            given = {(u, v): max(S[u][v]["flow"], 0) if S.has_edge(u, v) else 0 for u, v in G.edges}
            assert all(found[1][u][v] == f for (u, v), f in given.items())
        assert S.graph["flow_value"] == value
        for u in S:
            assert all(d["flow"] == -S[v][u]["flow"] <= d["capacity"] for v, d in S[u].items())
            excess = -sum(d["flow"] for d in S[u].values())
            assert excess == {ends[0]: -value, ends[1]: value}.get(u, 0)


def test_a_residual_network_of_another_graph_is_rejected() -> None:
    G, H = nx.path_graph(3), nx.complete_graph(3)
    options = {"flow_func": flow.dinitz, "backend": "graphla"}
    for R in (H, flow.build_residual_network(H, "capacity"), nx.DiGraph(G)):
        found = call("maximum_flow_value", G, 0, 2, residual=R, **options)
        assert isinstance(found, NotImplementedError)


def test_flow_functions_reject_unknown_arguments() -> None:
    G = nx.path_graph(3)
    for options in ({"flow_func": 3}, {"cutoff": 3}):
        assert isinstance(assert_agree("maximum_flow", G, 0, 2, **options), nx.NetworkXError)
    found = call("maximum_flow", G, 0, 2, flow_func=lambda *_: None, backend="graphla")
    assert isinstance(found, NotImplementedError)
    for cutoff in (-1, 1.5):
        options = {"flow_func": flow.edmonds_karp, "cutoff": cutoff}
        found = call("maximum_flow", G, 0, 2, backend="graphla", **options)
        assert isinstance(found, NotImplementedError)
    options = {"flow_func": flow.edmonds_karp, "cutoff": 3}
    assert isinstance(call("minimum_cut", G, 0, 2, backend="graphla", **options), Exception)


@given(
    weighted_graphs(KINDS[:2], weights=st.integers(0, 5), least=2, may_lack=False),
    st.integers(0, 12),
    st.booleans(),
    st.data(),
)
def test_the_value_of_a_maximum_flow_is_limited_to_the_cutoff(
    G: Any, cutoff: int, has_residual: bool, data: st.DataObject
) -> None:
    s, t = data.draw(st.permutations(list(G)))[:2]
    most = call("maximum_flow_value", G, s, t, "weight", backend="networkx")
    options = {"flow_func": flow.edmonds_karp, "cutoff": cutoff, "backend": "graphla"}
    R = flow.build_residual_network(G, "weight")
    options |= {"residual": R} if has_residual else {}
    value, flows = call("maximum_flow", G, s, t, "weight", **options)
    assert value == min(most, cutoff)
    assert call("maximum_flow_value", G, s, t, "weight", **options) == value
    for u in G:
        assert all(0 <= f <= G[u][v]["weight"] for v, f in flows[u].items())
        excess = sum(flows[v].get(u, 0) for v in G) - sum(flows[u].values())
        assert excess == {s: -value, t: value}.get(u, 0)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 99), st.booleans())
def test_maximum_matchings_are_as_large_as_those_of_networkx(
    n: int, m: int, seed: int, has_top: bool
) -> None:
    G = nx.bipartite.random_graph(n, m, 0.5, seed=seed)
    top = {v for v, side in G.nodes(data="bipartite") if side == 0} if has_top else None
    for name in ("hopcroft_karp_matching", "eppstein_matching"):
        expected, found = (call(name, G, top, backend=b) for b in ("networkx", "graphla"))
        if isinstance(expected, Exception):
            assert type(found) is type(expected)
            continue
        assert len(found) == len(expected)
        assert all(found[v] == u and G.has_edge(u, v) for u, v in found.items())


def test_the_error_of_networkx_is_raised_for_a_graph_that_is_not_bipartite() -> None:
    assert isinstance(assert_agree("hopcroft_karp_matching", nx.cycle_graph(3)), nx.NetworkXError)
