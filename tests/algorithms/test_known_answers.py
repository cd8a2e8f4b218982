"""Compare results on real graphs with those of other tools, if ../shared/data exists."""

from __future__ import annotations

import gzip
import math
from typing import Any

import numpy as np
import pytest
from graphs import edges_of
from known_answers import (
    DATA,
    GREAT,
    QUICK,
    Check,
    answers,
    cases,
    graph,
    part_sizes,
    pattern,
)
from verifiers import verify_bfs

import graphla as gl
from graphla import algorithms as algo
from graphla import binary, monoid, select
from graphla.semiring import plus_pair

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data does not exist")


@pytest.mark.parametrize(("name", "check"), cases(QUICK))
def test_results_on_a_real_graph_match_other_tools(name: str, check: Check):
    check(graph(name), answers()[name])


@pytest.mark.parametrize(("name", "check"), cases(GREAT))
def test_results_on_a_large_graph_match_other_tools(name: str, check: Check, engine: str):
    if engine == "numpy":
        pytest.skip("large graphs run on compiled loops or on a GPU")
    check(graph(name), answers()[name])


def small_matrices() -> list[str]:
    """Return the well-formed Matrix Market files of square matrices that are not complex."""
    return [
        name
        for name, known in answers().items()
        if "weak_cc" in known and "malformed" not in name and known["field"] != "complex"
    ]


@pytest.mark.parametrize("name", small_matrices())
def test_results_on_small_matrices_match_other_tools(name: str):
    known = answers()[name]
    stored = gl.io.mmread(DATA / f"{name}.gz", dup_op="any")
    assert stored.shape == (known["rows"], known["cols"])
    rows, columns, _ = stored.to("cpu").to_coo(values=False)
    A = gl.Matrix.from_coo(rows, columns, True, nrows=stored.nrows, ncols=stored.ncols)
    assert A.diag().nvals == known["self_loops"]
    assert A.isequal(A.T.new()) is known["struct_symmetric"]
    assert part_sizes(algo.connected_components(A)).size == known["weak_cc"]
    assert part_sizes(algo.strong_components(A)).size == known["scc"]
    assert algo.triangle_count(pattern(A)) == known["triangles"]


# --- the graphs of LAGraph's tests ----------------------------------------------------------------


def lagraph(name: str) -> gl.Matrix:
    A = gl.io.mmread(DATA / "lagraph" / f"{name}.mtx.gz")
    assert isinstance(A, gl.Matrix)
    return A


def expected(name: str) -> np.ndarray:
    return np.load(DATA / "lagraph_expected.npz")[name]


@pytest.mark.parametrize("name", ["karate", "west0067", "ldbc-directed-example"])
def test_pagerank_matches_the_results_of_lagraph(name: str):
    rank = algo.pagerank(lagraph(name), tol=1e-12, max_iter=1000, weight=None)
    wanted = expected(f"{name.replace('-', '_')}_pagerank")
    assert np.allclose(rank.to("cpu").to_dense(), wanted, atol=1e-4)


def test_bfs_matches_the_results_of_lagraph():
    karate = lagraph("karate")
    levels, parents = algo.bfs(karate, 30)
    verify_bfs(edges_of(karate), 30, levels.to_dict(), parents.to_dict())
    assert levels.to("cpu").to_dense().tolist() == expected("karate_bfs30_levels").tolist()
    valid = expected("karate_bfs30_valid_parents")
    assert all(parent in valid[v] for v, parent in parents.to_dict().items())


@pytest.mark.parametrize("name", ["karate", "west0067"])
def test_betweenness_matches_the_results_of_lagraph(name: str):
    A, sources = lagraph(name), expected(f"{name}_bc_sources")
    b = algo.betweenness(A, sources=sources.tolist(), normalized=False, directed=True)
    # LAGraph sums over the given sources; graphla, like NetworkX, scales the sum up to all
    # vertices.
    seen = np.full(A.nrows, len(sources))
    seen[sources] -= 1
    found = b.to("cpu").to_dense() * seen / (A.nrows - 1)
    assert np.allclose(found, expected(f"{name}_bc"), atol=1e-3)


def test_clustering_matches_the_results_of_lagraph():
    # LDBC counts the edges between all in- and out-neighbors, each direction separately.
    A = select.offdiag(lagraph("west0067")).new()
    found = ldbc_clustering(A)
    assert np.allclose(found, expected("west0067_lcc"), atol=1e-6)


