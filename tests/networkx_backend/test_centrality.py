"""Test that centralities agree with those of NetworkX."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphla.networkx.selections import VERSION
from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.weighted_graphs import KINDS, SIMPLE, weighted_graphs

weights = st.sampled_from([None, "weight"])


@given(weighted_graphs())
def test_degree_centralities_count_parallel_edges_and_self_loops(G: Any) -> None:
    names = ["degree_centrality"]
    if G.is_directed():
        names += ["in_degree_centrality", "out_degree_centrality"]
    for name in names:
        assert list(assert_agree(name, G)) == list(G)


@given(weighted_graphs(), weights, st.booleans(), st.data())
def test_closeness_centrality_agrees_with_networkx(
    G: Any, weight: Any, improved: bool, data: st.DataObject
) -> None:
    u = data.draw(st.none() | st.sampled_from([*G, "absent"]))
    assert_agree("closeness_centrality", G, u, weight, improved)


@given(weighted_graphs(), weights, st.data())
def test_harmonic_centrality_agrees_with_networkx(G: Any, weight: Any, data: st.DataObject) -> None:
    nodes = st.none() | st.lists(st.sampled_from([*G, "absent"]))
    nbunch = data.draw(nodes | st.sampled_from([*G, 1000]))
    assert_agree("harmonic_centrality", G, nbunch, weight, data.draw(nodes))


@given(weighted_graphs(), weights, st.booleans(), st.booleans(), st.data())
def test_betweenness_from_randomly_sampled_nodes_agrees_with_networkx_for_the_same_seed(
    G: Any, weight: Any, normalized: bool, endpoints: bool, data: st.DataObject
) -> None:
    # Before version 3.6, NetworkX scales some sums of samples differently, and graphla rejects `k`.
    samples = st.integers(1, len(G)) if len(G) and VERSION >= (3, 6) else st.none()
    k = data.draw(st.none() | samples)
    # NetworkX 3.4 converts the seed to a random generator only in the public functions.
    assert_agree(nx.betweenness_centrality, G, k, normalized, weight, endpoints, seed=3)
    assert_agree(nx.edge_betweenness_centrality, G, k, normalized, weight, seed=3)


@given(weighted_graphs(), weights, st.booleans(), st.data())
def test_betweenness_of_subsets_agrees_with_networkx(
    G: Any, weight: Any, normalized: bool, data: st.DataObject
) -> None:
    nodes = st.lists(st.sampled_from([*G]), unique=True) if len(G) else st.just([])
    sources, targets = data.draw(nodes), data.draw(nodes)
    assert_agree("betweenness_centrality_subset", G, sources, targets, normalized, weight)


def test_a_rejected_call_does_not_change_the_seed() -> None:
    G = nx.path_graph(4)
    # The second edge is too short to change the distance from either end of the path.
    nx.set_edge_attributes(G, {(0, 1): 1e300, (1, 2): 1e-300, (2, 3): 1e300}, "weight")
    seed = random.Random(1)
    before = seed.getstate()
    found = call("betweenness_centrality", G, 3, True, "weight", seed=seed, backend="graphla")
    assert isinstance(found, NotImplementedError)
    assert seed.getstate() == before


@given(weighted_graphs(SIMPLE), weights, st.data())
def test_eigenvector_and_katz_centrality_agree_with_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    starts = st.fixed_dictionaries({node: st.integers(0, 5) for node in G})
    nstart = data.draw(st.none() | starts)
    assert_agree("eigenvector_centrality", G, 500, 1e-13, nstart, weight, tolerance=1e-7)
    beta = data.draw(st.sampled_from([1.0, 0.3]) | starts)
    normalized = data.draw(st.booleans())
    options = {"beta": beta, "normalized": normalized, "weight": weight, "tol": 1e-14}
    assert_agree("katz_centrality", G, 0.01, nstart=nstart, **options)


@given(weighted_graphs(SIMPLE, least=3), weights)
def test_eigenvector_centrality_computed_with_arpack_agrees_with_networkx(
    G: Any, weight: Any
) -> None:
    is_connected = nx.is_strongly_connected if G.is_directed() else nx.is_connected
    assume(not is_connected(G) or len(G) > 2)
    assert_agree("eigenvector_centrality_numpy", G, weight, 1000, tolerance=1e-7)


@given(weighted_graphs(), weights, st.data())
def test_pagerank_agrees_with_networkx(G: Any, weight: Any, data: st.DataObject) -> None:
    values = st.dictionaries(st.sampled_from([*G, "absent"]), st.integers(0, 3), max_size=3)
    personalization, dangling = data.draw(st.none() | values), data.draw(st.none() | values)
    assume(not dangling or any(dangling.get(node) for node in G))
    assume(dangling != {})
    options = {"max_iter": 1000, "tol": 1e-14, "weight": weight, "dangling": dangling}
    assert_agree("pagerank", G, 0.8, personalization, tolerance=1e-9, **options)


def test_pagerank_and_hits_raise_the_exceptions_of_networkx() -> None:
    G = nx.path_graph(5)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("pagerank", {"personalization": {"absent": 1}}),
        ("pagerank", {"max_iter": 0}),
        ("pagerank", {"max_iter": 1, "tol": 1e-12, "nstart": {0: 1}}),
        ("hits", {"max_iter": 0}),
        ("katz_centrality", {"max_iter": 0}),
        ("katz_centrality", {"beta": {0: 1}}),
        ("katz_centrality", {"alpha": 2.0}),
        ("eigenvector_centrality", {"max_iter": 1, "nstart": {k: k for k in G}}),
        ("eigenvector_centrality", {"nstart": dict.fromkeys(G, 0)}),
    )
    for name, options in calls:
        assert isinstance(assert_agree(name, G, **options), Exception), (name, options)
    for name in ("pagerank", "hits", "katz_centrality", "eigenvector_centrality"):
        assert_agree(name, nx.Graph())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalized", [True, False])
def test_hub_and_authority_scores_agree_with_networkx_up_to_the_sign(
    kind: Any, normalized: bool
) -> None:
    G = kind(nx.gnp_random_graph(12, 0.4, seed=2, directed=True))
    for k, (u, v, data) in enumerate(list(G.edges(data=True))):
        data["weight"] = k % 3 + 1
        if G.is_multigraph() and k % 2:
            G.add_edge(u, v, weight=2)
    expected = call("hits", G, tol=1e-14, normalized=normalized, backend="networkx")
    found = call("hits", G, tol=1e-14, max_iter=1000, normalized=normalized, backend="graphla")
    for one, other in zip(expected, found, strict=True):
        assert {v: abs(x) for v, x in one.items()} == pytest.approx(other, abs=1e-9)
        assert all(type(x) is float for x in other.values())
