"""Test NetworkX calls on graphs that the backend has moved to a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from devices import DEVICE
from hypothesis import given, settings

from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.drawn import weighted_graphs, with_nodes

pytestmark = pytest.mark.skipif(DEVICE == "cpu", reason="needs a card or the simulator")


@pytest.fixture(autouse=True, scope="module")
def converts_to_the_gpu() -> Iterator[None]:
    config: Any = nx.config
    config.backends.graphla.device = DEVICE
    yield
    config.backends.graphla.device = None


@settings(max_examples=4)
@given(with_nodes(weighted_graphs()))
def test_searches_on_a_gpu_agree_with_networkx_except_for_the_order_of_equal_distances(
    drawn: Any,
) -> None:
    G, source, target = drawn
    assert_agree("single_source_shortest_path_length", G, source, 2)
    assert_agree("single_source_dijkstra_path_length", G, source, 2.5)
    assert_agree("multi_source_dijkstra_path_length", G, {source, target})
    for name in ("descendants", "ancestors"):
        assert_agree(name, G, source)
    parents, lengths = call("dijkstra_predecessor_and_distance", G, source, backend="graphla")
    before, expected = call("dijkstra_predecessor_and_distance", G, source, backend="networkx")
    assert lengths == expected
    assert {v: set(each) for v, each in parents.items()} == {v: set(u) for v, u in before.items()}
    paths = call("single_source_shortest_path", G, source, backend="graphla")
    assert all(nx.is_simple_path(G, path) for path in paths.values())


@settings(max_examples=4)
@given(weighted_graphs((nx.Graph, nx.MultiGraph)))
def test_bridges_and_spanning_trees_on_a_gpu_have_the_same_order_as_in_networkx(G: Any) -> None:
    assert_agree("bridges", G)
    assert_agree("has_bridges", G)
    assert_agree("minimum_spanning_edges", G)