def test_label_propagation_matches_the_results_of_lagraph():
    labels = algo.label_propagation(lagraph("jagmesh7"), max_iter=100, synchronous=True)
    assert labels.to("cpu").to_dense().tolist() == expected("jagmesh7_cdlp").tolist()


def test_strong_components_match_the_results_of_lagraph():
    found = algo.strong_components(lagraph("cover"))
    assert found.to("cpu").to_dense().tolist() == expected("cover_scc").tolist()


def test_triangle_and_component_counts_match_the_results_of_lagraph():
    """The expected counts are those in LAGraph's tests, as listed in the README of the data."""
    triangles = {
        "karate": 45, "A": 11, "jagmesh7": 2016, "ldbc-cdlp-undirected-example": 6,
        "ldbc-undirected-example": 4, "ldbc-wcc-example": 5, "LFAT5": 0, "bcsstk13": 342300,
        "tree-example": 0,
    }  # fmt: skip
    components = {
        "karate": 1, "A": 1, "jagmesh7": 1, "LFAT5": 3, "LFAT5_hypersparse": 1989, "LFAT5_two": 6,
        "bcsstk13": 1, "tree-example": 1, "zenios": 1391,
    }  # fmt: skip
    for name, count in triangles.items():
        assert algo.triangle_count(pattern(lagraph(name))) == count
        corners = algo.triangles(pattern(lagraph(name)))
        assert isinstance(corners, gl.Vector)
        assert corners.reduce(monoid.plus).value == 3 * count
    for name, count in components.items():
        assert part_sizes(algo.connected_components(lagraph(name))).size == count


def test_the_spanning_forest_of_the_lagraph_matrix_a_is_a_tree():
    A = pattern(lagraph("A"))
    tree = select.triu(algo.spanning_forest(A)).new()
    assert tree.nvals == 6
    assert part_sizes(algo.connected_components(binary.any(tree | tree.T).new())).size == 1


@pytest.mark.parametrize("name", ["4", "4w"])
def test_the_gap_graph_has_53_edges_after_duplicates_and_self_loops_are_removed(name: str):
    A = gl.io.mmread(DATA / "gap" / f"{name}.mtx.gz", dup_op="any")
    assert select.offdiag(A).new().nvals == 53


def test_the_trusses_and_cores_of_the_graph_chesapeake_are_nested():
    A = pattern(gl.io.mmread(DATA / "graphblast" / "chesapeake.mtx.gz", dup_op="any"))
    most = int(algo.core_numbers(A).reduce(monoid.max).value)
    for k in range(2, most + 2):
        # a k-truss lies in the (k-1)-core, and each of its edges is in at least k - 2 triangles
        truss, core = algo.k_truss(A, k), algo.k_core(A, k - 1)
        assert truss.nvals == binary.pair(truss & core).new().nvals
        sides = plus_pair(truss @ truss.T).new(mask=truss.S)
        assert k == 2 or sides.nvals == truss.nvals
        assert all(value >= k - 2 for value in sides.to("cpu").to_coo()[2])


# --- the validation graphs of LDBC Graphalytics -------------------------------------------------


def ldbc(name: str) -> list[list[str]]:
    with gzip.open(DATA / "ldbc-graphalytics" / f"{name}.txt.gz", "rt") as lines:
        return [line.split() for line in lines if line.strip()]


def ldbc_graph(name: str, directed: bool, *, weighted: bool = False) -> gl.Graph:
    """Read lines of `vertex neighbor ...`, or `source target weight` if the graph is weighted."""
    edges: dict[tuple[int, int], float] = {}
    vertices: set[int] = set()
    for first, *rest in ldbc(name):
        pairs = [(rest[0], float(rest[1]))] if weighted else [(v, 1.0) for v in rest]
        for v, w in pairs:
            edges[int(first), int(v)] = w
        vertices |= {int(first), *(int(v) for v, _ in pairs)}
    return gl.Graph.from_edges(
        [(u, v, w) for (u, v), w in edges.items()], directed=directed, labels=sorted(vertices)
    )


def ldbc_answer(name: str, missing: str = "") -> dict[int, float]:
    return {int(v): float(value) for v, value in ldbc(name) if value != missing}


def ldbc_clustering(A: gl.Matrix) -> np.ndarray:
    """c(v) = the fraction of possible edges that exist among the in- and out-neighbors of v."""
    U = pattern(A)
    degree = np.diff(U.to("cpu").to_csr()[0])
    # P⟨U⟩ = U plus.pair Aᵀ, where U has an entry for each edge in either direction:
    # P(v, w) counts the neighbors of v to which w has an edge
    among = plus_pair(U @ A.T).new(mask=U.S).reduce_rowwise(monoid.plus).new()
    found = among.to("cpu").to_dense(fill_value=0)
    return np.where(degree > 1, found / np.maximum(degree * (degree - 1), 1), 0)


