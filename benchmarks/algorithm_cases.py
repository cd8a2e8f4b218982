"""The algorithms that are compared with NetworkX, and functions that compare their results."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphla as gl
from graphla import algorithms as algo

SOURCE, FAR = 0, 9000
SAMPLE = 32  # number of sources from which betweenness is estimated
PAIRS = 50_000  # number of vertex pairs whose similarity is computed


@dataclass(frozen=True)
class Row:
    """A comparison of one algorithm on one graph: the calls in graphla and in NetworkX.

    `kind` selects how both results are converted to numbers. The numbers must agree unless `kind`
    is "quality".
    """

    name: str
    graph: str
    ours: Callable[[gl.Matrix], Any]
    theirs: Callable[[Any, Any], Any]
    kind: str = "vector"
    rtol: float = 1e-6


# --- conversions ----------------------------------------------------------------------------------


def _number(x: Any, n: int) -> np.ndarray:
    return np.array([float(x)])


def _of_vector(x: gl.Vector, n: int) -> np.ndarray:
    """Return the values of a vector, with NaN where it has no entry."""
    out = np.full(n, np.nan)
    indices, values = x.to_coo()
    out[indices] = values
    return out


def _of_dict(found: dict[int, Any], n: int) -> np.ndarray:
    out = np.full(n, np.nan)
    out[list(found)] = list(found.values())
    return out


def _members(x: Any, n: int) -> np.ndarray:
    return np.sort(x.to_coo(values=False)[0] if isinstance(x, gl.Vector) else list(x))


def _part_sizes(parts: Any, n: int) -> np.ndarray:
    if isinstance(parts, gl.Vector):
        return np.sort(np.unique(parts.to_dense(), return_counts=True)[1])
    return np.sort([len(part) for part in parts])


def _weight(matrix: gl.Matrix, n: int) -> np.ndarray:
    """Return the number of undirected edges and their total weight."""
    rows, columns, values = matrix.to_coo()
    return np.array([matrix.nvals / 2, values[rows < columns].sum()], float)


def _weight_of_graph(G: Any, n: int) -> np.ndarray:
    return np.array([G.number_of_edges(), G.size(weight="weight")], float)


def _count(matrix: gl.Matrix, n: int) -> np.ndarray:
    return np.array([matrix.nvals / 2], float)


def _count_of_graph(G: Any, n: int) -> np.ndarray:
    return np.array([G.number_of_edges()], float)


def _entries(matrix: gl.Matrix, n: int) -> np.ndarray:
    """Return the values of all entries, row by row."""
    rows, columns, values = matrix.to_coo()
    return values[np.lexsort((columns, rows))].astype(float)


def _arcs_of_graph(G: Any, n: int) -> np.ndarray:
    """Return an array with the value 1 for each edge of a NetworkX graph.

    graphla's result, with which this array is compared, also has the value 1 for each edge.
    """
    return np.ones(G.number_of_edges())


def _upper(matrix: gl.Matrix, n: int) -> np.ndarray:
    """Return the values above the diagonal, row by row."""
    rows, columns, values = matrix.to_coo()
    above = rows < columns
    return values[above][np.lexsort((columns[above], rows[above]))].astype(float)


def _upper_of_dict(found: dict[tuple[int, int], float], n: int) -> np.ndarray:
    ordered = sorted((min(pair), max(pair), value) for pair, value in found.items())
    return np.array([value for _, _, value in ordered], float)


def _upper_of_triples(found: Any, n: int) -> np.ndarray:
    return _upper_of_dict({(u, v): value for u, v, value in found}, n)


def _sum(matrix: gl.Matrix, n: int) -> np.ndarray:
    return np.array([matrix.nvals, matrix.to_coo()[2].sum()], float)


def _sum_of_dicts(found: Any, n: int) -> np.ndarray:
    rows = [row for _, row in found]
    return np.array([sum(map(len, rows)), sum(sum(row.values()) for row in rows)], float)


def _pair(found: Any, n: int) -> np.ndarray:
    """Return the hub values, followed by the authority values."""
    read = _of_vector if isinstance(found[0], gl.Vector) else _of_dict
    return np.concatenate([read(part, n) for part in found])


READERS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "number": (_number, _number),
    "quality": (_number, _number),
    "vector": (_of_vector, _of_dict),
    "set": (_members, _members),
    "parts": (_part_sizes, _part_sizes),
    "forest": (_weight, _weight_of_graph),
    "subgraph": (_count, _count_of_graph),
    "arcs": (_entries, _arcs_of_graph),
    "edges": (_upper, _upper_of_dict),
    "pairs": (_upper, _upper_of_triples),
    "table": (_sum, _sum_of_dicts),
    "two": (_pair, _pair),
}


def agree(row: Row, ours: Any, theirs: np.ndarray, n: int) -> str:
    """Return "equal" if the results of graphla and NetworkX agree, otherwise "**differ**".

    Results of the kind "quality" may differ; for them, return a text that shows both numbers.
    """
    mine = READERS[row.kind][0](ours, n)
    if row.kind == "quality":
        return f"{mine[0]:.4g} / {theirs[0]:.4g}"
    same = mine.shape == theirs.shape and np.allclose(
        mine, theirs, rtol=row.rtol, atol=1e-9, equal_nan=True
    )
    return "equal" if same else "**differ**"


# --- the rows -------------------------------------------------------------------------------------


def _draw_sources(n: int) -> list[int]:
    """Return the vertices that NetworkX's `betweenness_centrality(G, k=SAMPLE, seed=1)` samples."""
    return random.Random(1).sample(range(n), SAMPLE)


