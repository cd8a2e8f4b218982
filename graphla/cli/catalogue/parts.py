"""Which vertices hang together."""

from __future__ import annotations

from graphla.cli.catalogue.entry import Algorithm

PARTS = (
    Algorithm(
        "connected_components",
        "which vertices a path joins, whatever the direction of its edges",
        ("component",),
        command="components",
        examples=("graphla components friends.txt --output labels.csv",),
    ),
    Algorithm("component_count", "how many components there are", ("components",)),
    Algorithm("is_connected", "whether there is one component alone", ("connected",)),
    Algorithm(
        "strong_components", "which vertices lead to each other along the edges", ("component",)
    ),
    Algorithm(
        "is_strongly_connected", "whether each vertex leads to each other", ("strongly connected",)
    ),
    Algorithm("core_numbers", "the greatest k whose k-core each vertex is in", ("core",)),
    Algorithm(
        "k_core",
        "the edges left where each vertex has k neighbours that are left",
        ("weight",),
        words={"k": "how many neighbours each vertex keeps (default: as many as some do)"},
        hides=("core_number",),
    ),
    Algorithm(
        "spanning_forest", "the edges of least weight that join what can be joined", ("weight",)
    ),
)
