"""Tests of reachability and of the widest, minimax and most reliable paths."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from graphs import graphs, halves, integers, with_source
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import minimax_path, most_reliable_path, reachable, sssp, widest_path

weighted = with_source(st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64")))
eighths = st.integers(0, 8).map(lambda k: k / 8)


def best(graph, source, start, join, better):
    """Relax every edge repeatedly until no value improves."""
    found, changed = {source: start}, True
    while changed:
        changed = False
        for u, v, w in graph:
            if u in found:
                value = join(found[u], w)
                if v not in found or better(value, found[v]):
                    found[v], changed = value, True
    return found


@given(with_source(graphs()), st.none() | st.integers(0, 3))
def test_reachable_vertices_match_networkx(rooted, cutoff):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    lengths = nx.single_source_shortest_path_length(graph.networkx(), source, cutoff=cutoff)
    found = reachable(graph.matrix(), source, cutoff=cutoff)
    assert found.to_dict() == dict.fromkeys(lengths, True)
    assert found.dtype == "BOOL"


@given(weighted)
def test_the_width_of_a_path_equals_the_width_of_its_narrowest_edge(rooted):
    graph, source = rooted
    A = graph.matrix()
    start = math.inf if A.dtype == "FP64" else 2**63 - 1
    assert widest_path(A, source).widths.to_dict() == best(
        graph, source, start, min, lambda x, y: x > y
    )


@given(weighted)
def test_the_height_of_a_path_equals_the_height_of_its_highest_edge(rooted):
    graph, source = rooted
    A = graph.matrix()
    start = -math.inf if A.dtype == "FP64" else -(2**63)
    assert minimax_path(A, source).heights.to_dict() == best(
        graph, source, start, max, lambda x, y: x < y
    )


@given(with_source(graphs(undirected=True, weights=halves, dtype="FP64")))
def test_the_heights_of_minimax_paths_equal_those_of_paths_in_a_minimum_spanning_tree(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    tree = nx.minimum_spanning_tree(graph.networkx())
    heights = minimax_path(graph.matrix(), source).heights.to_dict()
    for v, way in nx.single_source_shortest_path(tree, source).items():
        along = [tree.edges[edge]["weight"] for edge in pairwise(way)]
        assert v == source or heights[v] == max(along)


@given(with_source(graphs(weights=eighths, dtype="FP64")))
def test_the_most_reliable_path_has_the_largest_product_of_probabilities(rooted):
    graph, source = rooted
    expected = best(graph, source, 1.0, lambda x, w: x * w, lambda x, y: x > y)
    assert most_reliable_path(graph.matrix(), source).probabilities.to_dict() == expected


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_reliabilities_are_fp64_for_weights_of_any_dtype(dtype):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, 1], dtype, nrows=3, ncols=3)
    found = most_reliable_path(A, 0).probabilities
    assert found.to_dict() == {0: 1.0, 1: 1.0, 2: 1.0}
    assert found.dtype == "FP64"


@pytest.mark.parametrize("weight", [1.25, -0.5, float("nan")])
def test_an_error_names_the_edge_that_has_an_invalid_probability(weight):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [0.5, weight], nrows=3, ncols=3)
    with pytest.raises(ValueError, match=f"A has weight {weight} on edge 1 -> 2, but"):
        most_reliable_path(A, 0)


@pytest.mark.parametrize("algorithm", [sssp, widest_path, minimax_path, most_reliable_path])
@given(rooted=with_source(graphs(weights=eighths, dtype="FP64")))
def test_parents_lead_back_to_the_source_along_best_paths(algorithm, rooted):
    graph, source = rooted
    values, parents = algorithm(graph.matrix(), source, parents=True)
    alone, nothing = algorithm(graph.matrix(), source)
    assert values.isequal(alone) and nothing is None
    values, parents = values.to_dict(), parents.to_dict()
    assert parents.keys() == values.keys()
    weights = {(u, v): w for u, v, w in graph}
    join = {
        sssp: lambda x, w: x + w,
        widest_path: min,
        minimax_path: max,
        most_reliable_path: lambda x, w: x * w,
    }[algorithm]
    for v in parents:
        steps, at = 0, v
        while at != source:
            assert values[at] == join(values[parents[at]], weights[parents[at], at])
            at, steps = parents[at], steps + 1
            assert steps <= graph.n


@given(weighted, st.data())
def test_each_vertex_gets_the_best_value_over_several_sources(rooted, data):
    graph, source = rooted
    other = data.draw(st.integers(0, graph.n - 1))
    A = graph.matrix()
    joined = gl.binary.min(sssp(A, source).distances | sssp(A, other).distances).new()
    assert sssp(A, [source, other]).distances.isequal(joined)
    joined = gl.binary.max(widest_path(A, source).widths | widest_path(A, other).widths).new()
    assert widest_path(A, [source, other]).widths.isequal(joined)


@given(weighted, st.data())
def test_paths_avoid_vertices_outside_the_mask(rooted, data):
    graph, source = rooted
    forbidden = data.draw(st.sets(st.integers(0, graph.n - 1)))
    wall = gl.Vector.from_coo(sorted(forbidden), 1, size=graph.n)
    A = graph.matrix()
    left = A.dup()
    for v in forbidden - {source}:
        del left[:, v]
    assert sssp(A, source, mask=~wall.S).distances.isequal(sssp(left, source).distances)
