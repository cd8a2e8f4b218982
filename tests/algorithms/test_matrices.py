from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import DEVICE
from graphs import Edges, graphs
from hypothesis import assume, given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    directed_combinatorial_laplacian_matrix,
    directed_laplacian_matrix,
    incidence_matrix,
    laplacian,
    laplacian_matrix,
    modularity_matrix,
    normalized_laplacian_matrix,
    spectral_layout,
)

nx = pytest.importorskip("networkx")
WEIGHTS = st.sampled_from([1.0, 0.5, 3.0, 7.25])
weighted = graphs(weights=WEIGHTS, dtype="FP64")
directed = graphs(undirected=False, weights=WEIGHTS, dtype="FP64")
signed = graphs(weights=st.integers(-3, 9))
weight_names = st.sampled_from([None, "weight"])


def agree(found: gl.Matrix, expected: Any) -> None:
    """Assert that a Matrix equals a NumPy or SciPy array, up to rounding."""
    dense = expected.toarray() if hasattr(expected, "toarray") else expected
    assert np.allclose(found.to("cpu").to_dense(0), dense, rtol=1e-9, atol=1e-12)


@given(signed, weight_names)
def test_laplacian_matrices_equal_those_of_networkx(graph, weight):
    agree(
        laplacian_matrix(graph.matrix(), weight),
        nx.laplacian_matrix(graph.networkx(), weight=weight),
    )


@given(weighted, weight_names)
def test_normalized_laplacian_matrices_equal_those_of_networkx(graph, weight):
    A, G = graph.matrix(), graph.networkx()
    expected = nx.normalized_laplacian_matrix(G, weight=weight)
    agree(normalized_laplacian_matrix(A, weight), expected)


@pytest.mark.parametrize("dtype", ["BOOL", "UINT8"])
def test_laplacian_matrices_of_unsigned_integers_have_negative_entries(dtype):
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, 1], dtype)
    assert laplacian_matrix(A).to_dense().tolist() == [[1, -1], [-1, 1]]


def test_the_normalized_laplacian_matrix_rejects_a_negative_degree():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [-1.0, -1.0])
    with pytest.raises(gl.exceptions.InvalidValue, match=r"add up to -1\.0, but the sum must be"):
        normalized_laplacian_matrix(A)


@given(directed, weight_names, st.sampled_from([None, "random", "lazy", "pagerank"]))
def test_directed_laplacian_matrices_equal_those_of_networkx(graph, weight, walk):
    A, G = graph.matrix(), graph.networkx()
    is_strong = nx.is_strongly_connected(G)
    if walk in ("random", "lazy") and (not is_strong or not graph.ends):
        with pytest.raises(gl.exceptions.InvalidValue, match="is not strongly connected"):
            directed_laplacian_matrix(A, weight, walk)
        return
    # NetworkX's eigenvalue solver needs at least three vertices. For the walk "random", the
    # eigenvalue with the largest absolute value must be unique, so the graph must be aperiodic.
    assume(graph.n > 2 and (walk != "random" or nx.is_aperiodic(G)))
    for ours, theirs in (
        (directed_laplacian_matrix, nx.directed_laplacian_matrix),
        (directed_combinatorial_laplacian_matrix, nx.directed_combinatorial_laplacian_matrix),
    ):
        agree(ours(A, weight, walk, 0.9), theirs(G, weight=weight, walk_type=walk, alpha=0.9))


def test_the_default_random_walk_on_a_directed_cycle_is_lazy():
    circle = gl.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], 1)
    expected = directed_laplacian_matrix(circle, walk_type="lazy")
    assert directed_laplacian_matrix(circle).isclose(expected)


def test_stationary_distributions_from_dense_and_sparse_solvers_agree():
    rng = np.random.default_rng(0)
    i, j = np.divmod(rng.choice(400, 120, replace=False), 20)
    A = gl.Matrix.from_coo(np.r_[i, :20], np.r_[j, 1:20, 0], 1.0, nrows=20, ncols=20, dup_op="plus")
    expected = directed_laplacian_matrix(A, walk_type="random")
    before = laplacian.DENSE
    laplacian.DENSE = 0
    try:
        found = directed_laplacian_matrix(A, walk_type="random")
    finally:
        laplacian.DENSE = before
    assert found.isclose(expected, rel_tol=1e-9, abs_tol=1e-12)


