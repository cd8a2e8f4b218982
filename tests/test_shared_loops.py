"""Test that loops run by several threads on the same arrays give the results of definitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import algorithms as algo
from graphla.backends.cpu.betweenness import BetweennessTuning
from graphla.backends.cpu.bfs import BfsTuning
from graphla.backends.cpu.closure_buckets import BucketTuning
from graphla.backends.cpu.cores import CoresTuning
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.compilers import numba

pytestmark = pytest.mark.cpu

CASES: dict[str, Callable[[gl.Matrix], Any]] = {
    "bfs": lambda A: algo.bfs(A, 0, parents=False).levels,
    "bfs with least parents": lambda A: algo.bfs(A, 0, parents="least").parents,
    "sssp": lambda A: algo.sssp(A, 0).distances,
    "connected_components": algo.connected_components,
    "core_numbers": algo.core_numbers,
    "spanning_forest": algo.spanning_forest,
    "spanning_forest by weight": partial(algo.spanning_forest, weight=True),
    "spanning_forest of maximum weight": partial(algo.spanning_forest, weight=True, maximum=True),
    "greedy_color": algo.greedy_color,
    "greedy_color in random order": partial(algo.greedy_color, strategy="random_sequential"),
    "maximal_matching": algo.maximal_matching,
    "maximal_matching by weight": partial(algo.maximal_matching, weight=True),
}
EAGER = (
    BfsTuning(wide=0, shared=1, wide_together=0, shared_together=1),
    BucketTuning(shared=1, shared_together=1),
)
"""Limits so low that threads share almost all levels of searches and rounds of shortest paths."""


@st.composite
def undirected_graphs(draw: st.DrawFn) -> gl.Matrix:
    """Draw a dense graph, a sparse graph, or a graph with long paths; few weights are distinct."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([n // 2, 2 * n, 12 * n]))
    u, v = rng.integers(0, n, (2, size))
    if draw(st.booleans()):
        u, v = np.append(u, np.arange(n - 1)), np.append(v, np.arange(1, n))
    u, v = np.minimum(u, v)[u != v], np.maximum(u, v)[u != v]
    weights = rng.integers(1, draw(st.sampled_from([2, 6, 1000])), u.size).astype(float)
    U = gl.Matrix.from_coo(u, v, weights, nrows=n, ncols=n, dup_op="first")
    return gl.binary.any(U | U.T).new()


@pytest.mark.parametrize("name", CASES)
@given(A=undirected_graphs(), threads=st.integers(2, 3))
def test_threads_that_share_arrays_compute_the_same_result_as_the_definition(name, A, threads):
    pytest.importorskip("numba")
    with gl.config.set(compiled=False):
        expected = CASES[name](A)
    tuning = using(PartsTuning(parallel=0, parts=2), CoresTuning(alone=0, shared=16), *EAGER)
    with gl.config.set(compiled=True, threads=threads), tuning:
        found = CASES[name](A)
    assert found.isequal(expected, check_dtype=True)


@pytest.mark.parametrize("name", CASES)
def test_many_steps_shared_by_several_threads_give_the_same_result_as_one_thread(name):
    pytest.importorskip("numba")
    A = gl.generators.kronecker(11, 8, seed=1, weights=(0.5, 1.0))
    with gl.config.set(compiled=True, threads=1):
        expected = CASES[name](A)
    tuning = using(PartsTuning(parallel=0), CoresTuning(alone=0, shared=256), *EAGER)
    with gl.config.set(compiled=True, threads=2), tuning:
        for _ in range(5):
            assert CASES[name](A).isequal(expected, check_dtype=True)


def graph_with_hubs(seed: int) -> gl.Matrix:
    """Return a path whose ends have 2,000 leaves, and two vertices with 2,000 common neighbors.

    The ends of the path lose their leaves in one step. Then all vertices of the path are removed.
    """
    path, leaves = np.arange(10), np.arange(10, 4010)
    common = np.arange(4012, 6012)
    u = np.concatenate((path[:-1], np.repeat(path[[0, -1]], 2000), np.repeat((4010, 4011), 2000)))
    v = np.concatenate((path[1:], leaves, np.tile(common, 2)))
    label = np.random.default_rng(seed).permutation(6012)
    U = gl.Matrix.from_coo(label[u], label[v], True, nrows=6012, ncols=6012)
    return gl.binary.any(U | U.T).new()


@pytest.mark.parametrize("threads", [2, 4])
def test_a_hub_that_loses_almost_all_neighbors_in_one_step_is_removed_in_the_next_step(threads):
    pytest.importorskip("numba")
    A = graph_with_hubs(threads)
    with gl.config.set(compiled=False):
        expected = algo.core_numbers(A)
    assert expected.reduce(gl.monoid.plus).get(0) == 2 * 2002 + 4010
    eager = using(PartsTuning(parallel=0), CoresTuning(alone=0, shared=256))
    with gl.config.set(compiled=True, threads=threads), eager:
        for _ in range(5):
            assert algo.core_numbers(A).isequal(expected)


