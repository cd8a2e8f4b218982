"""Test greedy coloring against sequential definitions of the orders, and against NetworkX."""

from __future__ import annotations

from itertools import count
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.coloring import greedy_coloring

from graphla.networkx import backend, colorings
from networkx_backend.agreement import assert_agree, call
from networkx_backend.drawn import UNDIRECTED, weighted_graphs

pytestmark = pytest.mark.usefixtures("loops")
LARGE = [nx.gnm_random_graph(60, 240, seed=seed) for seed in range(3)]
graphs = weighted_graphs(UNDIRECTED) | st.sampled_from(LARGE)
simple = weighted_graphs((nx.Graph,)) | st.sampled_from(LARGE)


def without_loops(G: Any) -> Any:
    """Return the graph without self-loops."""
    H = G.copy()
    H.remove_edges_from(list(nx.selfloop_edges(G)))
    return H


def color_one_by_one(G: Any, order: list[Any]) -> dict[Any, int]:
    """Give each node the smallest color that no neighbor has."""
    colors: dict[Any, int] = {}
    for v in order:
        near = {colors[w] for w in G[v] if w in colors}
        colors[v] = next(color for color in count() if color not in near)
    return colors


def smallest_last(G: Any) -> list[Any]:
    """Return the nodes in smallest-last order.

    In the subgraph of a node and all nodes before it, this node has the least degree.
    """
    left, order = list(G), []
    while left:
        order.append(min(left, key=G.subgraph(left).degree))
        left.remove(order[-1])
    return order[::-1]


def independent_sets(G: Any) -> list[Any]:
    """Return the nodes of successive independent sets; each set adds low-degree nodes first."""
    left, order = list(G), []
    while left:
        near = list(left)
        while near:
            v = min(near, key=G.subgraph(near).degree)
            order.append(v)
            near = [w for w in near if w != v and w not in G[v]]
        left = [v for v in left if v not in order]
    return order


def connected(traverse: Any) -> Any:
    """Return the function that lists the nodes of one component after another."""

    def order(G: Any) -> list[Any]:
        found: dict[Any, None] = {}
        for v in G:
            if v not in found:
                found |= dict.fromkeys([v, *(w for _, w in traverse(G, v))])
        return list(found)

    return order


ORDERS = {
    "largest_first": lambda G: sorted(G, key=G.degree, reverse=True),
    "smallest_last": smallest_last,
    "independent_set": independent_sets,
    "connected_sequential_bfs": connected(nx.bfs_edges),
    "connected_sequential_dfs": connected(nx.dfs_edges),
    "connected_sequential": connected(nx.bfs_edges),
}


@pytest.mark.parametrize("name", ORDERS)
@given(data=st.data())
def test_each_node_gets_the_smallest_color_that_no_earlier_neighbor_has(
    name: str, data: st.DataObject
) -> None:
    by_degree = name in ("smallest_last", "independent_set")
    G = data.draw(simple if by_degree else graphs)
    G = without_loops(G) if name == "smallest_last" else G
    found = call("greedy_color", G, name, backend="graphla")
    assert list(found) == list(G)
    assert found == color_one_by_one(G, ORDERS[name](G))


@given(graphs)
def test_the_colors_in_saturation_order_equal_those_of_networkx(G: Any) -> None:
    for name in ("DSATUR", "saturation_largest_first"):
        assert_agree("greedy_color", G, name)
        assert_agree("greedy_color", G, greedy_coloring.STRATEGIES[name])


def test_strategies_that_networkx_rejects_raise_the_same_error() -> None:
    G = nx.path_graph(4)
    assert isinstance(assert_agree("greedy_color", G, "no such strategy"), nx.NetworkXError)
    assert assert_agree("greedy_color", nx.Graph(), "no such strategy") == {}


@pytest.mark.parametrize("name", sorted({*ORDERS} - {"independent_set"}))
@given(data=st.data())
def test_colorings_with_interchange_equal_those_of_networkx_for_the_same_node_order(
    name: str, data: st.DataObject
) -> None:
    G = without_loops(data.draw(simple))
    found = call("greedy_color", G, name, True, backend="graphla")
    order = ORDERS[name](G)
    assert found == call("greedy_color", G, lambda *_: order, True)


def test_a_random_node_order_gives_a_greedy_coloring() -> None:
    for interchange in (False, True):
        found = call("greedy_color", LARGE[0], "random_sequential", interchange, backend="graphla")
        assert all(found[u] != found[v] for u, v in LARGE[0].edges)


@pytest.mark.parametrize("name", ["independent_set", "DSATUR"])
def test_an_order_that_depends_on_the_colors_raises_the_error_of_networkx_with_interchange(
    name: str,
) -> None:
    found = assert_agree("greedy_color", nx.path_graph(4), name, interchange=True)
    assert isinstance(found, nx.NetworkXPointlessConcept)


@pytest.mark.parametrize("strategy", [lambda G, colors: list(G), []])
def test_calls_that_graphla_does_not_support_are_rejected(strategy: Any) -> None:
    G = nx.path_graph(4)
    with pytest.raises(NotImplementedError, match="not a string"):
        backend.can_run("greedy_color", (G, strategy), {})
    with pytest.raises(NotImplementedError, match="multigraph"):
        backend.can_run("greedy_color", (nx.MultiGraph(G), "smallest_last"), {})


def test_self_loops_are_rejected_where_networkx_fails() -> None:
    G = nx.Graph([(0, 0), (0, 1)])
    assert isinstance(call("greedy_color", G, "smallest_last"), KeyError)
    found = call("greedy_color", G, "smallest_last", backend="graphla")
    assert isinstance(found, NotImplementedError)


@given(simple.map(without_loops))
def test_the_strategy_smallest_last_uses_at_most_one_color_more_than_the_greatest_core_number(
    G: Any,
) -> None:
    C = backend.convert_from_nx(G)
    order = colorings.ORDERS["smallest_last"](C)
    assert sorted(order.tolist()) == list(range(len(G)))
    used = np.unique(list(backend.greedy_color(C, "smallest_last").values())).size
    assert used <= max(nx.core_number(G).values()) + 1
