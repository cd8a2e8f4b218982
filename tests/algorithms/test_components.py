from __future__ import annotations

import numpy as np
import pytest
from graphs import edges_of, graphs, with_order
from hypothesis import given
from hypothesis import strategies as st
from verifiers import verify_components

import graphla as gl
from graphla.algorithms import connected_components


@given(graphs(weights=st.sampled_from([0, 1, -2])))
def test_a_label_is_the_least_vertex_of_a_component(graph):
    verify_components(graph, connected_components(graph.matrix()).to_dense().tolist())


@given(graphs())
def test_components_are_those_of_networkx(graph):
    nx = pytest.importorskip("networkx")
    expected = {
        frozenset(part) for part in nx.connected_components(graph.networkx().to_undirected())
    }
    labels = connected_components(graph.matrix()).to_dense()
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}
    assert found == expected


@given(graphs())
def test_direction_does_not_matter(graph):
    A = graph.matrix()
    assert connected_components(A).isequal(connected_components(A.T.new()))


@given(with_order(graphs()))
def test_relabelled_vertices_keep_their_company(ordered):
    graph, order = ordered
    labels = connected_components(graph.matrix()).to_dense()
    relabelled = connected_components(graph.relabelled(order).matrix()).to_dense()[order]
    same, still = labels[:, None] == labels, relabelled[:, None] == relabelled
    assert (same == still).all()


def test_a_long_path_in_any_order_is_one_component():
    n = 2000
    order = np.random.default_rng(7).permutation(n)
    A = gl.Matrix.from_coo(order[:-1], order[1:], 1, nrows=n, ncols=n)
    assert not connected_components(A).to_dense().any()


def test_a_forest_of_thousands_of_vertices_is_taken_apart_rightly():
    rng = np.random.default_rng(11)
    n = 3000
    ends = np.unique(rng.integers(0, n, (n * 9 // 10, 2)), axis=0)
    A = gl.Matrix.from_coo(ends[:, 0], ends[:, 1], 1, nrows=n, ncols=n)
    verify_components(edges_of(A), connected_components(A).to_dense().tolist())


def test_without_edges_each_vertex_is_alone():
    assert connected_components(gl.Matrix(bool, 3, 3)).to_dense().tolist() == [0, 1, 2]


def test_an_empty_graph_has_no_components():
    assert connected_components(gl.Matrix(bool, 0, 0)).size == 0
