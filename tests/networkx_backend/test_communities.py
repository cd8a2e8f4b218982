"""Test communities and the quality of partitions against NetworkX."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree, call, needs
from tests.networkx_backend.test_cohesion import graphs

nx = pytest.importorskip("networkx")

has_leiden = needs("leiden_communities")
MODULARITY = ["louvain_communities", pytest.param("leiden_communities", marks=has_leiden)]
PROPAGATION = ["asyn_lpa_communities", "fast_label_propagation_communities"]
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
kinds = st.sampled_from(KINDS)


@st.composite
def with_partition(draw, edges):
    """Draw a graph, and sets of nodes that are a partition in most cases."""
    G = draw(edges)
    labels = [draw(st.integers(0, 3)) for _ in G]
    parts = [{v for v, c in zip(G, labels, strict=True) if c == each} for each in set(labels)]
    return G, draw(st.sampled_from([parts, list(map(frozenset, parts)), parts[1:], [*parts, {99}]]))


@settings(max_examples=80)
@given(with_partition(kinds.flatmap(graphs)), st.sampled_from([None, "weight"]))
def test_the_quality_of_a_partition_agrees_with_networkx(given, weight):
    G, parts = given
    assert_agree("modularity", G, parts, weight)
    assert_agree("modularity", G, parts, weight, resolution=0.5)
    assert_agree("is_partition", G, parts)
    if nx.community.is_partition(G, parts):
        assert_agree("partition_quality", G, parts)
        assert_agree("intra_community_edges", G, parts)
        assert_agree("inter_community_non_edges", G, parts)
        if not G.is_multigraph():
            assert_agree("inter_community_edges", G, parts)


@settings(max_examples=40)
@given(graphs())
def test_label_propagation_agrees_with_networkx(G):
    name = "label_propagation_communities"
    expected, found = (call(name, G, backend=each) for each in ("networkx", "graphla"))
    assert type(found) is type(expected)
    assert set(map(frozenset, found)) == set(map(frozenset, expected))


@settings(max_examples=80)
@given(st.randoms(), st.data())
def test_greedy_modularity_communities_agree_with_networkx(chance, data):
    n, m = chance.randrange(1, 16), chance.randrange(0, 30)
    G = nx.gnm_random_graph(n, m, chance.randrange(99), directed=chance.random() < 0.3)
    if chance.random() < 0.5:
        G = nx.relabel_nodes(G, dict(zip(G, chance.sample("abcdefghijklmnop", n), strict=True)))
    G.add_edges_from(chance.choices(list(G), k=2) for _ in range(chance.randrange(3)))
    cutoff = data.draw(st.sampled_from([1, 1, 2, 5]))
    best_n = data.draw(st.sampled_from([None, None, 1, 3, 6]))
    resolution = data.draw(st.sampled_from([1, 0.5, 2]))
    name = "greedy_modularity_communities"
    assert_agree(name, G, resolution=resolution, cutoff=cutoff, best_n=best_n)
    assert_agree(name, nx.MultiGraph(G), weight="weight", resolution=resolution)


@settings(max_examples=40)
@given(kinds.flatmap(graphs), st.sampled_from([None, "weight"]), st.integers(0, 3))
@pytest.mark.parametrize("name", [*MODULARITY, *PROPAGATION])
def test_the_communities_form_a_partition_that_depends_only_on_the_seed(name, G, weight, seed):
    if name == "leiden_communities" and G.is_directed():
        return
    find = getattr(nx.community, name)
    found = [list(find(G, weight=weight, seed=seed, backend="graphla")) for _ in range(2)]
    assert found[0] == found[1]
    assert nx.community.is_partition(G, found[0])
    assert all(type(part) is set for part in found[0])


@settings(max_examples=40)
@given(graphs(), st.sampled_from([None, "weight"]))
@pytest.mark.parametrize("name", PROPAGATION)
def test_each_node_is_in_a_community_that_is_most_frequent_among_its_neighbors(name, G, weight):
    parts = list(getattr(nx.community, name)(G, weight=weight, seed=1, backend="graphla"))
    part_of = {v: k for k, part in enumerate(parts) for v in part}
    for v in G:
        counts = Counter()
        for w, data in G[v].items():
            counts[part_of[w]] += data.get(weight, 1) if weight else 1
        assert not counts or counts[part_of[v]] == max(counts.values())


@has_leiden
def test_the_modularity_of_leiden_is_at_least_that_of_louvain_in_networkx():
    ours, theirs = [], []
    for seed in range(6):
        G = nx.gnp_random_graph(80, 0.06, seed=seed)
        found = nx.community.leiden_communities(G, seed=seed, backend="graphla")
        expected = nx.community.louvain_communities(G, seed=seed, backend="networkx")
        ours.append(nx.community.modularity(G, found))
        theirs.append(nx.community.modularity(G, expected))
    assert np.mean(ours) >= np.mean(theirs)


@pytest.mark.parametrize("name", MODULARITY)
def test_louvain_and_leiden_communities_equal_the_last_of_their_partitions(name):
    G = nx.planted_partition_graph(4, 15, 0.5, 0.05, seed=2)
    levels = getattr(nx.community, name.replace("communities", "partitions"))
    partitions = list(levels(G, seed=5, backend="graphla"))
    find = getattr(nx.community, name)
    assert find(G, seed=5, backend="graphla") == partitions[-1]
    for k, partition in enumerate(partitions, 1):
        assert find(G, seed=5, max_level=k, backend="graphla") == partition
    with pytest.raises(ValueError, match="max_level argument must be a positive integer"):
        find(G, max_level=0, backend="graphla")


@has_leiden
def test_communities_of_leiden_are_connected():
    for seed in range(3):
        G = nx.gnm_random_graph(200, 300, seed=seed)
        for partition in nx.community.leiden_partitions(G, seed=seed, backend="graphla"):
            assert all(nx.is_connected(G.subgraph(part)) for part in partition)


@pytest.mark.parametrize("name", [*MODULARITY, *PROPAGATION])
def test_a_rejected_call_does_not_use_the_seed(name):
    G, seed = nx.Graph([(0, 1, {"weight": -1})]), random.Random(1)
    before = seed.getstate()
    with pytest.raises(NotImplementedError, match="graphla"):
        getattr(nx.community, name)(G, weight="weight", seed=seed, backend="graphla")
    assert seed.getstate() == before


def test_weights_without_a_finite_sum_are_rejected_as_in_networkx():
    G = nx.Graph([(0, 1, {"weight": 0})])
    assert_agree("louvain_communities", G, seed=1)
    assert_agree("modularity", G, [{0}, {1}])
