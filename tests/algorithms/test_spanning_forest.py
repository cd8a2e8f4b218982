from __future__ import annotations

import math

import numpy as np
import pytest
from graphs import Edges, graphs, halves, with_order
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import connected_components, spanning_forest
from graphla.algorithms.spanning_forest import definition

undirected = graphs(undirected=True, weights=st.integers(-3, 3))
real = graphs(undirected=True, weights=halves, dtype="FP64")


def kruskal(graph: Edges, maximum: bool, weigh: bool) -> dict[tuple[int, int], float]:
    """Return the edges (i, j) with i < j that Kruskal's algorithm chooses, and their weights.

    The algorithm processes the edges in order of weight. Edges of equal weight are ordered by
    (i, j).
    """
    part = list(range(graph.n))
    sign = (-1 if maximum else 1) if weigh else 0
    edges = sorted((sign * w, i, j, w) for i, j, w in graph if i < j)
    chosen = {}
    for _, i, j, w in edges:
        if part[i] != part[j]:
            part = [part[i] if p == part[j] else p for p in part]
            chosen[i, j] = w
    return chosen


@given(undirected | real, st.booleans(), st.booleans())
def test_a_spanning_forest_has_the_edges_that_kruskals_algorithm_chooses(graph, maximum, weigh):
    A = graph.matrix()
    F = spanning_forest(A, "weight" if weigh else None, maximum=maximum)
    expected = kruskal(graph, maximum, weigh)
    found = {(i, j): w for i, row in F.to_dicts().items() for j, w in row.items()}
    assert found == {**expected, **{(j, i): w for (i, j), w in expected.items()}}
    assert F.dtype == A.dtype


@given(undirected | real, st.booleans())
def test_a_spanning_forest_has_the_same_total_weight_as_that_of_networkx(graph, maximum):
    nx = pytest.importorskip("networkx")
    span = nx.maximum_spanning_edges if maximum else nx.minimum_spanning_edges
    expected = sum(data["weight"] for *_, data in span(graph.networkx()))
    F = spanning_forest(graph.matrix(), maximum=maximum)
    assert F.reduce_scalar(gl.monoid.plus).get(0) == 2 * expected
    assert connected_components(F).isequal(connected_components(graph.matrix()))


@given(undirected, st.booleans())
def test_a_spanning_forest_equals_the_result_of_its_algebraic_definition(graph, maximum):
    A = graph.matrix()
    T = definition(gl.select.triu(A, 1).new(), maximum=maximum)
    assert T.isequal(gl.select.triu(spanning_forest(A, maximum=maximum), 1).new())


@given(with_order(graphs(undirected=True)), st.integers(0, 99))
def test_relabeling_a_graph_with_distinct_weights_relabels_its_spanning_forest(ordered, seed):
    graph, order = ordered
    drawn = np.random.default_rng(seed).random((graph.n, graph.n))
    weights = tuple(float(drawn[min(end), max(end)]) for end in graph.ends)
    graph = Edges(graph.n, graph.ends, weights, True, "FP64")
    edges = spanning_forest(graph.matrix()).to_dicts()
    relabeled = spanning_forest(graph.relabeled(order).matrix()).to_dicts()
    assert relabeled == {
        order[i]: {order[j]: w for j, w in row.items()} for i, row in edges.items()
    }


@pytest.mark.parametrize("dtype", ["BOOL", "UINT64", "FP32"])
def test_weights_may_have_any_dtype(dtype):
    values = [0, 1, 1] if dtype == "BOOL" else [1, 3, 2]
    A = gl.Matrix.from_coo([0, 0, 1], [1, 2, 2], np.array(values), dtype=dtype, nrows=4, ncols=4)
    A = gl.binary.any(A | A.T).new()
    F = spanning_forest(A)
    assert {(i, j) for i, row in F.to_dicts().items() for j in row if i < j} in (
        {(0, 1), (1, 2)},
        {(0, 1), (0, 2)},
    )
    assert F.dtype == dtype


def test_nan_weights_are_rejected_unless_the_argument_ignore_nan_is_set():
    ends = [0, 1, 1, 2], [1, 0, 2, 1]
    A = gl.Matrix.from_coo(*ends, [math.nan, math.nan, -math.inf, -math.inf], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight nan on edge 0 -> 1, but must have numbers"):
        spanning_forest(A)
    assert spanning_forest(A, ignore_nan=True).to_dicts() == {1: {2: -math.inf}, 2: {1: -math.inf}}


def test_a_directed_graph_is_rejected():
    with pytest.raises(ValueError, match="A has an edge 0 -> 1 but none 1 -> 0"):
        spanning_forest(gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_graph_without_edges_has_an_empty_forest(n):
    A = gl.Matrix.from_coo(range(n), range(n), 1, nrows=n, ncols=n)
    assert spanning_forest(A).nvals == 0
    assert spanning_forest(A).shape == (n, n)
