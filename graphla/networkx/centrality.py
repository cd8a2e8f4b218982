"""Centralities for NetworkX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import per_node, weighted


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Mapping[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Mapping[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: Mapping[Any, float] | None = None,
) -> dict[Any, float]:
    """Answer `networkx.pagerank`."""
    if len(G) == 0:
        return {}
    ranks = algorithms.pagerank(
        weighted(G, weight, parallel="sum"),
        alpha,
        personalization,
        max_iter,
        tol,
        nstart,
        weight is not None or G.is_multigraph(),
        dangling,
    )
    return per_node(G, ranks)
