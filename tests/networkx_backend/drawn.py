"""Draw small NetworkX graphs with weights."""

from __future__ import annotations

import string
from typing import Any

import networkx as nx
from hypothesis import strategies as st

nx.config.warnings_to_ignore.add("cache")  # the tests do not change a graph between two calls

SIMPLE = (nx.Graph, nx.DiGraph)
DIRECTED = (nx.DiGraph, nx.MultiDiGraph)
UNDIRECTED = (nx.Graph, nx.MultiGraph)
KINDS = (*SIMPLE, nx.MultiGraph, nx.MultiDiGraph)

weights: st.SearchStrategy[Any] = st.integers(0, 5) | st.sampled_from([0.5, 1.25, 3.0])
signed: st.SearchStrategy[Any] = st.integers(-2, 7)


@st.composite
def weighted_graphs(
    draw: st.DrawFn, kinds: Any = KINDS, values: Any = weights, *, acyclic: bool = False
) -> Any:
    """Draw a graph with 1 to 8 nodes; nodes and edges are in any order.

    The nodes are integers or letters. Some edges have no weight.
    """
    names = draw(st.sampled_from([range(8), range(8, 0, -1), string.ascii_letters[:8]]))
    nodes = draw(st.permutations(list(names[: draw(st.integers(1, 8))])))
    G = draw(st.sampled_from(kinds))()
    G.add_nodes_from(nodes)
    pairs = [(u, v) for u in nodes for v in nodes if not acyclic or str(u) < str(v)]
    if pairs:
        for u, v in draw(st.lists(st.sampled_from(pairs), max_size=16)):
            weight = draw(st.none() | values)
            G.add_edge(u, v, **({} if weight is None else {"weight": weight}))
    return G


@st.composite
def with_nodes(draw: st.DrawFn, graphs: st.SearchStrategy[Any]) -> tuple[Any, Any, Any]:
    """Draw a graph and two of its nodes."""
    G = draw(graphs)
    nodes = st.sampled_from(list(G))
    return G, draw(nodes), draw(nodes)
