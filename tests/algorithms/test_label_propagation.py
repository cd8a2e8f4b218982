from __future__ import annotations

from collections import defaultdict
from importlib import import_module

import numpy as np
import pytest
from graphs import Edges, graphs, halves, with_order
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import label_propagation, modularity
from graphla.backends.cpu.communities import LabelsTuning
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.operations import hashed_random

label_propagation_ = import_module("graphla.algorithms.label_propagation")
rounds = st.sampled_from([0, 1, 2, 3, 4, 7, 100])
weighted = graphs(weights=st.integers(0, 3)) | graphs(weights=halves, dtype="FP64")


def propagate(graph: Edges, count: int, weight: bool, labels: list[int]) -> list[int]:
    """Return the labels after `count` rounds of label propagation as LDBC defines it."""
    around = neighbors(graph, weight)
    for _ in range(count):
        labels = [
            most_frequent([(labels[j], w) for j, w in around[v]], labels[v]) for v in range(graph.n)
        ]
    return labels


def neighbors(graph: Edges, weight: bool) -> list[list[tuple[int, float]]]:
    """Return the neighbors of each vertex with the weights of the edges."""
    around: list[list[tuple[int, float]]] = [[] for _ in range(graph.n)]
    for i, j, w in graph:
        around[i].append((j, w if weight else 1))
        around[j].append((i, w if weight else 1))
    return around


def most_frequent(labels: list[tuple[int, float]], own: int) -> int:
    """Return the smallest label with the largest total weight, or `own` if there are no labels."""
    found: dict[int, float] = defaultdict(float)
    for label, w in labels:
        found[label] += w
    return min(found, key=lambda label: (-found[label], label)) if found else own