def _first_edges(A: gl.Matrix) -> gl.Matrix:
    """Return the first PAIRS edges (u, v) with u < v: the pairs whose similarity is computed."""
    rows, columns, _ = A.to_coo(values=False)
    above = np.flatnonzero(rows < columns)[:PAIRS]
    return gl.Matrix.from_coo(rows[above], columns[above], True, nrows=A.nrows, ncols=A.nrows)


def _pairs_of(G: Any) -> list[tuple[int, int]]:
    return sorted((min(e), max(e)) for e in G.edges)[:PAIRS]


def _count_colors(G: Any, found: dict[int, int]) -> int:
    return max(found.values()) + 1


ROWS = [
    # traversal and paths
    Row("bfs", "road-NY", lambda A: algo.bfs(A, SOURCE).levels,
        lambda nx, G: nx.single_source_shortest_path_length(G, SOURCE)),
    Row("reachable", "road-NY", lambda A: algo.reachable(A, SOURCE),
        lambda nx, G: nx.descendants(G, SOURCE) | {SOURCE}, "set"),
    Row("layers", "road-NY", lambda A: algo.layers(A, SOURCE),
        lambda nx, G: list(nx.bfs_layers(G, SOURCE)), "parts"),
    Row("neighborhood, radius 400", "road-NY", lambda A: algo.neighborhood(A, SOURCE, 400),
        lambda nx, G: nx.ego_graph(G, SOURCE, 400), "set"),
    Row("transitive_closure", "uniform arcs", lambda A: algo.transitive_closure(A),
        lambda nx, G: nx.transitive_closure(G), "arcs"),
    Row("sssp", "road-NY", lambda A: algo.sssp(A, SOURCE).distances,
        lambda nx, G: nx.single_source_dijkstra_path_length(G, SOURCE)),
    Row("bellman_ford", "road-NY", lambda A: algo.bellman_ford(A, SOURCE).distances,
        lambda nx, G: nx.single_source_bellman_ford_path_length(G, SOURCE)),
    Row("negative_cycle", "road-NY", lambda A: algo.negative_cycle(A) is not None,
        lambda nx, G: nx.negative_edge_cycle(G), "number"),
    Row("all_pairs_lengths", "uniform", lambda A: algo.all_pairs_lengths(A),
        lambda nx, G: list(nx.all_pairs_shortest_path_length(G)), "table"),
    Row("shortest_path_length", "road-NY",
        lambda A: algo.shortest_path_length(A, SOURCE, FAR, weight=True),
        lambda nx, G: nx.shortest_path_length(G, SOURCE, FAR, weight="weight"), "number"),
    # centrality
    Row("pagerank", "R-MAT arcs", lambda A: algo.pagerank(A, tol=1e-12),
        lambda nx, G: nx.pagerank(G, tol=1e-12), rtol=1e-4),
    Row("hits", "R-MAT arcs", lambda A: algo.hits(A), lambda nx, G: nx.hits(G), "two", 1e-4),
    Row("katz", "R-MAT arcs", lambda A: algo.katz(A, alpha=0.005),
        lambda nx, G: nx.katz_centrality(G, alpha=0.005), rtol=1e-4),
    Row("eigenvector", "R-MAT", lambda A: algo.eigenvector(A),
        lambda nx, G: nx.eigenvector_centrality(G), rtol=1e-3),
    Row("degree", "road-NY", lambda A: algo.degree(A), lambda nx, G: nx.degree_centrality(G)),
    Row("closeness", "uniform", lambda A: algo.closeness(A),
        lambda nx, G: nx.closeness_centrality(G)),
    Row("harmonic", "uniform", lambda A: algo.harmonic(A),
        lambda nx, G: nx.harmonic_centrality(G)),
    Row("betweenness", "uniform", lambda A: algo.betweenness(A),
        lambda nx, G: nx.betweenness_centrality(G)),
    Row(f"betweenness, {SAMPLE} sources", "R-MAT",
        lambda A: algo.betweenness(A, sources=_draw_sources(A.nrows)),
        lambda nx, G: nx.betweenness_centrality(G, k=SAMPLE, seed=1)),
    Row("edge_betweenness", "uniform", lambda A: algo.edge_betweenness(A),
        lambda nx, G: nx.edge_betweenness_centrality(G), "edges"),
    # components
    Row("connected_components", "road-NY", lambda A: algo.connected_components(A),
        lambda nx, G: list(nx.connected_components(G)), "parts"),
    Row("strong_components", "R-MAT arcs", lambda A: algo.strong_components(A),
        lambda nx, G: list(nx.strongly_connected_components(G)), "parts"),
    Row("bridges", "road-NY", lambda A: algo.bridges(A),
        lambda nx, G: G.edge_subgraph(list(nx.bridges(G))), "subgraph"),
    Row("articulation_points", "road-NY", lambda A: algo.articulation_points(A),
        lambda nx, G: set(nx.articulation_points(G)), "set"),
    Row("biconnected_components (their number)", "road-NY",
        lambda A: 1 + algo.biconnected_components(A).reduce_scalar("max").new().value,
        lambda nx, G: len(list(nx.biconnected_components(G))), "number"),
    Row("core_numbers", "R-MAT", lambda A: algo.core_numbers(A),
        lambda nx, G: nx.core_number(G)),
    Row("k_core", "R-MAT", lambda A: algo.k_core(A, 10),
        lambda nx, G: nx.k_core(G, 10), "subgraph"),
    Row("spanning_forest", "road-NY", lambda A: algo.spanning_forest(A),
        lambda nx, G: nx.minimum_spanning_tree(G), "forest"),
    # cohesion
    Row("triangles", "R-MAT", lambda A: algo.triangles(A), lambda nx, G: nx.triangles(G)),
    Row("clustering", "R-MAT", lambda A: algo.clustering(A), lambda nx, G: nx.clustering(G)),
    Row("clustering, directed", "uniform arcs", lambda A: algo.clustering(A),
        lambda nx, G: nx.clustering(G)),
    Row("average_clustering", "R-MAT", lambda A: algo.average_clustering(A),
        lambda nx, G: nx.average_clustering(G), "number"),
    Row("transitivity", "R-MAT", lambda A: algo.transitivity(A),
        lambda nx, G: nx.transitivity(G), "number"),
    Row("square_clustering", "uniform", lambda A: algo.square_clustering(A),
        lambda nx, G: nx.square_clustering(G)),
    Row("k_truss", "R-MAT", lambda A: algo.k_truss(A, 8),
        lambda nx, G: nx.k_truss(G, 8), "subgraph"),
    Row("jaccard", "R-MAT", lambda A: algo.jaccard(A, _first_edges(A)),
        lambda nx, G: list(nx.jaccard_coefficient(G, _pairs_of(G))), "pairs"),
    # communities and sets
    Row("label_propagation, its modularity", "road-NY",
        lambda A: algo.modularity(A, algo.label_propagation(A), weight=None),
        lambda nx, G: nx.community.modularity(
            G, nx.community.label_propagation_communities(G), weight=None),
        "quality"),
    Row("louvain, its modularity", "R-MAT", lambda A: algo.modularity(A, algo.louvain(A, seed=1)),
        lambda nx, G: nx.community.modularity(G, nx.community.louvain_communities(G, seed=1)),
        "quality"),
    Row("louvain, its modularity", "road-NY",
        lambda A: algo.modularity(A, algo.louvain(A, weight=None, seed=1), weight=None),
        lambda nx, G: nx.community.modularity(
            G, nx.community.louvain_communities(G, weight=None, seed=1), weight=None),
        "quality"),
    Row("maximal_independent_set, its size", "R-MAT",
        lambda A: algo.maximal_independent_set(A, seed=1).nvals,
        lambda nx, G: len(nx.maximal_independent_set(G, seed=1)), "quality"),
    Row("greedy_color, its colors", "R-MAT",
        lambda A: algo.greedy_color(A).to_dense().max() + 1,
        lambda nx, G: _count_colors(G, nx.greedy_color(G)), "quality"),
    Row("maximal_matching, its edges", "road-NY",
        lambda A: algo.maximal_matching(A).nvals // 2,
        lambda nx, G: len(nx.maximal_matching(G)), "quality"),
    # distances
    Row("eccentricity", "uniform", lambda A: algo.eccentricity(A),
        lambda nx, G: nx.eccentricity(G)),
    Row("diameter", "uniform", lambda A: algo.diameter(A), lambda nx, G: nx.diameter(G), "number"),
    Row("radius", "uniform", lambda A: algo.radius(A), lambda nx, G: nx.radius(G), "number"),
    Row("center", "uniform", lambda A: algo.center(A), lambda nx, G: nx.center(G), "set"),
    Row("periphery", "uniform", lambda A: algo.periphery(A),
        lambda nx, G: nx.periphery(G), "set"),
    Row("average_path_length", "uniform", lambda A: algo.average_path_length(A),
        lambda nx, G: nx.average_shortest_path_length(G), "number"),
]  # fmt: skip
