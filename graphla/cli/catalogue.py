"""The table of algorithms: all that the command line knows about each of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla import algorithms
from graphla.cli.answers import Answer, Top, number
from graphla.cli.graphs import Graph
from graphla.sparse import Vector


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an algorithm."""

    flag: str
    kind: Callable[[str], Any] | None  # None: a switch
    default: Any
    help: str


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One subcommand: what it computes, how that reads as algebra, and what runs it."""

    name: str
    computes: str
    story: str
    formula: str
    examples: tuple[str, ...]
    run: Callable[[Graph, Namespace], Answer]
    options: tuple[Option, ...] = ()
    ignores_direction: bool = False  # run on A | Aᵀ


def _bfs(graph: Graph, options: Namespace) -> Answer:
    source = graph.vertex(options.source)
    levels, parents = algorithms.bfs(graph.A, source, limit=options.limit)
    vertices, level = levels.to_coo()
    edges = int(graph.out_degrees()[vertices].sum())
    width = np.bincount(level)
    return Answer(
        facts=[
            ("source", graph.label(source)),
            ("reached", f"{number(vertices.size, 'vertex')}, with {number(edges, 'out-edge')}"),
            ("levels", f"{number(width.size)}, the widest with {number(width.max(), 'vertex')}"),
        ],
        columns={"level": levels, "parent": parents},
        top=_extremes("farthest vertices", graph, "level", levels, options.top),
        edges=edges,
    )


def _sssp(graph: Graph, options: Namespace) -> Answer:
    source = graph.vertex(options.source)
    distance = algorithms.sssp(graph.A, source, delta=options.delta)
    _, lengths = distance.to_coo()
    mean = lengths.mean(dtype=float)
    return Answer(
        facts=[
            ("source", graph.label(source)),
            ("reached", number(lengths.size, "vertex")),
            ("distance", f"up to {number(lengths.max())}, {number(mean)} on average"),
        ],
        columns={"distance": distance},
        top=_extremes("farthest vertices", graph, "distance", distance, options.top),
    )


def _reachable(graph: Graph, options: Namespace) -> Answer:
    source = graph.vertex(options.source)
    reached = algorithms.reachable(graph.A, source, limit=options.limit)
    share = reached.nvals / graph.A.nrows
    return Answer(
        facts=[
            ("source", graph.label(source)),
            ("reached", f"{number(reached.nvals, 'vertex')} ({share:.1%} of all)"),
        ],
        columns={"reached": reached},
    )


def _best_path(algorithm: Callable[..., Any], name: str, title: str) -> Any:
    """What runs an algorithm of best paths, whose values have a name."""

    def run(graph: Graph, options: Namespace) -> Answer:
        source = graph.vertex(options.source)
        values, parents = algorithm(graph.A, source, parents=True)
        others = values.dup()
        del others[source]
        facts = [
            ("source", graph.label(source)),
            ("reached", f"{number(others.nvals, 'vertex')} beside it"),
        ]
        if others.nvals:
            _, found = others.to_coo()
            facts.append((name, f"from {number(found.min())} to {number(found.max())}"))
        return Answer(
            facts=facts,
            columns={name: values, "parent": parents},
            top=_extremes(title, graph, name, others, options.top),
        )

    return run


def _closeness(graph: Graph, options: Namespace) -> Answer:
    closeness = algorithms.closeness(graph.A, wf_improved=not options.unscaled)
    _, values = closeness.to_coo()
    facts = [("mean", number(values.mean()))] if values.size else []
    return Answer(
        facts=facts,
        columns={"closeness": closeness},
        top=_extremes("nearest to all", graph, "closeness", closeness, options.top),
    )


def _eccentricity(graph: Graph, options: Namespace) -> Answer:
    eccentricity = algorithms.eccentricity(graph.A)
    _, values = eccentricity.to_coo()
    facts = [("reach all others", number(values.size, "vertex"))]
    if values.size:
        facts.append(("radius", number(values.min())))
        if values.size == graph.A.nrows:
            facts.append(("diameter", number(values.max())))
    return Answer(
        facts=facts,
        columns={"eccentricity": eccentricity},
        top=_extremes("most remote", graph, "eccentricity", eccentricity, options.top),
    )


def _pagerank(graph: Graph, options: Namespace) -> Answer:
    rank = algorithms.pagerank(
        graph.A,
        options.alpha,
        tol=options.tol,
        max_iter=options.max_iter,
        weight=options.weighted,
    )
    dangling = int(np.count_nonzero(graph.out_degrees() == 0))
    return Answer(
        facts=[
            ("alpha", number(options.alpha)),
            ("dangling", f"{number(dangling, 'vertex')} without out-edges"),
        ],
        columns={"rank": rank},
        top=_extremes("highest ranks", graph, "rank", rank, options.top),
    )


def _components(graph: Graph, options: Namespace) -> Answer:
    component = algorithms.connected_components(graph.A)
    labels, sizes = np.unique(component.to_coo()[1], return_counts=True)
    order = np.lexsort((labels, -sizes))[: options.top]
    facts = [("components", number(labels.size))]
    if labels.size:
        share = sizes.max() / graph.A.nrows
        facts.append(("largest", f"{number(sizes.max(), 'vertex')} ({share:.1%} of all)"))
        facts.append(("alone", number(np.count_nonzero(sizes == 1), "vertex")))
    return Answer(
        facts=facts,
        columns={"component": component},
        top=Top(
            "largest components, named by their least vertex",
            ("component", "vertices"),
            [(graph.label(int(labels[k])), number(sizes[k])) for k in order],
        ),
    )


def _triangles(graph: Graph, options: Namespace) -> Answer:
    triangles = algorithms.triangle_count(graph.A)
    degree = graph.out_degrees(without_loops=True)
    pairs = int((degree * (degree - 1) // 2).sum())
    facts = [("triangles", number(triangles))]
    if pairs:
        facts.append(
            ("transitivity", f"{3 * triangles / pairs:.6f} of the paths of length 2 close")
        )
    return Answer(facts=facts, total=("triangles", triangles))


def _extremes(title: str, graph: Graph, name: str, vector: Vector, rows: int) -> Top:
    """The vertices of greatest value, the least of them first among equals."""
    vertices, values = vector.to_coo()
    order = np.lexsort((-vertices, values))[::-1][:rows]  # -values would not do for every dtype
    cells = [(graph.label(int(vertices[k])), number(values[k])) for k in order]
    return Top(title, ("vertex", name), cells)


_SOURCE = Option("--source", str, "0", "the vertex to start from, counted from 0 (default: 0)")

ALGORITHMS = (
    Algorithm(
        name="bfs",
        computes="how many edges away from a source each vertex is, and from where it was reached",
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
            "graphla bfs friends.txt --labels --source alice --limit 2",
            "graphla bfs road-NY --explain          # each level, pushed or pulled, and its time",
        ),
        run=_bfs,
        options=(
            _SOURCE,
            Option("--limit", int, None, "stop this many edges away from the source"),
        ),
    ),
    Algorithm(
        name="sssp",
        computes="the least total weight of a path from a source to each vertex",
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
        run=_sssp,
        options=(
            _SOURCE,
            Option(
                "--delta",
                float,
                None,
                "multiply distances this far above the least one at once "
                "(default: chosen by the weights)",
            ),
        ),
    ),
    Algorithm(
        name="reachable",
        computes="which vertices a path leads to from a source",
        story=(
            "The traversal of BFS over truth values: a vertex is true once an edge leads to it "
            "from one that is. Only vertices that became true are multiplied again."
        ),
        formula="r = r lor (r lor.first A),  until r rests",
        examples=(
            "graphla reachable links.csv --source 17",
            "graphla reachable friends.txt --labels --source alice --limit 3 --output near.csv",
        ),
        run=_reachable,
        options=(
            _SOURCE,
            Option("--limit", int, None, "count paths of at most so many edges"),
        ),
    ),
    Algorithm(
        name="widest",
        computes="how wide the widest path from a source to each vertex is",
        story=(
            "A path is as wide as its narrowest edge, whose width is its weight. The traversal is "
            "that of shortest paths over another semiring: along a path the least counts, among "
            "paths the greatest."
        ),
        formula="w = w max (w max.min A),  until w rests",
        examples=("graphla widest pipes.csv --undirected --source 3 --output widths.csv",),
        run=_best_path(algorithms.widest_path, "width", "widest paths"),
        options=(_SOURCE,),
    ),
    Algorithm(
        name="minimax",
        computes="how high the highest edge on the lowest path from a source to each vertex is",
        story=(
            "A path is as high as its highest edge, whose height is its weight. In an undirected "
            "graph the lowest paths are those of a minimum spanning tree."
        ),
        formula="h = h min (h min.max A),  until h rests",
        examples=("graphla minimax passes.csv --undirected --source 3",),
        run=_best_path(algorithms.minimax_path, "height", "highest of the lowest paths"),
        options=(_SOURCE,),
    ),
    Algorithm(
        name="reliable",
        computes="how likely the most reliable path from a source to each vertex holds",
        story=(
            "Each weight is the probability, from 0 to 1, that an edge holds, whatever others do. "
            "Along a path probabilities multiply, and of several paths the most reliable counts."
        ),
        formula="p = p max (p max.times A),  until p rests",
        examples=("graphla reliable network.csv --source 3 --output reliabilities.csv",),
        run=_best_path(algorithms.most_reliable_path, "probability", "most reliable paths"),
        options=(_SOURCE,),
    ),
    Algorithm(
        name="pagerank",
        computes="how often a walker who follows edges at random is found at each vertex",
        story=(
            "The walker follows a random out-edge with probability ALPHA and else jumps to a "
            "random vertex, as always from a vertex without out-edges. The ranks add up to 1. "
            "Rounds end with the first to change them, in all, by less than TOL times the number "
            "of vertices. Weights are ignored, unless --weighted says to choose edges in "
            "proportion to them."
        ),
        formula="r = α·(r / degree)A + (1 - what that carried) / n,  until r rests",
        examples=(
            "graphla pagerank web.mtx.gz --top 20",
            "graphla pagerank web.mtx.gz --tol 1e-12 --output ranks.csv",
        ),
        run=_pagerank,
        options=(
            Option("--alpha", float, 0.85, "how likely the walker follows an edge (default: 0.85)"),
            Option("--tol", float, 1e-6, "the change, per vertex, to stop at (default: 1e-6)"),
            Option("--max-iter", int, 100, "give up after this many rounds (default: 100)"),
            Option("--weighted", None, False, "choose edges in proportion to their weights"),
        ),
    ),
    Algorithm(
        name="closeness",
        computes="how near each vertex is to all that can reach it",
        story=(
            "The inverse of the mean number of edges on a shortest path that ends at the vertex, "
            "times the part of the graph from which one does. It takes a breadth-first search from "
            "each vertex, 64 of them at a time as the bits of a word. Weights are ignored."
        ),
        formula="c(v) = (r - 1)² / ((n - 1) Σ d(u, v)),  over the r vertices u that reach v",
        examples=("graphla closeness friends.txt --undirected --top 20",),
        run=_closeness,
        options=(
            Option("--unscaled", None, False, "as if what reaches a vertex were the whole graph"),
        ),
    ),
    Algorithm(
        name="eccentricity",
        computes="how many edges away the farthest vertex is from each vertex",
        story=(
            "The least of the eccentricities is the radius of the graph, the greatest its "
            "diameter. It takes a breadth-first search from each vertex, 64 of them at a time as "
            "the bits of a word. A vertex that does not reach all others has none."
        ),
        formula="e(v) = max over u of d(v, u)",
        examples=("graphla eccentricity friends.txt --undirected --output eccentricities.csv",),
        run=_eccentricity,
    ),
    Algorithm(
        name="components",
        computes="which vertices a path joins, whatever the direction of its edges",
        story=(
            "Connected components, for a directed graph the weak ones. Each vertex gets the least "
            "vertex of its component as label. The algorithm is FastSV: every vertex points at a "
            "lesser one of its component, trees hook onto each other and are made shallow."
        ),
        formula="u = A min.second g;  f(f) = f(f) min u;  f = f min u min g;  g = f(f)",
        examples=("graphla components friends.txt --output labels.csv",),
        run=_components,
    ),
    Algorithm(
        name="triangles",
        computes="how many triples of vertices are joined by three edges",
        story=(
            "Counts each triangle once; directions, weights and self-loops are ignored. F holds "
            "each edge once, from the end of lesser degree; under the mask F the product counts, "
            "for each edge, the third vertices that both its ends point at."
        ),
        formula="C⟨F⟩ = F plus.pair Fᵀ;  triangles = Σ C",
        examples=("graphla triangles friends.txt",),
        run=_triangles,
        ignores_direction=True,
    ),
)
