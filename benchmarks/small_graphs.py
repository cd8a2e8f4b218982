"""Compare graphla with NetworkX on small graphs, for every function that both libraries have.

    python benchmarks/small_graphs.py [--only NAME ...] [--graphs NAME ...] [--repeats N] [--all]

The graphs are the small graphs that come with the library, and random graphs with 16, 100 and 1,000
vertices. Each library gets its own graph object, whose creation is not timed. A time is
the minimum of several series of calls on the same graph, in microseconds of wall time. The series
of the two libraries alternate. A series has N calls (50 unless given), but ends once it has taken
ENOUGH / 3 seconds. If the first call of NetworkX takes more than ENOUGH seconds, NetworkX is not
called again.

The limit of a function is the time of NetworkX, or 100 us where NetworkX is faster than that. The
table is sorted by the time divided by the limit, largest first. `--all` also prints the functions
within their limits. The first call of each function compiles what is not in the cache on disk, and
is not timed. `--settings` sets `config.compiled`, for example to False.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import networkx as nx
from clock import describe_host

import graphla as gl
from graphla import algorithms as algo

LEAST = 100.0  # microseconds that a function may take even where NetworkX is faster
ENOUGH = 0.15  # seconds
SOURCE = 0

Calls = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""A call of graphla on a `Graph`, and the same call of NetworkX on a NetworkX graph."""


