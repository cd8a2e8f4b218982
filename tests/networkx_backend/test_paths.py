"""Test that shortest paths agree with NetworkX."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree, backends, call
from tests.networkx_backend.drawn import DIRECTED, signed, weighted_graphs, with_nodes

# Run fewer examples, because each of them calls many functions.
few = settings(max_examples=settings().max_examples // 3)

rooted = with_nodes(weighted_graphs())
negative = with_nodes(weighted_graphs(DIRECTED, signed))
cutoffs = st.sampled_from([None, 0, 1, 2, 2.5])


@few
@given(rooted, cutoffs)
def test_unweighted_shortest_paths_agree_with_networkx(drawn: Any, cutoff: Any) -> None:
    G, source, target = drawn
    for name in (
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path_length",
    ):
        assert_agree(name, G, source, cutoff)
    for name in ("all_pairs_shortest_path", "all_pairs_shortest_path_length"):
        assert_agree(name, G, cutoff)
    assert_agree("has_path", G, source, target)
    for seen in (False, True):
        assert_agree("predecessor", G, source, None, cutoff, seen)
        assert_agree("predecessor", G, source, target, cutoff, seen)


@few
@given(rooted, st.sampled_from([None, "weight", "length"]))
def test_shortest_path_functions_agree_with_networkx_with_or_without_source_and_target(
    drawn: Any, weight: Any
) -> None:
    G, source, target = drawn
    for ends in ((source, target), (source, None), (None, source), (None, None)):
        assert_agree("shortest_path_length", G, *ends, weight)
    assert_agree("shortest_path", G, source, None, weight)
    assert_agree("shortest_path", G, None, None, weight)
    assert_agree("all_shortest_paths", G, source, target, weight)
    assert_agree("single_source_all_shortest_paths", G, source, weight)
    assert_agree("all_pairs_all_shortest_paths", G, weight)
    assert_agree("average_shortest_path_length", G, weight)


def assert_shortest(G: Any, path: Any, source: Any, target: Any, weight: Any) -> None:
    """Assert that a path is one of the shortest paths."""
    expected = call("shortest_path_length", G, source, target, weight, backend="networkx")
    if isinstance(expected, nx.NetworkXNoPath):
        assert isinstance(path, nx.NetworkXNoPath)
        return
    assert (path[0], path[-1]) == (source, target) and nx.is_simple_path(G, path)
    steps = ((least(G, u, v) if weight else 1) for u, v in pairwise(path))
    assert sum(steps) == expected


@few
@given(rooted, st.sampled_from([None, "weight"]))
def test_a_path_between_two_nodes_or_to_a_target_is_shortest(drawn: Any, weight: Any) -> None:
    G, source, target = drawn
    if not G.is_directed():
        assert_agree("shortest_path", G, source, target, weight)
    path = call("shortest_path", G, source, target, weight, backend="graphla")
    assert_shortest(G, path, source, target, weight)
    for start, found in call("shortest_path", G, None, target, weight, backend="graphla").items():
        assert_shortest(G, found, start, target, weight)
    if weight:
        for name in ("dijkstra_path", "bellman_ford_path"):
            path = call(name, G, source, target, backend="graphla")
            assert_shortest(G, path, source, target, weight)
        found = call("bidirectional_dijkstra", G, source, target, backend="graphla")
        path = found if isinstance(found, Exception) else found[1]
        assert_shortest(G, path, source, target, weight)
    else:
        found = call("single_target_shortest_path", G, target, backend="graphla")
        for start, path in found.items():
            assert_shortest(G, path, start, target, None)


@few
@given(rooted, cutoffs)
def test_the_dijkstra_functions_agree_with_networkx(drawn: Any, cutoff: Any) -> None:
    G, source, target = drawn
    for name in (
        "dijkstra_predecessor_and_distance",
        "single_source_dijkstra_path",
        "single_source_dijkstra_path_length",
    ):
        assert_agree(name, G, source, cutoff)
    assert_agree("dijkstra_path_length", G, source, target)
    assert_agree("single_source_dijkstra", G, source, None, cutoff)
    for name in ("all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length"):
        assert_agree(name, G, cutoff)
    for name in ("multi_source_dijkstra_path", "multi_source_dijkstra_path_length"):
        assert_agree(name, G, {source, target}, cutoff)
    for each in (None, target, "missing"):
        assert_agree("multi_source_dijkstra", G, [source], each, cutoff)


@few
@given(rooted, st.lists(st.sampled_from([0, 0.5, 1, 3, 20]), min_size=8, max_size=8), cutoffs)
def test_the_function_astar_path_agrees_with_networkx_for_any_heuristic(
    drawn: Any, estimates: Any, cutoff: Any
) -> None:
    G, source, target = drawn
    rest = dict(zip(G, estimates, strict=False))
    for heuristic in (None, lambda u, _: rest[u]):
        for name in ("astar_path", "astar_path_length"):
            assert_agree(name, G, source, target, heuristic, cutoff=cutoff)
            assert_agree(name, G, source, target, heuristic, None, cutoff=cutoff)


@few
@given(negative)
def test_path_lengths_with_negative_weights_agree_with_networkx(drawn: Any) -> None:
    G, source, target = drawn
    lengths = assert_agree("single_source_bellman_ford_path_length", G, source)
    assert_agree("bellman_ford_path_length", G, source, target)
    assert_agree("negative_edge_cycle", G)
    if isinstance(lengths, Exception):
        cycle = call("find_negative_cycle", G, source, backend="graphla")
        assert cycle[0] == cycle[-1]
        steps = pairwise(cycle)
        assert sum(least(G, u, v) for u, v in steps) < 0
        return
    for name in ("find_negative_cycle", "johnson"):
        found = call(name, G, *[source][: name != "johnson"], backend="graphla")
        expected = call(name, G, *[source][: name != "johnson"], backend="networkx")
        assert isinstance(found, Exception) == isinstance(expected, Exception)
    paths = call("single_source_bellman_ford_path", G, source, backend="graphla")
    assert paths.keys() == lengths.keys()
    for node, path in paths.items():
        steps = pairwise(path)
        assert sum(least(G, u, v) for u, v in steps) == lengths[node]
    parents, distances = call("goldberg_radzik", G, source, backend="graphla")
    assert distances == lengths and parents[source] is None
    before, distances = call("bellman_ford_predecessor_and_distance", G, source, backend="graphla")
    assert distances == lengths
    if len(G) > 1:
        for node, each in before.items():
            tight = {u for u in lengths if G.has_edge(u, node)}
            assert set(each) == {
                u for u in tight if lengths[u] + least(G, u, node) == lengths[node]
            }


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("all_pairs_dijkstra", []),
        ("all_shortest_paths", [0, 2]),
        ("astar_path", [0, 2]),
        ("bidirectional_dijkstra", [0, 2]),
        ("dijkstra_path_length", [0, 2]),
        ("dijkstra_predecessor_and_distance", [0]),
        ("multi_source_dijkstra", [[0]]),
        ("multi_source_dijkstra_path", [{0}]),
        ("single_source_dijkstra", [0, 2]),
    ],
)
def test_dijkstra_rejects_negative_weights_when_the_function_is_called(
    name: str, ends: list[Any]
) -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 2), (1, 2, -1)])
    for weight in ("weight", lambda u, v, data: data["weight"]):
        with pytest.raises(NotImplementedError) as caught:
            backends._registered_algorithms[name](G, *ends, weight=weight, backend="graphla")
        assert "a weight is negative" in str(caught.value.__cause__)


def least(G: Any, u: Any, v: Any) -> Any:
    """Return the least weight of the edges from u to v."""
    edges = G[u][v].values() if G.is_multigraph() else [G[u][v]]
    return min(edge.get("weight", 1) for edge in edges)


@few
@given(rooted)
def test_dense_matrices_of_path_lengths_agree_with_networkx(drawn: Any) -> None:
    G, _, _ = drawn
    for weight in ("weight", "length"):
        assert_agree("floyd_warshall", G, weight)
        assert_agree("floyd_warshall_numpy", G, None, weight)
        assert_agree("floyd_warshall_numpy", G, list(G)[::-1], weight)
    parents, lengths = call("floyd_warshall_predecessor_and_distance", G, backend="graphla")
    expected, _ = call("floyd_warshall_predecessor_and_distance", G, backend="networkx")
    assert {u: set(each) for u, each in parents.items()} == {
        u: set(each) for u, each in expected.items()
    }
    for u, each in parents.items():
        for v, before in each.items():
            assert u == v or lengths[u][v] == lengths[u][before] + least(G, before, v)


def test_the_exceptions_of_networkx_are_raised_for_missing_nodes() -> None:
    G = nx.path_graph(4)
    for name in (
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path",
        "single_target_shortest_path_length",
        "predecessor",
        "single_source_dijkstra",
        "single_source_bellman_ford",
        "goldberg_radzik",
        "dijkstra_predecessor_and_distance",
        "shortest_path",
        "shortest_path_length",
        "bfs_edges",
        "dfs_edges",
        "descendants",
        "bfs_layers",
    ):
        assert isinstance(assert_agree(name, G, "missing"), Exception)
    for name in ("bidirectional_dijkstra", "dijkstra_path", "bellman_ford_path", "has_path"):
        assert isinstance(assert_agree(name, G, 0, "missing"), Exception)
        assert isinstance(assert_agree(name, G, "missing", 0), Exception)
    assert isinstance(assert_agree("multi_source_dijkstra", G, []), ValueError)
    assert isinstance(assert_agree("shortest_path", G, method="a-star"), ValueError)


@pytest.mark.parametrize("weight", ["text", "nan", "huge"])
def test_unsupported_weights_are_rejected_before_a_generator_is_returned(weight: Any) -> None:
    G = nx.path_graph(3)
    for _, _, data in G.edges(data=True):
        data.update(text="x", nan=float("nan"), huge=2**62)
    for name in ("all_pairs_dijkstra_path", "shortest_path"):
        with pytest.raises(NotImplementedError):
            backends._registered_algorithms[name](G, weight=weight, backend="graphla")


def double(_u: Any, _v: Any, data: Any) -> Any:
    """Return twice the least weight of an edge of a graph or multigraph."""
    edges = [data] if not data or "weight" in data else data.values()
    return 2 * min(edge.get("weight", 1) for edge in edges)


@few
@given(rooted)
def test_a_weight_may_be_a_function_that_hides_edges(drawn: Any) -> None:
    G, source, target = drawn
    for weight in (double, lambda u, v, data: None if u == source else 1):
        assert_agree("single_source_dijkstra", G, source, weight=weight)
        assert_agree("dijkstra_path_length", G, source, target, weight)
        assert_agree("multi_source_dijkstra", G, [source, target], weight=weight)
        if not G.is_directed():
            assert_agree("bidirectional_dijkstra", G, source, target, weight)


def test_networkx_answers_calls_whose_weight_function_fails() -> None:
    G = nx.path_graph(3)
    found = call("dijkstra_path", G, 0, 2, lambda u, v, data: data["cost"], backend="graphla")
    assert isinstance(found, NotImplementedError)
    found = call("dijkstra_path", G, 0, 2, lambda u, v, data: "1", backend="graphla")
    assert isinstance(found, NotImplementedError)
