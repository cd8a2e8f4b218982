"""Test that cycles agree with NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.drawn import DIRECTED, weighted_graphs, with_nodes

# Run fewer examples, because each of them calls many functions.
few = settings(max_examples=settings().max_examples // 3)


@few
@given(with_nodes(weighted_graphs()), st.sampled_from([None, "original", "reverse", "wrong"]))
def test_the_function_find_cycle_returns_the_same_cycle_as_networkx(
    drawn: Any, orientation: Any
) -> None:
    G, first, second = drawn
    for source in (None, first, [second, "missing", first], [], 99):
        if orientation != "reverse":
            assert_agree("find_cycle", G, source, orientation)


@few
@given(with_nodes(weighted_graphs(DIRECTED)), st.sampled_from(["reverse", "ignore"]))
def test_find_cycle_with_an_orientation_finds_a_cycle_if_networkx_finds_one(
    drawn: Any, orientation: Any
) -> None:
    G, source, _ = drawn
    found = call("find_cycle", G, source, orientation, backend="graphla")
    expected = call("find_cycle", G, source, orientation, backend="networkx")
    if isinstance(expected, nx.NetworkXNoCycle):
        assert isinstance(found, nx.NetworkXNoCycle)
        return
    ends = [edge[:2] if edge[-1] == "forward" else edge[1::-1] for edge in found]
    assert [v for _, v in ends] == [u for u, _ in [*ends[1:], ends[0]]]
    assert all(G.has_edge(*edge[:-1]) for edge in found)
    assert len({edge[:-1] for edge in found}) == len(found)
    assert orientation == "ignore" or {edge[-1] for edge in found} == {"reverse"}
