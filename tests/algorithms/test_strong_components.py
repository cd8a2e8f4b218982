from __future__ import annotations

import numpy as np
import pytest
from graphs import graphs, with_order
from hypothesis import given

import graphla as gl
from graphla.algorithms import is_strongly_connected, strong_components
from graphla.algorithms.strong_components import definition


def least(parts, n: int) -> list[int]:
    """Return, for each vertex, the smallest vertex of its component.

    `parts` contains each component as a set of vertices.
    """
    label = {v: min(part) for part in parts for v in part}
    return [label[v] for v in range(n)]


@given(graphs())
def test_components_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    G = graph.networkx().to_directed()
    found = strong_components(graph.matrix())
    assert found.to_dense().tolist() == least(nx.strongly_connected_components(G), graph.n)
    assert is_strongly_connected(graph.matrix()) == nx.is_strongly_connected(G)


@given(graphs(undirected=False))
def test_strong_components_equal_the_result_of_their_algebraic_definition(graph):
    A = graph.matrix()
    found = strong_components(A)
    assert found.isequal(definition(A), check_dtype=True)
    assert found.isequal(definition(A, from_hub=True), check_dtype=True)


@given(graphs(undirected=False))
def test_strong_components_do_not_change_under_reversal_and_an_isolated_vertex_is_one_of_them(
    graph,
):
    A = graph.matrix()
    labels = strong_components(A)
    assert strong_components(A.T.new()).isequal(labels)
    wider = strong_components(graph.wider().matrix()).to_dense().tolist()
    assert wider == [*labels.to_dense().tolist(), graph.n]


@given(with_order(graphs(undirected=False)))
def test_relabeling_preserves_the_components(ordered):
    graph, order = ordered
    labels = strong_components(graph.matrix()).to_dense()
    relabeled = strong_components(graph.relabeled(order).matrix()).to_dense()[order]
    assert ((labels[:, None] == labels) == (relabeled[:, None] == relabeled)).all()


@pytest.mark.parametrize("find", [strong_components, definition])
def test_a_cycle_is_one_component_and_each_vertex_of_a_path_is_its_own_component(find):
    n = 300
    order = np.random.default_rng(3).permutation(n)
    ring = gl.Matrix.from_coo(order, np.roll(order, -1), True, nrows=n, ncols=n)
    assert not find(ring).to_dense().any()
    path = gl.Matrix.from_coo(order[:-1], order[1:], True, nrows=n, ncols=n)
    assert (find(path).to_dense() == np.arange(n)).all()


@pytest.mark.parametrize("find", [strong_components, definition])
def test_each_pair_of_vertices_in_a_chain_of_pairs_is_a_strong_component(find):
    n = 300
    i = np.arange(0, n, 2)
    ends = np.concatenate((i, i + 1, i[:-1] + 1)), np.concatenate((i + 1, i, i[1:]))
    A = gl.Matrix.from_coo(*ends, True, nrows=n, ncols=n)
    assert (find(A).to_dense() == np.arange(n) // 2 * 2).all()


def test_a_graph_without_edges_has_one_strong_component_per_vertex():
    assert strong_components(gl.Matrix(bool, 0, 0)).size == 0
    assert definition(gl.Matrix(bool, 0, 0)).size == 0
    assert strong_components(gl.Matrix(float, 1, 1)).to_dense().tolist() == [0]
    assert strong_components(gl.Matrix(bool, 3, 3)).to_dense().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="A has no vertex, but connectedness"):
        is_strongly_connected(gl.Matrix(bool, 0, 0))
