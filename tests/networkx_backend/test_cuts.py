"""Test that the sizes of cuts agree with those of NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree, call
from tests.networkx_backend.weighted_graphs import weighted_graphs

WITH_WEIGHTS = ("cut_size", "normalized_cut_size", "conductance", "edge_expansion")


@given(weighted_graphs(), st.sampled_from([None, "weight"]), st.data())
def test_cut_sizes_agree_with_networkx(G: Any, weight: Any, data: st.DataObject) -> None:
    nodes = st.lists(st.sampled_from([*G, "absent"]), unique=True)
    S, T = data.draw(nodes), data.draw(nodes.map(set))
    T = data.draw(st.just(T) if G.is_directed() else st.sampled_from([None, T]))
    for name in (*WITH_WEIGHTS, "mixing_expansion"):
        assert_agree(name, G, S, T, weight=weight)
    assert_agree("volume", G, S, weight)
    for name in ("node_expansion", "boundary_expansion"):
        assert_agree(name, G, S)


def test_iterators_are_rejected_before_they_are_read() -> None:
    G, nodes = nx.path_graph(4), iter([0, 1])
    for name in (*WITH_WEIGHTS, "volume", "node_expansion", "boundary_expansion"):
        assert isinstance(call(name, G, nodes, backend="graphla"), NotImplementedError)
    assert list(nodes) == [0, 1]
