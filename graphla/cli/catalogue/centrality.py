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
    # If the user asked for one vertex, the result is a number and not a Vector.
    if not hasattr(closeness, "to_coo"):
        return findings.answer(graph, closeness, ("closeness",), options.top)
    _, values = closeness.to_coo()
    facts = [("mean", number(values.mean()))] if values.size else []
    top = findings.extremes("highest closeness", graph, "closeness", closeness, options.top)
    return Answer(facts=facts, columns={"closeness": closeness}, top=top)


CENTRALITY = (
    Algorithm(
        "pagerank",
        "how often a random walker visits each vertex",
        ("rank",),
        story=(
            "With probability ALPHA the walker follows an out-edge, chosen in proportion to its "
            "weight; otherwise it jumps to a random vertex. From a vertex without out-edges it "
            "always jumps. The ranks add up to 1. The iteration ends when the total change of the "
            "ranks in a round is less than TOL times the number of vertices."
        ),
        formula="r = α·(r / degree)A + (1 - Σ α·(r / degree)A) / n,  until r converges",
        examples=(
            "graphla pagerank web.mtx.gz --top 20",
            "graphla pagerank web.mtx.gz --tol 1e-12 --output ranks.csv",
        ),
        words={
            "alpha": "the probability that the walker follows an edge",
            "tol": "stop when a round changes the values by less than this per vertex, on average",
        },
        make_answer=_pagerank,
    ),
    Algorithm(
        "hits",
        "hub and authority scores: good hubs point to good authorities",
        ("hub", "authority"),
    ),
    Algorithm(
        "katz",
        "the number of walks that end at each vertex; long walks count less",
        ("katz",),
        words={
            "alpha": "the factor that each edge contributes to the weight of a walk",
            "tol": "stop when a round changes the values by less than this per vertex, on average",
        },
    ),
    Algorithm(
        "eigenvector",
        "the importance of each vertex, computed from the importance of its neighbors",
        ("eigenvector",),
        words={
            "tol": "stop when a round changes the values by less than this per vertex, on average"
        },
    ),
    Algorithm(
        "degree", "for each vertex, the fraction of other vertices adjacent to it", ("degree",)
    ),
    Algorithm(
        "in_degree",
        "for each vertex, the fraction of other vertices that have an edge to it",
        ("in-degree",),
    ),
    Algorithm(
        "out_degree",
        "for each vertex, the fraction of other vertices that it has an edge to",
        ("out-degree",),
    ),
    Algorithm(
        "closeness",
        "how close each vertex is to the vertices that can reach it",
        ("closeness",),
        story=(
            "The closeness of a vertex is the inverse of the mean distance from the vertices that "
            "reach it, times the fraction of vertices that reach it. In an unweighted graph, this "
            "takes a breadth-first search from each vertex; 64 searches run at the same time, "
            "and each search uses one bit of a 64-bit word."
        ),
        formula="c(v) = (r - 1)² / ((n - 1) Σ d(u, v)),  over the r vertices u that reach v",
        examples=("graphla closeness friends.txt --undirected --top 20",),
        make_answer=_closeness,
    ),
    Algorithm(
        "harmonic",
        "for each vertex, the sum of 1 / distance from every other vertex",
        ("harmonic",),
    ),
    Algorithm(
        "betweenness",
        "the fraction of shortest paths that pass through each vertex",
        ("betweenness",),
        words={"k": "the number of random sources (default: all vertices)"},
    ),
    Algorithm(
        "edge_betweenness",
        "the fraction of shortest paths that pass through each edge",
        ("betweenness",),
        words={"k": "the number of random sources (default: all vertices)"},
    ),
)
