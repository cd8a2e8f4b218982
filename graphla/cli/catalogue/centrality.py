"""Which vertices and edges matter."""

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
    if not hasattr(closeness, "to_coo"):  # of one vertex
        return findings.answer(graph, closeness, ("closeness",), options.top)
    _, values = closeness.to_coo()
    facts = [("mean", number(values.mean()))] if values.size else []
    top = findings.extremes("nearest to all", graph, "closeness", closeness, options.top)
    return Answer(facts=facts, columns={"closeness": closeness}, top=top)


CENTRALITY = (
    Algorithm(
        "pagerank",
        "how often a walker who follows edges at random is found at each vertex",
        ("rank",),
        story=(
            "The walker follows an out-edge with probability ALPHA, chosen in proportion to its "
            "weight, and else jumps to a random vertex, as always from a vertex without out-edges. "
            "The ranks add up to 1. Rounds end with the first to change them, in all, by less than "
            "TOL times the number of vertices."
        ),
        formula="r = α·(r / degree)A + (1 - what that carried) / n,  until r rests",
        examples=(
            "graphla pagerank web.mtx.gz --top 20",
            "graphla pagerank web.mtx.gz --tol 1e-12 --output ranks.csv",
        ),
        words={
            "alpha": "how likely the walker follows an edge",
            "tol": "the change, per vertex, to stop at",
        },
        tell=_pagerank,
    ),
    Algorithm(
        "hits", "which vertices point at good ones, and are pointed at", ("hub", "authority")
    ),
    Algorithm(
        "katz",
        "how many walks end at each vertex, long ones counting less",
        ("katz",),
        words={
            "alpha": "what of a walk's count is left after each edge",
            "tol": "the change, per vertex, to stop at",
        },
    ),
    Algorithm(
        "eigenvector",
        "how important each vertex is by the importance of others",
        ("eigenvector",),
        words={"tol": "the change, per vertex, to stop at"},
    ),
    Algorithm("degree", "the share of the other vertices that each is joined with", ("degree",)),
    Algorithm("in_degree", "the share of the other vertices with an edge to each", ("in-degree",)),
    Algorithm(
        "out_degree", "the share of the other vertices with an edge from each", ("out-degree",)
    ),
    Algorithm(
        "closeness",
        "how near each vertex is to all that can reach it",
        ("closeness",),
        story=(
            "The inverse of the mean distance of the paths that end at the vertex, times the part "
            "of the graph from which one does. Counted in edges, it takes a breadth-first search "
            "from each vertex, 64 of them at a time as the bits of a word."
        ),
        formula="c(v) = (r - 1)² / ((n - 1) Σ d(u, v)),  over the r vertices u that reach v",
        examples=("graphla closeness friends.txt --undirected --top 20",),
        tell=_closeness,
    ),
    Algorithm("harmonic", "how near each vertex is: the sum of 1 / distance", ("harmonic",)),
    Algorithm(
        "betweenness",
        "the share of shortest paths that pass each vertex",
        ("betweenness",),
        words={"k": "from so many random sources only (default: from all)"},
    ),
    Algorithm(
        "edge_betweenness",
        "the share of shortest paths that pass each edge",
        ("betweenness",),
        words={"k": "from so many random sources only (default: from all)"},
    ),
)
