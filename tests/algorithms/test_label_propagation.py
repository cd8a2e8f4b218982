from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from graphs import Edges, graphs, halves, with_order
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import label_propagation
from graphla.operations import hashed_random

rounds = st.sampled_from([0, 1, 2, 3, 4, 7, 100])
weighted = graphs(weights=st.integers(0, 3)) | graphs(weights=halves, dtype="FP64")


def propagated(graph: Edges, count: int, weight: bool, labels: list[int]) -> list[int]:
    """Return the labels after `count` rounds of label propagation as LDBC defines it."""
    for _ in range(count):
        around = [defaultdict(float) for _ in range(graph.n)]
        for i, j, w in graph:
            around[i][labels[j]] += w if weight else 1
            around[j][labels[i]] += w if weight else 1
        labels = [
            min(found, key=lambda label, found=found: (-found[label], label)) if found else own
            for found, own in zip(around, labels, strict=True)
        ]
    return labels


@settings(max_examples=60)
@given(weighted, rounds, st.booleans())
def test_labels_match_the_results_of_ldbc_after_any_number_of_rounds(graph, count, weight):
    expected = propagated(graph, count, weight, list(range(graph.n)))
    labels = label_propagation(graph.matrix(), weight, max_iter=count)
    assert labels.dtype == "INT64"
    assert labels.to_dense().tolist() == expected


@settings(max_examples=30)
@given(graphs(), rounds, st.integers(0, 3))
def test_a_seed_determines_the_order_of_the_labels(graph, count, seed):
    order = np.argsort(hashed_random.ranks(graph.n, seed)).tolist()
    start = [order.index(v) for v in range(graph.n)]
    expected = [order[label] for label in propagated(graph, count, False, start)]
    found = label_propagation(graph.matrix(), None, seed, max_iter=count)
    assert found.to_dense().tolist() == expected


@settings(max_examples=30)
@given(with_order(graphs()), st.integers(0, 5))
def test_a_reversed_graph_and_an_isolated_vertex_change_nothing(ordered, count):
    graph, _ = ordered
    A = graph.matrix()
    labels = label_propagation(A, max_iter=count).to_dense().tolist()
    assert label_propagation(A.T, max_iter=count).to_dense().tolist() == labels
    A.resize(graph.n + 1, graph.n + 1)
    assert label_propagation(A, max_iter=count).to_dense().tolist() == [*labels, graph.n]


def test_two_vertices_joined_by_an_edge_swap_labels_every_round():
    A = gl.Matrix.from_coo([0, 1], [1, 0], True)
    for count in (0, 2, 50, 100):
        assert label_propagation(A, max_iter=count).to_dense().tolist() == [0, 1]
        assert label_propagation(A, max_iter=count + 1).to_dense().tolist() == [1, 0]


def test_cliques_joined_by_one_edge_keep_their_own_labels():
    clique = np.ones((5, 5)) - np.eye(5)
    dense = np.kron(np.eye(3), clique)
    dense[4, 5] = dense[5, 4] = dense[9, 10] = dense[10, 9] = 1
    A = gl.Matrix.from_dense(dense, 0)
    assert label_propagation(A).to_dense().tolist() == [0] * 5 + [5] * 5 + [10] * 5


def test_labels_in_short_and_long_rows_match_the_definition():
    """A hub's neighbors have many distinct labels in the first rounds, but few in later ones."""
    A = gl.generators.kronecker(8, symmetric=True, seed=3)
    fifths = gl.binary.plus(gl.unary.one["FP32"](A), 0.2).new()
    for weight, B in ((False, A), (True, fifths)):
        for count in (1, 4):
            with gl.config.set(compiled=False):
                expected = label_propagation(B.to("cpu"), weight, max_iter=count)
            assert label_propagation(B, weight, max_iter=count).to("cpu").isequal(expected)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_without_edges_each_vertex_keeps_its_label(n):
    assert label_propagation(gl.Matrix(bool, n, n)).to_dense().tolist() == list(range(n))
    assert label_propagation(gl.Matrix(float, n, n), True, 5).to_dense().tolist() == list(range(n))


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1.0, -1.0])
    with pytest.raises(ValueError, match="max_iter is -1, but must be at least 0"):
        label_propagation(A, max_iter=-1)
    with pytest.raises(ValueError, match=r"A has weight -1\.0 on edge 1 -> 0, but must have none"):
        label_propagation(A, weight=True)
    endless = gl.Matrix.from_coo([0, 1], [1, 0], [1e308, 1e308])
    with pytest.raises(ValueError, match="A has weights that add up to inf, but"):
        label_propagation(endless, weight=True)
