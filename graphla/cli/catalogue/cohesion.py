"""The subcommands for cohesion: how closely vertices are connected."""

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
        facts.append(("transitivity", f"{share:.6f} of the paths of length 2 are closed"))
    return Answer(facts=facts, total=("triangles", triangles))


COHESION = (
    Algorithm(
        "triangle_count",
        "the number of triangles",
        ("triangles",),
        command="triangles",
        story=(
            "Counts each triangle once; directions, weights and self-loops are ignored. F contains "
            "each edge once, directed from its endpoint with the lower degree. For each edge in "
            "the mask F, the product counts the vertices that both endpoints point to."
        ),
        formula="C⟨F⟩ = F plus.pair Fᵀ;  triangles = Σ C",
        examples=("graphla triangles friends.txt",),
        make_answer=_triangles,
    ),
    Algorithm(
        "triangles",
        "the number of triangles at each vertex",
        ("triangles",),
        command="triangles-per-vertex",
    ),
    Algorithm(
        "clustering",
        "for each vertex, the fraction of its pairs of neighbors that are adjacent",
        ("clustering",),
    ),
    Algorithm(
        "average_clustering",
        "the clustering coefficient, averaged over all vertices",
        ("clustering",),
    ),
    Algorithm(
        "transitivity", "the fraction of paths of length 2 that are closed", ("transitivity",)
    ),
    Algorithm(
        "square_clustering",
        "for each vertex, the fraction of its possible squares that exist",
        ("clustering",),
    ),
    Algorithm(
        "k_truss",
        "the largest subgraph in which each edge is in at least k - 2 triangles",
        ("weight",),
        words={"k": "each edge of the result is in at least k - 2 triangles"},
        bench={"k": 4},
    ),
    Algorithm(
        "truss_numbers", "for each edge, the largest k whose k-truss contains it", ("truss",)
    ),
    Algorithm(
        "jaccard",
        "for each pair of vertices, the fraction of all their neighbors that are common to both",
        ("jaccard",),
        fills="neighbors",
    ),
    Algorithm(
        "overlap",
        "for each pair of vertices, the number of common neighbors divided by the smaller degree",
        ("overlap",),
        fills="neighbors",
    ),
    Algorithm(
        "cosine",
        "for each pair of vertices, the cosine similarity of their neighborhoods",
        ("cosine",),
        fills="neighbors",
    ),
    Algorithm(
        "common_neighbors",
        "for each pair of vertices, the number of common neighbors",
        ("common",),
        fills="neighbors",
    ),
    Algorithm(
        "adamic_adar",
        "for each pair of vertices, the Adamic-Adar index of their common neighbors",
        ("adamic_adar",),
        fills="neighbors",
    ),
    Algorithm(
        "resource_allocation",
        "for each pair of vertices, the resource allocation index of their common neighbors",
        ("resource_allocation",),
        fills="neighbors",
    ),
    Algorithm(
        "preferential_attachment",
        "for each pair of vertices, the product of their degrees",
        ("attachment",),
        fills="neighbors",
    ),
)
