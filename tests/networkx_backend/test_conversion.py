"""Test that a converted graph holds everything that the NetworkX graph holds."""

from __future__ import annotations

import pickle
import string
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla.networkx
from graphla.networkx import graphs
from networkx_backend.agreement import assert_agree

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
backend = graphla.networkx.backend


@st.composite
def nx_graphs(draw: st.DrawFn, kinds: Any = KINDS) -> Any:
    """Draw a graph of any of NetworkX's classes, with attributes of several types."""
    nodes: Any = st.integers(0, 6) | st.sampled_from(string.ascii_lowercase[:4])
    values: Any = st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from([True, "x", None, 2**70])
    data = st.dictionaries(st.sampled_from(["weight", "length", 3]), values, max_size=2)
    G = draw(st.sampled_from(kinds))()
    G.add_nodes_from(draw(st.lists(st.tuples(nodes, data), max_size=6)))
    G.add_edges_from(draw(st.lists(st.tuples(nodes, nodes, data), max_size=12)))
    G.graph.update(draw(data))
    return G


def converted(G: Any, **options: Any) -> Any:
    return backend.convert_to_nx(backend.convert_from_nx(G, **options))


def assert_identical(G: Any, H: Any) -> None:
    """Assert that both graphs are equal, and that their dicts have the same order."""
    assert type(G) is type(H)
    assert G._node == H._node and G._adj == H._adj and G.graph == H.graph
    assert list(G) == list(H)
    assert [list(G._adj[node]) for node in G] == [list(H._adj[node]) for node in H]
    if G.is_directed():
        assert G._pred == H._pred
    else:
        assert all(H._adj[u][v] is H._adj[v][u] for u, v in H.edges())


@given(nx_graphs())
def test_converting_a_graph_with_all_attributes_and_back_returns_an_equal_graph(G: Any) -> None:
    assert_identical(G, converted(G, preserve_edge_attrs=True, preserve_node_attrs=True))


@given(nx_graphs())
def test_a_conversion_keeps_the_chosen_attributes_and_fills_in_defaults_for_missing_ones(
    G: Any,
) -> None:
    H = converted(G, edge_attrs={"weight": 7, 3: None}, node_attrs={"length": "none"})
    for each in (G, H):
        assert list(each) == list(H)
    for node, data in G.nodes(data=True):
        assert H.nodes[node] == {"length": data.get("length", "none")}
    expected = [(*e[:-1], {"weight": e[-1].get("weight", 7), 3: e[-1].get(3)}) for e in _edges(G)]
    assert list(_edges(H)) == expected


def _edges(G: Any) -> Any:
    return G.edges(data=True, keys=True) if G.is_multigraph() else G.edges(data=True)


@given(nx_graphs(), st.data())
def test_a_subgraph_keeps_the_attributes_of_its_nodes_and_edges(
    G: Any, data: st.DataObject
) -> None:
    kept = [node for node in G if data.draw(st.booleans())]
    C = backend.convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True)
    part = graphs.subgraph(C, nodes=np.array([node in kept for node in G], bool))
    assert nx.utils.graphs_equal(backend.convert_to_nx(part), G.subgraph(kept).copy())
    dropped = [e for e in _named(G) if data.draw(st.booleans())]
    rest = G.copy()
    rest.remove_edges_from(dropped)
    edges = [(u, v, *key) for u in G for v in G._adj[u] for key in _keys_of(G, u, v)]
    gone = {*dropped} if G.is_directed() else {*dropped, *((v, u, *key) for u, v, *key in dropped)}
    part = graphs.subgraph(C, edges=np.array([edge not in gone for edge in edges], bool))
    assert nx.utils.graphs_equal(backend.convert_to_nx(part), rest)


def _keys_of(G: Any, u: Any, v: Any) -> list[tuple[Any, ...]]:
    return [(key,) for key in G._adj[u][v]] if G.is_multigraph() else [()]


def _named(G: Any) -> list[tuple[Any, ...]]:
    return list(G.edges(keys=True) if G.is_multigraph() else G.edges())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "view",
    [
        lambda G: nx.subgraph_view(G, filter_node=lambda n: n != 2),
        lambda G: G.reverse(copy=False) if G.is_directed() else G.to_directed(as_view=True),
        lambda G: G.to_directed().to_undirected(as_view=True) if not G.is_directed() else G,
        lambda G: G.subgraph([3, 1, 0]),
    ],
)
def test_a_graph_view_is_converted_like_a_copy_of_the_view(
    kind: Any, view: Callable[[Any], Any]
) -> None:
    G = kind([(3, 1, {"weight": 2}), (1, 0), (0, 2), (2, 3), (1, 3)])
    H = view(G)
    back = converted(H, preserve_edge_attrs=True, preserve_node_attrs=True)
    assert nx.utils.graphs_equal(back, H) and list(back) == list(H)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_a_view_in_which_the_two_directions_of_an_edge_have_different_data_is_rejected(
    kind: Any,
) -> None:
    G = kind([(3, 1, {"weight": 2}), (1, 3)])
    with pytest.raises(NotImplementedError, match="has other data than its opposite"):
        backend.convert_from_nx(G.to_undirected(as_view=True))


def test_a_graph_subclass_with_its_own_dict_types_is_converted() -> None:
    shared = {"weight": 3}

    class Thin(nx.Graph):
        edge_attr_dict_factory: Any = lambda self: shared

    G = Thin([(0, 1), (1, 2)])
    assert_agree("shortest_path_length", G, 0, 2, weight="weight")


def test_a_graphla_graph_needs_no_conversion() -> None:
    G: Any = graphla.Graph.from_edges([("a", "b", 2), ("b", "c", 3)])
    assert nx.shortest_path_length(G, "a", "c") == 2
    assert nx.shortest_path_length(G, "a", "c", weight="weight") == 5
    assert list(nx.bfs_edges(G, "a")) == [("a", "b"), ("b", "c")]
    assert list(nx.connected_components(G)) == [{"a", "b", "c"}]
    assert nx.triangles(G) == {"a": 0, "b": 0, "c": 0}


@given(nx_graphs())
def test_a_graph_that_is_pickled_or_moved_to_another_device_keeps_all_its_data(G: Any) -> None:
    C = backend.convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True)
    assert_identical(G, pickle.loads(pickle.dumps(C)).to_networkx())
    assert_identical(G, C.to("cpu").to_networkx())


def test_an_algorithm_rejects_an_edge_attribute_as_the_weight_of_a_converted_graph() -> None:
    C = backend.convert_from_nx(nx.path_graph(3), edge_attrs={"weight": 1})
    with pytest.raises(graphla.exceptions.InvalidValue, match="holds no edge attribute"):
        graphla.algorithms.pagerank(C, weight="weight")


def test_networkx_handles_an_object_that_is_not_a_graph():
    G = nx.path_graph(4)
    with pytest.raises(NotImplementedError):
        nx.community.is_partition(G.nodes(), [{0, 1}, {2, 3}], backend="graphla")
    priority: Any = nx.config.backend_priority
    with priority(algos=["graphla"]):
        assert nx.community.is_partition(G.nodes(), [{0, 1}, {2, 3}])
