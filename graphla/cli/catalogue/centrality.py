"""The subcommands for centrality: which vertices and edges are important."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from graphla.cli import findings
from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _pagerank(graph: Graph, rank: Any, options: Namespace) -> Answer:
    dangling = int(np.count_nonzero(graph.out_degrees.to_dense() == 0))
    return Answer(
        facts=[("dangling", f"{number(dangling, 'vertex')} without out-edges")],
        columns={"rank": rank},
        top=findings.extremes("highest ranks", graph, "rank", rank, options.top),
    )


def _closeness(graph: Graph, closeness: Any, options: Namespace) -> Answer:
    if not hasattr(closeness, "to_coo"):  # the result for one vertex
        return findings.answer(graph, closeness, ("closeness",), options.top)
    _, values = closeness.to_coo()
    facts = [("mean", number(values.mean()))] if values.size else []
    top = findings.extremes("nearest to all", graph, "closeness", closeness, options.top)
    return Answer(facts=facts, columns={"closeness": closeness}, top=top)


CENTRALITY = (
    Algorithm(
        "pagerank",
        "how often a random walker is at each vertex",
        ("rank",),
        story=(
            "With probability ALPHA the walker follows an out-edge, chosen in proportion to its "
            "weight; otherwise, and always from a vertex without out-edges, it jumps to a random "
            "vertex. The ranks add up to 1. The rounds end when one of them changes the ranks, in "
            "total, by less than TOL times the number of vertices."
        ),
        formula="r = α·(r / degree)A + (1 - Σ α·(r / degree)A) / n,  until r converges",
        examples=(
            "graphla pagerank web.mtx.gz --top 20",
            "graphla pagerank web.mtx.gz --tol 1e-12 --output ranks.csv",
        ),
        words={
            "alpha": "the probability that the walker follows an edge",
            "tol": "stop when a round changes less than this per vertex",
        },
        tell=_pagerank,
    ),
    Algorithm("hits", "hubs, which point to authorities, and authorities", ("hub", "authority")),
    Algorithm(
        "katz",
        "how many walks end at each vertex, where long walks count less",
        ("katz",),
        words={
            "alpha": "the factor by which each edge reduces the count of a walk",
            "tol": "stop when a round changes less than this per vertex",
        },
    ),
    Algorithm(
        "eigenvector",
        "the importance of each vertex, from the importance of its neighbors",
        ("eigenvector",),
        words={"tol": "stop when a round changes less than this per vertex"},
    ),
    Algorithm(
        "degree", "for each vertex, the share of the other vertices that are neighbors", ("degree",)
    ),
    Algorithm(
        "in_degree",
        "for each vertex, the share of the other vertices with an edge to it",
        ("in-degree",),
    ),
    Algorithm(
        "out_degree",
        "for each vertex, the share of the others with an edge from it",
        ("out-degree",),
    ),
    Algorithm(
        "closeness",
        "how near each vertex is to the vertices that can reach it",
        ("closeness",),
        story=(
            "The inverse of the mean distance from the vertices that reach it, times their share "
            "of the graph. If distances count edges, this takes a breadth-first search from each "
            "vertex; 64 searches run at a time, as the bits of a word."
        ),
        formula="c(v) = (r - 1)² / ((n - 1) Σ d(u, v)),  over the r vertices u that reach v",
        examples=("graphla closeness friends.txt --undirected --top 20",),
        tell=_closeness,
    ),
    Algorithm("harmonic", "how near each vertex is, as the sum of 1 / distance", ("harmonic",)),
    Algorithm(
        "betweenness",
        "the share of shortest paths through each vertex",
        ("betweenness",),
        words={"k": "the number of random sources (default: all vertices)"},
    ),
    Algorithm(
        "edge_betweenness",
        "the share of shortest paths through each edge",
        ("betweenness",),
        words={"k": "the number of random sources (default: all vertices)"},
    ),
)
