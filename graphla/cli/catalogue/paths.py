"""The subcommands for traversals and paths."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from graphla.cli import findings
from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm, AnswerMaker
from graphla.graph import Graph


def _bfs(graph: Graph, found: Any, options: Namespace) -> Answer:
    levels, parents = found
    vertices, level = levels.to_coo()
    edges = int(graph.out_degrees.to_dense()[vertices].sum())
    width = np.bincount(level)
    return Answer(
        facts=[
            ("reached", f"{number(vertices.size, 'vertex')}, with {number(edges, 'out-edge')}"),
            ("levels", f"{number(width.size)}, the widest with {number(width.max(), 'vertex')}"),
        ],
        columns={"level": levels, "parent": parents},
        top=findings.extremes("farthest vertices", graph, "level", levels, options.top),
        edges=edges,
    )


def _distances(graph: Graph, paths: Any, options: Namespace) -> Answer:
    distance = paths.distances
    _, lengths = distance.to_coo()
    facts = [("reached", number(lengths.size, "vertex"))]
    if lengths.size:
        mean = number(lengths.mean(dtype=float))
        facts.append(("distance", f"up to {number(lengths.max())}, {mean} on average"))
    return Answer(
        facts=facts,
        columns={"distance": distance},
        top=findings.extremes("farthest vertices", graph, "distance", distance, options.top),
    )


def _answer_reachable(graph: Graph, reached: Any, _options: Namespace) -> Answer:
    return findings.of_set(graph, reached, "reached")


def _best_paths(name: str, title: str) -> AnswerMaker:
    """Return a function that turns the values and the parents of best paths into an answer.

    `name` is what the values are called in the output, and `title` is the title of the table of the
    largest values. The count of reached vertices and this table leave out the sources themselves.
    """

    def make_answer(graph: Graph, found: Any, options: Namespace) -> Answer:
        values, parents = found
        vertices, before = parents.to_coo()
        others = values.dup()
        for source in vertices[vertices == before].tolist():
            del others[source]
        facts = [("reached", f"{number(others.nvals, 'vertex')} besides the source")]
        if others.nvals:
            _, numbers = others.to_coo()
            facts.append((name, f"from {number(numbers.min())} to {number(numbers.max())}"))
        return Answer(
            facts=facts,
            columns={name: values, "parent": parents},
            top=findings.extremes(title, graph, name, others, options.top),
        )

    return make_answer


PATHS = (
    Algorithm(
        "bfs",
        "the number of edges from a source to each vertex, and each vertex's parent",
        ("level", "parent"),
        story=(
            "Breadth-first search proceeds from the source level by level. The frontier is a "
            "sparse vector. Its product with the adjacency matrix contains every vertex adjacent "
            "to the frontier, with one parent for each; the mask excludes vertices that already "
            "have a parent. All levels run as one operation. A vertex that is not reached has no "
            "level."
        ),
        formula="f⟨¬p, replace⟩ = f any.secondi A;  p⟨f⟩ = f;  until f is empty",
        examples=(
            "graphla bfs road-NY",
            "graphla bfs web.mtx.gz --source 217849 --output levels.csv",
            "graphla bfs friends.txt --labels --source alice --cutoff 2",
            "graphla bfs road-NY --explain          # each level, pushed or pulled, and its time",
        ),
        hides=("levels", "parents"),
        make_answer=_bfs,
    ),
    Algorithm(
        "sssp",
        "the minimum total weight of a path from a source to each vertex",
        ("distance",),
        story=(
            "Single-source shortest paths use the loop of BFS with another semiring. Weights are "
            "added along a path, and the minimum over all paths is the distance. A round follows "
            "only edges from vertices whose distance has decreased, the nearest vertices first. "
            "Negative weights are an error. If the file has no weights, each edge has weight 1."
        ),
        formula="d = d min (d min.plus A),  until d converges",
        examples=(
            "graphla sssp roads.npz --source 72202",
            "graphla sssp links.csv --undirected --output distances.npz",
            "graphla sssp roads.mtx --unweighted    # counts edges",
        ),
        hides=("parents",),
        make_answer=_distances,
    ),
    Algorithm(
        "bellman_ford",
        "the minimum weight of a path from a source to each vertex; weights may be negative",
        ("distance",),
        hides=("parents",),
        make_answer=_distances,
    ),
    Algorithm(
        "negative_cycle",
        "a cycle with a negative sum of weights, if there is one",
        ("cycle",),
        words={"source": "search only for cycles reachable from this vertex"},
    ),
    Algorithm(
        "reachable",
        "the vertices reachable from a source",
        ("reached",),
        story=(
            "This is breadth-first search with Boolean values: the value of a vertex becomes true "
            "when there is an edge to it from a vertex whose value is true. A round follows only "
            "edges from vertices whose values have just become true."
        ),
        formula="r = r lor (r lor.first A),  until r converges",
        examples=(
            "graphla reachable links.csv --source 17",
            "graphla reachable friends.txt --labels --source alice --cutoff 3 --output near.csv",
        ),
        words={"cutoff": "the maximum number of edges of a path"},
        make_answer=_answer_reachable,
    ),
    Algorithm(
        "descendants",
        "the vertices reachable from a vertex, except this vertex",
        ("reached",),
        make_answer=_answer_reachable,
    ),
    Algorithm(
        "ancestors",
        "the vertices from which a vertex is reachable, except this vertex",
        ("reached",),
        make_answer=_answer_reachable,
    ),
    Algorithm(
        "transitive_closure",
        "for each vertex, all vertices reachable from it",
        ("reached",),
        fills="pairs",
    ),
    Algorithm(
        "layers",
        "the vertices, grouped by the number of edges from the sources",
        ("layer",),
    ),
    Algorithm(
        "neighborhood",
        "the vertices within a given distance of a vertex",
        ("near",),
        words={"n": "the center vertex"},
    ),
    Algorithm(
        "bfs_levels",
        "the number of edges from each of several sources to each vertex",
        ("level",),
        words={"cutoff": "the maximum number of edges of a path"},
    ),
    Algorithm(
        "all_pairs_lengths",
        "the distances between all pairs of vertices",
        ("length",),
        words={"sources": "compute distances from these vertices only: u,v,..."},
        fills="pairs",
    ),
    Algorithm(
        "shortest_path",
        "a shortest path from one vertex to another",
        ("path",),
    ),
    Algorithm(
        "shortest_path_length",
        "the length of a shortest path from one vertex to another",
        ("length",),
    ),
    Algorithm(
        "path_count",
        "the number of shortest paths from a source to each vertex",
        ("paths",),
    ),
    Algorithm(
        "widest_path",
        "the width of the widest path from a source to each vertex",
        ("width", "parent"),
        command="widest",
        story=(
            "The width of an edge is its weight, and a path is as wide as its narrowest edge. The "
            "algorithm is that of shortest paths with another semiring: it takes the minimum "
            "weight along a path, and the maximum over all paths."
        ),
        formula="w = w max (w max.min A),  until w converges",
        examples=("graphla widest pipes.csv --undirected --source 3 --output widths.csv",),
        fixed={"parents": True},
        make_answer=_best_paths("width", "widest paths"),
    ),
    Algorithm(
        "minimax_path",
        "the height of the lowest path from a source to each vertex",
        ("height", "parent"),
        command="minimax",
        story=(
            "The height of an edge is its weight, and a path is as high as its highest edge. In an "
            "undirected graph, the paths in a minimum spanning tree are lowest paths."
        ),
        formula="h = h min (h min.max A),  until h converges",
        examples=("graphla minimax passes.csv --undirected --source 3",),
        fixed={"parents": True},
        make_answer=_best_paths("height", "greatest heights"),
    ),
    Algorithm(
        "most_reliable_path",
        "the probability of the most reliable path from a source to each vertex",
        ("probability", "parent"),
        command="reliable",
        story=(
            "Each weight is the probability, from 0 to 1, that the edge works, independently of "
            "the other edges. The probabilities are multiplied along a path, and the result is the "
            "maximum over all paths."
        ),
        formula="p = p max (p max.times A),  until p converges",
        examples=("graphla reliable network.csv --source 3 --output reliabilities.csv",),
        fixed={"parents": True},
        make_answer=_best_paths("probability", "most reliable paths"),
    ),
)
