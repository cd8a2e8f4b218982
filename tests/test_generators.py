"""Test the counts, structure and seeds of generated graphs; NetworkX is the reference."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import formats
from graphla import generators as made

FIXED = {
    "path": (made.path, nx.path_graph),
    "cycle": (made.cycle, nx.cycle_graph),
    "star": (made.star, lambda n: nx.star_graph(n - 1) if n else nx.empty_graph(0)),
    "complete": (made.complete, nx.complete_graph),
    "binary_tree": (made.binary_tree, lambda n: nx.full_rary_tree(2, n)),
}


def places(A: gl.Matrix) -> set[tuple[int, int]]:
    rows, columns, _ = A.to_coo()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def is_one_value(A: gl.Matrix) -> bool:
    return formats.is_iso(A._read().csr.values)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 12])
def test_fixed_graphs_equal_those_of_networkx(name, n):
    ours, theirs = FIXED[name]
    if name == "cycle" and n < 3:
        with pytest.raises(gl.exceptions.InvalidValue, match="3 vertices or more"):
            ours(n)
        return
    A, G = ours(n), theirs(n)
    assert A.shape == (n, n)
    assert A.dtype == "BOOL"
    assert places(A) == set(G.to_directed().edges)
    assert A._store.is_symmetric
    half = ours(n, symmetric=False)
    assert places(half) | {(j, i) for i, j in places(half)} == places(A)
    assert 2 * half.nvals == A.nvals


@pytest.mark.parametrize("spine", [0, 1, 2, 5])
@pytest.mark.parametrize("leaves", [0, 1, 3])
def test_a_caterpillar_graph_is_a_path_with_leaves(spine, leaves):
    G = nx.path_graph(spine)
    for v in range(spine):
        nx.add_star(G, [v, *range(spine + v * leaves, spine + (v + 1) * leaves)])
    A = made.caterpillar(spine, leaves)
    assert A.shape == (spine * (1 + leaves),) * 2
    assert places(A) == set(G.to_directed().edges)
    assert A._store.is_symmetric
    half = made.caterpillar(spine, leaves, symmetric=False)
    assert places(half) == set(G.edges)
    assert not spine or nx.is_tree(G)


@given(st.integers(0, 12), st.floats(0, 1), st.booleans(), st.integers(0, 5), st.data())
def test_a_small_world_graph_has_n_k_over_2_edges_and_no_self_loops(n, p, symmetric, seed, data):
    k = 2 * data.draw(st.integers(0, max(n - 1, 0) // 2))
    A = made.watts_strogatz(n, k, p, seed=seed, symmetric=symmetric)
    edges = places(A)
    assert A.shape == (n, n)
    assert len(edges) == n * k // (1 if symmetric else 2)
    assert all(i != j for i, j in edges)
    if symmetric:
        assert {(j, i) for i, j in edges} == edges
    else:
        out = np.bincount([i for i, _ in edges], minlength=n)
        # Rewiring an edge changes only its target, so out-degrees stay the same.
        assert (out == k // 2).all()


@pytest.mark.parametrize(("n", "k"), [(1, 0), (3, 2), (8, 4), (9, 8), (20, 6)])
def test_a_small_world_graph_without_rewiring_equals_the_ring_of_networkx(n, k):
    assert places(made.watts_strogatz(n, k, 0)) == set(
        nx.watts_strogatz_graph(n, k, 0).to_directed().edges
    )


def test_a_small_world_graph_rewires_the_same_fraction_of_edges_as_networkx():
    n, k, p = 2000, 8, 0.3
    ring = places(made.watts_strogatz(n, k, 0))
    ours = made.watts_strogatz(n, k, p, seed=1)
    G = nx.watts_strogatz_graph(n, k, p, seed=1)
    kept, theirs = len(places(ours) & ring) / len(ring), set(G.to_directed().edges) & ring
    assert abs(kept - (1 - p)) < 0.03
    assert abs(kept - len(theirs) / len(ring)) < 0.03
    degree = np.bincount(ours.to_coo()[0], minlength=n)
    expected = np.array([d for _, d in G.degree])  # pyright: ignore[reportGeneralTypeIssues]
    assert abs(degree.std() - expected.std()) < 0.1
    assert degree.min() >= k // 2


def test_rewiring_a_complete_graph_changes_nothing():
    assert places(made.watts_strogatz(9, 8, 1)) == places(made.complete(9))


@pytest.mark.parametrize("shape", [(), (0,), (5,), (1, 1), (3, 4), (4, 1), (2, 3, 4), (0, 3)])
def test_grid_graphs_equal_those_of_networkx(shape):
    A = made.grid(*shape)
    n = int(np.prod(shape, dtype=int))
    expected = nx.grid_graph(list(reversed(shape))) if shape and n else nx.empty_graph(n)
    number = {node: k for k, node in enumerate(sorted(expected))}
    edges = {(number[u], number[v]) for u, v in expected.to_directed().edges}
    assert A.shape == (n, n)
    assert places(A) == edges


def test_edges_of_a_grid_are_dropped_with_the_given_probability():
    whole, part = made.grid(200, 200), made.grid(200, 200, drop=0.15, seed=3)
    assert places(part) < places(whole)
    assert abs(part.nvals / whole.nvals - 0.85) < 0.01
    assert made.grid(20, 20, drop=1.0).nvals == 0


@given(st.integers(0, 9), st.booleans(), st.booleans(), st.integers(0, 5), st.data())
def test_uniform_graphs_have_exactly_the_requested_number_of_edges(
    n, symmetric, self_loops, seed, data
):
    possible = (n * (n - 1) // 2 if symmetric else n * (n - 1)) + n * self_loops
    m = data.draw(st.integers(0, possible))
    A = made.uniform(n, m, seed=seed, symmetric=symmetric, self_loops=self_loops)
    edges = {(max(e), min(e)) if symmetric else e for e in places(A)}
    assert len(edges) == m
    assert self_loops or all(i != j for i, j in edges)
    if symmetric:
        assert {(j, i) for i, j in places(A)} == places(A)
    with pytest.raises(gl.exceptions.InvalidValue, match="m is"):
        made.uniform(n, possible + 1, symmetric=symmetric, self_loops=self_loops)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("m", [2, 5])
def test_every_possible_edge_is_equally_likely_in_a_uniform_graph(symmetric, self_loops, m):
    seeds, n = 1500, 4
    count = np.zeros((n, n))
    for seed in range(seeds):
        for i, j in places(
            made.uniform(n, m, seed=seed, symmetric=symmetric, self_loops=self_loops)
        ):
            count[max(i, j) if symmetric else i, min(i, j) if symmetric else j] += 1
    if symmetric:
        count[np.tril_indices(n, -1)] /= 2
    found = count[count > 0]
    assert found.size == (n * (n - 1) // (1 + symmetric)) + n * self_loops
    expected = seeds * m / found.size
    assert np.abs(found - expected).max() < 5 * np.sqrt(expected)


def test_kronecker_graphs_have_the_size_and_degree_skew_of_graph500():
    A = made.kronecker(12, seed=1)
    n = 1 << 12
    degree = np.bincount(A.to_coo()[0], minlength=n)
    assert A.shape == (n, n)
    assert A.dtype == "BOOL"
    assert is_one_value(A)
    assert A._store.is_symmetric
    assert {(j, i) for i, j in places(A)} == places(A)
    assert all(i != j for i, j in places(A))
    assert 0.7 * 16 * n < A.nvals / 2 <= 16 * n
    assert degree.max() > 20 * degree.mean()  # hubs
    assert (degree == 0).sum() > n // 20  # isolated vertices
    even = np.bincount(made.kronecker(12, A=0.25, B=0.25, C=0.25).to_coo()[0], minlength=n)
    assert even.max() < 3 * even.mean()


def test_kronecker_edges_fall_into_each_quadrant_with_its_probability():
    directed = made.kronecker(
        1, 100_000, 0.5, 0.3, 0.15, symmetric=False, self_loops=True, dtype=int
    )
    assert directed.nvals == 4
    rng, m = np.random.default_rng(0), 200_000
    u, v = np.empty(m, np.int32), np.empty(m, np.int32)
    made._draw_bits(rng, 1, (0.5, 0.3, 0.15), u, v)
    share = np.bincount(2 * u + v, minlength=4) / m
    assert np.abs(share - [0.5, 0.3, 0.15, 0.05]).max() < 0.005


def test_out_degrees_are_more_skewed_than_in_degrees_in_an_asymmetric_kronecker_graph():
    # Each bit of a source vertex is 1 with probability 0.1; for target vertices the probability is
    # 0.45.
    A = made.kronecker(10, 4, 0.5, 0.4, 0.05, symmetric=False, seed=2)
    rows, columns, _ = A.to_coo()
    out, into = np.bincount(rows, minlength=1024), np.bincount(columns, minlength=1024)
    assert out.max() > 5 * into.max()
    assert (out == 0).sum() > 2 * (into == 0).sum()
    assert not A._store.is_symmetric
    G = nx.DiGraph(list(places(A)))
    assert nx.overall_reciprocity(G) < 0.1


def test_a_kronecker_graph_keeps_self_loops_and_directions_on_request():
    A = made.kronecker(8, symmetric=False, self_loops=True)
    assert any(i == j for i, j in places(A))
    assert {(j, i) for i, j in places(A)} != places(A)
    assert made.kronecker(0).shape == (1, 1)
    assert made.kronecker(3, 0).nvals == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: made.kronecker(7, **o),
        lambda **o: made.uniform(50, 200, **o),
        lambda **o: made.grid(6, 7, drop=0.3, **o),
        lambda **o: made.complete(12, **o),
        lambda **o: made.caterpillar(9, 8, **o),
        lambda **o: made.watts_strogatz(30, 4, 0.2, **o),
    ],
)
def test_the_seed_determines_the_weight_of_each_edge(make):
    A = make(weights=(1, 64), seed=5)
    rows, columns, values = A.to_coo()
    assert A.dtype == "INT64"
    assert values.min() >= 1
    assert values.max() <= 64
    assert np.unique(values).size > 20
    mirrored = {(j, i): x for i, j, x in zip(rows, columns, values, strict=True)}
    assert mirrored == {(i, j): x for i, j, x in zip(rows, columns, values, strict=True)}
    assert make(weights=(1, 64), seed=5).isequal(A)
    assert not make(weights=(1, 64), seed=6).isequal(A)
    floats = make(weights=(0.0, 1.0), dtype="FP32")
    assert floats.dtype == "FP32"
    assert 0 <= floats.to_coo()[2].min() <= floats.to_coo()[2].max() <= 1


def test_the_same_seed_gives_the_same_graph_on_every_platform():
    total = {
        "kronecker": made.kronecker(6, seed=7),
        "uniform": made.uniform(100, 300, seed=7),
        "grid": made.grid(10, 10, drop=0.5, seed=7),
        "watts_strogatz": made.watts_strogatz(50, 6, 0.5, seed=7),
    }
    sums = {}
    for name, A in total.items():
        rows, columns, _ = A.to_coo()
        sums[name] = (A.nvals, int((rows * rows * columns).sum()))
    assert sums == EXPECTED


EXPECTED = {
    "kronecker": (768, 32797138),
    "uniform": (600, 102675504),
    "grid": (192, 44860464),
    "watts_strogatz": (300, 6907956),
}


def test_the_bounds_of_random_weights_may_be_numpy_numbers():
    low, high = anything(np.int64(1)), anything(np.int64(9))
    A = made.path(9, weights=(low, high))
    assert A.dtype == "INT64"
    assert A.isequal(made.path(9, weights=(1, 9)))


def anything(x: Any) -> Any:
    """Return x typed as Any, so that the type checker accepts wrong arguments."""
    return x


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: made.kronecker(31), "scale is 31"),
        (lambda: made.kronecker(-1), "scale is -1"),
        (lambda: made.kronecker(3, -1), "edge_factor is -1"),
        (lambda: made.kronecker(3, A=0.9), "A, B, C are 0.9"),
        (lambda: made.kronecker(3, A=-0.1), "A, B, C are -0.1"),
        (lambda: made.path(-1), "n is -1"),
        (lambda: made.path(2**31), "n is 2147483648"),
        (lambda: made.star(2.5), "n is 2.5"),  # pyright: ignore[reportArgumentType]
        (lambda: made.grid(-3, 3), "shape is -3"),
        (lambda: made.grid(100_000, 100_000), "product of shape is 10000000000"),
        (lambda: made.grid(3, drop=2), "drop is 2"),
        (lambda: made.path(3, weights=(5, 1)), "weights is"),
        (lambda: made.path(3, weights=(0.5, 1), dtype=int), "two integers"),
        (lambda: made.path(3, weights=(0, 300), dtype="INT8"), "weights is"),
        (lambda: made.path(3, weights=(0, 3), dtype=bool), "within BOOL"),
        (lambda: made.path(3, weights=anything(3)), "weights is 3"),
        (lambda: made.path(3, weights=anything((1, 2, 3))), "weights is"),
        (lambda: made.path(3, weights=(0, float("inf"))), "two finite numbers"),
        (lambda: made.path(3, seed=-1), "seed is -1"),
        (lambda: made.kronecker(anything(2.5)), "scale is 2.5"),
        (lambda: made.kronecker(anything("3")), "scale is '3'"),
        (lambda: made.kronecker(3, A=float("nan")), "A, B, C are nan"),
        (lambda: made.uniform(3, anything(1.5)), "m is 1.5"),
        (lambda: made.uniform(anything(None), 1), "n is None"),
        (lambda: made.grid(anything((2, 2))), r"shape is \(2, 2\)"),
        (lambda: made.star(anything(float("nan"))), "n is nan"),
        (lambda: made.caterpillar(-1, 2), "spine is -1"),
        (lambda: made.caterpillar(2, 0.5), "leaves is 0.5"),  # pyright: ignore[reportArgumentType]
        (lambda: made.caterpillar(10**5, 10**5), r"spine \* \(1 \+ leaves\) is 10000100000"),
        (lambda: made.watts_strogatz(5, 5, 0), "k is 5, but should be a whole number from 0 to 4"),
        (lambda: made.watts_strogatz(5, 3, 0), "k is 3, but should be even"),
        (lambda: made.watts_strogatz(5, 2, 1.5), "p is 1.5, but should be a probability"),
    ],
)
def test_wrong_arguments_are_rejected(call, problem):
    with pytest.raises(gl.exceptions.InvalidValue, match=problem):
        call()
