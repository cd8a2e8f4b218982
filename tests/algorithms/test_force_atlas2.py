from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import force_atlas2, forceatlas2_layout
from graphla.operations.accelerate import Forces

nx = pytest.importorskip("networkx")
weighted = graphs(weights=st.sampled_from([1.0, 0.5, 3.0]), dtype="FP64")
OPTIONS: Any = st.fixed_dictionaries(
    {},
    optional={
        "gravity": st.sampled_from([0.1, 3.0]),
        "scaling_ratio": st.sampled_from([0.5, 4.0]),
        "jitter_tolerance": st.sampled_from([0.2, 2.0]),
        "distributed_action": st.just(True),
        "strong_gravity": st.just(True),
        "linlog": st.just(True),
        "weight": st.just("weight"),
        "node_mass": st.just({0: 2.5}),
        "node_size": st.just({0: 0.01}),
    },
)


def scatter(n: int, dim: int) -> np.ndarray:
    """Return positions that differ from each other."""
    return np.random.default_rng(n).permutation(n * dim).reshape(n, dim) * 0.7 + 0.1


def layout(A: Any, points: np.ndarray, **options: Any) -> np.ndarray:
    axes = [gl.Vector.from_dense(np.ascontiguousarray(x)) for x in points.T]
    found = forceatlas2_layout(A, axes, **options)
    return np.column_stack([x.to("cpu").to_dense() for x in found])


@given(weighted, OPTIONS, st.integers(2, 3))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_positions_after_a_few_rounds_equal_those_of_networkx(graph, options, dim):
    if graph.n < 2:
        return
    G, points = graph.networkx(), scatter(graph.n, dim)
    pos = {v: points[v].copy() for v in G}
    expected = nx.forceatlas2_layout(G, pos, max_iter=4, **options)
    A = gl.Graph(graph.matrix(), directed=not graph.undirected)
    found = layout(A, points, max_iter=4, **options)
    expected = np.array([*expected.values()])
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@given(weighted, st.booleans(), st.booleans(), st.integers(1, 3))
def test_the_forces_between_vertices_equal_their_definition(graph, is_log, has_size, dim):
    A, points = graph.matrix(), scatter(graph.n, dim)
    mass, size = np.arange(1.0, graph.n + 1), np.full(graph.n, 0.01) if has_size else None
    request = Forces(A, points, mass, size, 1.5, is_log)
    before, force_atlas2.BLOCK = force_atlas2.BLOCK, 3 * graph.n
    try:
        expected = force_atlas2.definition(request)
    finally:
        force_atlas2.BLOCK = before
    found = force_atlas2.accelerated(request, partial(force_atlas2.definition, request))
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_layouts_with_the_same_seed_are_equal_and_use_the_vertex_labels():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    one, other = (forceatlas2_layout(G, seed=5, max_iter=5, node_mass={"a": 3.0}) for _ in range(2))
    assert [x.to_dict() for x in one] == [x.to_dict() for x in other]
    assert list(one[0].to_dict()) == ["a", "b", "c", "d"]
    different = forceatlas2_layout(G, seed=6, max_iter=5, node_mass={"a": 3.0})
    assert different[0].to_dict() != one[0].to_dict()
    assert len(forceatlas2_layout(G, dim=3, max_iter=2)) == 3
    assert [x.size for x in forceatlas2_layout(gl.Matrix(int, 0, 0))] == [0, 0]


@pytest.mark.cpu
def test_the_layout_of_a_larger_graph_has_finite_positions_and_short_edges():
    A = path(300)
    points = np.column_stack([x.to("cpu").to_dense() for x in forceatlas2_layout(A)])
    assert np.isfinite(points).all()
    rows, columns, _ = A.to("cpu").to_coo()
    along = np.linalg.norm(points[rows] - points[columns], axis=1).mean()
    assert along < np.linalg.norm(points[:, None] - points[None], axis=2).mean() / 2


def path(n: int) -> gl.Matrix:
    i = np.arange(n - 1)
    return gl.Matrix.from_coo(np.r_[i, i + 1], np.r_[i + 1, i], 1, nrows=n, ncols=n)


def test_a_layout_with_invalid_arguments_is_rejected():
    A = path(3)
    with pytest.raises(gl.exceptions.InvalidValue, match="node_mass has -1"):
        forceatlas2_layout(A, node_mass={0: -1})
    with pytest.raises(gl.exceptions.InvalidValue, match="max_iter is -1"):
        forceatlas2_layout(A, max_iter=-1)
    with pytest.raises(gl.exceptions.DimensionMismatch, match="entries and size 2"):
        forceatlas2_layout(A, [gl.Vector.from_dense(np.zeros(2))])
    with pytest.raises(TypeError, match="must be a list of Vectors"):
        forceatlas2_layout(A, [1.0, 2.0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(gl.exceptions.InvalidValue, match="has no Vector"):
        forceatlas2_layout(A, [])
