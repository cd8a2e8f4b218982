"""Tests of eccentricity, diameter, radius, center, periphery and average path length."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from graphs import Edges, graphs, halves, integers, magnitudes, tenths
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    all_pairs_lengths,
    average_path_length,
    center,
    diameter,
    eccentricity,
    periphery,
    radius,
)
from graphla.algorithms.eccentricity import definition

few = settings(max_examples=settings().max_examples // 4)  # each example runs many searches

EXTREMES = [diameter, radius, center, periphery]


@st.composite
def joined(draw: st.DrawFn, edges: st.SearchStrategy[Edges]) -> Edges:
    """Draw a graph that contains a cycle through all vertices, so it is strongly connected."""
    graph = draw(edges)
    order = draw(st.permutations(range(graph.n)))
    weights = dict(zip(graph.ends, graph.weights, strict=True))
    one = graph.weights[0] if graph.weights else 1
    for u, v in zip(order, order[1:] + order[:1], strict=True):
        if u != v:
            w = weights.setdefault((u, v), one)
            if graph.undirected:
                weights[v, u] = w
    return Edges(graph.n, tuple(weights), tuple(weights.values()), graph.undirected, graph.dtype)


connected = joined(graphs())
weighted = joined(st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64")))


@st.composite
def long_trees(draw: st.DrawFn, weights: st.SearchStrategy[float]) -> Edges:
    """Draw an undirected tree with up to 30 vertices; most vertices are on a few long paths."""
    n = draw(st.integers(4, 30))
    before = [max(0, v - draw(st.sampled_from([1, 1, 1, 2, 5]))) for v in range(1, n)]
    ends = list(zip(before, range(1, n), strict=True))
    values = tuple(draw(st.lists(weights, min_size=n - 1, max_size=n - 1)))
    back = [(v, u) for u, v in ends]
    return Edges(n, (*ends, *back), values * 2, True, "FP64")


def rounded() -> st.SearchStrategy[Edges]:
    """Draw connected graphs with edge lengths whose sums are rounded."""
    weights = st.sampled_from([tenths, magnitudes])
    return weights.flatmap(lambda w: long_trees(w) | joined(graphs(weights=w, dtype="FP64")))


def plain(found):
    """Return a set of vertices as a list, as NetworkX does."""
    return list(found.to_dict()) if isinstance(found, gl.Vector) else found


@few
@given(connected)
def test_distance_measures_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    e = nx.eccentricity(G)
    for find in EXTREMES:
        assert plain(find(A)) == getattr(nx, find.__name__)(G, e)
    assert eccentricity(A).to_dict() == e
    assert average_path_length(A) == pytest.approx(nx.average_shortest_path_length(G))


@few
@given(weighted)
def test_weighted_distance_measures_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    e = nx.eccentricity(G, weight="weight")
    for find in EXTREMES:
        assert plain(find(A, weight="weight")) == getattr(nx, find.__name__)(G, e)
    assert eccentricity(A, weight=True).to_dict() == e
    expected = pytest.approx(nx.average_shortest_path_length(G, weight="weight"))
    assert average_path_length(A, weight=True) == expected


@few
@given(rounded())
def test_distance_measures_with_rounded_lengths_equal_those_of_networkx_exactly(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    e = nx.eccentricity(G, weight="weight")
    assert eccentricity(A, weight=True).to_dict() == e
    assert eccentricity(A, sp=all_pairs_lengths(A, weight=True)).to_dict() == e
    for find in EXTREMES:
        assert plain(find(A, weight=True)) == getattr(nx, find.__name__)(G, e)


def test_the_center_and_the_periphery_are_not_empty_when_path_lengths_are_rounded():
    A = gl.Graph.from_edges([(0, 1, 0.6), (1, 2, 0.5), (2, 3, 0.1)]).matrix
    assert plain(center(A, weight=True)) == [1]
    assert (0.6 + 0.5) + 0.1 > (0.1 + 0.5) + 0.6
    assert plain(periphery(A, weight=True)) == [0]


def test_the_center_of_a_graph_with_rounded_lengths_is_found_without_a_search_from_each_vertex(
    monkeypatch,
):
    module, begun = sys.modules["graphla.algorithms.eccentricity"], []
    sssp = module.sssp
    monkeypatch.setattr(module, "sssp", lambda A, v: begun.append(v) or sssp(A, v))
    n = 200
    edges = [(v, v + 1, 0.1 + v % 7 / 10) for v in range(n - 1)]
    A = gl.Graph.from_edges(edges).matrix
    e = definition(A, np.arange(n), True)
    expected = {find: plain(find(A, e)) for find in EXTREMES}
    begun.clear()
    assert {find: plain(find(A, weight=True)) for find in EXTREMES} == expected
    assert len(begun) < n / 2


def test_average_path_length_accepts_the_bellman_ford_method():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [3, -1, 2], nrows=3, ncols=3)
    found = average_path_length(A, weight=True, method="bellman-ford")
    assert found == average_path_length(A, True, "bellman-ford") == (3 + 2 - 1 + 1 + 2 + 5) / 6


@few
@given(connected, st.booleans())
def test_eccentricity_bounds_lead_to_the_same_results_as_a_search_from_each_vertex(graph, weight):
    A = graph.matrix()
    e = eccentricity(A, weight=weight)
    assert e.isequal(definition(A, np.arange(graph.n), weight))
    lengths = all_pairs_lengths(A, weight=weight)
    assert eccentricity(A, sp=lengths).isequal(e.dup(lengths.dtype))
    assert eccentricity(A, [0], sp=lengths).to_dict() == {0: e[0].value}
    for find in EXTREMES:
        expected = plain(find(A, weight=weight))
        assert plain(find(A, usebounds=False, weight=weight)) == expected
        assert plain(find(A, e)) == plain(find(A, e.to_dict())) == expected


@few
@given(connected, st.data())
def test_relabeling_or_reversing_a_graph_preserves_the_distance_measures(graph, data):
    order = data.draw(st.permutations(range(graph.n)))
    A, B = graph.matrix(), graph.relabeled(order).matrix()
    assert diameter(A) == diameter(B) == diameter(A.T.new())
    assert average_path_length(A) == average_path_length(B) == average_path_length(A.T.new())
    assert sorted(order[v] for v in center(A).to_dict()) == list(center(B).to_dict())


@few
@given(graphs(), st.booleans())
def test_the_eccentricity_of_one_vertex_is_a_number(graph, weight):
    A = graph.matrix()
    whole = eccentricity(A, weight=weight).to_dict()
    for v in {0, graph.n - 1}:
        assert eccentricity(A, v, weight=weight) == whole.get(v)
        assert eccentricity(A, [v], weight=weight).to_dict().get(v) == whole.get(v)


@few
@given(graphs(), st.booleans())
def test_eccentricities_of_any_graph_equal_those_of_one_search_per_vertex(graph, weight):
    A = graph.matrix()
    assert eccentricity(A, weight=weight).isequal(definition(A, np.arange(graph.n), weight))


def test_eccentricity_skips_vertices_that_cannot_reach_all_others(monkeypatch):
    module, begun = sys.modules["graphla.algorithms.eccentricity"], []

    def recorded(A, vertices, weighs=False):
        begun.append(vertices.tolist())
        return definition(A, vertices, weighs)

    monkeypatch.setattr(module, "definition", recorded)
    n = 40
    path = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 1, nrows=n, ncols=n)
    assert eccentricity(path).to_dict() == {0: n - 1}
    assert not eccentricity(gl.Matrix(int, n, n)).nvals
    assert begun == [[0], []]


@pytest.mark.parametrize("find", [*EXTREMES, average_path_length])
def test_a_disconnected_graph_is_rejected(find):
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has no path from 1 to 0, but"):
        find(A)
    with pytest.raises(ValueError, match="A has no path from 0 to 1, but"):
        find(A.T.new())
    with pytest.raises(ValueError, match="A has no vertex, and so no"):
        find(gl.Matrix(int, 0, 0))
    assert plain(find(gl.Matrix(int, 1, 1))) in (0, [0])


def test_each_eccentricity_that_the_bounds_do_not_determine_is_found_by_a_search(monkeypatch):
    n = 40
    monkeypatch.setattr(sys.modules["graphla.algorithms.eccentricity"], "TOGETHER", n // 3)
    around = np.arange(n)
    A = gl.Matrix.from_coo(around, (around + 1) % n, 1, nrows=n, ncols=n)
    A = gl.binary.any(A | A.T).new()
    assert eccentricity(A).to_dense().tolist() == [n // 2] * n
    assert (diameter(A), radius(A), center(A).nvals) == (n // 2, n // 2, n)


def test_eccentricities_may_be_infinite():
    inf = float("inf")
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, inf, inf], nrows=3, ncols=3)
    assert eccentricity(A, weight=True).to_dict() == {0: inf, 1: inf, 2: inf}
    assert (diameter(A, weight=True), radius(A, weight=True)) == (inf, inf)


def test_distance_measures_of_a_random_graph_match_networkx():
    nx = pytest.importorskip("networkx")
    A = gl.generators.kronecker(6, seed=7)
    G = nx.from_edgelist(zip(*(each.tolist() for each in A.to_coo(values=False)[:2]), strict=True))
    members = sorted(max(nx.connected_components(G), key=len))
    G = nx.convert_node_labels_to_integers(G.subgraph(members), ordering="sorted")
    A = A[members, members].new()
    for find in EXTREMES:
        expected = getattr(nx, find.__name__)(G)
        assert plain(find(A)) == (sorted(expected) if isinstance(expected, list) else expected)


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [-1, -1], nrows=2, ncols=2)
    with pytest.raises(ValueError, match="A has weight -1 on edge"):
        diameter(A, weight=True)
    with pytest.raises(
        ValueError, match="method must be one of unweighted, dijkstra, bellman-ford"
    ):
        average_path_length(A, method="floyd")
    with pytest.raises(gl.exceptions.IndexOutOfBound):
        eccentricity(A, 2)
