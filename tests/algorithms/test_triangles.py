from __future__ import annotations

import pytest
from graphs import graphs, with_order
from hypothesis import given
from hypothesis import strategies as st
from verifiers import count_triangles

import graphla as gl
from graphla.algorithms import triangle_count

undirected = graphs(least=0, undirected=True, weights=st.sampled_from([0, 1, -2]))


@given(undirected)
def test_triangle_count_equals_a_count_over_all_vertex_triples(graph):
    assert triangle_count(graph.matrix()) == count_triangles(graph)


@given(undirected)
def test_the_triangles_at_each_vertex_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    assert triangle_count(graph.matrix()) == sum(nx.triangles(graph.networkx()).values()) // 3


@given(with_order(graphs(undirected=True)))
def test_relabeling_preserves_the_triangle_count(ordered):
    graph, order = ordered
    assert triangle_count(graph.relabeled(order).matrix()) == triangle_count(graph.matrix())


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 40])
def test_a_complete_graph_has_n_choose_3_triangles(n):
    # The edges include self-loops, which belong to no triangle.
    places = [(i, j) for i in range(n) for j in range(n)]
    rows, columns = [i for i, _ in places], [j for _, j in places]
    A = gl.Matrix.from_coo(rows, columns, True, bool, nrows=n, ncols=n)
    assert triangle_count(A) == n * (n - 1) * (n - 2) // 6


def test_the_error_about_a_directed_graph_names_an_edge_without_its_reverse():
    A = gl.Matrix.from_coo([0, 1, 2, 2], [1, 0, 0, 2], 1, nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has an edge 2 -> 0 but none 0 -> 2, and must be"):
        triangle_count(A)


def test_a_graph_with_symmetric_edges_may_have_asymmetric_weights():
    A = gl.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], [1, 2, 3, 4, 5, 6], nrows=3)
    assert triangle_count(A) == 1
