"""How closely vertices are knit."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph


def _triangles(graph: Graph, triangles: Any, _options: Namespace) -> Answer:
    degree = graph.out_degrees.to_dense() - graph.matrix.diag().apply("one").new("INT64").to_dense(
        0
    )
    pairs = int((degree * (degree - 1) // 2).sum())
    facts = [("triangles", number(triangles))]
    if pairs:
        share = 3 * triangles / pairs
        facts.append(("transitivity", f"{share:.6f} of the paths of length 2 close"))
    return Answer(facts=facts, total=("triangles", triangles))


COHESION = (
    Algorithm(
        "triangle_count",
        "how many triples of vertices are joined by three edges",
        ("triangles",),
        command="triangles",
        story=(
            "Counts each triangle once; directions, weights and self-loops are ignored. F holds "
            "each edge once, from the end of lesser degree; under the mask F the product counts, "
            "for each edge, the third vertices that both its ends point at."
        ),
        formula="C⟨F⟩ = F plus.pair Fᵀ;  triangles = Σ C",
        examples=("graphla triangles friends.txt",),
        tell=_triangles,
    ),
    Algorithm(
        "triangles",
        "how many triangles each vertex is a corner of",
        ("triangles",),
        command="triangles-per-vertex",
    ),
    Algorithm("clustering", "how many of its pairs of neighbours are joined", ("clustering",)),
    Algorithm(
        "average_clustering", "how many pairs of neighbours are joined, on average", ("clustering",)
    ),
    Algorithm("transitivity", "how many paths of length 2 are closed", ("transitivity",)),
    Algorithm("square_clustering", "how many squares at each vertex are closed", ("clustering",)),
    Algorithm(
        "k_truss",
        "the edges left where each is in k - 2 triangles that are left",
        ("weight",),
        words={"k": "each edge keeps k - 2 triangles"},
        bench={"k": 4},
    ),
    Algorithm("truss_numbers", "the greatest k whose k-truss each edge is in", ("truss",)),
    Algorithm(
        "jaccard",
        "the share of neighbours in common, of all that either has",
        ("jaccard",),
        fills="neighbours",
    ),
    Algorithm(
        "overlap",
        "the share of neighbours in common, of the fewer",
        ("overlap",),
        fills="neighbours",
    ),
    Algorithm(
        "cosine",
        "the cosine between the neighbourhoods of two vertices",
        ("cosine",),
        fills="neighbours",
    ),
)
