from __future__ import annotations

import numpy as np
import pytest
from graphs import Edges, graphs, with_order
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    average_clustering,
    clustering,
    cosine,
    jaccard,
    k_truss,
    overlap,
    square_clustering,
    transitivity,
    triangle_count,
    triangles,
    truss_numbers,
)
from graphla.algorithms._shared import common_neighbors

nx = pytest.importorskip("networkx")
undirected = graphs(undirected=True)
weighted = graphs(weights=st.sampled_from([1.0, 0.5, 3.0, -2.0, 7.25]), dtype="FP64")


def some_of(data, graph):
    """Draw None, a set of vertices, or a list of vertices, possibly empty or with duplicates."""
    vertex = st.integers(0, graph.n - 1)
    return data.draw(st.none() | st.sets(vertex) | st.lists(vertex, max_size=5))


def agree(found, expected):
    """Assert that a Vector equals the dictionary from NetworkX, up to rounding."""
    values = found.to_dict()
    assert values.keys() == expected.keys()
    assert np.allclose([values[v] for v in expected], list(expected.values()), atol=1e-12)


@given(undirected, st.data())
def test_triangles_and_square_clustering_match_networkx(graph, data):
    A, G, nodes = graph.matrix(), graph.networkx(), some_of(data, graph)
    agree(triangles(A, nodes), nx.triangles(G, nodes))
    agree(square_clustering(A, nodes), nx.square_clustering(G, nodes))
    assert triangles(A).reduce().get(0) == 3 * triangle_count(A)
    v = data.draw(st.integers(0, graph.n - 1))
    assert triangles(A, v) == nx.triangles(G, v)
    assert square_clustering(A, v) == pytest.approx(nx.square_clustering(G, v))


@given(undirected, graphs())
def test_results_do_not_depend_on_the_batch_size(graph, other):
    A, B, before = graph.matrix(), other.matrix(), common_neighbors.WEDGES
    some = range(0, graph.n, 2)
    whole = square_clustering(A), square_clustering(A, some), jaccard(B)
    common_neighbors.WEDGES = 5
    try:
        parts = square_clustering(A), square_clustering(A, some), jaccard(B)
    finally:
        common_neighbors.WEDGES = before
    assert all(part.isequal(one) for part, one in zip(parts, whole, strict=True))


@given(graphs() | weighted, st.data())
def test_directed_and_weighted_clustering_match_networkx(graph, data):
    A, G, nodes = graph.matrix(), graph.networkx(), some_of(data, graph)
    v = data.draw(st.integers(0, graph.n - 1))
    assert transitivity(A) == pytest.approx(nx.transitivity(G))
    for weight in (None, "weight"):
        if weight and max(graph.weights, default=1) <= 0:
            continue
        agree(clustering(A, nodes, weight), nx.clustering(G, nodes, weight))
        assert clustering(A, v, weight) == pytest.approx(nx.clustering(G, v, weight))
        mean = nx.average_clustering(G, weight=weight)
        assert average_clustering(A, weight=weight) == pytest.approx(mean)


@given(undirected, st.integers(0, 6))
def test_the_k_truss_matches_networkx(graph, k):
    A, G = graph.matrix(), graph.networkx()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    truss = k_truss(A, k)
    edges = {frozenset(end) for end in truss.to_edgelist()[0].tolist()}
    assert edges == {frozenset(end) for end in nx.k_truss(G, k).edges}
    assert truss.isequal(A.dup(mask=truss.S))


@given(undirected)
def test_an_edge_with_truss_number_t_is_in_the_k_truss_for_each_k_up_to_t(graph):
    A = graph.matrix()
    numbers = truss_numbers(A)
    assert numbers.isequal(numbers.T.new())
    for k in range(2, 2 + max(3, graph.n)):
        in_truss = numbers.select(">=", k).new()
        truss = k_truss(A, k)
        assert truss.nvals == in_truss.nvals == truss.dup(mask=in_truss.S).nvals


@given(undirected, st.data())
def test_jaccard_coefficients_match_networkx(graph, data):
    A, G = graph.matrix(), graph.networkx()
    vertex = st.integers(0, graph.n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=8))
    expected = {(u, v): p for u, v, p in nx.jaccard_coefficient(G, pairs)}
    found = jaccard(A, pairs)
    assert found.nvals == len(expected)
    for place, value in expected.items():
        assert found[place].value == pytest.approx(value)
    every = jaccard(A)
    assert every.isclose(jaccard(A, every))
    for u, v, value in nx.jaccard_coefficient(G, [(u, v) for u in G for v in G if u != v]):
        assert every.get(u, v, 0) == pytest.approx(value)


@given(graphs(), st.sampled_from([(overlap, min), (cosine, lambda a, b: (a * b) ** 0.5)]))
def test_overlap_and_cosine_similarities_are_computed_from_common_neighbors(graph, measure):
    by, below = measure
    after = [{j for i, j in graph.ends if i == v} for v in range(graph.n)]
    found = by(graph.matrix())
    for u in range(graph.n):
        for v in range(graph.n):
            common = len((after[u] & after[v]) - {u, v})
            value = common / below(len(after[u]), len(after[v])) if common else 0
            assert found.get(u, v, 0) == pytest.approx(value if u != v else 0)


