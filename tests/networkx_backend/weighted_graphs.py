"""Draw small NetworkX graphs whose edges have weights."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import strategies as st

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
SIMPLE = KINDS[:2]
POSITIVE = st.integers(1, 9) | st.sampled_from([0.5, 2.25, 7.0])


@st.composite
def weighted_graphs(
    draw: st.DrawFn,
    kinds: Any = KINDS,
    *,
    weights: Any = POSITIVE,
    least: int = 0,
    name: str = "weight",
    may_lack: bool = True,
) -> Any:
    """Draw a graph with up to eight nodes; some edges may lack the attribute."""
    G = draw(st.sampled_from(kinds))()
    nodes = draw(st.lists(st.integers(0, 99) | st.text("ab", max_size=2), unique=True, max_size=8))
    nodes += range(100, 100 + least - len(nodes))
    G.add_nodes_from(nodes)
    if nodes:
        node = st.sampled_from(nodes)
        data = st.fixed_dictionaries({}, optional={name: weights})
        if not may_lack:
            data = st.fixed_dictionaries({name: weights})
        G.add_edges_from(draw(st.lists(st.tuples(node, node, data), max_size=16)))
    return G
