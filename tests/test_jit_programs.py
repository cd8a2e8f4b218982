"""Compare the programs in benchmarks/jit_programs.py with NetworkX and with the library.

Here the programs run as plain Python. `CHECKS` maps the name of each program to a function that
checks the results of any version of the program, also of a compiled version.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from math import isclose
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import Matrix, Vector, agg, binary
from graphla import algorithms as algo

nx = pytest.importorskip("networkx")


def load_programs() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "jit_programs.py"
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load_programs()


def random_graph(seed: int, directed: bool) -> Any:
    """Return a graph with 40 vertices in a few components, and integer weights from 1 to 9."""
    G = nx.gnp_random_graph(40, 0.03 if directed else 0.06, seed=seed, directed=directed)
    drawn = np.random.default_rng(seed)
    for _, _, values in G.edges(data=True):
        values["weight"] = int(drawn.integers(1, 10))
    return G


DIRECTED = [random_graph(seed, True) for seed in (1, 2)]
UNDIRECTED = [random_graph(seed, False) for seed in (3, 4)]
UNDIRECTED.append(nx.path_graph(9))


def pattern(G: Any) -> Matrix:
    return gl.io.from_networkx(G, weight=None, dtype=bool)


def weights(G: Any) -> Matrix:
    return gl.io.from_networkx(G, weight="weight", dtype=int)


def degrees(A: Matrix) -> Vector:
    return A.reduce_rowwise(agg.count).new()


def full_degrees(A: Matrix) -> Vector:
    full = Vector.from_scalar(0, A.nrows)
    full(binary.plus) << degrees(A)
    return full


def check_parents(G: Any, source: int, parents: dict[int, int]) -> None:
    level = nx.single_source_shortest_path_length(G, source)
    assert parents.keys() == level.keys()
    assert parents.pop(source) == source
    for v, u in parents.items():
        assert G.has_edge(u, v)
        assert level[v] == level[u] + 1


def almost(found: Vector, wanted: dict[int, float], most: float = 1e-9) -> None:
    values = found.to_dict()
    assert all(isclose(values.get(v, 0), x, rel_tol=most, abs_tol=most) for v, x in wanted.items())


# --- one check per program ------------------------------------------------------------------------


def check_search(search: Callable[..., Any], position: int | None = None) -> None:
    for G in DIRECTED + UNDIRECTED:
        found = search(pattern(G), 3)
        check_parents(G, 3, (found if position is None else found[position]).to_dict())


def check_blocked(search: Callable[..., Vector]) -> None:
    for G in DIRECTED + UNDIRECTED:
        blocked = Vector.from_coo([1, 5, 7], True, size=len(G))
        free = G.subgraph(set(G) - {1, 5, 7})
        check_parents(free, 3, search(pattern(G), 3, blocked).to_dict())


def check_levels(search: Callable[..., Any], position: int | None = None) -> None:
    for G in DIRECTED + UNDIRECTED:
        found = search(pattern(G), 3)
        found = found if position is None else found[position]
        assert found.to_dict() == nx.single_source_shortest_path_length(G, 3)


def check_levels_and_parents(search: Callable[..., Any]) -> None:
    check_levels(search, 0)
    check_search(search, 1)


def check_visits(search: Callable[..., Any]) -> None:
    check_search(search, 0)
    for G in DIRECTED + UNDIRECTED:
        parent, visits = search(pattern(G), 3)
        assert visits.to_dict() == dict.fromkeys(parent.to_dict(), 1)


def check_waits(search: Callable[..., Any]) -> None:
    check_search(search, 0)
    for G in DIRECTED + UNDIRECTED:
        _, waits = search(pattern(G), 3)
        level = nx.single_source_shortest_path_length(G, 3)
        rounds = max(level.values()) + 1
        wanted = {v: level.get(v, rounds) for v in G}
        assert waits.to_dict() == {v: wait for v, wait in wanted.items() if wait}


def check_paths(search: Callable[..., Any]) -> None:
    check_levels(search, 0)
    for G in DIRECTED + UNDIRECTED:
        level, paths = search(pattern(G), 3)
        wanted = {v: len(list(nx.all_shortest_paths(G, 3, v))) for v in level.to_dict()}
        assert paths.to_dict() == wanted


def check_many(search: Callable[..., Vector]) -> None:
    for G in DIRECTED + UNDIRECTED:
        count = [sum(nx.has_path(G, s, v) for s in (3, 0, 3)) for v in G]
        wanted = {v: k for v, k in enumerate(count) if k}
        assert search(pattern(G), [3, 0, 3]).to_dict() == wanted


def check_distances(search: Callable[..., Vector]) -> None:
    for G in DIRECTED + UNDIRECTED:
        assert search(weights(G), 3).to_dict() == nx.single_source_dijkstra_path_length(G, 3)


def check_pagerank(rank: Callable[..., Vector], last: float = 1e-12) -> None:
    for G in DIRECTED + UNDIRECTED:
        A = pattern(G)
        start = Vector.from_scalar(1 / len(G), len(G))
        found = rank(A, start, degrees(A), last)
        almost(found, nx.pagerank(G, tol=1e-12, max_iter=500, weight=None))
        assert start.isequal(Vector.from_scalar(1 / len(G), len(G)))


def check_eigenvector(centrality: Callable[..., Vector]) -> None:
    for G in UNDIRECTED:
        A = pattern(G)
        found = centrality(A, 1e-10 * len(G), 1000)
        assert found.isclose(algo.eigenvector(A, tol=1e-10, max_iter=1000), rel_tol=1e-9)


def check_katz(centrality: Callable[..., Vector]) -> None:
    for G in DIRECTED + UNDIRECTED:
        wanted = nx.katz_centrality(G, alpha=0.05, tol=1e-12, normalized=False, weight=None)
        almost(centrality(pattern(G), 0.05, 1e-12 * len(G), 1000), wanted)


def check_hits(scores: Callable[..., Any], tolerance: float) -> None:
    for G in DIRECTED[:1] + UNDIRECTED[:2]:
        A = pattern(G)
        wanted = algo.hits(A, tol=1e-12, max_iter=1000)
        for found, theirs in zip(scores(A, tolerance, 5000), wanted, strict=True):
            almost(found, theirs.to_dict(), 1e-7)


def check_betweenness(dependencies: Callable[..., Vector], source: Any = 3) -> None:
    for G in DIRECTED + UNDIRECTED:
        wanted = dict.fromkeys(G, 0.0)
        sources = source if isinstance(source, list) else [source]
        for s in sources:
            for v, x in dependencies_on(G, s).items():
                wanted[v] += x
        found = dependencies(pattern(G), source)
        almost(found, wanted)


def dependencies_on(G: Any, source: int) -> dict[int, float]:
    """Count shortest paths by listing them."""
    found = dict.fromkeys(G, 0.0)
    for target in nx.single_source_shortest_path_length(G, source):
        paths = list(nx.all_shortest_paths(G, source, target))
        for path in paths:
            for v in path[1:-1]:
                found[v] += 1 / len(paths)
    return found


def check_components(label: Callable[..., Any], position: int | None = None) -> None:
    for G in UNDIRECTED:
        found = label(pattern(G))
        found = found if position is None else found[position]
        wanted = {v: min(part) for part in nx.connected_components(G) for v in part}
        assert found.to_dict() == wanted


def check_cores(cores: Callable[..., Vector]) -> None:
    for G in UNDIRECTED:
        A = pattern(G)
        degree = full_degrees(A)
        kept = degree.dup()
        assert cores(A, degree).to_dict() == nx.core_number(G)
        assert degree.isequal(kept)


def check_cores_and_turns(cores: Callable[..., Any]) -> None:
    check_cores(lambda A, degree: cores(A, degree)[0])
    for G in UNDIRECTED:
        A = pattern(G)
        core, turn = (each.to_dict() for each in cores(A, full_degrees(A)))
        # When vertex v is removed, at most core(v) of its neighbors are left.
        assert all(sum(turn[u] >= turn[v] for u in G[v]) <= core[v] for v in G)


def check_set(G: Any, chosen: set[int]) -> None:
    assert not any(u in chosen and v in chosen for u, v in G.edges())
    assert all(v in chosen or chosen & set(G[v]) for v in G)


def check_sets(choose: Callable[..., Vector]) -> None:
    for G in UNDIRECTED:
        order = np.random.default_rng(1).permutation(len(G)) + 1
        check_set(G, set(choose(pattern(G), Vector.from_dense(order)).to_dict()))


def check_sets_and_waits(choose: Callable[..., Any]) -> None:
    check_sets(lambda A, order: choose(A, order)[0])
    for G in UNDIRECTED:
        order = Vector.from_dense(np.random.default_rng(1).permutation(len(G)) + 1)
        chosen, waits = (each.to_dict() for each in choose(pattern(G), order))
        assert waits.keys() == set(G)
        # A vertex leaves in the round in which it or one of its neighbors is chosen.
        assert all(waits[v] == min(waits[u] for u in {v, *G[v]} & chosen.keys()) for v in G)


def check_drawn_sets(choose: Callable[..., Vector]) -> None:
    for G in UNDIRECTED:
        check_set(G, set(choose(pattern(G)).to_dict()))


CHECKS: dict[str, Callable[[Any], None]] = {
    "bfs": check_search,
    "bfs_renamed": check_search,
    "bfs_reordered": check_search,
    "bfs_mxv": check_search,
    "bfs_blocked": check_blocked,
    "bfs_with_levels": check_levels_and_parents,
    "bfs_with_visits": check_visits,
    "bfs_with_waits": check_waits,
    "bfs_with_paths": check_paths,
    "bfs_own_semiring": check_search,
    "bfs_levels": check_levels,
    "bfs_levels_own_semiring": check_levels,
    "bfs_of_many": check_many,
    "shortest_paths": check_distances,
    "shortest_paths_by_frontier": check_distances,
    "pagerank": check_pagerank,
    "pagerank_with_new": check_pagerank,
    "pagerank_rounds": lambda rank: check_pagerank(rank, 300),
    "eigenvector": check_eigenvector,
    "katz": check_katz,
    "hits_by_powers": lambda scores: check_hits(scores, 1e-12),
    "hits": lambda scores: check_hits(scores, 1e-10),
    "betweenness": check_betweenness,
    "betweenness_by_levels": check_betweenness,
    "betweenness_of_many": lambda run: check_betweenness(run, [3, 0, 8]),
    "components": check_components,
    "components_by_labels": lambda label: check_components(label, 0),
    "core_numbers": check_cores,
    "core_numbers_by_frontier": check_cores,
    "independent_set": check_sets,
    "independent_set_by_turns": check_drawn_sets,
    "independent_set_vxm": check_sets_and_waits,
    "pagerank_mxv": check_pagerank,
    "eigenvector_mxv": check_eigenvector,
    "betweenness_mxv": check_betweenness,
    "components_vxm": check_components,
    "core_numbers_with_turns": check_cores_and_turns,
}


@pytest.mark.parametrize("name", CHECKS)
def test_each_program_gives_correct_results_as_plain_python(name):
    CHECKS[name](programs.PROGRAMS[name])


def test_every_program_has_a_check():
    assert CHECKS.keys() == programs.PROGRAMS.keys()