@given(with_order(graphs(undirected=True, weights=st.integers(1, 9))))
def test_triangle_counts_and_clustering_and_truss_numbers_do_not_depend_on_vertex_order(
    ordered,
):
    graph, order = ordered
    A, B = graph.matrix(), graph.relabeled(order).matrix()
    assert np.allclose(
        clustering(B, weight=True).to_dense()[order], clustering(A, weight=True).to_dense()
    )
    for of_vertices in (triangles, square_clustering):
        assert np.allclose(of_vertices(B).to_dense()[order], of_vertices(A).to_dense())
    for of_edges in (truss_numbers, jaccard):
        assert of_edges(B)[order, order].new().isclose(of_edges(A))


@given(undirected)
def test_an_isolated_vertex_does_not_change_other_results(graph):
    A = graph.matrix()
    B = Edges(graph.n + 1, graph.ends, graph.weights, True).matrix()
    for of_vertices in (triangles, clustering, square_clustering):
        assert of_vertices(B).to_dense().tolist() == [*of_vertices(A).to_dense().tolist(), 0]
    assert transitivity(B) == transitivity(A)
    assert k_truss(B, 3).nvals == k_truss(A, 3).nvals
    assert cosine(B).nvals == cosine(A).nvals


@given(graphs(undirected=False, weights=st.integers(1, 9)))
def test_the_reverse_graph_has_the_same_clustering(graph):
    A = graph.matrix()
    for weight in (False, True):
        assert clustering(A.T.new(), weight=weight).isclose(clustering(A, weight=weight))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_all_clustering_measures_are_zero_in_graphs_too_small_for_a_triangle(n):
    A = gl.Matrix.from_coo(range(n), range(n), True, nrows=n, ncols=n)  # only self-loops
    for of_vertices in (triangles, clustering, square_clustering):
        assert of_vertices(A).to_dense().tolist() == [0] * n
    assert transitivity(A) == 0
    assert k_truss(A, 3).nvals == truss_numbers(A).nvals == jaccard(A).nvals == 0


def test_average_clustering_rejects_an_empty_set_of_vertices():
    with pytest.raises(ValueError, match="A has no vertex, but a mean needs one"):
        average_clustering(gl.Matrix(bool, 0, 0))
    with pytest.raises(ValueError, match="A has no vertex whose clustering is not 0, but"):
        average_clustering(gl.Matrix(bool, 3, 3), count_zeros=False)
    with pytest.raises(ValueError, match="nodes has no vertex, but a mean needs one"):
        average_clustering(gl.Matrix(bool, 3, 3), [])


def test_clustering_rejects_weights_that_are_all_zero():
    ends = ((0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0))
    A = Edges(3, ends, (0.0,) * 6).matrix()
    assert clustering(A).to_dense().tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="A has no weight above 0, but weights are divided by"):
        clustering(A, weight=True)
    without = Edges(3, ends[:4], (0.0,) * 4).matrix()
    assert clustering(without, weight=True).to_dense().tolist() == [0, 0, 0]


def test_invalid_arguments_are_rejected():
    A = gl.Matrix(bool, 3, 3)
    with pytest.raises(IndexError, match="nodes has 3, but the vertices are 0 to 2"):
        triangles(A, [0, 3])
    with pytest.raises(IndexError, match="ebunch has 5, but the vertices are 0 to 2"):
        jaccard(A, [(0, 5)])
    for wrong in (5, [7], [0, 1], [(0, 1, 2)]):
        with pytest.raises(TypeError, match="ebunch must be a list of pairs of vertices"):
            jaccard(A, wrong)
    with pytest.raises(ValueError, match="k is -1, but must be at least 0"):
        k_truss(A, -1)


def test_k_truss_removes_a_triangle_that_shares_an_edge_with_a_clique():
    edges = [(i, j) for j in range(5) for i in range(j)] + [(0, 5), (1, 5)]
    i, j = np.array(edges).T
    A = gl.Matrix.from_coo(np.append(i, j), np.append(j, i), 1, nrows=6, ncols=6)
    assert k_truss(A, 5).nvals == 20  # only the clique of 5 vertices remains


def test_the_k_truss_is_empty_for_very_large_k():
    A = gl.Matrix.from_csr([0, 2, 4, 6], [1, 2, 0, 2, 0, 1], True, ncols=3)
    assert [k_truss(A, k).nvals for k in (3, 4, 2**31, 2**70)] == [6, 0, 0, 0]


@pytest.mark.cpu
@pytest.mark.parametrize("ends", [([0, 0, 1], [1, 2, 2]), ([1, 2, 2], [0, 0, 1])])
def test_the_compiled_k_truss_rejects_an_asymmetric_matrix_that_is_declared_symmetric(ends):
    pytest.importorskip("numba")
    rows, columns = ends
    A = gl.Matrix.from_coo(rows, columns, True, nrows=3, ncols=3, symmetric=True)
    with gl.config.set(compiled=True), pytest.raises(gl.exceptions.InvalidValue, match="symmetric"):
        truss_numbers(A)