def _list(iterate: Callable[..., Any], *given: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda N: list(iterate(N, *given, **options))


def _nx(call: Callable[..., Any], *given: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda N: call(N, *given, **options)


def _gl(call: Callable[..., Any], *given: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda G: call(G, *given, **options)


def _count_triangles(N: Any) -> int:
    return sum(dict(nx.triangles(N)).values()) // 3  # pyright: ignore[reportArgumentType, reportCallIssue]


com = nx.community

BOTH: dict[str, Calls] = {
    "bfs": (
        lambda G: algo.bfs(G, SOURCE).levels,
        _nx(nx.single_source_shortest_path_length, SOURCE),
    ),
    "layers": (_gl(algo.layers, SOURCE), _list(nx.bfs_layers, SOURCE)),
    "neighborhood": (_gl(algo.neighborhood, SOURCE, 2), _nx(nx.ego_graph, SOURCE, 2)),
    "reachable": (_gl(algo.reachable, SOURCE), _nx(nx.descendants, SOURCE)),
    "transitive_closure": (_gl(algo.transitive_closure), _nx(nx.transitive_closure)),
    "sssp": (_gl(algo.sssp, SOURCE), _nx(nx.single_source_dijkstra_path_length, SOURCE)),
    "bellman_ford": (
        _gl(algo.bellman_ford, SOURCE),
        _nx(nx.single_source_bellman_ford_path_length, SOURCE),
    ),
    "negative_cycle": (_gl(algo.negative_cycle), _nx(nx.negative_edge_cycle)),
    "shortest_path": (
        lambda G: algo.shortest_path(G, SOURCE, G.labels[-1]),
        lambda N: nx.shortest_path(N, SOURCE, max(N)),
    ),
    "shortest_path, weighted": (
        lambda G: algo.shortest_path(G, SOURCE, G.labels[-1], weight="weight"),
        lambda N: nx.shortest_path(N, SOURCE, max(N), weight="weight"),
    ),
    "shortest_path_length": (
        lambda G: algo.shortest_path_length(G, SOURCE, G.labels[-1]),
        lambda N: nx.shortest_path_length(N, SOURCE, max(N)),
    ),
    "all_pairs_lengths": (
        _gl(algo.all_pairs_lengths),
        lambda N: dict(nx.all_pairs_shortest_path_length(N)),
    ),
    "all_pairs_lengths, weighted": (
        _gl(algo.all_pairs_lengths, weight="weight"),
        lambda N: dict(nx.all_pairs_dijkstra_path_length(N)),
    ),
    "bfs_levels": (
        lambda G: algo.bfs_levels(G, G.labels),
        lambda N: dict(nx.all_pairs_shortest_path_length(N)),
    ),
    "path_count": (
        lambda G: algo.path_count(G, SOURCE),
        lambda N: {v: len(list(nx.all_shortest_paths(N, SOURCE, v))) for v in nx.descendants(N, 0)},
    ),
    "pagerank": (_gl(algo.pagerank), _nx(nx.pagerank)),
    "hits": (_gl(algo.hits), _nx(nx.hits)),
    "katz": (_gl(algo.katz, alpha=0.005), _nx(nx.katz_centrality, alpha=0.005)),
    "eigenvector": (
        _gl(algo.eigenvector, max_iter=1000),
        _nx(nx.eigenvector_centrality, max_iter=1000),
    ),
    "degree": (_gl(algo.degree), _nx(nx.degree_centrality)),
    "in_degree": (_gl(algo.in_degree), _nx(nx.in_degree_centrality)),
    "out_degree": (_gl(algo.out_degree), _nx(nx.out_degree_centrality)),
    "closeness": (_gl(algo.closeness), _nx(nx.closeness_centrality)),
    "closeness, weighted": (
        _gl(algo.closeness, distance="weight"),
        _nx(nx.closeness_centrality, distance="weight"),
    ),
    "harmonic": (_gl(algo.harmonic), _nx(nx.harmonic_centrality)),
    "betweenness": (_gl(algo.betweenness), _nx(nx.betweenness_centrality)),
    "betweenness, weighted": (
        _gl(algo.betweenness, weight="weight"),
        _nx(nx.betweenness_centrality, weight="weight"),
    ),
    "edge_betweenness": (_gl(algo.edge_betweenness), _nx(nx.edge_betweenness_centrality)),
    "connected_components": (
        _gl(algo.connected_components),
        lambda N: list(nx.weakly_connected_components(N) if N.is_directed() else
                       nx.connected_components(N)),
    ),
    "component_count": (_gl(algo.component_count), _nx(nx.number_connected_components)),
    "is_connected": (_gl(algo.is_connected), _nx(nx.is_connected)),
    "strong_components": (_gl(algo.strong_components), _list(nx.strongly_connected_components)),
    "is_strongly_connected": (_gl(algo.is_strongly_connected), _nx(nx.is_strongly_connected)),
    "core_numbers": (_gl(algo.core_numbers), _nx(nx.core_number)),
    "k_core": (_gl(algo.k_core, 3), _nx(nx.k_core, 3)),
    "spanning_forest": (_gl(algo.spanning_forest), _nx(nx.minimum_spanning_tree)),
    "triangle_count": (_gl(algo.triangle_count), _count_triangles),
    "triangles": (_gl(algo.triangles), _nx(nx.triangles)),
    "clustering": (_gl(algo.clustering), _nx(nx.clustering)),
    "clustering, weighted": (
        _gl(algo.clustering, weight="weight"),
        _nx(nx.clustering, weight="weight"),
    ),
    "average_clustering": (_gl(algo.average_clustering), _nx(nx.average_clustering)),
    "transitivity": (_gl(algo.transitivity), _nx(nx.transitivity)),
    "square_clustering": (_gl(algo.square_clustering), _nx(nx.square_clustering)),
    "k_truss": (_gl(algo.k_truss, 4), _nx(nx.k_truss, 4)),
    "jaccard": (_gl(algo.jaccard), _list(nx.jaccard_coefficient)),
    "adamic_adar": (_gl(algo.adamic_adar), _list(nx.adamic_adar_index)),
    "resource_allocation": (_gl(algo.resource_allocation), _list(nx.resource_allocation_index)),
    "generalized_degree": (_gl(algo.generalized_degree), _nx(nx.generalized_degree)),
    "onion_layers": (_gl(algo.onion_layers), _nx(nx.onion_layers)),
    "label_propagation": (
        _gl(algo.label_propagation),
        _list(com.label_propagation_communities),
    ),
    "label_propagation_communities": (
        _gl(algo.label_propagation_communities),
        _list(com.label_propagation_communities),
    ),
    "asyn_lpa_communities": (
        _gl(algo.asyn_lpa_communities, seed=1),
        _list(com.asyn_lpa_communities, seed=1),
    ),
    "greedy_modularity_communities": (
        _gl(algo.greedy_modularity_communities),
        _nx(com.greedy_modularity_communities),
    ),
    "louvain": (_gl(algo.louvain, seed=1), _nx(com.louvain_communities, seed=1)),
    "leiden": (_gl(algo.leiden, seed=1), _nx(com.louvain_communities, seed=1)),
    "modularity": (None, None),  # pyright: ignore[reportAssignmentType]
    "maximal_independent_set": (
        _gl(algo.maximal_independent_set, seed=1),
        _nx(nx.maximal_independent_set, seed=1),
    ),
    "greedy_color": (_gl(algo.greedy_color), _nx(nx.greedy_color)),
    "maximal_matching": (_gl(algo.maximal_matching, seed=1), _nx(nx.maximal_matching)),
    "eccentricity": (_gl(algo.eccentricity), _nx(nx.eccentricity)),
    "diameter": (_gl(algo.diameter), _nx(nx.diameter)),
    "radius": (_gl(algo.radius), _nx(nx.radius)),
    "center": (_gl(algo.center), _nx(nx.center)),
    "periphery": (_gl(algo.periphery), _nx(nx.periphery)),
    "average_path_length": (_gl(algo.average_path_length), _nx(nx.average_shortest_path_length)),
    "is_bipartite": (_gl(algo.is_bipartite), _nx(nx.is_bipartite)),
    "average_neighbor_degree": (
        _gl(algo.average_neighbor_degree),
        _nx(nx.average_neighbor_degree),
    ),
    "degree_assortativity": (
        _gl(algo.degree_assortativity),
        _nx(nx.degree_assortativity_coefficient),
    ),
    "overall_reciprocity": (_gl(algo.overall_reciprocity), _nx(nx.overall_reciprocity)),
    "rich_club": (_gl(algo.rich_club), _nx(nx.rich_club_coefficient, normalized=False)),
    "triadic_census": (_gl(algo.triadic_census), _nx(nx.triadic_census)),
    "constraint": (_gl(algo.constraint), _nx(nx.constraint)),
    "effective_size": (_gl(algo.effective_size), _nx(nx.effective_size)),
    "global_efficiency": (_gl(algo.global_efficiency), _nx(nx.global_efficiency)),
    "local_efficiency": (_gl(algo.local_efficiency), _nx(nx.local_efficiency)),
    "voterank": (_gl(algo.voterank, 5), _nx(nx.voterank, 5)),
}  # fmt: skip


def graphs() -> dict[str, Any]:
    """Return NetworkX graphs by name. All are connected, except the directed ones."""

    def weigh(N: Any) -> Any:
        for k, (_, _, data) in enumerate(N.edges(data=True)):
            data.setdefault("weight", 1 + k * 7 % 10)
        return N

    made = {
        "karate": nx.karate_club_graph(),
        "ldbc-directed": gl.io.to_networkx(gl.datasets.load("ldbc-directed"), directed=True),
    }
    for n, degree in ((16, 4), (100, 6), (1000, 8)):
        made[f"random {n}"] = nx.connected_watts_strogatz_graph(n, degree, 0.3, seed=1)
        made[f"directed {n}"] = nx.gnp_random_graph(n, degree / n, seed=1, directed=True)
    return {name: weigh(N) for name, N in made.items()}


def calls(name: str, N: Any) -> Calls:
    """Return a function's calls in both libraries; `modularity` gets communities of the graph N."""
    if name != "modularity":
        return BOTH[name]
    parts = com.label_propagation_communities(N) if not N.is_directed() else [set(N)]
    parts = [set(part) for part in parts]
    return _gl(algo.modularity, parts), _nx(com.modularity, parts)


def least(call: Callable[[], Any], repeats: int, enough: float) -> float:
    """Return the minimum time of up to `repeats` calls in microseconds.

    No further call begins after `enough` seconds.
    """
    best, began = inf, time.perf_counter()
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        end = time.perf_counter()
        best = min(best, end - begin)
        if end - began > enough:
            break
    return 1e6 * best


def compare(name: str, N: Any, G: gl.Graph, repeats: int) -> tuple[float, float] | None:
    """Return the times in microseconds, or None if one of the libraries rejects this graph."""
    ours, theirs = calls(name, N)
    begin = time.perf_counter()
    try:
        theirs(N)
    except (nx.NetworkXException, NotImplementedError):
        return None
    other = 1e6 * (time.perf_counter() - begin)
    try:
        with gl.config.set(compile_threshold=0):  # compile all loops now
            ours(G)
        ours(G)
    except (gl.exceptions.InvalidValue, algo.ConvergenceError):
        return None
    mine = least(partial(ours, G), repeats, ENOUGH / 3)
    for _ in range(2):
        if other <= 1e6 * ENOUGH:
            other = min(other, least(partial(theirs, N), repeats, ENOUGH / 3))
        mine = min(mine, least(partial(ours, G), repeats, ENOUGH / 3))
    return mine, other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument(
        "--only", nargs="*", default=list(BOTH), help="measure only these functions"
    )
    parser.add_argument("--graphs", nargs="*", default=[], help="measure only on these graphs")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--all", action="store_true", help="print all rows")
    parser.add_argument(
        "--settings",
        default="{}",
        help='settings of gl.config as JSON, such as {"compiled": false}',
    )
    parser.add_argument("--json", type=Path, help="also write the times to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe_host("networkx", "numpy", "numba"), flush=True)
    rows = []
    with gl.config.set(device="cpu", **json.loads(options.settings)):
        for graph, N in graphs().items():
            if options.graphs and graph not in options.graphs:
                continue
            G = gl.Graph.from_networkx(N)
            for name in options.only:
                times = compare(name, N, G, options.repeats)
                if times:
                    rows.append((times[0] / max(times[1], LEAST), name, graph, *times))
    rows.sort(reverse=True)
    losers = sum(row[0] > 1 for row in rows)
    print(f"\n{losers} of {len(rows)} take longer than NetworkX and than {LEAST:.0f} us\n")
    print("| function | graph | graphla, us | NetworkX, us | time / limit |\n|---|---|--:|--:|--:|")
    for ratio, name, graph, mine, other in rows:
        if ratio > 1 or options.all:
            print(f"| {name} | {graph} | {mine:,.0f} | {other:,.0f} | {ratio:.2f} |")
    if options.json:
        options.json.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
