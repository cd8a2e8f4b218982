"""The subcommands for components, cores and spanning forests."""

from __future__ import annotations

from graphla.cli.catalogue.entry import Algorithm

PARTS = (
    Algorithm(
        "connected_components",
        "the sets of vertices connected by paths, ignoring edge directions",
        ("component",),
        command="components",
        examples=("graphla components friends.txt --output labels.csv",),
    ),
    Algorithm("component_count", "the number of components", ("components",)),
    Algorithm("is_connected", "whether there is exactly one component", ("connected",)),
    Algorithm("strong_components", "the sets of vertices that reach each other", ("component",)),
    Algorithm(
        "is_strongly_connected",
        "whether each vertex reaches all other vertices",
        ("strongly connected",),
    ),
    Algorithm("bridges", "the edges whose removal disconnects a component", ("weight",)),
    Algorithm(
        "articulation_points",
        "the vertices whose removal disconnects a component",
        ("articulation",),
    ),
    Algorithm(
        "biconnected_components",
        "for each edge, the number of its biconnected component",
        ("component",),
    ),
    Algorithm("core_numbers", "for each vertex, the largest k whose k-core contains it", ("core",)),
    Algorithm(
        "k_core",
        "the largest subgraph in which each vertex has at least k neighbors",
        ("weight",),
        words={"k": "the minimum degree (default: the largest for which the result is not empty)"},
        hides=("core_number",),
    ),
    Algorithm(
        "k_shell",
        "the edges between vertices with core number k",
        ("weight",),
        words={"k": "the core number (default: the largest)"},
        hides=("core_number",),
    ),
    Algorithm(
        "k_crust",
        "the edges between vertices with core numbers up to k",
        ("weight",),
        words={"k": "the largest core number that is kept (default: all but the largest)"},
        hides=("core_number",),
    ),
    Algorithm(
        "k_corona",
        "the edges between vertices of the k-core that have exactly k neighbors in it",
        ("weight",),
        words={
            "k": "the core number of the vertices, and the number of their neighbors in the k-core"
        },
        hides=("core_number",),
        bench={"k": 2},
    ),
    Algorithm(
        "onion_layers",
        "for each vertex, the round in which it is removed when the graph is peeled",
        ("layer",),
    ),
    Algorithm("spanning_forest", "a spanning forest of minimum weight", ("weight",)),
)
