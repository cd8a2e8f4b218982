from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from graphs import Edges, graphs
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    UnboundedFlow,
    hopcroft_karp_matching,
    maximum_flow,
    minimum_cut,
)
from graphla.exceptions import InvalidValue

nx = pytest.importorskip("networkx")
capacities = st.one_of(
    st.tuples(st.just("INT64"), st.just(st.integers(0, 9))),
    st.tuples(st.just("INT64"), st.just(st.integers(0, 9).map(lambda c: c * 10**12))),
    st.tuples(st.just("FP64"), st.just(st.integers(0, 20).map(lambda c: c / 8))),
    st.tuples(st.just("FP64"), st.just(st.sampled_from([0.0, 1.0, 2.5, math.inf]))),
    st.tuples(st.just("FP64"), st.just(st.sampled_from([1.0, 2.0, 3.0, math.inf]))),
)


@st.composite
def networks(draw: st.DrawFn) -> Edges:
    """Draw a graph with capacities; most sums of capacities are exact."""
    dtype, weights = draw(capacities)
    return draw(graphs(least=2, weights=weights, dtype=dtype))


def cut_of(graph: Edges) -> Any:
    """Return NetworkX's minimum cut between the first two vertices, or None if it is infinite."""
    try:
        return nx.minimum_cut(graph.networkx(), 0, 1, capacity="weight")
    except nx.NetworkXUnbounded:
        return None


@given(networks())
def test_a_maximum_flow_is_a_valid_flow_with_the_same_value_as_in_networkx(graph):
    A, expected = graph.matrix(), cut_of(graph)
    if expected is None:
        with pytest.raises(UnboundedFlow):
            maximum_flow(A, 0, 1)
        return
    value, F = maximum_flow(A, 0, 1)
    assert value == pytest.approx(expected[0])
    assert isinstance(value, int if graph.dtype == "INT64" else float)
    flow = F.to_dict()
    assert flow.keys() == A.to_dict().keys()
    excess = dict.fromkeys(range(graph.n), 0)
    for (i, j), f in flow.items():
        assert 0 <= f <= A.get(i, j)
        excess[i] -= f
        excess[j] += f
    assert excess.pop(0) == pytest.approx(-value)
    assert excess.pop(1) == pytest.approx(value)
    assert list(excess.values()) == pytest.approx([0] * len(excess))


@given(networks())
def test_a_minimum_cut_has_the_same_two_sides_as_in_networkx(graph):
    A, expected = graph.matrix(), cut_of(graph)
    if expected is None:
        with pytest.raises(UnboundedFlow):
            minimum_cut(A, 0, 1)
        return
    value, side = minimum_cut(A, 0, 1)
    assert value == pytest.approx(expected[0])
    assert side.to_dict() == dict.fromkeys(sorted(expected[1][0]), True)


def test_edges_without_weights_have_capacity_1_and_labels_may_name_the_source_and_the_sink():
    G = gl.Graph.from_edges([("a", "b", 7), ("b", "c", 7), ("a", "c", 7)])
    assert maximum_flow(G, "a", "c").value == 14
    value, flow = maximum_flow(G, "a", "c", weight=None)
    assert value == 2
    assert flow.to_dicts()["a"] == {"b": 1, "c": 1}
    assert minimum_cut(G, "a", "c", weight=None).source_side.to_dict() == {"a": True, "b": True}


@given(graphs(least=2, weights=st.floats(0, 1e6), dtype="FP64"))
def test_flows_with_rounded_capacities_respect_the_capacities_and_have_the_value_of_a_minimum_cut(
    graph,
):
    A = graph.matrix()
    value, F = maximum_flow(A, 0, 1)
    dense, side = (
        A.to("cpu").to_dense(0.0),
        minimum_cut(A, 0, 1).source_side.to("cpu").to_dense(False),
    )
    assert (F.to("cpu").to_dense(0.0) <= dense).all()
    assert side[0] and not side[1]
    assert dense[side][:, ~side].sum() == pytest.approx(value, rel=1e-9, abs=1e-6)


