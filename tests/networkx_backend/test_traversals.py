"""Test that traversals and functions of directed acyclic graphs agree with NetworkX."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from graphla.networkx import backend
from graphla.networkx.selections import VERSION
from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.drawn import DIRECTED, signed, weighted_graphs, with_nodes

# Run fewer examples, because each of them calls many functions.
few = settings(max_examples=settings().max_examples // 3)

rooted = with_nodes(weighted_graphs())
dags = weighted_graphs(DIRECTED, signed, acyclic=True)


@few
@given(rooted, st.sampled_from([None, 0, 1, 2]))
def test_breadth_first_and_depth_first_searches_agree_with_networkx(drawn: Any, limit: Any) -> None:
    G, source, _ = drawn
    for name in ("bfs_edges", "bfs_tree"):
        assert_agree(name, G, source, False, limit)
        assert_agree(name, G, source, True, limit)
    for name in ("bfs_predecessors", "bfs_successors", "dfs_edges", "dfs_tree"):
        assert_agree(name, G, source, limit)
    assert_agree("generic_bfs_edges", G, source, None, limit)
    assert_agree("bfs_successors", G, source, limit, lambda nodes: sorted(nodes, key=str))
    assert_agree("dfs_edges", G, source, limit, sort_neighbors=lambda nodes: sorted(nodes, key=str))
    assert_agree("dfs_tree", G, None, limit, sort_neighbors=lambda nodes: list(nodes)[1:])
    assert_agree("bfs_edges", G, source, False, limit, lambda nodes: list(nodes)[1:])
    for name in (
        "dfs_predecessors",
        "dfs_successors",
        "dfs_preorder_nodes",
        "dfs_postorder_nodes",
    ):
        assert_agree(name, G, source, limit)
        assert_agree(name, G, None, limit)


@few
@given(rooted, st.integers(-1, 3))
def test_layers_and_reachable_nodes_agree_with_networkx(drawn: Any, distance: int) -> None:
    G, source, other = drawn
    assert_agree("descendants_at_distance", G, source, distance)
    for name in ("descendants", "ancestors", "bfs_layers"):
        assert_agree(name, G, source)
    found = call("bfs_layers", G, {source, other}, backend="graphla")
    expected = call("bfs_layers", G, {source, other}, backend="networkx")
    assert list(map(set, found)) == list(map(set, expected))
    reverse = call("bfs_edges", G, source, True, backend="graphla")
    expected = call("bfs_edges", G, source, True, backend="networkx")
    assert {child for _, child in reverse} == {child for _, child in expected}


@few
@given(weighted_graphs(), st.booleans())
def test_topological_orders_of_any_graph_agree_with_networkx(G: Any, reverses: bool) -> None:
    for name in ("topological_sort", "topological_generations", "is_directed_acyclic_graph"):
        assert_agree(name, G)
    assert_agree("lexicographical_topological_sort", G)
    assert_agree("has_cycle", G)
    if VERSION >= (3, 5) or not G.is_directed() or not len(G) or nx.is_strongly_connected(G):
        assert_agree("is_aperiodic", G)
    if reverses:
        order = {node: -k for k, node in enumerate(G)}
        assert_agree("lexicographical_topological_sort", G, order.__getitem__)


def test_a_lexicographical_topological_order_requires_comparable_keys() -> None:
    G = nx.DiGraph([(0, "a"), (0, 1)])
    assert isinstance(assert_agree("lexicographical_topological_sort", G), TypeError)


@few
@given(dags)
def test_functions_of_directed_acyclic_graphs_agree_with_networkx(G: Any) -> None:
    for name in ("topological_sort", "topological_generations", "transitive_reduction"):
        assert_agree(name, G)
    order = list(nx.topological_sort(G))
    assert_agree("transitive_closure_dag", G)
    assert_agree("transitive_closure_dag", G, order)
    if not G.is_multigraph():
        path = call("dag_longest_path", G, backend="graphla")
        length = sum(G[u][v].get("weight", 1) for u, v in pairwise(path))
        assert length == call("dag_longest_path_length", G, backend="networkx")
    assert_agree("dag_longest_path_length", G)
    assert_agree("dag_longest_path_length", G, "length", 2)
    pairs = call("all_pairs_lowest_common_ancestor", G, backend="graphla")
    below: Any = nx.transitive_closure(nx.DiGraph(G), reflexive=True)
    expected = {}
    for i, v in enumerate(G):
        for w in list(G)[i:]:
            common = set(below.pred[v]) & set(below.pred[w])
            lowest = {u for u in common if not (set(below[u]) - {u}) & common}
            if lowest:
                expected[v, w] = lowest
    assert dict(pairs).keys() == expected.keys()
    assert all(found in expected[pair] for pair, found in pairs)
    for pair, found in pairs:
        assert call("lowest_common_ancestor", G, *pair, backend="graphla") == found


@few
@given(weighted_graphs(), st.sampled_from([None, True, False]))
def test_transitive_closures_agree_with_networkx_and_keep_all_attributes(
    G: Any, reflexive: Any
) -> None:
    G.graph["name"] = "closed"
    nx.set_node_attributes(G, dict.fromkeys(G, 3), "size")
    assert_agree("transitive_closure", G, reflexive)


def test_backward_searches_of_a_converted_graph_do_not_see_later_changes() -> None:
    G: Any = nx.DiGraph([(2, 0), (1, 0), (3, 1)])
    search: Any = nx.bfs_edges
    for change in (lambda: G.add_edge(0, 3), lambda: G.remove_node(2), lambda: G.add_node("x")):
        C, expected = backend.convert_from_nx(G), set(G.reverse().edges)
        change()
        assert set(search(C, 0, reverse=True)) <= expected
