from __future__ import annotations

import numpy as np
import pytest
from graphs import edges_of, graphs, with_order
from hypothesis import given
from hypothesis import strategies as st
from verifiers import verify_components

import graphla as gl
from graphla.algorithms import component_count, connected_components, is_connected
from graphla.algorithms.components import definition


@given(graphs(weights=st.sampled_from([0, 1, -2])))
def test_the_label_of_a_component_is_its_smallest_vertex(graph):
    verify_components(graph, connected_components(graph.matrix()).to_dense().tolist())


@given(graphs())
def test_components_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    expected = {
        frozenset(part) for part in nx.connected_components(graph.networkx().to_undirected())
    }
    labels = connected_components(graph.matrix()).to_dense()
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}
    assert found == expected


@given(graphs())
def test_connected_components_equal_the_result_of_their_algebraic_definition(graph):
    A = graph.matrix()
    found = connected_components(A)
    assert found.isequal(definition(A), check_dtype=True)
    assert component_count(A) == len(set(found.to_dense().tolist()))


@given(graphs())
def test_graphla_and_networkx_agree_whether_a_graph_is_connected(graph):
    nx = pytest.importorskip("networkx")
    assert is_connected(graph.matrix()) == nx.is_connected(graph.networkx().to_undirected())


@given(graphs())
def test_connected_components_do_not_depend_on_edge_directions(graph):
    A = graph.matrix()
    found = connected_components(A)
    assert found.isequal(connected_components(A.T.new()))
    assert A._store.csc is not None  # from now on A has both CSR and CSC
    assert found.isequal(connected_components(A))


def test_a_graph_without_vertices_has_no_components_in_csr_or_csc_format():
    A = gl.Matrix(int, 0, 0)
    assert A._store.csr is not None
    assert A._store.csc is not None
    assert connected_components(A).size == 0


@given(graphs())
def test_an_isolated_vertex_adds_a_component(graph):
    labels = connected_components(graph.matrix()).to_dense().tolist()
    assert connected_components(graph.wider().matrix()).to_dense().tolist() == [*labels, graph.n]


@given(with_order(graphs()))
def test_relabeling_preserves_the_components(ordered):
    graph, order = ordered
    labels = connected_components(graph.matrix()).to_dense()
    relabeled = connected_components(graph.relabeled(order).matrix()).to_dense()[order]
    same, still = labels[:, None] == labels, relabeled[:, None] == relabeled
    assert (same == still).all()


def test_a_long_path_over_shuffled_vertices_is_one_component():
    n = 2000
    order = np.random.default_rng(7).permutation(n)
    A = gl.Matrix.from_coo(order[:-1], order[1:], 1, nrows=n, ncols=n)
    assert not connected_components(A).to_dense().any()


def test_components_of_a_random_graph_with_thousands_of_vertices_are_valid():
    rng = np.random.default_rng(11)
    n = 3000
    ends = np.unique(rng.integers(0, n, (n * 9 // 10, 2)), axis=0)
    A = gl.Matrix.from_coo(ends[:, 0], ends[:, 1], 1, nrows=n, ncols=n)
    verify_components(edges_of(A), connected_components(A).to_dense().tolist())


def test_each_vertex_of_a_graph_without_edges_is_a_component():
    assert connected_components(gl.Matrix(bool, 3, 3)).to_dense().tolist() == [0, 1, 2]


def test_an_empty_graph_has_no_components():
    assert connected_components(gl.Matrix(bool, 0, 0)).size == 0
    assert component_count(gl.Matrix(bool, 0, 0)) == 0
    with pytest.raises(ValueError, match="A has no vertex, but connectedness"):
        is_connected(gl.Matrix(bool, 0, 0))


def test_components_of_stars_and_of_interleaved_rings_are_correct():
    n = 1500
    hub = np.full(n - 1, n - 1)
    star = gl.Matrix.from_coo(hub, np.arange(n - 1), True, nrows=n, ncols=n)
    assert not connected_components(star).to_dense().any()
    assert not connected_components(star.T.new()).to_dense().any()
    halves = gl.Matrix.from_coo(np.arange(n), (np.arange(n) + 2) % n, True, nrows=n, ncols=n)
    assert (connected_components(halves).to_dense() == np.arange(n) % 2).all()
