"""Traversals and paths."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from graphla.cli import findings
from graphla.cli.answers import Answer, number
from graphla.cli.catalogue.entry import Algorithm, Teller
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


def _reached(graph: Graph, reached: Any, _options: Namespace) -> Answer:
    return findings.of_set(graph, reached, "reached")


def _best_paths(name: str, title: str) -> Teller:
    """What tells of best paths, whose values have a name; those of sources say nothing."""

    def tell(graph: Graph, found: Any, options: Namespace) -> Answer:
        values, parents = found
        vertices, before = parents.to_coo()
        others = values.dup()
        for source in vertices[vertices == before].tolist():
            del others[source]
        facts = [("reached", f"{number(others.nvals, 'vertex')} beside it")]
        if others.nvals:
            _, numbers = others.to_coo()
            facts.append((name, f"from {number(numbers.min())} to {number(numbers.max())}"))
        return Answer(
            facts=facts,
            columns={name: values, "parent": parents},
            top=findings.extremes(title, graph, name, others, options.top),
        )

    return tell


PATHS = (
    Algorithm(
        "bfs",
        "how many edges away from a source each vertex is, and from where it was reached",
        ("level", "parent"),
        story=(
            "Breadth-first search goes out from the source level by level. The frontier is a "
            "sparse vector; its product with the adjacency matrix holds every vertex that an edge "
            "leads to, each with one that it was reached from; the mask leaves out those that have "
            "a parent already. All levels run as one operation. A vertex that is not reached has "
            "no level."
        ),
        formula="f⟨¬p, replace⟩ = f any.secondi A;  p⟨f⟩ = f;  until f is empty",
        examples=(
            "graphla bfs road-NY",
            "graphla bfs web.mtx.gz --source 217849 --output levels.csv",
            "graphla bfs friends.txt --labels --source alice --cutoff 2",
            "graphla bfs road-NY --explain          # each level, pushed or pulled, and its time",
        ),
        hides=("levels", "parents"),
        tell=_bfs,
    ),
    Algorithm(
        "sssp",
        "the least total weight of a path from a source to each vertex",
        ("distance",),
        story=(
            "Single-source shortest paths: the loop of BFS over another semiring. Along a path "
            "weights add up, and of several paths the shortest counts. Only distances that went "
            "down are multiplied again, near ones first. Weights below 0 are refused; without "
            "weights in the file each edge weighs 1."
        ),
        formula="d = d min (d min.plus A),  until d rests",
        examples=(
            "graphla sssp roads.npz --source 72202",
            "graphla sssp links.csv --undirected --output distances.npz",
            "graphla sssp roads.mtx --unweighted    # counts edges",
        ),
        hides=("parents",),
        tell=_distances,
    ),
    Algorithm(
        "bellman_ford",
        "the least total weight of a path from a source, where weights may be below 0",
        ("distance",),
        hides=("parents",),
        tell=_distances,
    ),
    Algorithm(
        "negative_cycle",
        "a cycle whose weights add up to less than 0, if there is one",
        ("cycle",),
        words={"source": "only a cycle that this vertex leads to"},
    ),
    Algorithm(
        "reachable",
        "which vertices a path leads to from a source",
        ("reached",),
        story=(
            "The traversal of BFS over truth values: a vertex is true once an edge leads to it "
            "from one that is. Only vertices that became true are multiplied again."
        ),
        formula="r = r lor (r lor.first A),  until r rests",
        examples=(
            "graphla reachable links.csv --source 17",
            "graphla reachable friends.txt --labels --source alice --cutoff 3 --output near.csv",
        ),
        words={"cutoff": "count paths of at most so many edges"},
        tell=_reached,
    ),
    Algorithm(
        "transitive_closure",
        "which vertices a path leads to, from each vertex",
        ("reached",),
        fills="pairs",
    ),
    Algorithm(
        "layers",
        "the vertices by how many edges they are away from the sources",
        ("layer",),
    ),
    Algorithm(
        "neighborhood",
        "the vertices that are near one: at most so many edges, or so far, away",
        ("near",),
        words={"n": "the vertex in the middle"},
    ),
    Algorithm(
        "bfs_levels",
        "how many edges away each vertex is from several sources",
        ("level",),
        words={"cutoff": "end each search so many edges away"},
    ),
    Algorithm(
        "all_pairs_lengths",
        "how far each vertex is from each other",
        ("length",),
        words={"sources": "only from these vertices: u,v,..."},
        fills="pairs",
    ),
    Algorithm(
        "shortest_path",
        "a shortest path from one vertex to another",
        ("path",),
    ),
    Algorithm(
        "shortest_path_length",
        "how long a shortest path from one vertex to another is",
        ("length",),
    ),
    Algorithm(
        "path_count",
        "how many shortest paths lead from a source to each vertex",
        ("paths",),
    ),
    Algorithm(
        "widest_path",
        "how wide the widest path from a source to each vertex is",
        ("width", "parent"),
        command="widest",
        story=(
            "A path is as wide as its narrowest edge, whose width is its weight. The traversal is "
            "that of shortest paths over another semiring: along a path the least counts, among "
            "paths the greatest."
        ),
        formula="w = w max (w max.min A),  until w rests",
        examples=("graphla widest pipes.csv --undirected --source 3 --output widths.csv",),
        fixed={"parents": True},
        tell=_best_paths("width", "widest paths"),
    ),
    Algorithm(
        "minimax_path",
        "how high the highest edge on the lowest path from a source to each vertex is",
        ("height", "parent"),
        command="minimax",
        story=(
            "A path is as high as its highest edge, whose height is its weight. In an undirected "
            "graph the lowest paths are those of a minimum spanning tree."
        ),
        formula="h = h min (h min.max A),  until h rests",
        examples=("graphla minimax passes.csv --undirected --source 3",),
        fixed={"parents": True},
        tell=_best_paths("height", "highest of the lowest paths"),
    ),
    Algorithm(
        "most_reliable_path",
        "how likely the most reliable path from a source to each vertex holds",
        ("probability", "parent"),
        command="reliable",
        story=(
            "Each weight is the probability, from 0 to 1, that an edge holds, whatever others do. "
            "Along a path probabilities multiply, and of several paths the most reliable counts."
        ),
        formula="p = p max (p max.times A),  until p rests",
        examples=("graphla reliable network.csv --source 3 --output reliabilities.csv",),
        fixed={"parents": True},
        tell=_best_paths("probability", "most reliable paths"),
    ),
)
