"""Test that spanning trees, and predicates such as `is_tree`, agree with NetworkX."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree
from tests.networkx_backend.weighted_graphs import weighted_graphs

undirected = weighted_graphs((nx.Graph, nx.MultiGraph), weights=st.integers(-3, 5))


@given(undirected)
def test_kruskal_spanning_trees_agree_with_networkx_even_if_weights_are_equal(G: Any) -> None:
    G.graph["name"] = "graph"
    nx.set_node_attributes(G, dict.fromkeys(G, 7), "color")
    for name in ("minimum_spanning_tree", "maximum_spanning_tree"):
        T = assert_agree(name, G)
        assert list(T) == list(G)


@given(undirected, st.booleans(), st.booleans())
def test_kruskal_spanning_edges_have_the_same_order_as_in_networkx(
    G: Any, keys: bool, data: bool
) -> None:
    for name in ("minimum_spanning_edges", "maximum_spanning_edges"):
        assert_agree(name, G, keys=keys, data=data)


@given(
    weighted_graphs((nx.Graph, nx.MultiGraph), weights=st.sampled_from([0, 1, 2, 2.5, math.nan])),
    st.sampled_from(["prim", "boruvka"]),
    st.booleans(),
)
def test_spanning_trees_of_other_algorithms_agree_with_networkx(
    G: Any, algorithm: str, ignore_nan: bool
) -> None:
    for name in ("minimum_spanning_tree", "maximum_spanning_tree"):
        assert_agree(name, G, algorithm=algorithm, ignore_nan=ignore_nan)
    for name in ("minimum_spanning_edges", "maximum_spanning_edges"):
        assert_agree(name, G, algorithm, ignore_nan=ignore_nan)


def test_spanning_trees_treat_nan_weights_and_invalid_arguments_as_networkx_does() -> None:
    G = nx.cycle_graph(4)
    nx.set_edge_attributes(G, {(0, 1): math.nan, (1, 2): 3, (2, 3): 1, (0, 3): 2}, "weight")
    for name in ("minimum_spanning_tree", "maximum_spanning_tree"):
        assert_agree(name, G, ignore_nan=True)
        assert isinstance(assert_agree(name, G), ValueError)
        assert isinstance(assert_agree(name, G, algorithm="magic"), ValueError)
    assert isinstance(assert_agree("minimum_spanning_tree", nx.DiGraph()), nx.NetworkXException)
    edges = nx.minimum_spanning_edges(G.copy(), backend="graphla")
    with pytest.raises(ValueError, match="is NaN"):
        next(edges)
    multigraph = nx.MultiGraph([(0, 1)])
    assert_agree("minimum_spanning_tree", multigraph, algorithm="boruvka")


@given(weighted_graphs())
def test_the_functions_that_recognize_trees_and_forests_agree_with_networkx(G: Any) -> None:
    for name in ("is_tree", "is_forest"):
        assert_agree(name, G)
        if G.is_directed():
            assert_agree({"is_tree": "is_arborescence", "is_forest": "is_branching"}[name], G)
