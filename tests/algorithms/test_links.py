"""Tests of link prediction scores, generalized degrees and the quality of partitions."""

from __future__ import annotations

import pytest
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    adamic_adar,
    common_neighbors,
    generalized_degree,
    partition_quality,
    preferential_attachment,
    resource_allocation,
)
from graphla.algorithms._shared import common_neighbors as shared

nx = pytest.importorskip("networkx")
undirected = graphs(undirected=True)
SCORES = {
    adamic_adar: nx.adamic_adar_index,
    resource_allocation: nx.resource_allocation_index,
    preferential_attachment: nx.preferential_attachment,
    common_neighbors: lambda G, pairs: (
        (u, v, len(nx.common_neighbors(G, u, v))) for u, v in pairs
    ),
}


@settings(max_examples=30)
@given(undirected, st.data())
@pytest.mark.parametrize("score", SCORES, ids=lambda each: each.__name__)
def test_link_prediction_scores_of_vertex_pairs_match_networkx(score, graph, data):
    A, vertex = graph.matrix(), st.integers(0, graph.n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex).filter(lambda x: x[0] != x[1])))
    found = score(A, pairs)
    assert found.to_dict() == pytest.approx(
        {(u, v): x for u, v, x in SCORES[score](graph.networkx(), pairs)}
    )
    assert score(A, found).isequal(found)


@settings(max_examples=30)
@given(undirected)
@pytest.mark.parametrize("score", SCORES, ids=lambda each: each.__name__)
def test_every_pair_of_vertices_with_a_common_neighbor_has_a_score(score, graph):
    G, before = graph.networkx(), shared.WEDGES
    pairs = [(u, v) for u in G for v in G if u != v and list(nx.common_neighbors(G, u, v))]
    expected = {(u, v): x for u, v, x in SCORES[score](G, pairs)}
    for shared.WEDGES in (before, 5):
        assert score(graph.matrix()).to_dict() == pytest.approx(expected)
    shared.WEDGES = before


@pytest.mark.parametrize("score", SCORES, ids=lambda each: each.__name__)
def test_link_prediction_rejects_directed_graphs_and_unknown_vertices(score):
    G = gl.Graph.from_edges([("a", "b")], directed=True)
    with pytest.raises(gl.exceptions.InvalidValue, match="A is a directed Graph"):
        score(G)
    with pytest.raises(IndexError, match="ebunch has 5, but the vertices are 0 to 1"):
        score(gl.Matrix.from_coo([0, 1], [1, 0], 1), [(0, 5)])


@given(undirected, st.data())
def test_generalized_degrees_match_networkx(graph, data):
    vertex = st.integers(0, graph.n - 1)
    nodes = data.draw(st.none() | st.lists(vertex, max_size=5))
    expected = nx.generalized_degree(graph.networkx(), nodes)
    found = generalized_degree(graph.matrix(), nodes)
    assert found.to_dicts() == {v: dict(counts) for v, counts in expected.items() if counts}
    assert found.dtype == "INT64"
    assert found.nrows == graph.n


def test_the_rows_of_the_generalized_degrees_are_labeled_with_the_vertices():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    assert generalized_degree(G, ["c", "d"]).to_dicts() == {"c": {0: 1, 1: 2}, "d": {0: 1}}


@settings(max_examples=60)
@given(graphs(least=2), st.data())
def test_the_quality_of_a_partition_matches_networkx(graph, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=graph.n, max_size=graph.n))
    groups = [{v for v in range(graph.n) if labels[v] == each} for each in set(labels)]
    told = {"directed": not graph.undirected}
    if not graph.ends:
        with pytest.raises(gl.exceptions.InvalidValue, match="A has no edge"):
            partition_quality(graph.matrix(), groups, **told)
        return
    expected = nx.community.partition_quality(graph.networkx(), groups)
    for communities in (groups, gl.Vector.from_dense(labels), dict(enumerate(labels))):
        found = partition_quality(graph.matrix(), communities, **told)
        assert found == pytest.approx(expected)
        assert all(type(x) is float for x in found)


def test_the_quality_of_a_partition_requires_at_least_two_vertices():
    with pytest.raises(gl.exceptions.InvalidValue, match="A has one vertex"):
        partition_quality(gl.Matrix.from_coo([0], [0], 1), [{0}])
