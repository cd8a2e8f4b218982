"""Check that the GPU computes the same communities, colors and matchings as the host."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    greedy_color,
    label_propagation,
    louvain,
    maximal_independent_set,
    maximal_matching,
)
from graphla.backends.cuda.communities import CommunitiesTuning
from graphla.backends.cuda.matching import MatchingTuning
from graphla.backends.tuning import using

label_propagation_ = importlib.import_module("graphla.algorithms.label_propagation")
louvain_ = importlib.import_module("graphla.algorithms.louvain")
ROWS = ((4, 32, 256, 4096), (1, 2, 4, 8), (0, 1, 1, 64), (0, 0, 8, 8), (4, 4, 4, 4), (0, 0, 0, 0))
"""Maximum row lengths of the four row classes; each tuple is one way to divide the rows."""


@st.composite
def drawn(draw: st.DrawFn, weights: bool) -> gl.Matrix:
    """Draw a symmetric matrix on the host, with hubs, self-loops and isolated vertices."""
    n, entries = draw(st.integers(1, 60)), draw(st.integers(0, 300))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    i, j = np.minimum(rng.geometric(0.1, entries), n) - 1, rng.integers(0, n, entries)
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_coo(
            i, j, rng.integers(0, 7, entries) / 2, nrows=n, ncols=n, dup_op="max"
        )
        A = gl.binary.max(A | A.T).new()
        return A if weights else gl.unary.one["BOOL"](A).new()


def by_definition(algorithm, A: gl.Matrix, *args, **options) -> gl.Vector:
    with gl.config.set(compiled=False):
        return algorithm(A, *args, **options)


@settings(max_examples=25)
@given(
    st.booleans().flatmap(lambda w: st.tuples(st.just(w), drawn(w))),
    st.sampled_from(ROWS),
    st.sampled_from([64, 200, 1 << 25]),
)
def test_communities_match_those_computed_on_the_host_in_every_row_class(given_, rows, slots):
    weight, A = given_
    with using(CommunitiesTuning(*rows, hub_slots=slots)):
        there = A.to("cuda")
        for synchronous in (False, True):
            options = {"max_iter": 3, "synchronous": synchronous}
            labels = label_propagation(there, weight, **options)
            assert labels.to("cpu").isequal(label_propagation_.definition(A, weight, **options))
        found = louvain(there, weight, max_level=2)
        assert found.to("cpu").isequal(louvain_.definition(A, weight, max_level=2))


@settings(max_examples=25)
@given(st.booleans().flatmap(lambda w: st.tuples(st.just(w), drawn(w))), st.integers(0, 9))
def test_independent_sets_and_colors_and_matchings_equal_those_computed_on_the_host(given_, seed):
    weight, A = given_
    there = A.to("cuda")
    for wide in (2, 1 << 11):
        with using(MatchingTuning(wide)):
            mates = maximal_matching(there, weight, seed)
        assert mates.to("cpu").isequal(by_definition(maximal_matching, A, weight, seed))
    for algorithm in (greedy_color, maximal_independent_set):
        assert algorithm(there, seed=seed).to("cpu").isequal(by_definition(algorithm, A, seed=seed))


@pytest.mark.parametrize("degree", [31, 32, 33, 255, 257, 4095, 5000])
def test_a_hub_whose_neighbors_have_distinct_labels_takes_the_smallest_label(degree):
    """The smallest label wins because each label occurs once."""
    leaves = np.arange(1, degree + 1)
    hub = np.zeros_like(leaves)
    with gl.config.set(device="cuda"):
        A = gl.Matrix.from_coo(np.r_[hub, leaves], np.r_[leaves, hub], True)
        labels = label_propagation(A, max_iter=1, synchronous=True).to_dense()
        assert labels[0] == 1
        assert not labels[1:].any()
        assert louvain(A).to_dense().tolist() == [0] * (degree + 1)
        assert maximal_matching(A).nvals == 2
        assert greedy_color(A).to_dense().tolist() == [0] + [1] * degree


@pytest.mark.parametrize("longest", [700, 4096])
@pytest.mark.parametrize("weight", [False, True])
def test_a_hub_row_shared_by_many_blocks_gives_the_same_labels_as_the_host(longest, weight):
    """The hub's row is split into three parts. Labels move along the path in every round."""
    leaves, n = 2500, 2531
    i = np.r_[np.zeros(leaves, int), np.arange(leaves, n - 1)]
    j = np.arange(1, n)
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.tile(1 + j % 3 / 2, 2))
    for count in (1, 2, 7):
        with using(CommunitiesTuning(block_entries=longest)):
            labels = label_propagation(A.to("cuda"), weight, 5, max_iter=count)
        assert labels.to("cpu").isequal(label_propagation_.definition(A, weight, 5, max_iter=count))