@pytest.mark.parametrize(("extra", "is_shared"), [(0, False), (-1, True)])
def test_threads_share_a_loop_only_above_the_documented_size(monkeypatch, extra, is_shared):
    pytest.importorskip("numba")
    A = gl.generators.kronecker(9, 8, seed=1)
    alone = A.nrows + A.nvals + extra
    with gl.config.set(compiled=True, threads=1):
        expected = algo.core_numbers(A), _some_dependencies(A, 1)[0]
    loaded: dict[tuple, Any] = {}
    monkeypatch.setattr(numba, "_loaded", loaded)
    tuning = using(PartsTuning(parallel=0), CoresTuning(alone), BetweennessTuning(alone=alone))
    with gl.config.set(compiled=True, threads=2), tuning:
        found = algo.core_numbers(A), _some_dependencies(A, 1)[0]
    names = {name: spec for name, spec, _ in loaded}
    assert names["cores.peel"][1] == is_shared
    assert ("betweenness.share_sources" in names) == is_shared
    assert found[0].isequal(expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def _some_dependencies(A: gl.Matrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the betweenness of vertices and edges for paths that start at `count` vertices."""
    options = {"sources": np.arange(min(count, A.nrows)), "normalized": False}
    b = algo.betweenness(A, endpoints=True, **options)
    return b.to_dense(0), algo.edge_betweenness(A, directed=True, **options).to_coo()[2]


@given(A=undirected_graphs(), threads=st.integers(2, 4), shared=st.integers(1, 40))
def test_threads_that_share_a_source_give_bitwise_the_same_result_as_one_thread(A, threads, shared):
    pytest.importorskip("numba")
    A = A.select("triu").new() if shared % 2 else A
    with gl.config.set(compiled=True, threads=1):
        expected = _some_dependencies(A, threads - 1)
    tuning = using(PartsTuning(parallel=0), BetweennessTuning(alone=0, shared=shared, level=0))
    with gl.config.set(compiled=True, threads=threads), tuning:
        found = _some_dependencies(A, threads - 1)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("level", [0, 1 << 30])
def test_path_counts_beyond_2_to_the_53_are_bitwise_equal_for_any_number_of_threads(count, level):
    """Each vertex has edges to about half of the next layer, so there are more than 10^20 paths.
    With the larger value of `level`, only the first source is shared."""
    pytest.importorskip("numba")
    width, layers = 400, 10
    rng = np.random.default_rng(1)
    u, v = np.nonzero(rng.random((width * layers, width)) < 0.5)
    v += width * (u // width + 1)
    is_inside = v < width * layers
    A = gl.Matrix.from_coo(
        u[is_inside], v[is_inside], 1, nrows=width * layers, ncols=width * layers
    )
    with gl.config.set(compiled=True, threads=1):
        expected = _some_dependencies(A, count)
    for _ in range(5):
        tuning = using(PartsTuning(parallel=0), BetweennessTuning(alone=0, shared=8, level=level))
        with gl.config.set(compiled=True, threads=4), tuning:
            found = _some_dependencies(A, count)
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13)
            if not level or count == 1:
                np.testing.assert_array_equal(x, y)


def test_betweenness_of_many_sources_is_bitwise_equal_in_every_run():
    pytest.importorskip("numba")
    A = gl.generators.kronecker(9, 8, seed=1)
    settings = {"compiled": True, "threads": 3, "deterministic": True}
    with gl.config.set(**settings), using(PartsTuning(parallel=0)):
        expected, *others = (_some_dependencies(A, 40) for _ in range(5))
    for each in others:
        for x, y in zip(each, expected, strict=True):
            np.testing.assert_array_equal(x, y)


@given(A=undirected_graphs(), B=undirected_graphs(), threads=st.integers(2, 3))
def test_a_masked_product_computed_by_several_threads_agrees_with_numpy(A, B, threads):
    pytest.importorskip("numba")
    B = B.dup()
    B.resize(A.nrows, A.ncols)
    L = A.select("tril", -1).new()
    for multiply in (gl.semiring.plus_pair, gl.semiring.min_plus):
        for mask in (L.S, B.S):
            with gl.config.set(compiled=False):
                expected = multiply(L @ L.T).new(mask=mask)
            with gl.config.set(compiled=True, threads=threads), using(PartsTuning(0, parts=3)):
                found = multiply(L @ L.T).new(mask=mask)
            assert found.isequal(expected, check_dtype=True)


@pytest.mark.parametrize("name", ["bfs", "sssp"])
@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_threads_share_large_levels_before_and_after_a_long_path(name, direction):
    """One thread runs the levels of the path alone. Then several threads work together again."""
    pytest.importorskip("numba")
    n, length = 2048, 1000
    K = gl.generators.kronecker(11, 8, seed=1)
    i, j, _ = K.to_coo()
    hub = int(np.bincount(i).argmax())
    path = np.array([hub, *range(2 * n, 2 * n + length), n + hub])
    u = np.concatenate([i, i + n, path[:-1], path[1:]])
    v = np.concatenate([j, j + n, path[1:], path[:-1]])
    A = gl.Matrix.from_coo(u, v, 1.0 + (u + v) % 7, nrows=2 * n + length, ncols=2 * n + length)
    search = {
        "bfs": lambda: algo.bfs(A, hub, parents=False).levels,
        "sssp": lambda: algo.sssp(A, hub).distances,
    }[name]
    with gl.config.set(compiled=True, threads=1):
        expected = search()
    tuning = BfsTuning(wide=64, shared=64, wide_together=64, shared_together=64)
    eager = using(tuning, BucketTuning(shared=64, shared_together=64))
    with gl.config.set(compiled=True, threads=3), eager, gl.direction(direction):
        for _ in range(3):
            assert search().isequal(expected, check_dtype=True)
