"""Draw small graphs as edge lists for graphla, NetworkX and the verifiers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

import graphla as gl


@dataclass(frozen=True)
class Edges:
    """Distinct directed edges (i, j, weight); an undirected edge is stored in both directions."""

    n: int
    ends: tuple[tuple[int, int], ...]
    weights: tuple[Any, ...]
    undirected: bool = False
    dtype: str = "INT64"

    def __iter__(self):
        return ((i, j, w) for (i, j), w in zip(self.ends, self.weights, strict=True))

    def matrix(self) -> gl.Matrix:
        rows, columns = np.array(self.ends, dtype=np.int64).reshape(-1, 2).T
        shape: dict[str, Any] = {"nrows": self.n, "ncols": self.n}
        values = np.array(self.weights, dtype=gl.dtypes.lookup_dtype(self.dtype).np_type)
        return gl.Matrix.from_coo(rows, columns, values, symmetric=self.undirected, **shape)

    def networkx(self) -> Any:
        import networkx as nx

        G = nx.Graph() if self.undirected else nx.DiGraph()
        G.add_nodes_from(range(self.n))
        G.add_weighted_edges_from(self)
        return G

    def relabeled(self, order: list[int]) -> Edges:
        """Return a copy of the graph in which vertex v is renamed to order[v]."""
        ends = tuple((order[i], order[j]) for i, j in self.ends)
        return Edges(self.n, ends, self.weights, self.undirected, self.dtype)

    def wider(self) -> Edges:
        """Return the graph with one more vertex, which has no edges."""
        return replace(self, n=self.n + 1)


def edges_of(A: gl.Matrix) -> Edges:
    """Return the entries of a matrix as directed edges."""
    rows, columns, values = A.to_coo()
    ends = tuple(zip(rows.tolist(), columns.tolist(), strict=True))
    return Edges(A.nrows, ends, tuple(values.tolist()), dtype=A.dtype.name)


integers = st.integers(0, 9)
halves = st.integers(0, 20).map(lambda k: k / 2)
tenths = st.integers(1, 20).map(lambda k: k / 10)
"""Weights whose sums are rounded, so that a path and its reverse may have different lengths."""
magnitudes = st.floats(1e-20, 1e20)
"""Weights of very different magnitudes: adding a small weight may not change a large weight."""


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    least: int = 1,
    undirected: bool | None = None,
    weights: st.SearchStrategy[Any] | None = None,
    dtype: str = "INT64",
    loops: bool = True,
) -> Edges:
    """Draw a graph with up to 12 vertices; it may be disconnected or have self-loops."""
    n = draw(st.integers(least, 12))
    both_ways = draw(st.booleans()) if undirected is None else undirected
    pairs = [(i, j) for i in range(n) for j in range(n) if i <= j or not both_ways]
    pairs = [(i, j) for i, j in pairs if loops or i != j]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    values = [draw(weights) if weights is not None else 1 for _ in ends]
    if both_ways:
        back = [((j, i), w) for (i, j), w in zip(ends, values, strict=True) if i != j]
        ends, values = [*ends, *(end for end, _ in back)], [*values, *(w for _, w in back)]
    return Edges(n, tuple(ends), tuple(values), both_ways, dtype)


@st.composite
def with_source(draw: st.DrawFn, edges: st.SearchStrategy[Edges]) -> tuple[Edges, int]:
    graph = draw(edges)
    return graph, draw(st.integers(0, graph.n - 1))


@st.composite
def with_order(draw: st.DrawFn, edges: st.SearchStrategy[Edges]) -> tuple[Edges, list[int]]:
    graph = draw(edges)
    return graph, draw(st.permutations(range(graph.n)))
