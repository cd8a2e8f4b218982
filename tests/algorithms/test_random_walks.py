"""Tests of random walks."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import node2vec_walks, random_walks

EDGES = [(0, 1, 1), (0, 2, 2), (0, 3, 4), (1, 2, 3), (2, 3, 1), (3, 4, 5), (1, 5, 2)]


def undirected():
    rows, columns, weights = zip(*EDGES, strict=True)
    A = gl.Matrix.from_coo(rows, columns, weights, nrows=6, ncols=6)
    return gl.binary.any(A | A.T).new()


@settings(max_examples=60)
@given(graphs(weights=st.integers(1, 9)), st.data())
def test_each_step_of_a_walk_follows_an_edge_until_a_vertex_has_no_out_edges(graph, data):
    A, links = graph.matrix(), set(graph.ends)
    starts = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), max_size=6))
    length, seed = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 9))
    weight, p = data.draw(st.booleans()), data.draw(st.sampled_from([0.01, 1, 1e9]))
    for walks in (
        random_walks(A, starts, length, weight, seed),
        node2vec_walks(A, starts, length, p, 0.5, weight, seed),
    ):
        assert [walk[0] for walk in walks] == (list(range(graph.n)) if starts is None else starts)
        for walk in walks:
            assert set(pairwise(walk)) <= links
            has_ended = not any(i == walk[-1] for i, _ in links)
            assert len(walk) == length + 1 or (len(walk) < length + 1 and has_ended)


def shares(walks, before):
    """Return the share of each next vertex in the walks that begin with the vertices `before`."""
    k = len(before)
    counts = Counter(walk[k] for walk in walks if walk[:k] == before)
    total = sum(counts.values())
    return {v: count / total for v, count in counts.items()}


def test_the_probability_of_a_step_is_proportional_to_its_edge_weight():
    A = undirected()
    equal = shares(random_walks(A, [0] * 20_000, 1), [0])
    assert equal == pytest.approx(dict.fromkeys((1, 2, 3), 1 / 3), abs=0.02)
    found = shares(random_walks(A, [0] * 20_000, 1, weight=True), [0])
    assert found == pytest.approx({1: 1 / 7, 2: 2 / 7, 3: 4 / 7}, abs=0.02)


@pytest.mark.parametrize(("p", "q"), [(0.5, 2), (4, 0.25), (1e-6, 1), (1, 1e-6), (50, 50)])
def test_the_steps_of_node2vec_walks_follow_the_probabilities_in_the_definition_of_node2vec(p, q):
    A = undirected()
    found = shares(node2vec_walks(A, [0] * 30_000, 2, p, q, True, seed=2), [0, 1])
    # The walk came from vertex 0 to vertex 1; vertex 2 is a neighbor of 0, and vertex 5 is not.
    expected = {0: 1 / p, 2: 3, 5: 2 / q}
    total = sum(expected.values())
    expected = {v: x / total for v, x in expected.items()}
    assert {v: found.get(v, 0) for v in expected} == pytest.approx(expected, abs=0.03)


def test_walks_with_the_same_seed_are_equal_and_contain_vertex_labels():
    G = gl.Graph.from_edges([("a", "b", 1), ("b", "c", 2), ("c", "a", 3)])
    walks = node2vec_walks(G, ["a", "b", "a"], 5, 2, 3, True, seed=4)
    assert walks == node2vec_walks(G, ["a", "b", "a"], 5, 2, 3, True, seed=4)
    assert {v for walk in walks for v in walk} <= {"a", "b", "c"}
    numbers = random_walks(G.matrix, [0, 1], 5, seed=np.random.default_rng(1))
    assert random_walks(G, ["a", "b"], 5, seed=np.random.default_rng(1)) == [
        [G.labels[v] for v in walk] for walk in numbers
    ]


def test_a_single_start_vertex_gives_one_walk_and_an_empty_graph_gives_none():
    A = gl.Matrix(int, 3, 3)
    assert random_walks(A, 1, 4) == [[1]]
    assert random_walks(A) == node2vec_walks(A, p=2) == [[0], [1], [2]]
    assert random_walks(gl.Matrix(int, 0, 0)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": -1}, "length is -1, but must be at least 0"),
        ({"p": 0}, "p is 0.0, but must be above 0 and finite"),
        ({"q": float("inf")}, "q is inf, but must be above 0 and finite"),
        ({"seed": -3}, "seed is -3, but must be at least 0"),
    ],
)
def test_wrong_arguments_are_rejected(arguments, message):
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    with pytest.raises(gl.exceptions.InvalidValue, match=message):
        node2vec_walks(A, **arguments)


def test_edge_weights_must_be_positive_and_finite():
    for weight, message in ((0, "A has weight 0"), (np.inf, "A has an infinite weight")):
        A = gl.Matrix.from_coo([0], [1], weight, nrows=2, ncols=2)
        with pytest.raises(gl.exceptions.InvalidValue, match=message):
            random_walks(A, weight=True)
