"""Loops that several threads run on the same arrays give the results of the definitions."""

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
from graphla.backends.cpu.cores import CoresTuning
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using

pytestmark = pytest.mark.cpu

CASES: dict[str, Callable[[gl.Matrix], Any]] = {
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


@st.composite
def undirected_graphs(draw: st.DrawFn) -> gl.Matrix:
    """Draw a graph with few distinct weights: a dense one, a sparse one, or one with long paths."""
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
def test_threads_that_share_arrays_give_the_result_of_the_definition(name, A, threads):
    pytest.importorskip("numba")
    with gl.config.set(compiled=False):
        expected = CASES[name](A)
    tuning = using(PartsTuning(parallel=0, parts=2), CoresTuning(shared=16))
    with gl.config.set(compiled=True, threads=threads), tuning:
        found = CASES[name](A)
    assert found.isequal(expected, check_dtype=True)


@pytest.mark.parametrize("name", CASES)
def test_many_steps_that_threads_share_give_the_result_of_one_thread(name):
    pytest.importorskip("numba")
    A = gl.generators.kronecker(11, 8, seed=1, weights=(0.5, 1.0))
    with gl.config.set(compiled=True, threads=1):
        expected = CASES[name](A)
    tuning = using(PartsTuning(parallel=0), CoresTuning(shared=256))
    with gl.config.set(compiled=True, threads=2), tuning:
        for _ in range(5):
            assert CASES[name](A).isequal(expected, check_dtype=True)
