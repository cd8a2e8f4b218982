"""Tests of shortest paths over a list of edges: distances, negative weights and overflow.

They also test levels that exceed one byte and vertex numbers that exceed 16 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import DEVICE, fewer
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import ladder
from graphla.exceptions import IndexOutOfBound, InvalidValue
from graphla.ladder.strategies import STRATEGIES

ON_CPU = [name for name, strategy in STRATEGIES.items() if strategy.runs_on("cpu")]


@st.composite
def weighted(draw, least, dtypes):
    """Draw a directed or symmetric graph with weights of one of the dtypes, and a source."""
    n = draw(st.sampled_from((1, 2, 9, 40)))
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    i, j = numbers.integers(0, n, (2, draw(st.sampled_from((0, n, 5 * n)))))
    dtype = draw(st.sampled_from(dtypes))
    values = numbers.integers(least, 20, i.size).astype(gl.dtypes.lookup_dtype(dtype).np_type)
    symmetric = draw(st.booleans())
    if symmetric:
        i, j, values = np.r_[i, j], np.r_[j, i], np.r_[values, values]
    A = gl.Matrix.from_coo(i, j, values, nrows=n, ncols=n, dup_op="min", symmetric=symmetric)
    return A, draw(st.integers(0, n - 1))


@fewer(2)
@given(weighted(0, ("INT64", "FP32", "UINT8", "FP64", "BOOL")))
def test_distances_equal_those_of_sssp(drawn):
    A, source = drawn
    found = ladder.sssp(A, source)
    assert found.isequal(gl.algorithms.sssp(A, source).distances, check_dtype=True)
    half = "FP32" if found.dtype == "FP64" else "INT32"
    assert ladder.sssp(A, source, dtype=half).to_dict() == found.to_dict()
    assert ladder.sssp(A, source, weight=False).isequal(
        ladder.bfs(A, source, strategy="edge-tuned")
    )


@fewer(2)
@given(weighted(-2, ("INT64", "FP64")))
def test_negative_weights_and_negative_cycles_are_handled_as_in_bellman_ford(drawn):
    A, source = drawn
    try:
        expected = gl.algorithms.bellman_ford(A, source).distances
    except InvalidValue as error:
        with pytest.raises(InvalidValue, match="cycle of negative weight") as raised:
            ladder.sssp(A, source)
        assert str(raised.value) == str(error)
    else:
        assert ladder.sssp(A, source).isequal(expected)


def test_a_distance_that_does_not_fit_in_the_dtype_is_rejected():
    big = 2**62
    path: dict[str, Any] = {"nrows": 4, "ncols": 4}
    A = gl.Matrix.from_coo([0, 1], [1, 2], [big, big], **path)
    with pytest.raises(
        OverflowError, match="shortest path from 0 of more than 9223372036854775806"
    ):
        ladder.sssp(A, 0)
    shorter = gl.Matrix.from_coo([0, 1, 0], [1, 2, 2], [big, big, 5], **path)
    assert ladder.sssp(shorter, 0).to_dict() == {0: 0, 1: big, 2: 5}
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 3], [-big, -big, -big], **path)
    with pytest.raises(OverflowError):
        ladder.sssp(A, 0)
    A = gl.Matrix.from_coo([0, 1], [1, 2], [-(2**31), -1], **path)
    with pytest.raises(OverflowError, match="less than -2147483648, which INT32"):
        ladder.sssp(A, 0, dtype="INT32")
    assert ladder.sssp(A, 0).to_dict()[2] == -(2**31) - 1
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1.5e308, 1.5e308], **path)
    with pytest.raises(OverflowError, match="which FP64 cannot hold"):
        ladder.sssp(A, 0)
    with pytest.raises(InvalidValue, match=r"A has a weight of 1.5e\+308, .* that FP32 holds"):
        ladder.sssp(A, 0, dtype="FP32")


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1.0, np.inf], nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match="A has a weight of inf, but must have finite ones"):
        ladder.sssp(A, 0)
    with pytest.raises(InvalidValue, match="dtype is INT32, but must be FP32 or FP64"):
        ladder.sssp(A, 0, dtype="INT32")
    with pytest.raises(IndexOutOfBound, match="source is 3, but the vertices are 0 to 2"):
        ladder.sssp(A, 3)
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, 2**40], nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match="A has a weight of 1099511627776"):
        ladder.sssp(A, 0, dtype="INT32")


def test_one_instance_of_the_class_paths_can_search_from_several_sources():
    A = gl.generators.path(6)
    ready = ladder.Paths(A, weight=False)
    assert [ready.sssp(v).to_dense().tolist()[0] for v in (0, 3)] == [0, 3]
    assert ready.rounds >= 2
    assert ready.held > 0
    G = gl.Graph.from_edges([("a", "b", 2.0), ("b", "c", 3.0)])
    assert ladder.Paths(G).sssp(0).to_dict() == {0: 0, 1: 2, 2: 5}
    with pytest.raises(TypeError, match="Matrix or Graph, not a Vector"):
        ladder.Paths(gl.Vector(float, 3))  # pyright: ignore[reportArgumentType]


@pytest.mark.skipif(DEVICE != "cpu", reason="tests the CPU only")
@pytest.mark.parametrize("name", ON_CPU)
@pytest.mark.parametrize("n", [254, 255, 256, 257, 700])
def test_levels_that_do_not_fit_in_one_byte_are_correct(name, n):
    A = gl.generators.path(n)
    found = ladder.prepare(A, name)
    assert found.bfs(0).to_dense().tolist() == list(range(n))
    assert found.bfs(n - 1).to_dense().tolist() == list(range(n))[::-1]


@pytest.mark.skipif(DEVICE != "cpu", reason="tests the CPU only")
@pytest.mark.parametrize("name", ON_CPU)
def test_searches_of_graphs_with_more_than_65536_vertices_are_correct(name):
    A = gl.generators.kronecker(17, edge_factor=3, symmetric=True, seed=2)
    expected = ladder.bfs(A, 5, strategy="sequential")
    assert expected.nvals > 1000
    assert ladder.bfs(A, 5, strategy=name).isequal(expected)
