"""Tests of `ladder.bfs` with every strategy, on the device under test."""

from __future__ import annotations

import pytest
from algorithms.graphs import graphs, with_source
from devices import DEVICE, fewer
from hypothesis import given

import graphla as gl
from graphla import ladder
from graphla.exceptions import DeviceUnavailable, IndexOutOfBound, InvalidValue

HERE = [name for name, strategy in ladder.STRATEGIES.items() if strategy.runs_on(DEVICE)]


@pytest.mark.parametrize("strategy", HERE)
@pytest.mark.parametrize("compiled", [False, True] if DEVICE == "cpu" else [True])
@fewer(2)
@given(with_source(graphs()))
def test_levels_are_the_lengths_of_shortest_paths(strategy, compiled, drawn):
    nx = pytest.importorskip("networkx")
    edges, source = drawn
    with gl.config.set(compiled=compiled):
        found = ladder.bfs(edges.matrix(), source, strategy=strategy)
    assert found.dtype == "INT32"
    assert found.to_dict() == nx.single_source_shortest_path_length(edges.networkx(), source)


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    with pytest.raises(InvalidValue, match="strategy is 'fast', but the rungs are sequential, "):
        ladder.bfs(A, 0, strategy="fast")
    with pytest.raises(IndexOutOfBound, match="source is 3, but the vertices are 0 to 2"):
        ladder.bfs(A, 3, strategy="sequential")
    with pytest.raises(TypeError, match="source must be an integer"):
        ladder.bfs(A, "b", strategy="sequential")


@pytest.mark.parametrize("strategy", HERE)
def test_every_source_is_rejected_for_a_graph_without_vertices(strategy):
    with pytest.raises(IndexOutOfBound, match="source is 0, but the graph has no vertex"):
        ladder.bfs(gl.Matrix(bool, 0, 0), 0, strategy=strategy)


@pytest.mark.skipif(DEVICE != "cpu", reason="there is a GPU")
def test_the_error_about_a_strategy_that_needs_a_gpu_states_this_requirement():
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    for name, strategy in ladder.STRATEGIES.items():
        if not strategy.runs_on("cpu"):
            with pytest.raises(DeviceUnavailable, match=f"{name} needs a GPU"):
                ladder.bfs(A, 0, strategy=name)


def test_bfs_accepts_vertex_labels_and_searches_of_a_prepared_graph_accept_vertex_numbers():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c")])
    ready = ladder.prepare(G, "sequential")
    assert ready.bfs(0).to_dict() == {0: 0, 1: 1, 2: 2}
    with pytest.raises(IndexOutOfBound, match="source is 3, but the vertices are 0 to 2"):
        ready.search(3)
    assert dict(ladder.bfs(G, "a", strategy="sequential").to_dict()) == {"a": 0, "b": 1, "c": 2}
