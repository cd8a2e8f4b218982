"""Tests of shortest paths, negative weights, path counts and weighted all-pairs lengths."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from graphs import (
    Edges,
    edges_of,
    graphs,
    halves,
    integers,
    magnitudes,
    tenths,
    with_order,
    with_source,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    NoPath,
    all_pairs_lengths,
    bellman_ford,
    negative_cycle,
    path_count,
    shortest_path,
    shortest_path_length,
    sssp,
)
from graphla.algorithms.distances import definition

# Run fewer examples, because each of them runs many loops.
few = settings(max_examples=settings().max_examples // 3)

signed = st.integers(-3, 9)
signed_halves = signed.map(lambda k: k / 2)
weighted = st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64"))
directed = st.one_of(
    graphs(undirected=False, weights=signed),
    graphs(undirected=False, weights=signed_halves, dtype="FP64"),
)


def length_along(graph, path):
    weights = {(u, v): w for u, v, w in graph}
    return sum(weights[edge] for edge in pairwise(path))


# --- one path -----------------------------------------------------------------------------------


@few
@given(weighted, st.data())
def test_a_shortest_path_has_the_length_that_networkx_finds(graph, data):
    nx = pytest.importorskip("networkx")
    vertices = st.integers(0, graph.n - 1)
    s, t = data.draw(vertices), data.draw(vertices)
    A, G = graph.matrix(), graph.networkx()
    if not nx.has_path(G, s, t):
        with pytest.raises(NoPath, match=f"A has no path from {s} to {t}"):
            shortest_path(A, s, t)
        with pytest.raises(NoPath):
            shortest_path_length(A, s, t, weight=True)
        return
    path = shortest_path(A, s, t)
    assert (path[0], path[-1]) == (s, t)
    assert set(pairwise(path)) <= set(graph.ends)
    assert len(path) - 1 == shortest_path_length(A, s, t) == nx.shortest_path_length(G, s, t)
    for method in ("dijkstra", "bellman-ford"):
        path = shortest_path(A, s, t, "weight", method)
        assert (path[0], path[-1]) == (s, t)
        length = nx.shortest_path_length(G, s, t, "weight")
        assert length_along(graph, path) == length
        assert shortest_path_length(A, s, t, "weight", method) == length


def test_shortest_path_finds_a_path_of_300_vertices():
    n = 300
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 2, nrows=n, ncols=n)
    assert shortest_path(A, 0, n - 1) == list(range(n))
    assert shortest_path(A, 5, 5) == [5]
    assert shortest_path_length(A, 0, n - 1, weight=True) == 2 * (n - 1)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_search_that_stops_at_a_target_or_cutoff_gives_correct_distances(kind):
    side, rng = 20, np.random.default_rng(3)
    places = np.arange(side * side).reshape(side, side)
    rows = np.r_[places[:, :-1].ravel(), places[:-1].ravel()]
    columns = np.r_[places[:, 1:].ravel(), places[1:].ravel()]
    weights = rng.integers(0, 50, rows.size).astype(kind)
    ends = np.r_[rows, columns], np.r_[columns, rows], np.r_[weights, weights]
    A = gl.Matrix.from_coo(*ends, nrows=side * side, ncols=side * side)
    graph = edges_of(A)
    distances = sssp(A, 210).distances
    for target in rng.integers(0, side * side, 8).tolist():
        path = shortest_path(A, 210, target, weight=True)
        assert length_along(graph, path) == distances[target].value
        assert shortest_path_length(A, 210, target, weight=True) == distances[target].value
    for cutoff in (0, 7, 60.5, 200, 1e9, float("inf")):
        assert sssp(A, 210, cutoff=cutoff).distances.isequal(distances.select("<=", cutoff).new())


def test_shortest_path_rejects_invalid_arguments():
    A = gl.Matrix.from_coo([0], [1], [-1], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight -1 on edge 0 -> 1"):
        shortest_path(A, 0, 1, weight=True)
    assert shortest_path(A, 0, 1, True, "bellman-ford") == [0, 1]
    with pytest.raises(ValueError, match="not 'a-star'"):
        shortest_path(A, 0, 1, method="a-star")
    with pytest.raises(gl.exceptions.IndexOutOfBound, match="target is 3, but"):
        shortest_path(A, 0, 3)


@given(with_source(weighted), st.integers(0, 20))
def test_a_search_with_a_cutoff_returns_only_the_distances_up_to_the_cutoff(rooted, cutoff):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    A, G = graph.matrix(), graph.networkx()
    expected = nx.single_source_dijkstra_path_length(G, source, cutoff)
    assert sssp(A, source, cutoff=cutoff).distances.to_dict() == dict(sorted(expected.items()))
    distances, parents = sssp(A, source, cutoff=cutoff, parents=True)
    assert distances.to_dict().keys() == parents.to_dict().keys() == expected.keys()
    expected = nx.single_source_shortest_path_length(G, source, cutoff)
    assert sssp(A, source, weight=None, cutoff=cutoff).distances.to_dict() == expected


rounded = st.sampled_from([tenths, magnitudes]).flatmap(lambda w: graphs(weights=w, dtype="FP64"))


@few
@given(with_source(rounded))
def test_rounded_lengths_equal_those_of_networkx_exactly_and_the_parents_lead_to_the_source(drawn):
    nx = pytest.importorskip("networkx")
    graph, source = drawn
    A = graph.matrix()
    expected = nx.single_source_dijkstra_path_length(graph.networkx(), source)
    for find in (sssp, bellman_ford):
        distances, parents = find(A, source, parents=True)
        assert distances.to_dict() == expected
    assert all_pairs_lengths(A, [source], weight=True).to_dicts().get(0, {}) == expected
    for target, length in expected.items():
        path = shortest_path(A, source, target, weight=True)
        assert (path[0], path[-1]) == (source, target) and len(set(path)) == len(path)
        assert length_along(graph, path) == length
    assert parents.nvals == len(expected)


# --- negative weights ---------------------------------------------------------------------------


@few
@given(with_source(directed))
def test_distances_with_negative_weights_match_networkx(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    A, G = graph.matrix(), graph.networkx()
    try:
        expected = nx.single_source_bellman_ford_path_length(G, source)
    except nx.NetworkXUnbounded:
        with pytest.raises(ValueError, match="A has a cycle of negative weight through vertex"):
            bellman_ford(A, source)
        verify_cycle(graph, negative_cycle(A, source))
        assert negative_cycle(A) is not None
        return
    assert negative_cycle(A, source) is None
    distances, parents = bellman_ford(A, source, parents=True)
    assert distances.to_dict() == dict(sorted(dict(expected).items()))
    assert bellman_ford(A, source).distances.isequal(distances)
    d, p = distances.to_dict(), parents.to_dict()
    weights = {(u, v): w for u, v, w in graph}
    assert p[source] == source
    for v in p.keys() - {source}:
        assert d[v] == d[p[v]] + weights[p[v], v]
        assert shortest_path(A, source, v, True, "bellman-ford")[0] == source


def verify_cycle(graph, cycle):
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert length_along(graph, cycle) < 0


@given(directed)
def test_the_function_negative_cycle_finds_a_cycle_if_and_only_if_networkx_finds_one(graph):
    nx = pytest.importorskip("networkx")
    cycle = negative_cycle(graph.matrix())
    assert (cycle is not None) == nx.negative_edge_cycle(graph.networkx())
    if cycle is not None:
        verify_cycle(graph, cycle)


@few
@given(with_source(weighted))
def test_bellman_ford_equals_sssp_if_no_weight_is_negative(rooted):
    graph, source = rooted
    A = graph.matrix()
    assert bellman_ford(A, source).distances.isequal(sssp(A, source).distances)
    assert bellman_ford(A, source, weight=None).distances.isequal(
        sssp(A, source, weight=None).distances
    )
    assert negative_cycle(A) is None


# The length of each cycle is 0 or nearly 0, but because of rounding, distances keep decreasing.
DRIFTING = {
    0: {1: -1.3, 2: -1.1, 4: -1.0, 5: 1.1999999999999997},
    1: {0: 1.4000000000000001, 2: 0.30000000000000004, 6: 1.0},
    2: {0: 1.1, 1: -0.1, 3: 0.19999999999999996, 4: 0.09999999999999998, 5: 2.3, 6: 0.8},
    3: {1: -0.29999999999999993, 2: -0.19999999999999996},
    4: {0: 1.0, 3: 0.19999999999999998, 6: 0.7000000000000001},
    5: {1: -2.5, 2: -2.3, 3: -1.9999999999999996, 4: -2.1999999999999997, 6: -1.4999999999999998},
    6: {4: -0.6000000000000001, 5: 1.4999999999999998},
}


def test_the_search_for_a_negative_cycle_ends_although_rounded_lengths_keep_decreasing():
    A = gl.Matrix.from_dicts(DRIFTING)
    try:
        cycle = negative_cycle(A) or []
    except gl.exceptions.InvalidValue as error:
        assert "rounded lengths go down around it" in str(error)
    else:  # for some orders of the edges, the search returns a negative cycle, which is correct
        assert sum(Fraction(DRIFTING[u][v]) for u, v in pairwise(cycle)) < 0


@st.composite
def nearly_balanced(draw: st.DrawFn) -> tuple[int, dict[tuple[int, int], int]]:
    """Draw a directed graph in which the weights of most cycles add up to 0 or nearly 0.

    Each vertex has a random height. The weight of an edge u -> v, in tenths, is height(v) -
    height(u). Some weights are then changed by one tenth.
    """
    n = draw(st.integers(2, 7))
    heights = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    more = st.sampled_from([0, 0, 0, 1, 1, -1])
    return n, {(u, v): heights[v] - heights[u] + draw(more) for u, v in ends}


def _refused_or_a_forest(A):
    """Assert that parents lead back to the source, unless `bellman_ford` raises an error.

    The error must be about a cycle of parents whose weights add up to about 0.
    """
    try:
        lengths, parents = bellman_ford(A, 0, parents=True)
    except gl.exceptions.InvalidValue as error:
        assert "whose weights add up to about 0" in str(error)
        return
    parents = parents.to_dict()
    for target in lengths.to_dict():
        path = shortest_path(A, 0, target, weight=True, method="bellman-ford")
        assert (path[0], path[-1]) == (0, target) and len(set(path)) == len(path)
        assert all(parents[v] == u for u, v in pairwise(path))


@few
@given(nearly_balanced())
def test_a_negative_cycle_of_rounded_weights_is_negative_in_exact_arithmetic(drawn):
    nx = pytest.importorskip("networkx")
    n, tenths = drawn
    edges = {end: w / 10 for end, w in tenths.items()}
    i, j = np.array(list(edges)).T
    A = gl.Matrix.from_coo(i, j, list(edges.values()), nrows=n, ncols=n)
    G = nx.DiGraph()
    G.add_weighted_edges_from((u, v, w) for (u, v), w in tenths.items())
    try:
        cycle = negative_cycle(A)
    except gl.exceptions.InvalidValue as error:
        assert "whose weights add up to about 0" in str(error)
        assert not nx.negative_edge_cycle(G)
        return
    if cycle is None:
        assert not nx.negative_edge_cycle(G)
        _refused_or_a_forest(A)
    else:
        assert sum(Fraction(edges[end]) for end in pairwise(cycle)) < 0


def test_a_cycle_of_many_edges_is_reported_only_if_its_weight_is_negative():
    n = 1200
    rows, columns = np.arange(n), np.r_[np.arange(1, n), 0]
    weights = np.full(n, -1)
    weights[-1] = n - 1
    A = gl.Matrix.from_coo(rows, columns, weights, nrows=n, ncols=n)
    assert negative_cycle(A) is None
    assert bellman_ford(A, 0).distances.to_dense().tolist() == [-v for v in range(n)]
    weights[-1] = n - 2
    A = gl.Matrix.from_coo(rows, columns, weights, nrows=n, ncols=n)
    cycle = negative_cycle(A, 7) or []
    assert len(cycle) == n + 1
    assert sorted(cycle[1:]) == list(range(n))


def test_nan_weights_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1.0, float("nan")], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight nan on edge 1 -> 2, but"):
        bellman_ford(A, 0)
    with pytest.raises(ValueError, match="A has weight nan on edge 1 -> 2, but"):
        negative_cycle(A)


# --- all pairs ----------------------------------------------------------------------------------


@few
@given(st.one_of(weighted, directed), st.none() | st.integers(0, 12))
def test_weighted_all_pairs_path_lengths_match_networkx(graph, cutoff):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    if nx.negative_edge_cycle(G):
        with pytest.raises(ValueError, match="A has a cycle of negative weight through vertex"):
            all_pairs_lengths(A, weight=True)
        return
    rows = dict(nx.all_pairs_bellman_ford_path_length(G))
    expected = {
        u: {v: d for v, d in sorted(row.items()) if cutoff is None or d <= cutoff}
        for u, row in rows.items()
    }
    found = all_pairs_lengths(A, cutoff=cutoff, weight="weight")
    assert found.to_dicts() == expected
    some = sorted({0, graph.n - 1, graph.n // 2}, reverse=True)
    assert all_pairs_lengths(A, some, cutoff=cutoff, weight=True).isequal(found[some, :].new())


@few
@given(st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64")))
def test_all_pairs_path_lengths_equal_those_computed_by_repeated_squaring(graph):
    A = graph.matrix()
    assert all_pairs_lengths(A, weight=True).isequal(definition(A))


# --- path counts --------------------------------------------------------------------------------


@given(with_source(graphs()))
def test_the_path_count_equals_the_number_of_paths_that_networkx_lists(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    ways = nx.single_source_all_shortest_paths(graph.networkx(), source)
    expected = {v: len(list(paths)) for v, paths in ways}
    found = path_count(graph.matrix(), source)
    assert found.dtype == "INT64"
    assert found.to_dict() == dict(sorted(expected.items()))
    assert path_count(graph.matrix(), source, dtype="FP64").dup("INT64").isequal(found)


positive = st.integers(1, 4)


@few
@given(
    with_source(
        st.one_of(
            graphs(weights=positive), graphs(weights=positive.map(lambda k: k / 2), dtype="FP64")
        )
    )
)
def test_the_weighted_path_count_equals_the_number_of_paths_that_networkx_lists(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    ways = nx.single_source_all_shortest_paths(graph.networkx(), source, weight="weight")
    expected = {v: len(list(paths)) for v, paths in ways}
    found = path_count(graph.matrix(), source, weight=True)
    assert found.to_dict() == dict(sorted(expected.items()))


@few
@given(with_order(graphs(weights=positive)), st.booleans(), st.data())
def test_relabeled_vertices_keep_their_path_counts(ordered, weight, data):
    graph, order = ordered
    source = data.draw(st.integers(0, graph.n - 1))
    found = path_count(graph.matrix(), source, weight=weight).to_dict()
    relabeled = path_count(graph.relabeled(order).matrix(), order[source], weight=weight)
    assert relabeled.to_dict() == {order[v]: count for v, count in found.items()}


def ladder(rungs):
    """Return a graph with 3^rungs shortest paths from vertex 0 to its last vertex.

    Also return the index of the last vertex.
    """
    ends, n = [], 4 * rungs + 1
    for k in range(0, n - 1, 4):
        ends += [e for j in (1, 2, 3) for e in ((k, k + j), (k + j, k + 4))]
    return Edges(n, tuple(ends), (1,) * len(ends)).matrix(), n - 1


@pytest.mark.parametrize("weight", [None, True])
def test_path_counts_are_exact_up_to_the_largest_int64(weight):
    A, end = ladder(39)
    assert path_count(A, 0, weight=weight)[end].value == 3**39 > 2**53
    A, end = ladder(40)
    with pytest.raises(OverflowError, match="which INT64 cannot hold"):
        path_count(A, 0, weight=weight)
    found = path_count(A, 0, weight=weight, dtype="FP64")
    assert found[end].value == pytest.approx(3.0**40, rel=1e-12)


def test_path_count_rejects_a_cycle_of_weight_zero():
    A = Edges(3, ((0, 1), (1, 2), (2, 1), (2, 2)), (1, 0, 0, 0)).matrix()
    with pytest.raises(ValueError, match="A has a cycle of weight 0"):
        path_count(A, 0, weight=True)
    A = Edges(3, ((0, 1), (1, 2), (2, 2)), (1, 0, 0)).matrix()
    assert path_count(A, 0, weight=True).to_dict() == {0: 1, 1: 1, 2: 1}


def test_shortest_path_finds_paths_of_up_to_150_vertices():
    n = 150
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 1, nrows=n, ncols=n)
    for start in (0, n - 65, n - 64, n - 63, n - 1):
        assert shortest_path(A, start, n - 1) == list(range(start, n))
