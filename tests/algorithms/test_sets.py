"""Check independent sets, colorings and matchings, edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import Edges, graphs, halves, with_order
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    coloring,
    greedy_color,
    matching,
    maximal_independent_set,
    maximal_matching,
)
from graphla.algorithms._shared import hashed_random

seeds = st.integers(0, 3)
undirected = graphs(undirected=True)
weighted = graphs(undirected=True, weights=st.integers(0, 3)) | graphs(
    undirected=True, weights=halves, dtype="FP32"
)


def neighbors(graph: Edges) -> list[set[int]]:
    """Return the neighbors of each vertex, without self-loops."""
    found: list[set[int]] = [set() for _ in range(graph.n)]
    for i, j in graph.ends:
        if i != j:
            found[i].add(j)
    return found


# --- independent sets ---------------------------------------------------------------------------


@settings(max_examples=50)
@given(undirected, seeds, st.data())
def test_a_maximal_independent_set_is_independent_and_maximal(graph, seed, data):
    near, nodes = neighbors(graph), []
    for v in data.draw(st.lists(st.integers(0, graph.n - 1), unique=True, max_size=3)):
        if not near[v] & set(nodes):
            nodes.append(v)
    chosen = maximal_independent_set(graph.matrix(), nodes or None, seed)
    assert chosen.dtype == "BOOL"
    found = set(chosen.to_dict())
    assert set(nodes) <= found
    for v in range(graph.n):
        assert bool(near[v] & found) == (v not in found)


def test_required_vertices_that_are_adjacent_are_rejected():
    A = gl.generators.grid(2, 2)
    with pytest.raises(ValueError, match="nodes has 0 and 1, which an edge joins, but"):
        maximal_independent_set(A, [3, 1, 0])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_graph_without_edges_has_an_independent_set_of_all_vertices_and_an_empty_matching(n):
    A = gl.Matrix(bool, n, n)
    assert maximal_independent_set(A).nvals == n
    assert greedy_color(A).to_dense().tolist() == [0] * n
    assert maximal_matching(A).nvals == 0


# --- colors -------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(undirected, st.sampled_from(coloring.STRATEGIES), seeds)
def test_greedy_colors_equal_those_of_a_sequential_loop(graph, strategy, seed):
    A = graph.matrix()
    numbers = coloring.order_vertices(A, strategy, seed)
    expected: dict[int, int] = {}
    for v in (-numbers.to_dense()).argsort().tolist():
        taken = {expected.get(u) for u in neighbors(graph)[v]}
        expected[v] = min(set(range(graph.n)) - taken)
    colors = greedy_color(A, strategy, seed=seed)
    assert colors.to_dict() == dict(sorted(expected.items()))
    assert coloring.definition(A, numbers).isequal(colors)


@settings(max_examples=10)
@given(undirected)
def test_greedy_color_uses_at_most_one_color_more_than_networkx(graph):
    nx = pytest.importorskip("networkx")
    G = graph.networkx()
    G.remove_edges_from([(v, v) for v in G])
    expected = nx.greedy_color(G)
    assert max(greedy_color(graph.matrix()).to_dense()) <= max(expected.values()) + 1


def test_a_coloring_may_use_more_colors_than_a_word_has_bits():
    A = gl.Matrix.from_dense(np.ones((70, 70), bool))
    assert sorted(greedy_color(A, "random_sequential").to_dense().tolist()) == list(range(70))
    numbers = hashed_random.priorities(A, 0)
    assert coloring.definition(A, numbers).isequal(greedy_color(A, "random_sequential"))


def test_vertices_of_the_largest_degree_are_colored_first():
    """The center of a star has the largest degree, so it gets color 0; all leaves get color 1."""
    star = gl.Matrix.from_coo([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0], True)
    for seed in range(5):
        assert greedy_color(star, seed=seed).to_dense().tolist() == [0, 1, 1, 1]


# --- matchings ----------------------------------------------------------------------------------


def verify_matching(graph: Edges, mates: dict[int, int]) -> None:
    ends = set(graph.ends)
    for v, u in mates.items():
        assert u != v
        assert mates[u] == v
        assert (v, u) in ends
    for i, j in ends:
        assert i == j or i in mates or j in mates, f"{i} and {j} could be mates"


@settings(max_examples=50)
@given(weighted, st.booleans(), seeds)
def test_a_matching_is_valid_and_maximal_and_equals_that_of_the_reference_implementation(
    graph, weight, seed
):
    A = graph.matrix()
    mates = maximal_matching(A, weight, seed)
    verify_matching(graph, mates.to_dict())
    assert matching.definition(A, weight, seed).isequal(mates)


@settings(max_examples=50)
@given(weighted)
def test_a_weighted_matching_has_at_least_half_of_the_maximum_weight(graph):
    nx = pytest.importorskip("networkx")
    heaviest = nx.max_weight_matching(graph.networkx())
    weight = {(i, j): w for i, j, w in graph}
    mates = maximal_matching(graph.matrix(), weight=True).to_dict()
    found = sum(weight[v, u] for v, u in mates.items()) / 2
    assert found >= sum(weight[i, j] for i, j in heaviest if i != j) / 2


def test_heavier_edges_are_matched_first():
    n = 40
    i = np.arange(n - 1)
    values = np.r_[i, i]  # a path with increasing weights
    A = gl.Matrix.from_coo(np.r_[i, i + 1], np.r_[i + 1, i], values, nrows=n, ncols=n)
    mates = maximal_matching(A, weight="weight")
    assert mates.to_dict() == {v: v ^ 1 for v in range(n)}


def test_weights_that_differ_by_direction_are_rejected_if_weights_are_used():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, 2.0, 3.0])
    assert maximal_matching(A).nvals == 2
    with pytest.raises(
        ValueError, match=r"A has weight 2\.0 on edge 1 -> 2 and 3\.0 on 2 -> 1, but"
    ):
        maximal_matching(A, weight=True)


# --- tests of all three algorithms ----------------------------------------------------------------

ALGORITHMS = (maximal_independent_set, greedy_color, maximal_matching)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_seed_gives_the_same_result_on_every_device(algorithm):
    A = gl.generators.kronecker(6, symmetric=True, seed=2)
    B = A.to("cpu")
    with gl.config.set(compiled=False):
        expected = [algorithm(B, seed=seed) for seed in (None, 1, 2)]
    found = [algorithm(A, seed=seed).to("cpu") for seed in (0, 1, 2)]
    assert all(map(gl.Vector.isequal, found, expected))
    assert not found[1].isequal(found[2])
    rng = np.random.default_rng(5)
    drawn = algorithm(A, seed=rng)
    assert not drawn.isequal(algorithm(A, seed=rng))
    assert drawn.isequal(algorithm(A, seed=np.random.default_rng(5)))


@settings(max_examples=10)
@given(with_order(undirected))
def test_an_isolated_vertex_is_independent_and_unmatched_and_has_color_zero(ordered):
    graph, order = ordered
    A = graph.matrix()
    B = A.dup()
    B.resize(graph.n + 1, graph.n + 1)
    assert graph.n in maximal_independent_set(B)
    assert graph.n not in maximal_matching(B)
    assert greedy_color(B)[graph.n].value == 0
    verify_matching(
        graph.relabeled(order), maximal_matching(graph.relabeled(order).matrix()).to_dict()
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_directed_graphs_and_invalid_seeds_are_rejected(algorithm):
    with pytest.raises(ValueError, match="must be symmetric"):
        algorithm(gl.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3))
    with pytest.raises(ValueError, match="seed is -1, but must be at least 0"):
        algorithm(gl.Matrix(bool, 3, 3), seed=-1)
    with pytest.raises(TypeError, match="seed must be None, an integer or a numpy Generator"):
        algorithm(gl.Matrix(bool, 3, 3), seed="chance")


def test_an_unknown_strategy_is_rejected():
    with pytest.raises(ValueError, match="strategy is 'DSATUR', but must be largest_first or"):
        greedy_color(gl.Matrix(bool, 3, 3), "DSATUR")