def test_directed_laplacian_matrices_reject_invalid_walk_types():
    A = gl.Matrix.from_coo([0, 1], [1, 0], 1)
    with pytest.raises(gl.exceptions.InvalidValue, match="walk_type is 'drunk', but must be one"):
        directed_laplacian_matrix(A, walk_type="drunk")
    with pytest.raises(gl.exceptions.InvalidValue, match="alpha is 1"):
        directed_laplacian_matrix(A, walk_type="pagerank", alpha=1)
    with pytest.raises(gl.exceptions.InvalidValue, match="A has no vertex"):
        directed_laplacian_matrix(gl.Matrix(int, 0, 0))


@given(weighted, weight_names)
def test_modularity_matrices_equal_those_of_networkx(graph, weight):
    A, G = graph.matrix(), graph.networkx()
    if not graph.ends:
        with pytest.raises(gl.exceptions.InvalidValue, match="add up to 0, but"):
            modularity_matrix(A, weight)
        return
    theirs = nx.modularity_matrix if graph.undirected else nx.directed_modularity_matrix
    agree(modularity_matrix(A, weight), theirs(G, weight=weight))


@given(signed, weight_names, st.booleans())
def test_incidence_matrices_equal_those_of_networkx(graph, weight, oriented):
    edges = sorted((i, j) for i, j in graph.ends if i <= j or not graph.undirected)
    expected = nx.incidence_matrix(graph.networkx(), None, edges, oriented, weight)
    A = gl.Graph(graph.matrix(), directed=not graph.undirected)
    agree(incidence_matrix(A, weight, oriented), expected)


def test_an_incidence_matrix_has_no_labels_even_if_it_is_square():
    circle = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    E = incidence_matrix(circle)
    assert type(E) is gl.Matrix
    assert E.to_dense(0).tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 1]]


def grid(rows: int, columns: int) -> Edges:
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns), ordering="sorted")
    ends = tuple((i, j) for u, v in G.edges for i, j in ((u, v), (v, u)))
    return Edges(len(G), ends, (1,) * len(ends), undirected=True)


@pytest.mark.parametrize("shape", [(3, 2), (5, 4), (25, 12)])
def test_spectral_layouts_of_grids_equal_those_of_networkx_up_to_signs(shape):
    graph = grid(*shape)
    expected = np.array([*nx.spectral_layout(graph.networkx()).values()])
    found = np.column_stack([x.to("cpu").to_dense() for x in spectral_layout(graph.matrix())])
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-6)


@given(weighted, st.integers(1, 3))
def test_the_axes_of_a_spectral_layout_are_eigenvectors_scaled_to_the_given_largest_coordinate(
    graph, dim
):
    A = graph.matrix()
    axes = np.column_stack([x.to("cpu").to_dense() for x in spectral_layout(A, scale=2, dim=dim)])
    assert axes.shape == (graph.n, dim)
    dense = A.to("cpu").to_dense(0)
    W = dense if graph.undirected else dense + dense.T
    L = np.diag(W.sum(1)) - W
    assert np.allclose(axes.sum(0), 0, atol=1e-9)
    for x in axes.T:
        if x.any():
            assert np.allclose(L @ x, (x @ L @ x) / (x @ x) * x, atol=1e-7)
    assert np.abs(axes).max() == pytest.approx(2 if graph.n > 1 else 0)


def test_a_spectral_layout_with_invalid_arguments_is_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], 1)
    with pytest.raises(gl.exceptions.InvalidValue, match="dim is 0"):
        spectral_layout(A, dim=0)
    with pytest.raises(gl.exceptions.InvalidValue, match="scale is 0"):
        spectral_layout(A, scale=0)
    empty = spectral_layout(gl.Matrix(int, 0, 0))
    assert [x.size for x in empty] == [0, 0]
    assert all(x.device.startswith(DEVICE) for x in empty)
