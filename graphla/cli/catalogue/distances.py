"""The subcommands for distances: how far apart the vertices of a graph are."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from graphla.cli import findings
from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _eccentricity(graph: Graph, eccentricity: Any, options: Namespace) -> Answer:
    if not hasattr(eccentricity, "to_coo"):  # the result for one vertex is a number
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
        "the number of edges from each vertex to the vertex farthest from it",
        ("eccentricity",),
        story=(
            "The minimum eccentricity is the radius of the graph, and the maximum is its diameter. "
            "Each search bounds the eccentricities of all vertices, so a few searches may suffice. "
            "For the remaining vertices, 64 searches run at the same time, and each search uses "
            "one bit of a 64-bit word. A vertex that does not reach all others has no eccentricity."
        ),
        formula="e(v) = max over u of d(v, u)",
        examples=("graphla eccentricity friends.txt --undirected --output eccentricities.csv",),
        make_answer=_eccentricity,
    ),
    Algorithm("diameter", "the maximum distance between two vertices", ("diameter",)),
    Algorithm("radius", "the minimum eccentricity of a vertex", ("radius",)),
    Algorithm("center", "the vertices with the minimum eccentricity", ("center",)),
    Algorithm("periphery", "the vertices with the maximum eccentricity", ("periphery",)),
    Algorithm(
        "average_path_length",
        "the mean distance between two vertices",
        ("average",),
    ),
)
