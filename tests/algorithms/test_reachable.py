"""Tests of breadth-first layers, neighborhoods and the transitive closure."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import graphs, halves, integers, with_order, with_source
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import layers, neighborhood, reachable, transitive_closure
from graphla.algorithms.reachable import definition
from graphla.backends.tuning import using
from graphla.traversal import many

few = settings(max_examples=settings().max_examples // 3)
rooted = with_source(graphs())
weighted = with_source(st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64")))


# --- layers -------------------------------------------------------------------------------------


@given(graphs(), st.data())
def test_layers_match_networkx(graph, data):
    nx = pytest.importorskip("networkx")
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=3))
    found = layers(graph.matrix(), sources)
    assert found == [sorted(layer) for layer in nx.bfs_layers(graph.networkx(), set(sources))]


@few
@given(with_order(graphs()), st.data())
def test_relabeled_vertices_keep_their_layers(ordered, data):
    graph, order = ordered
    source = data.draw(st.integers(0, graph.n - 1))
    found = layers(graph.relabeled(order).matrix(), order[source])
    assert found == [sorted(order[v] for v in layer) for layer in layers(graph.matrix(), source)]


def test_a_search_without_sources_has_no_layers():
    assert layers(gl.Matrix(int, 3, 3), []) == []
    assert layers(gl.Matrix(int, 3, 3), 2) == [[2]]


# --- neighborhoods ------------------------------------------------------------------------------


@given(rooted, st.integers(0, 3), st.booleans(), st.booleans())
def test_a_neighborhood_equals_the_ego_graph_of_networkx(rooted, radius, center, undirected):
    nx = pytest.importorskip("networkx")
    graph, n = rooted
    ego = nx.ego_graph(graph.networkx(), n, radius, center=center, undirected=undirected)
    found = neighborhood(graph.matrix(), n, radius, center=center, undirected=undirected)
    assert found.to_dict() == dict.fromkeys(sorted(ego), True)


@given(weighted, st.integers(0, 30).map(lambda k: k / 2), st.booleans())
def test_the_radius_of_a_neighborhood_may_be_a_weighted_distance(rooted, radius, center):
    nx = pytest.importorskip("networkx")
    graph, n = rooted
    ego = nx.ego_graph(graph.networkx(), n, radius, center=center, distance="weight")
    found = neighborhood(graph.matrix(), n, radius, center=center, distance="weight")
    assert found.to_dict() == dict.fromkeys(sorted(ego), True)


@few
@given(weighted)
def test_an_undirected_neighborhood_uses_the_smaller_weight_of_two_opposite_edges(rooted):
    graph, n = rooted
    A = graph.matrix()
    both = gl.binary.min(A | A.T).new()
    found = neighborhood(A, n, 5, undirected=True, distance=True)
    assert found.isequal(neighborhood(both, n, 5, distance=True))


@few
@given(graphs(), st.data())
def test_the_neighborhood_of_several_vertices_is_the_union_of_their_neighborhoods(graph, data):
    A = graph.matrix()
    some = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=3, unique=True))
    each = {v for n in some for v in neighborhood(A, n, 2).to_dict()}
    assert neighborhood(A, some, 2).to_dict().keys() == each
    assert neighborhood(A, some, 2, center=False).to_dict().keys() == each - set(some)


def test_a_neighborhood_with_an_infinite_radius_contains_all_reachable_vertices():
    A = gl.Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
    assert neighborhood(A, 0, float("inf")).isequal(reachable(A, 0))
    assert neighborhood(A, 0, 1.5).to_dict() == {0: True, 1: True}


def test_a_negative_radius_and_negative_weights_are_rejected():
    A = gl.Matrix.from_coo([0], [1], [-1], nrows=2, ncols=2)
    with pytest.raises(ValueError, match="radius is -1, but must lie between 0 and inf"):
        neighborhood(A, 0, -1)
    with pytest.raises(ValueError, match="A has weight -1 on edge 0 -> 1"):
        neighborhood(A, 0, 1, distance=True)
    with pytest.raises(gl.exceptions.IndexOutOfBound):
        neighborhood(A, 2)


# --- transitive closure -------------------------------------------------------------------------


def expected_closure(graph, reflexive):
    import networkx as nx

    G = nx.transitive_closure(nx.DiGraph(graph.networkx()), reflexive)
    return {v: dict.fromkeys(sorted(G[v]), True) for v in sorted(G) if G[v]}


@given(graphs(), st.sampled_from([True, False, None]))
def test_the_transitive_closure_matches_networkx(graph, reflexive):
    pytest.importorskip("networkx")
    found = transitive_closure(graph.matrix(), reflexive)
    assert found.dtype == "BOOL"
    assert found.to_dicts() == expected_closure(graph, reflexive)


@few
@given(graphs())
def test_closures_computed_by_searching_equal_closures_computed_by_repeated_squaring(graph):
    A = graph.matrix()
    assert transitive_closure(A, reflexive=True).isequal(definition(A))


@few
@given(graphs())
def test_the_closure_of_the_reversed_graph_is_the_reverse_of_the_closure(graph):
    A = graph.matrix()
    reverse = transitive_closure(A.T.new())
    assert reverse.isequal(transitive_closure(A).T.new())


@few
@given(graphs())
def test_a_closure_is_idempotent_and_its_rows_are_the_reachable_vertices(graph):
    A = graph.matrix()
    R = transitive_closure(A, True)
    assert transitive_closure(R, True).isequal(R)
    assert R.to_dicts() == {v: reachable(A, v).to_dict() for v in range(graph.n)}


def test_a_closure_can_be_assembled_from_several_batches_of_searches():
    n = 150
    A = gl.Matrix.from_coo(range(n - 1), range(1, n), 1, nrows=n, ncols=n)
    with using(many.ManyTuning(table=64 * n)):
        R = transitive_closure(A, True)
    assert R.nvals == n * (n + 1) // 2
    assert R.isequal(gl.select.triu(R).new())


@pytest.mark.parametrize("n", [0, 1])
def test_closures_of_graphs_with_at_most_one_vertex_are_correct(n):
    A = gl.Matrix(bool, n, n)
    assert transitive_closure(A).nvals == transitive_closure(A, None).nvals == 0
    assert transitive_closure(A, True).nvals == n
    loop = gl.Matrix.from_coo([0], [0], 5, nrows=1, ncols=1)
    assert all(
        transitive_closure(loop, r).to_dicts() == {0: {0: True}} for r in (True, False, None)
    )


def test_an_invalid_value_of_reflexive_is_rejected():
    wrong: Any = "no"
    with pytest.raises(ValueError, match="reflexive must be True, False or None, not 'no'"):
        transitive_closure(gl.Matrix(bool, 2, 2), wrong)