@pytest.mark.parametrize("rows", ROWS)
def test_the_smallest_label_wins_when_all_weights_are_zero(rows):
    """The smallest label wins even if another label occurs more often."""
    i, j = np.array([0, 1, 2, 3, 4, 5, 0, 0]), np.array([9, 9, 9, 8, 8, 8, 8, 7])
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_coo(np.r_[i, j], np.r_[j, i], 0.0, nrows=11, ncols=11)
    with using(CommunitiesTuning(*rows)):
        labels = label_propagation(A.to("cuda"), True, max_iter=2)
    assert labels.to("cpu").isequal(label_propagation_.definition(A, True, max_iter=2))


@pytest.mark.parametrize("strategy", ["largest_first", "random_sequential"])
def test_coloring_is_correct_for_rows_longer_than_a_warp_can_hold(strategy):
    """Color a graph with high degrees, and a path.

    In the graph, some vertices wait for the colors of more neighbors than a warp can hold. In the
    path, a vertex waits for two neighbors at most.
    """
    n = 330
    rng = np.random.default_rng(1)
    dense = np.triu(rng.random((n, n)) < 0.9, 1)
    dense[: n // 2, : n // 2] = np.triu(np.ones((n // 2, n // 2), bool), 1)
    dense[0] = np.arange(n) > 0
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_dense(dense | dense.T)
        chain = gl.Matrix.from_coo(np.r_[:200, 1:201], np.r_[1:201, :200], True)
    for B in (A, chain):
        found = greedy_color(B.to("cuda"), strategy, seed=2)
        assert found.to("cpu").isequal(greedy_color(B, strategy, seed=2))


@pytest.mark.gpu
def test_coloring_can_use_more_colors_than_a_warp_tests_at_once():
    n = 1300
    with gl.config.set(device="cuda"):
        A = gl.Matrix.from_dense(np.ones((n, n), bool))
        assert sorted(greedy_color(A).to_dense().tolist()) == list(range(n))
        assert maximal_matching(A).nvals == n
        assert maximal_independent_set(A).nvals == 1


@pytest.mark.gpu
@pytest.mark.parametrize("seed", [0, 1])
def test_large_graphs_give_the_same_results_as_on_the_host(seed):
    A = gl.generators.kronecker(14, symmetric=True, seed=seed)
    A = A.to("cpu")
    there = A.to("cuda")
    for algorithm in (greedy_color, maximal_matching, maximal_independent_set):
        assert algorithm(there, seed=seed).to("cpu").isequal(algorithm(A, seed=seed))
    for count in (1, 5, 100):
        labels = label_propagation(there, max_iter=count, synchronous=True)
        assert labels.to("cpu").isequal(label_propagation(A, max_iter=count, synchronous=True))
    labels = label_propagation(there, max_iter=3)
    assert labels.to("cpu").isequal(label_propagation_.definition(A, max_iter=3))
    first = louvain(there, seed=seed)
    assert all(louvain(there, seed=seed).isequal(first) for _ in range(5))
