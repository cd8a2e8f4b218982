"""Random calls of the functions that NetworkX's own tests call fewer than five times.

`test_random_calls.py` compares graphla's answers with those of NetworkX, and `names_table.py`
writes the numbers of calls into the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx

from _graphla_networkx import FUNCTIONS

CASES = 10
LEAST_CALLS = 5
_counts = json.loads((Path(__file__).parent / "answers.json").read_text())["counts"]


def is_rarely_called(name: str) -> bool:
    """Return whether NetworkX's tests call a function fewer than LEAST_CALLS times."""
    return _counts.get(name, {"calls": 0})["calls"] < LEAST_CALLS


NAMES = [name for name in FUNCTIONS if is_rarely_called(name)]

# --- graphs ---------------------------------------------------------------------------------------


def undirected(random: Random) -> Any:
    """Return a graph with 5 to 25 nodes, whose edges have weights."""
    n = random.randint(5, 25)
    return _finish(nx.gnm_random_graph(n, 2 * n, random), random)


def directed(random: Random) -> Any:
    """Return a directed graph with 5 to 25 nodes, whose edges have weights."""
    n = random.randint(5, 25)
    return _finish(nx.gnm_random_graph(n, 2 * n, random, directed=True), random)


def acyclic(random: Random) -> Any:
    """Return a directed graph without cycles."""
    n = random.randint(5, 25)
    G = nx.gnm_random_graph(n, 2 * n, random)
    return _finish(nx.DiGraph([(min(edge), max(edge)) for edge in G.edges]), random)


def with_negative_cycle(random: Random) -> Any:
    """Return a directed graph with a negative cycle through the first node."""
    G = directed(random)
    nx.add_cycle(G, list(G)[:3], weight=-1)
    return G


def bipartite(random: Random) -> Any:
    """Return a connected bipartite graph, in which each node has at least two neighbors."""
    n, m = random.randint(3, 8), random.randint(3, 8)
    seed: Any = random
    G = nx.bipartite.random_graph(n, m, 0.5, seed)
    for v in range(max(n, m)):
        G.add_edges_from([(v % n, n + v % m), (v % n, n + (v + 1) % m)])
    for v in range(n + m):
        start = n if v < n else 0
        G.add_edges_from((v, start + k) for k in range(2))
    return _finish(G, random)


def _finish(G: Any, random: Random) -> Any:
    """Add attributes to a graph, and in half of the cases rename its nodes to strings."""
    for _, _, data in G.edges(data=True):
        data["weight"] = random.randint(1, 5)
    for v, data in G.nodes(data=True):
        data |= {"group": random.choice("rgb"), "size": random.randint(0, 9), "number": v}
    return nx.relabel_nodes(G, {v: str(v) for v in G}) if random.random() < 0.5 else G


EITHER = undirected, directed
GRAPHS: dict[str, tuple[Callable[[Random], Any], ...]] = {
    name: kinds
    for names, kinds in {
        "attracting_components number_attracting_components directed_modularity_matrix reverse "
        "overall_reciprocity reciprocity in_degree_centrality out_degree_centrality": (directed,),
        "topological_generations transitive_reduction": (acyclic,),
        "find_negative_cycle": (with_negative_cycle,),
        "bipartite_average_clustering bipartite_betweenness_centrality color density "
        "bipartite_degree_centrality node_redundancy": (bipartite,),
        "inter_community_edges inter_community_non_edges intra_community_edges is_isolate "
        "adjacency_spectrum all_pairs_all_shortest_paths all_pairs_bellman_ford_path "
        "all_pairs_bellman_ford_path_length all_pairs_dijkstra_path all_pairs_shortest_path "
        "all_pairs_dijkstra_path_length all_pairs_shortest_path_length floyd_warshall "
        "single_target_shortest_path single_target_shortest_path_length bfs_predecessors "
        "bfs_successors bfs_tree dfs_predecessors generic_bfs_edges s_metric "
        "attribute_assortativity_coefficient attribute_mixing_dict "
        "degree_pearson_correlation_coefficient numeric_assortativity_coefficient "
        "boundary_expansion node_expansion": EITHER,
    }.items()
    for name in names.split()
}
"""Kinds of graphs for each function, used in rotation. Other functions get undirected graphs.
"""

# --- arguments ------------------------------------------------------------------------------------


def arguments(name: str, case: int) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a random call; the same case always gives equal arguments."""
    random = Random(f"{name} {case}")
    kinds = GRAPHS.get(name, (undirected,))
    G = kinds[case % len(kinds)](random)
    nodes = list(G)
    if name == "from_dict_of_lists":
        return [nx.to_dict_of_lists(G)], {"create_using": random.choice([nx.Graph, nx.DiGraph])}
    if name in ("leiden_partitions", "louvain_partitions"):
        return [G], {"seed": Random(case)}
    given: list[Any] = [G]
    if name.endswith(("community_edges", "community_non_edges")):
        parts = [{nodes[0]}, {nodes[1]}, {nodes[2]}]
        for v in nodes[3:]:
            random.choice(parts).add(v)
        given.append(parts)
    elif name.endswith(("expansion", "conductance", "cut_size")):
        given.append(set(random.sample(nodes, random.randint(1, len(nodes) // 2))))
    elif name in ("k_corona", "k_crust", "k_shell"):
        given.append(random.randint(1, 3))
    elif name in ("attribute_assortativity_coefficient", "attribute_mixing_dict"):
        given.append("group")
    elif name == "numeric_assortativity_coefficient":
        given.append("size")
    elif name in ("bipartite_betweenness_centrality", "bipartite_degree_centrality", "density"):
        given.append([v for v, side in nx.bipartite.color(G).items() if side])
    elif name == "find_negative_cycle":
        given.append(nodes[0])
    elif name == "efficiency":
        given += random.sample(nodes, 2)
    elif name.startswith(("bfs_", "dfs_", "generic_", "single_target_")) or name in (
        "is_isolate",
        "node_connected_component",
    ):
        given.append(random.choice(nodes))
    return given, {}