def ldbc_pagerank(G: gl.Graph, rounds: int) -> dict[int, float]:
    """Return the ranks after `rounds` rounds of PageRank, starting from 1/n at each vertex.

    Each round computes all new ranks from the ranks of the previous round, as in the definition.
    """
    rank: Any = dict.fromkeys(G.labels, 1 / len(G))
    with gl.config.set(deterministic=True):
        for _ in range(rounds):
            rank = algo.pagerank(G, max_iter=1, tol=math.inf, nstart=rank, weight=None).to_dict()
    return rank


FAR = "9223372036854775807"
ROUNDS = 5  # rounds of label propagation on the validation graphs of LDBC
EXAMPLE_ROUNDS = 2  # rounds of PageRank and of label propagation in the two examples
both_kinds = pytest.mark.parametrize("kind", ["dir", "undir"])


@both_kinds
def test_bfs_matches_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"bfs__{kind}-input", kind == "dir")
    assert algo.bfs(G, 1).levels.to_dict() == ldbc_answer(f"bfs__{kind}-output", FAR)


@both_kinds
def test_sssp_matches_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"sssp__{kind}-input.e", kind == "dir", weighted=True)
    wanted = pytest.approx(ldbc_answer(f"sssp__{kind}-output", "Infinity"))
    assert algo.sssp(G, 1).distances.to_dict() == wanted
    assert algo.bellman_ford(G, 1).distances.to_dict() == wanted


@both_kinds
def test_connected_components_match_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"wcc__{kind}-input", kind == "dir")
    assert algo.connected_components(G).to_dict() == ldbc_answer(f"wcc__{kind}-output")


@both_kinds
def test_pagerank_matches_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"pr__{kind}-input", kind == "dir")
    rank = algo.pagerank(G, tol=1e-16, max_iter=1000, weight=None)
    assert rank.to_dict() == pytest.approx(ldbc_answer(f"pr__{kind}-output"), rel=1e-4)


@both_kinds
def test_label_propagation_matches_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"cdlp__{kind}-input", kind == "dir")
    found = algo.label_propagation(G, max_iter=ROUNDS, synchronous=True)
    assert found.to_dict() == ldbc_answer(f"cdlp__{kind}-output")


@both_kinds
def test_clustering_matches_the_results_of_ldbc(kind: str):
    G = ldbc_graph(f"lcc__{kind}-input", kind == "dir")
    wanted = pytest.approx(ldbc_answer(f"lcc__{kind}-output"), rel=1e-8)
    assert dict(zip(G.labels, ldbc_clustering(G.matrix), strict=True)) == wanted
    if kind == "undir":
        clustering = algo.clustering(G)
        assert isinstance(clustering, gl.Vector)
        assert clustering.to_dict() == wanted


@both_kinds
def test_bfs_and_bellman_ford_agree_on_the_forest_fire_graph_of_ldbc(kind: str):
    # Graphalytics gives no expected output for this graph.
    G = ldbc_graph(f"ffm__{kind}-input", kind == "dir")
    assert algo.bfs(G, 1).levels.to_dict() == algo.bellman_ford(G, 1).distances.to_dict()


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_algorithms_match_the_examples_of_ldbc(kind: str):
    name = f"example__example-{kind}"
    G = ldbc_graph(f"{name}.e", kind == "directed", weighted=True)
    assert list(G.labels) == [int(v) for (v,) in ldbc(f"{name}.v")]
    levels, distance = ldbc_answer(f"{name}-BFS", FAR), ldbc_answer(f"{name}-SSSP", "Infinity")
    (source,) = (v for v, level in levels.items() if level == 0)
    assert algo.bfs(G, source).levels.to_dict() == levels
    assert algo.sssp(G, source).distances.to_dict() == pytest.approx(distance)
    assert algo.connected_components(G).to_dict() == ldbc_answer(f"{name}-WCC")
    assert ldbc_pagerank(G, EXAMPLE_ROUNDS) == pytest.approx(ldbc_answer(f"{name}-PR"))
    labels = algo.label_propagation(G, max_iter=EXAMPLE_ROUNDS, synchronous=True)
    assert labels.to_dict() == ldbc_answer(f"{name}-CDLP")
    clustering = dict(zip(G.labels, ldbc_clustering(G.matrix), strict=True))
    assert clustering == pytest.approx(ldbc_answer(f"{name}-LCC"))
