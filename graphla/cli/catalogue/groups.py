"""The subcommands for communities, and for sets of vertices or edges."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _matching(_graph: Graph, mate: Any, _options: Namespace) -> Answer:
    facts = [("matched", f"{number(mate.nvals // 2, 'pair')} of vertices")]
    return Answer(facts=facts, columns={"mate": mate})


def _colors(_graph: Graph, color: Any, _options: Namespace) -> Answer:
    _, numbers = color.to_coo()
    count = int(numbers.max()) + 1 if numbers.size else 0
    return Answer(facts=[("colors", number(count))], columns={"color": color})


GROUPS = (
    Algorithm(
        "label_propagation",
        "communities: each vertex adopts the most frequent label among its neighbors",
        ("community",),
    ),
    Algorithm(
        "louvain",
        "communities with high modularity, found by moving vertices between communities",
        ("community",),
    ),
    Algorithm(
        "leiden",
        "connected communities with high modularity, by moving vertices and splitting communities",
        ("community",),
    ),
    Algorithm(
        "label_propagation_communities",
        "communities by semi-synchronous label propagation, the same as those of NetworkX",
        ("community",),
    ),
    Algorithm(
        "asyn_lpa_communities",
        "communities by label propagation in which vertices change one after another",
        ("community",),
    ),
    Algorithm(
        "greedy_modularity_communities",
        "communities with high modularity, found by repeatedly merging two communities",
        ("community",),
        words={
            "cutoff": "the minimum number of communities",
            "best_n": "the maximum number of communities",
        },
    ),
    Algorithm(
        "partition_quality",
        "the coverage and the performance of a partition into communities",
        ("coverage", "performance"),
    ),
    Algorithm(
        "modularity",
        "the fraction of edges inside communities, minus the fraction expected by chance",
        ("modularity",),
    ),
    Algorithm(
        "maximal_independent_set",
        "a set of pairwise nonadjacent vertices to which no vertex can be added",
        ("independent",),
        words={"nodes": "vertices that the set must contain: u,v,..."},
    ),
    Algorithm(
        "greedy_color",
        "a color for each vertex such that neighbors have different colors",
        ("color",),
        make_answer=_colors,
    ),
    Algorithm(
        "maximal_matching",
        "a set of edges that share no vertices; no further edge can be added to the set",
        ("mate",),
        make_answer=_matching,
    ),
)