def test_maximum_flow_rejects_invalid_arguments():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, -1])
    with pytest.raises(InvalidValue, match="target is 0, but must differ from the source"):
        maximum_flow(A, 0, 0)
    with pytest.raises(InvalidValue, match="weight -1 on edge 1 -> 0"):
        minimum_cut(A, 0, 1)
    with pytest.raises(gl.exceptions.IndexOutOfBound):
        maximum_flow(A, 0, 2)
    huge = gl.Matrix.from_coo([0, 1], [1, 0], 2**61)
    with pytest.raises(OverflowError, match=r"the sum must be below 2\^61"):
        maximum_flow(huge, 0, 1)


def test_the_value_of_a_maximum_flow_in_a_larger_graph_equals_the_capacity_of_its_minimum_cut():
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 300, (2, 3000))
    for dtype in ("INT64", "FP64"):
        weights = rng.integers(1, 100, 3000) / (1 if dtype == "INT64" else 64)
        A = gl.Matrix.from_coo(i, j, weights, dtype, nrows=300, ncols=300, dup_op="plus")
        value, side = minimum_cut(A, 0, 1)
        dense, S = A.to("cpu").to_dense(0), side.to("cpu").to_dense(False)
        assert value == dense[S][:, ~S].sum() == maximum_flow(A, 0, 1).value


@st.composite
def bipartite_graphs(draw: st.DrawFn) -> tuple[Edges, list[int]]:
    """Draw an undirected bipartite graph, and the vertices on one of its sides."""
    n = draw(st.integers(1, 12))
    top = draw(st.lists(st.integers(0, n - 1), unique=True))
    pairs = [(i, j) for i in top for j in range(n) if j not in top]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    both = (*ends, *((j, i) for i, j in ends))
    return Edges(n, both, (1,) * len(both), undirected=True), top


@given(bipartite_graphs(), st.booleans())
def test_a_maximum_matching_is_valid_and_as_large_as_that_of_networkx(drawn, has_top):
    graph, top = drawn
    mates = hopcroft_karp_matching(graph.matrix(), top if has_top else None).to_dict()
    assert all(mates[j] == i and (i, j) in graph.ends for i, j in mates.items())
    expected = nx.bipartite.hopcroft_karp_matching(graph.networkx(), top)
    assert len(mates) == len(expected)


def test_a_maximum_matching_rejects_edges_within_one_side():
    triangle = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(InvalidValue, match="has an edge 'b' -> 'c' within one side"):
        hopcroft_karp_matching(triangle)
    path = gl.Graph.from_edges([("a", "b"), ("b", "c")])
    assert len(hopcroft_karp_matching(path).to_dict()) == 2
    assert hopcroft_karp_matching(path, ["b"]).to_dict()["b"] in ("a", "c")
    with pytest.raises(InvalidValue, match="within one side"):
        hopcroft_karp_matching(path, ["a", "b"])


def test_capacities_far_above_the_flow_do_not_change_the_flow():
    for dtype in ("FP64", "INT64"):
        big = 2**62 if dtype == "INT64" else 2.0**63
        A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 3], [big, big, 1, 2], dtype, nrows=4)
        A.resize(4, 4)
        value, flow = maximum_flow(A, 0, 3)
        assert value == 1
        assert flow.to_dict() == {(0, 1): 1, (1, 0): 0, (1, 2): 1, (2, 3): 1}
        assert minimum_cut(A, 0, 3).source_side.to_dict() == {0: True, 1: True}


def test_capacities_that_do_not_fit_in_int64_are_rejected():
    A = gl.Matrix.from_coo([0], [1], 2**63, "UINT64", nrows=2, ncols=2)
    for find in (maximum_flow, minimum_cut):
        with pytest.raises(OverflowError, match="A has capacity 9223372036854775808"):
            find(A, 0, 1)
