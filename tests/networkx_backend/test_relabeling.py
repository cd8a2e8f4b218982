"""Test relabeled graphs, ego graphs and lists of neighbors."""

from __future__ import annotations

from typing import Any, cast

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from networkx_backend.agreement import assert_agree
from networkx_backend.drawn import weighted_graphs


@given(weighted_graphs(), st.sampled_from(["default", "sorted", "increasing degree", "none"]))
def test_conversion_to_integer_labels_matches_networkx(G, ordering):
    assert_agree("convert_node_labels_to_integers", G, 5, ordering)
    assert_agree("convert_node_labels_to_integers", G, label_attribute="before")


@given(weighted_graphs(), st.data())
def test_relabeled_graphs_match_networkx_even_if_nodes_are_merged(G, data):
    names = st.sampled_from(["a", "b", "c", "d", *list(G)])
    mapping = data.draw(st.dictionaries(names, names))
    assert_agree("relabel_nodes", G, mapping)
    assert_agree("relabel_nodes", G, lambda node: (node, "new"))
    assert_agree("relabel_nodes", G, str)


@given(weighted_graphs(), st.integers(0, 3), st.booleans(), st.data())
def test_ego_graphs_match_networkx(G, radius, center, data):
    node = data.draw(st.sampled_from([*G, "absent"]))
    assert_agree("ego_graph", G, node, radius, center)
    for _, _, edge in G.edges(data=True):
        edge["length"] = 2
    assert_agree("ego_graph", G, node, radius, center, distance="length")


@given(weighted_graphs(), st.data())
def test_neighbor_lists_match_networkx(G, data):
    assert_agree("to_dict_of_lists", G)
    nodes = data.draw(st.lists(st.sampled_from([*G, "absent"]), unique=True))
    assert_agree("to_dict_of_lists", G, nodes)


@given(weighted_graphs(), st.integers(-1, 1), st.data())
def test_the_test_for_negative_weights_matches_networkx(G, least, data):
    for _, _, edge in G.edges(data=True):
        edge["weight"] = data.draw(st.integers(least, 3))
    assert_agree("is_negatively_weighted", G)
    assert_agree("is_negatively_weighted", G, weight="absent")
    if not G.is_multigraph():
        assert_agree("is_negatively_weighted", G, data.draw(st.sampled_from([*G.edges, (0, "z")])))


def test_relabeling_a_graph_in_place_is_rejected():
    G, relabel = nx.path_graph(3), cast("Any", nx.relabel_nodes)
    with pytest.raises(NotImplementedError):
        relabel(G, {0: "a"}, copy=False, backend="graphla")


def test_graphs_of_a_subclass_are_rejected():
    class Roads(nx.Graph):
        pass

    G: Any = Roads([(5, 7)])
    for function in (nx.convert_node_labels_to_integers, nx.ego_graph):
        with pytest.raises(NotImplementedError):
            function(G, 5, backend="graphla")
    with pytest.raises(NotImplementedError):
        cast("Any", nx.relabel_nodes)(G, {5: 6}, backend="graphla")
