"""Test clustering, cores and link prediction against NetworkX."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphla.networkx.selections import VERSION
from tests.networkx_backend.agreement import assert_agree, call

nx = pytest.importorskip("networkx")
nx.config.warnings_to_ignore.add("cache")  # the tests do not change a graph between two calls

NAMES = [0.5, "b", ("c", 1), 3, 2, "a", frozenset({1}), 7]
SCORES = [
    "adamic_adar_index",
    "jaccard_coefficient",
    "preferential_attachment",
    "resource_allocation_index",
    "cn_soundarajan_hopcroft",
    "ra_index_soundarajan_hopcroft",
    "within_inter_cluster",
]


def pairs_of(G, most):
    """Draw up to `most` pairs of nodes."""
    if not len(G):
        return st.just([])
    node = st.sampled_from([*G])
    return st.lists(st.tuples(node, node), max_size=most)


@st.composite
def graphs(draw, kind=nx.Graph, loops=True):
    """Draw a graph with at most 8 nodes, with attributes and with weights of some edges."""
    G, names = kind(), draw(st.permutations(NAMES))[: draw(st.integers(0, 8))]
    for node in names:
        G.add_node(node, community=draw(st.sampled_from("xy")), size=len(str(node)))
    for u, v in draw(pairs_of(G, 20)):
        if u != v or loops:
            options = draw(st.sampled_from([{}, {"weight": 2}, {"weight": 3.5, "color": "red"}]))
            G.add_edge(u, v, **options)
    G.graph["name"] = "G"
    return G


@st.composite
def with_nodes(draw, edges):
    """Draw a graph, and None, one object or a list of objects. Some objects are not nodes."""
    G = draw(edges)
    node = st.sampled_from([*G, "no node"])
    return G, draw(st.none() | node | st.lists(node, max_size=4))


kinds = st.sampled_from([nx.Graph, nx.DiGraph])


def counts_squares(G):
    """Return whether graphla counts the squares of G.

    With NetworkX 3.4, which does not ignore self-loops, graphla rejects graphs with self-loops.
    """
    return VERSION >= (3, 5) or not nx.number_of_selfloops(G)


@settings(max_examples=60)
@given(with_nodes(graphs()), st.sampled_from([None, "weight", "missing"]))
def test_clustering_coefficients_agree_with_networkx(given, weight):
    G, nodes = given
    for name in ("triangles", "generalized_degree"):
        assert_agree(name, G, nodes)
    if counts_squares(G):
        assert_agree("square_clustering", G, nodes)
    assert_agree("clustering", G, nodes, weight)
    assert_agree("transitivity", G)
    if not (nodes in G if nodes.__hash__ else False):
        for count_zeros in (True, False):
            assert_agree("average_clustering", G, nodes, weight, count_zeros=count_zeros)


@settings(max_examples=40)
@given(with_nodes(graphs(nx.DiGraph)), st.sampled_from([None, "weight"]))
def test_clustering_coefficients_of_directed_graphs_agree_with_networkx(given, weight):
    G, nodes = given
    assert_agree("clustering", G, nodes, weight)
    assert_agree("transitivity", G)


@given(graphs(nx.MultiGraph))
def test_parallel_edges_are_rejected_or_counted_once(G):
    for name in ("triangles", "clustering", "transitivity"):
        assert_agree(name, G)
    if counts_squares(G):
        assert_agree("square_clustering", G)


@settings(max_examples=60)
@given(kinds.flatmap(lambda kind: graphs(kind, loops=False)), st.none() | st.integers(0, 4))
def test_core_numbers_and_cores_agree_with_networkx(G, k):
    numbers = nx.core_number(G)
    assert_agree("core_number", G)
    for name in ("k_core", "k_shell", "k_crust"):
        assert_agree(name, G, k)
        assert_agree(name, G, k, numbers)
    if k is not None:
        assert_agree("k_corona", G, k)
        assert_agree("k_corona", G, k, numbers)


@settings(max_examples=60)
@given(graphs(loops=False), st.integers(0, 5) | st.sampled_from([-1, 3.5]))
def test_trusses_and_onion_layers_agree_with_networkx(G, k):
    assert_agree("k_truss", G, k)
    layers = assert_agree("onion_layers", G)
    assert list(layers.values()) == sorted(layers.values())


def test_self_loops_are_rejected_as_in_networkx():
    G = nx.Graph([(0, 0), (0, 1)])
    for name in ("core_number", "onion_layers", "k_core", "k_shell", "k_crust"):
        error = call(name, G, backend="graphla")
        assert isinstance(error, nx.NetworkXNotImplemented)
        assert str(error) == str(call(name, G, backend="networkx"))
    assert isinstance(call("k_truss", G, 3, backend="graphla"), nx.NetworkXNotImplemented)


@settings(max_examples=60)
@given(graphs(), st.data())
@pytest.mark.parametrize("name", SCORES)
def test_link_prediction_scores_agree_with_networkx(name, G, data):
    pairs = data.draw(pairs_of(G, 6))
    found = assert_agree(name, G, pairs)
    assert isinstance(found, ZeroDivisionError) or [(u, v) for u, v, _ in found] == pairs
    expected = {frozenset(pair): x for *pair, x in call(name, G, backend="networkx")}
    found = {frozenset(pair): x for *pair, x in call(name, G, backend="graphla")}
    assert found == pytest.approx(expected)


def test_link_prediction_scores_of_too_many_pairs_are_rejected():
    with pytest.raises(NotImplementedError, match="graphla"):
        nx.adamic_adar_index(nx.star_graph(5000), backend="graphla")


@settings(max_examples=40)
@given(graphs(), st.sampled_from([0.8, 1, 0]), st.data())
def test_common_neighbor_centrality_agrees_with_networkx(G, alpha, data):
    pairs = data.draw(pairs_of(G, 6))
    assert_agree("common_neighbor_centrality", G, pairs, alpha)


@pytest.mark.parametrize("name", SCORES[-3:])
@pytest.mark.parametrize("known", [[], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
def test_nodes_without_a_community_are_rejected_as_in_networkx(name, known):
    G = nx.path_graph(3)
    nx.set_node_attributes(G, dict.fromkeys(known, "x"), "community")
    assert_agree(name, G, [(0, 2)])
    assert_agree(name, G, [(0, 1)])


@pytest.mark.parametrize("name", SCORES)
def test_pairs_of_unknown_nodes_are_rejected_before_the_first_score(name):
    G = nx.Graph([(0, 1)])
    nx.set_node_attributes(G, 1, "community")
    with pytest.raises(nx.NodeNotFound, match="Node 5 not in G"):
        getattr(nx, name)(G, [(0, 1), (0, 5)], backend="graphla")
    with pytest.raises(NotImplementedError, match="an argument is an iterator"):
        getattr(nx, name)(G, iter([(0, 1)]), backend="graphla")