def propagate_in_blocks(
    graph: Edges, count: int, weight: bool, labels: list[int], seed: int, blocks: int
) -> list[int]:
    """Return the labels after `count` rounds.

    The vertices form blocks of equal size. A round has two steps. The first step updates the labels
    of about half of the blocks, chosen at random. The second step updates all other blocks. Within
    a block, labels are updated one after another. The labels that are read from other blocks are
    those from before the current step.
    """
    around = neighbors(graph, weight)
    bits = ((graph.n - 1) // blocks).bit_length()
    for k in range(count):
        before = labels
        word = hashed_random.first_counter(hashed_random.mix(seed + k))
        for half in (1, 0):
            old, labels = labels, [*labels]
            for v in range(graph.n):
                if word >> (v >> bits) & 1 == half:
                    seen = [(old, labels)[j >> bits == v >> bits][j] for j, _ in around[v]]
                    weights = [w for _, w in around[v]]
                    labels[v] = most_frequent(list(zip(seen, weights, strict=True)), labels[v])
        if labels == before:
            break
    return labels


@settings(max_examples=60)
@given(weighted, rounds, st.booleans())
def test_labels_match_the_results_of_ldbc_after_any_number_of_rounds(graph, count, weight):
    expected = propagate(graph, count, weight, list(range(graph.n)))
    labels = label_propagation(graph.matrix(), weight, max_iter=count, synchronous=True)
    assert labels.dtype == "INT64"
    assert labels.to_dense().tolist() == expected


@pytest.mark.cpu
@settings(max_examples=60)
@given(weighted, rounds, st.booleans(), st.none() | st.integers(0, 3), st.sampled_from([1, 2, 32]))
def test_the_labels_within_a_block_are_updated_one_after_another(
    graph, count, weight, seed, blocks
):
    order = list(range(graph.n))
    if seed is not None:
        order = np.argsort(hashed_random.ranks(graph.n, seed)).tolist()
    start = [order.index(v) for v in range(graph.n)]
    expected = propagate_in_blocks(graph, count, weight, start, seed or 0, blocks)
    with using(LabelsTuning(blocks)):
        found = label_propagation(graph.matrix(), weight, seed, max_iter=count)
    assert found.to_dense().tolist() == [order[label] for label in expected]


@settings(max_examples=40)
@given(weighted, st.booleans(), st.integers(0, 3))
def test_the_final_label_of_a_vertex_is_the_most_frequent_among_its_neighbors(graph, weight, seed):
    around = neighbors(graph, weight)
    for algorithm in (label_propagation, label_propagation_.definition):
        labels = algorithm(graph.matrix(), weight, seed, max_iter=1000).to_dense().tolist()
        for v, near in enumerate(around):
            sums: dict[int, float] = defaultdict(float)
            for j, w in near:
                sums[labels[j]] += w
            assert not near or sums[labels[v]] == max(sums.values())


def test_label_propagation_divides_a_mesh_into_communities_of_high_modularity():
    A = gl.generators.grid(40, 40)
    assert modularity(A, label_propagation(A)) > 0.7
    assert modularity(A, label_propagation_.definition(A)) > 0.7


@pytest.mark.cpu
@pytest.mark.parametrize("weight", [False, True])
def test_labels_are_the_same_for_any_number_of_threads_and_without_numba(weight):
    pytest.importorskip("numba")
    A = gl.generators.kronecker(9, symmetric=True, seed=3)
    fifths = gl.binary.plus(gl.unary.one["FP32"](A), 0.2).new()
    answers = []
    for compiled, threads in ((False, 1), (True, 1), (True, 2), (True, 4), (True, 4)):
        with (
            gl.config.set(compiled=compiled, threads=threads, deterministic=threads == 4),
            using(PartsTuning(parallel=1)),
        ):
            answers.append(label_propagation(fifths if weight else A, weight, seed=1))
    assert all(each.isequal(answers[0]) for each in answers)


@settings(max_examples=30)
@given(graphs(), rounds, st.integers(0, 3))
def test_the_seed_determines_how_ties_between_labels_are_broken(graph, count, seed):
    order = np.argsort(hashed_random.ranks(graph.n, seed)).tolist()
    start = [order.index(v) for v in range(graph.n)]
    expected = [order[label] for label in propagate(graph, count, False, start)]
    found = label_propagation(graph.matrix(), None, seed, max_iter=count, synchronous=True)
    assert found.to_dense().tolist() == expected


@settings(max_examples=30)
@given(with_order(graphs()), st.integers(0, 5))
def test_reversing_the_graph_or_adding_an_isolated_vertex_does_not_change_the_labels(
    ordered, count
):
    graph, _ = ordered
    A = graph.matrix()
    labels = label_propagation(A, max_iter=count).to_dense().tolist()
    assert label_propagation(A.T, max_iter=count).to_dense().tolist() == labels
    A.resize(graph.n + 1, graph.n + 1)
    assert label_propagation(A, max_iter=count).to_dense().tolist() == [*labels, graph.n]


def test_two_adjacent_vertices_swap_labels_forever_only_under_synchronous_updates():
    A = gl.Matrix.from_coo([0, 1], [1, 0], True)
    for count in (0, 2, 50, 100):
        even = label_propagation(A, max_iter=count, synchronous=True)
        odd = label_propagation(A, max_iter=count + 1, synchronous=True)
        assert even.to_dense().tolist() == [0, 1]
        assert odd.to_dense().tolist() == [1, 0]
    assert len(set(label_propagation(A).to_dense().tolist())) == 1


def test_cliques_joined_by_one_edge_are_separate_communities():
    clique = np.ones((5, 5)) - np.eye(5)
    dense = np.kron(np.eye(3), clique)
    dense[4, 5] = dense[5, 4] = dense[9, 10] = dense[10, 9] = 1
    A = gl.Matrix.from_dense(dense, 0)
    labels = label_propagation(A).to_dense().reshape(3, 5).tolist()
    assert [len(set(each)) for each in labels] == [1, 1, 1]
    assert len({each[0] for each in labels}) == 3


def test_labels_in_short_and_long_rows_match_the_definition():
    """A hub's neighbors have many distinct labels in the first rounds, but few in later ones."""
    A = gl.generators.kronecker(8, symmetric=True, seed=3)
    fifths = gl.binary.plus(gl.unary.one["FP32"](A), 0.2).new()
    for weight, B in ((False, A), (True, fifths)):
        for count in (1, 4):
            options = {"max_iter": count, "synchronous": True}
            with gl.config.set(compiled=False):
                expected = label_propagation(B.to("cpu"), weight, **options)
            assert label_propagation(B, weight, **options).to("cpu").isequal(expected)


@pytest.mark.cpu
@pytest.mark.parametrize("synchronous", [False, True])
def test_compiled_loops_do_not_count_edges_of_weight_0(synchronous):
    """Vertex 1 has more neighbors with label 2 than with label 0, but all weights are 0."""
    pytest.importorskip("numba")
    i, j = np.array([1, 1, 1, 0, 3, 4]), np.array([0, 3, 4, 0, 2, 2])
    A = gl.Matrix.from_coo(np.r_[i, j], np.r_[j, i], 0.0, nrows=5, ncols=5, dup_op="any")
    answers = []
    for compiled in (False, True):
        with gl.config.set(compiled=compiled):
            labels = label_propagation(A, True, max_iter=2, synchronous=synchronous)
            answers.append(labels.to_dense().tolist())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_each_vertex_of_a_graph_without_edges_keeps_its_label(n):
    assert label_propagation(gl.Matrix(bool, n, n)).to_dense().tolist() == list(range(n))
    assert label_propagation(gl.Matrix(float, n, n), True, 5).to_dense().tolist() == list(range(n))


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1.0, -1.0])
    with pytest.raises(ValueError, match="max_iter is -1, but must be at least 0"):
        label_propagation(A, max_iter=-1)
    with pytest.raises(ValueError, match=r"A has weight -1\.0 on edge 1 -> 0, but must have none"):
        label_propagation(A, weight=True)
    overflowing = gl.Matrix.from_coo([0, 1], [1, 0], [1e308, 1e308])
    with pytest.raises(ValueError, match="A has weights that add up to inf, but"):
        label_propagation(overflowing, weight=True)
