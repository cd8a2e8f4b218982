"""Test that components agree with NetworkX."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphla.networkx import backend, components
from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.drawn import DIRECTED, SIMPLE, UNDIRECTED, weighted_graphs, with_nodes

# Run fewer examples, because each of them calls many functions.
few = settings(max_examples=settings().max_examples // 3)


@few
@given(with_nodes(weighted_graphs(UNDIRECTED)))
def test_connected_components_agree_with_networkx(drawn: Any) -> None:
    G, node, _ = drawn
    for name in ("connected_components", "number_connected_components", "is_connected"):
        assert_agree(name, G)
    assert_agree("node_connected_component", G, node)


@few
@given(with_nodes(weighted_graphs(DIRECTED)))
def test_components_of_directed_graphs_agree_with_networkx(drawn: Any) -> None:
    G, node, _ = drawn
    for name in (
        "weakly_connected_components",
        "number_weakly_connected_components",
        "is_weakly_connected",
        "strongly_connected_components",
        "number_strongly_connected_components",
        "is_strongly_connected",
        "is_semiconnected",
        "condensation",
        "attracting_components",
        "number_attracting_components",
        "is_attracting_component",
    ):
        assert_agree(name, G)
    parts = call("strongly_connected_components", G, backend="networkx")[::-1]
    assert_agree("condensation", G, parts)
    name = "kosaraju_strongly_connected_components"
    found = call(name, G, backend="graphla")
    assert set(map(frozenset, found)) == set(map(frozenset, parts))
    assert isinstance(call(name, G, node, backend="graphla"), NotImplementedError)


@few
@given(with_nodes(weighted_graphs(UNDIRECTED)))
def test_biconnected_components_and_bridges_agree_with_networkx(drawn: Any) -> None:
    G, node, _ = drawn
    for name in ("is_biconnected", "biconnected_components", "articulation_points"):
        assert_agree(name, G)
    assert_agree("bridges", G)
    assert_agree("has_bridges", G)
    assert_agree("has_bridges", G, node)
    found = call("bridges", G, node, backend="graphla")
    expected = call("bridges", G, node, backend="networkx")
    assert set(map(frozenset, found)) == set(map(frozenset, expected))
    found = call("biconnected_component_edges", G, backend="graphla")
    if nx.number_of_selfloops(G):
        assert isinstance(found, NotImplementedError)
    else:
        expected = call("biconnected_component_edges", G, backend="networkx")
        found, expected = ([set(map(frozenset, part)) for part in x] for x in (found, expected))
        assert found == expected
    if not G.is_multigraph():
        assert_agree("bridge_components", G)


@given(weighted_graphs(UNDIRECTED))
def test_the_bridges_that_a_device_finds_are_those_of_the_search_on_the_cpu(G: Any) -> None:
    converted = backend.convert_from_nx(G)
    expected = components._search_bridges(converted)
    for found, wanted in zip(components._find_bridges(converted), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_the_exceptions_of_networkx_are_raised_for_the_null_graph(kind: Any) -> None:
    names = ["is_connected", "connected_components", "is_biconnected", "bridges"]
    if kind is nx.DiGraph:
        names = ["is_weakly_connected", "is_strongly_connected", "is_semiconnected", "condensation"]
    for name in names:
        assert_agree(name, kind())


@few
@given(weighted_graphs(SIMPLE), st.integers(1, 4))
def test_k_edge_connected_components_agree_with_networkx(G: Any, k: int) -> None:
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    found = call("k_edge_components", G, k, backend="graphla")
    expected = call("k_edge_components", G, k, backend="networkx")
    assert sorted(map(str, map(sorted, found))) == sorted(map(str, map(sorted, expected)))


def test_a_graph_subclass_that_computes_its_neighbors_is_read_through_its_methods() -> None:
    kcomponents: Any = import_module("networkx.algorithms.approximation.kcomponents")
    G = kcomponents._AntiGraph(nx.path_graph(4))
    assert [set(part) for part in nx.connected_components(G, backend="graphla")] == [{0, 1, 2, 3}]
