"""Tests of all parents, of all shortest paths, and of one shortest path to each vertex."""

from __future__ import annotations

from itertools import pairwise

import pytest
from graphs import graphs, halves, integers, with_source
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import NoPath, all_parents, all_shortest_paths, astar_path, shortest_paths

# Run fewer examples, because each of them runs many loops.
few = settings(max_examples=settings().max_examples // 3)

positive = st.integers(1, 9)
signed = st.integers(-3, 9)
weighted = st.one_of(graphs(weights=integers), graphs(weights=halves, dtype="FP64"))


def by_vertex(parents):
    return {v: set(before) for v, before in parents.to_dicts("columnwise").items()}


@given(with_source(graphs(weights=positive)), st.sampled_from([None, True]))
def test_all_shortest_path_parents_match_networkx(rooted, weight):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    find = nx.dijkstra_predecessor_and_distance
    before, distances = find(graph.networkx(), source, weight="weight" if weight else None)
    found = all_parents(graph.matrix(), source, weight)
    assert found.distances.to_dict() == distances
    assert by_vertex(found.parents) == {v: set(each) for v, each in before.items() if each}


@few
@given(with_source(graphs(undirected=False, weights=signed)))
def test_the_function_all_parents_accepts_negative_weights(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    A, G = graph.matrix(), graph.networkx()
    try:
        distances = nx.single_source_bellman_ford_path_length(G, source)
    except nx.NetworkXUnbounded:
        with pytest.raises(ValueError, match="A has a cycle of negative weight"):
            all_parents(A, source, True, "bellman-ford")
        return
    expected: dict[int, set[int]] = {}
    for u, v, w in graph:
        if u != v and u in distances and distances[u] + w == distances[v]:
            expected.setdefault(v, set()).add(u)
    found = all_parents(A, source, True, "bellman-ford")
    assert by_vertex(found.parents) == expected


@few
@given(weighted, st.data(), st.booleans())
def test_all_shortest_paths_match_networkx(graph, data, weighs):
    nx = pytest.importorskip("networkx")
    vertices = st.integers(0, graph.n - 1)
    s, t = data.draw(vertices), data.draw(vertices)
    A, G = graph.matrix(), graph.networkx()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    if not nx.has_path(G, s, t):
        with pytest.raises(NoPath, match=f"A has no path from {s} to {t}"):
            all_shortest_paths(A, s, t)
        return
    # NetworkX lists a path several times if edges of weight 0 form a cycle.
    expected = set(map(tuple, nx.all_shortest_paths(G, s, t, weight="weight" if weighs else None)))
    found = all_shortest_paths(A, s, t, weight=weighs)
    assert sorted(map(tuple, found)) == sorted(expected)


@given(with_source(weighted), st.sampled_from([None, 3, 7.5]), st.booleans())
def test_paths_to_all_vertices_have_the_lengths_that_networkx_finds(rooted, cutoff, weighs):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    weights = {(u, v): w if weighs else 1 for u, v, w in graph}
    paths = shortest_paths(graph.matrix(), source, weighs, cutoff=cutoff)
    assert [path[-1] for path in paths] == sorted({path[-1] for path in paths})
    lengths = {path[-1]: sum(weights[edge] for edge in pairwise(path)) for path in paths}
    name = "weight" if weighs else None
    find = nx.single_source_dijkstra_path_length
    assert lengths == find(graph.networkx(), source, cutoff=cutoff, weight=name)
    assert all(path[0] == source and len(set(path)) == len(path) for path in paths)


def test_paths_begin_at_the_nearest_of_several_sources():
    G = gl.Graph.from_edges([("a", "b", 1), ("b", "c", 5), ("c", "d", 1)])
    assert shortest_paths(G, ["a", "d"], weight=True) == [["a"], ["a", "b"], ["d", "c"], ["d"]]
    assert shortest_paths(G, ["d"], weight=True, cutoff=1) == [["d", "c"], ["d"]]
    assert all_shortest_paths(G, "a", "c") == [["a", "b", "c"]]
    assert all_parents(G, "a").parents.to_dicts("columnwise")["c"] == {"b": True}


def test_wrong_arguments_are_rejected():
    A = gl.Matrix.from_coo([0], [1], [-1], nrows=3, ncols=3)
    for find in (all_parents, shortest_paths):
        with pytest.raises(ValueError, match="A has weight -1 on edge 0 -> 1"):
            find(A, 0, True)
        with pytest.raises(ValueError, match="not 'a-star'"):
            find(A, 0, True, "a-star")
        with pytest.raises(gl.exceptions.IndexOutOfBound, match="source is 3, but"):
            find(A, 3)
        with pytest.raises(ValueError, match="cutoff is 5, but must be None with the method"):
            find(A, 0, True, "bellman-ford", cutoff=5)
    assert shortest_paths(A, 0, True, "bellman-ford") == [[0], [0, 1]]
    with pytest.raises(gl.exceptions.IndexOutOfBound, match="target is 3, but"):
        all_shortest_paths(A, 0, 3)


# --- estimates ----------------------------------------------------------------------------------


@few
@given(weighted, st.data())
def test_the_function_astar_path_finds_the_same_path_as_networkx_with_the_same_estimates(
    graph, data
):
    nx = pytest.importorskip("networkx")
    vertices = st.integers(0, graph.n - 1)
    s, t = data.draw(vertices), data.draw(vertices)
    estimates = data.draw(st.dictionaries(vertices, st.sampled_from([0.5, 1, 4, 30])))
    A, G = graph.matrix(), nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from(sorted(graph))
    v = gl.Vector.from_dict(estimates, "FP64", size=graph.n)
    forms = (estimates, v, lambda u, _: estimates.get(u, 0))
    try:
        expected = nx.astar_path(G, s, t, lambda u, _: estimates.get(u, 0))
    except nx.NetworkXNoPath:
        for heuristic in forms:
            with pytest.raises(NoPath, match=f"A has no path from {s} to {t}"):
                astar_path(A, s, t, heuristic)
        return
    assert all(astar_path(A, s, t, heuristic) == expected for heuristic in forms)
    assert astar_path(A, s, t, weight=None) in nx.all_shortest_paths(G, s, t)


def test_the_function_astar_path_calls_the_estimate_with_labels_and_stops_at_the_cutoff():
    G = gl.Graph.from_edges([("a", "b", 1), ("b", "c", 2), ("a", "c", 5)])
    assert astar_path(G, "a", "c", {"b": 2}) == ["a", "b", "c"]
    assert astar_path(G, "a", "c", lambda u, v: float(u != v)) == ["a", "b", "c"]
    assert astar_path(G, "a", "c", cutoff=3) == ["a", "b", "c"]
    with pytest.raises(NoPath, match="from 'a' to 'c'"):
        astar_path(G, "a", "c", cutoff=2.5)
    with pytest.raises(ValueError, match="A has weight -1"):
        astar_path(gl.Matrix.from_coo([0], [1], [-1], nrows=2, ncols=2), 0, 1)
