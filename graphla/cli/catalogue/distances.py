"""How far apart the vertices of a graph are."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from graphla.cli import findings
from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _eccentricity(graph: Graph, eccentricity: Any, options: Namespace) -> Answer:
    if not hasattr(eccentricity, "to_coo"):  # of one vertex
        return findings.answer(graph, eccentricity, ("eccentricity",), options.top)
    _, values = eccentricity.to_coo()
    facts = [("reach all others", number(values.size, "vertex"))]
    if values.size:
        facts.append(("radius", number(values.min())))
        if values.size == graph.nvertices:
            facts.append(("diameter", number(values.max())))
    top = findings.extremes("most remote", graph, "eccentricity", eccentricity, options.top)
    return Answer(facts=facts, columns={"eccentricity": eccentricity}, top=top)


DISTANCES = (
    Algorithm(
        "eccentricity",
        "how many edges away the farthest vertex is from each vertex",
        ("eccentricity",),
        story=(
            "The least of the eccentricities is the radius of the graph, the greatest its "
            "diameter. Each search bounds those of all vertices, so a few may settle them; what "
            "stays open is searched from 64 vertices at a time, as the bits of a word. A vertex "
            "that does not reach all others has none."
        ),
        formula="e(v) = max over u of d(v, u)",
        examples=("graphla eccentricity friends.txt --undirected --output eccentricities.csv",),
        tell=_eccentricity,
    ),
    Algorithm("diameter", "the greatest distance between two vertices", ("diameter",)),
    Algorithm("radius", "how near to all others the best vertex is", ("radius",)),
    Algorithm("center", "the vertices that are nearest to all others", ("center",)),
    Algorithm("periphery", "the vertices that are farthest from some other", ("periphery",)),
    Algorithm(
        "average_path_length",
        "how far apart two vertices are on average",
        ("average",),
    ),
)
