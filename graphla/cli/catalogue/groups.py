"""Communities, and sets of vertices."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _matching(_graph: Graph, mate: Any, _options: Namespace) -> Answer:
    facts = [("matched", f"{number(mate.nvals // 2, 'pair')} of vertices")]
    return Answer(facts=facts, columns={"mate": mate})


def _colours(_graph: Graph, colour: Any, _options: Namespace) -> Answer:
    _, numbers = colour.to_coo()
    count = int(numbers.max()) + 1 if numbers.size else 0
    return Answer(facts=[("colours", number(count))], columns={"colour": colour})


GROUPS = (
    Algorithm(
        "label_propagation",
        "communities: each vertex takes the label that most of its neighbours have",
        ("community",),
    ),
    Algorithm(
        "louvain", "communities: parts of greatest modularity, found by moves", ("community",)
    ),
    Algorithm(
        "modularity", "how many more edges than by chance lie within given parts", ("modularity",)
    ),
    Algorithm(
        "maximal_independent_set",
        "vertices of which no two are joined, and to which none can be added",
        ("independent",),
        words={"nodes": "vertices that are to be among them: u,v,..."},
    ),
    Algorithm(
        "greedy_color",
        "colours, such that no edge joins two vertices of the same one",
        ("colour",),
        tell=_colours,
    ),
    Algorithm(
        "maximal_matching",
        "pairs of joined vertices, no vertex in two, and none can be added",
        ("mate",),
        tell=_matching,
    ),
)
