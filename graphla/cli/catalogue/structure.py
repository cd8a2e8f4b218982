"""The subcommands for local structure: measures of the neighborhood of each vertex."""

from __future__ import annotations

from graphla.cli.catalogue.entry import Algorithm

STRUCTURE = (
    Algorithm(
        "reciprocity",
        "for each vertex, the fraction of its edges that have a reverse edge",
        ("reciprocity",),
    ),
    Algorithm(
        "average_neighbor_degree",
        "for each vertex, the mean degree of its neighbors",
        ("degree",),
        hides=("source", "target"),
    ),
    Algorithm(
        "constraint",
        "for each vertex, Burt's constraint: how strongly its neighbors are connected",
        ("constraint",),
    ),
    Algorithm(
        "effective_size",
        "for each vertex, the number of its neighbors, not counting redundant ones",
        ("size",),
    ),
)
