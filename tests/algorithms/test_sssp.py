from __future__ import annotations

import numpy as np
import pytest
from graphs import Edges, edges_of, graphs, halves, integers, with_order, with_source
from hypothesis import given
from hypothesis import strategies as st
from verifiers import verify_sssp

import graphla as gl
from graphla.algorithms import bfs, sssp

weighted = st.one_of(
    graphs(weights=integers), graphs(weights=integers, dtype="INT8"),
    graphs(weights=halves, dtype="FP64"), graphs(weights=halves, dtype="FP32"),
)  # fmt: skip
rooted = with_source(weighted)
BIG = 2**62


@given(rooted)
def test_distances_are_lengths_of_shortest_paths(rooted):
    graph, source = rooted
    verify_sssp(graph, source, sssp(graph.matrix(), source).distances.to_dict())


@given(rooted)
def test_distances_match_networkx(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    expected = nx.single_source_dijkstra_path_length(graph.networkx(), source)
    assert sssp(graph.matrix(), source).distances.to_dict() == dict(expected)


@given(rooted, st.sampled_from([0, 1, 3, 1000, float("inf")]))
def test_the_value_of_delta_does_not_change_the_distances(rooted, delta):
    graph, source = rooted
    A = graph.matrix()
    assert sssp(A, source, delta=delta).distances.isequal(sssp(A, source).distances)


@given(with_source(graphs()))
def test_distances_equal_levels_if_every_weight_is_one(rooted):
    graph, source = rooted
    assert (
        sssp(graph.matrix(), source).distances.to_dict()
        == bfs(graph.matrix(), source).levels.to_dict()
    )


@given(with_order(weighted), st.data())
def test_relabeled_vertices_keep_their_distances(ordered, data):
    graph, order = ordered
    source = data.draw(st.integers(0, graph.n - 1))
    distance = sssp(graph.matrix(), source).distances.to_dict()
    relabeled = sssp(graph.relabeled(order).matrix(), order[source]).distances.to_dict()
    assert relabeled == {order[v]: d for v, d in distance.items()}


@pytest.mark.parametrize(
    "dtype", ["BOOL", *(f"{s}INT{b}" for s in ("", "U") for b in (8, 16, 32, 64))]
)
def test_integer_weights_give_exact_int64_distances(dtype):
    n = 300
    A = gl.Matrix.from_coo(
        np.arange(n - 1), np.arange(1, n), 1 if dtype == "BOOL" else 100, dtype=dtype,
        nrows=n, ncols=n,
    )  # fmt: skip
    distance = sssp(A, 0).distances
    assert distance.dtype == "INT64"
    assert distance[n - 1].value == (n - 1) * (1 if dtype == "BOOL" else 100)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_floating_point_weights_are_added_in_fp64(dtype):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [2.0**24, 1.0], dtype=dtype, nrows=3, ncols=3)
    assert sssp(A, 0).distances.to_dict() == {0: 0.0, 1: 2.0**24, 2: 2.0**24 + 1}


@pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
def test_a_path_whose_length_overflows_is_not_chosen_as_the_shortest_path(dtype):
    edges = ([0, 0, 1, 2], [1, 2, 3, 3], [BIG, 5, BIG, 6])
    A = gl.Matrix.from_coo(*edges, dtype=dtype, nrows=4, ncols=4)
    assert sssp(A, 0).distances.to_dict() == {0: 0, 1: BIG, 2: 5, 3: 11}


def test_a_distance_that_does_not_fit_in_int64_is_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [BIG, BIG], nrows=3, ncols=3)
    with pytest.raises(OverflowError, match="which INT64 cannot hold"):
        sssp(A, 0)


def test_infinite_weights_are_accepted():
    inf = float("inf")
    A = gl.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1.0, inf, 2.0], nrows=4, ncols=4)
    assert sssp(A, 0).distances.to_dict() == {0: 0.0, 1: 1.0, 2: 3.0}
    B = gl.Matrix.from_coo([0, 1], [1, 2], [inf, 2.0], nrows=3, ncols=3)
    assert sssp(B, 0).distances.to_dict() == {0: 0.0, 1: inf, 2: inf}


def test_an_error_names_the_edge_that_has_a_negative_weight():
    A = gl.Matrix.from_coo([0, 2], [1, 1], [1, -3], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight -3 on edge 2 -> 1, but"):
        sssp(A, 0)


def test_an_error_names_the_edge_that_has_a_nan_weight():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1.0, float("nan")], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight nan on edge 1 -> 2, but"):
        sssp(A, 0)


def test_an_unsigned_weight_beyond_int64_is_rejected():
    A = gl.Matrix.from_coo([0], [1], [2**63], dtype="UINT64", nrows=2, ncols=2)
    with pytest.raises(ValueError, match="A has weight 9223372036854775808 on edge 0 -> 1, but"):
        sssp(A, 0)


def test_distances_in_a_random_graph_with_thousands_of_edges_are_valid():
    A = gl.generators.kronecker(9, seed=5)
    rows, columns, _ = A.to_coo()
    weights = (rows * 7 + columns * 13) % 64
    B = gl.Matrix.from_coo(rows, columns, weights, nrows=A.nrows, ncols=A.nrows)
    source = int(rows[0])
    verify_sssp(edges_of(B), source, sssp(B, source).distances.to_dict())


def test_the_source_has_distance_zero_despite_a_self_loop():
    A = Edges(1, ((0, 0),), (4,)).matrix()
    assert sssp(A, 0).distances.to_dict() == {0: 0}


def test_a_negative_delta_is_rejected():
    with pytest.raises(ValueError, match="delta is -1, but must lie between 0 and inf"):
        sssp(gl.Matrix(int, 2, 2), 0, delta=-1)
