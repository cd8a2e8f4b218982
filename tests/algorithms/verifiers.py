"""Verify results edge by edge, in the simplest way and without linear algebra."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from graphs import Edges


def verify_bfs(
    graph: Edges, source: Any, levels: Mapping[int, int], parents: Mapping[int, int]
) -> None:
    """Verify the levels and parents of a breadth-first search; all valid parents are accepted.

    The rules are those of Graph500, extended to several sources:
    - A vertex has level 0 if and only if it is a source. Each source is its own parent.
    - Let u be the parent of a vertex v that is not a source. Then there is an edge u -> v, and
      level(v) = level(u) + 1. So following the parents from any reached vertex leads to a source.
    - If u is reached and there is an edge u -> v, then v is reached and level(v) <= level(u) + 1.
    - A vertex has a level if and only if it has a parent.
    """
    sources = {source} if isinstance(source, int) else set(source)
    assert levels.keys() == parents.keys()
    for each in sources:
        assert levels[each] == 0
        assert parents[each] == each
    ends = set(graph.ends)
    for v, u in parents.items():
        if v not in sources:
            assert (u, v) in ends, f"no edge {u} -> {v}"
            assert levels[v] == levels[u] + 1
    for u, v in graph.ends:
        if u in levels:
            assert v in levels, f"{v} is not reached, though {u} is"
            assert levels[v] <= levels[u] + 1
    assert {v for v, level in levels.items() if level == 0} == sources


def verify_sssp(graph: Edges, source: int, distance: Mapping[int, Any]) -> None:
    """Verify the distances of shortest paths from `source`.

    - The source has distance 0.
    - If u is reached and there is an edge u -> v of weight w, then v is reached and
      d(v) <= d(u) + w.
    - For each reached vertex, there is a path from the source on which each edge u -> v satisfies
      d(v) = d(u) + w.
    """
    assert distance[source] == 0
    tight: dict[int, list[int]] = {}
    for u, v, w in graph:
        if u in distance:
            assert v in distance, f"{v} is not reached, though {u} is"
            assert distance[v] <= distance[u] + w
            if distance[v] == distance[u] + w:
                tight.setdefault(u, []).append(v)
    assert _reached(tight, source) == distance.keys()


def verify_pagerank(
    graph: Edges, rank: Any, alpha: float, tolerance: float, jump: Any = None
) -> None:
    """Verify that one more round, edge by edge, changes the ranks by at most the tolerance."""
    n = graph.n
    jump = np.full(n, 1 / n) if jump is None else jump
    degree = np.bincount([i for i, _ in graph.ends], minlength=n)
    following = (1 - alpha) * jump + alpha * rank[degree == 0].sum() * jump
    for i, j in graph.ends:
        following[j] += alpha * rank[i] / degree[i]
    assert rank.min() >= 0
    assert abs(rank.sum() - 1) < 1e-9
    assert np.abs(following - rank).sum() <= tolerance + 1e-12


def verify_components(graph: Edges, labels: list[int]) -> None:
    """Verify that each component has one label, the smallest of its vertices."""
    neighbors: dict[int, list[int]] = {}
    for u, v in graph.ends:
        neighbors.setdefault(u, []).append(v)
        neighbors.setdefault(v, []).append(u)
    assert len(labels) == graph.n
    seen: set[int] = set()
    for root in sorted(set(labels)):
        members = {v for v, label in enumerate(labels) if label == root}
        assert min(members) == root
        assert _reached(neighbors, root) == members
        seen |= members
    assert seen == set(range(graph.n))


def count_triangles(graph: Edges) -> int:
    """Return the number of triangles, counted over all triples of vertices."""
    joined = {frozenset(end) for end in graph.ends}
    return sum(
        all(frozenset(pair) in joined for pair in combinations(triple, 2))
        for triple in combinations(range(graph.n), 3)
    )


def _reached(neighbors: Mapping[int, list[int]], source: int) -> set[int]:
    reached, waiting = {source}, [source]
    while waiting:
        for v in neighbors.get(waiting.pop(), []):
            if v not in reached:
                reached.add(v)
                waiting.append(v)
    return reached
