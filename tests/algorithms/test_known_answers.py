"""Real graphs against answers that other tools gave (../shared/data, where it is there)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import edges_of
from verifiers import verify_bfs

import graphla as gl
from graphla.algorithms import bfs, connected_components, pagerank, sssp, triangle_count

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")

QUICK = (
    "4elt", "USpowerGrid", "ak2010", "as-caida20071105", "bcsstk25", "bremen_dist",
    "ca-AstroPh-cc1", "cit-HepPh", "delaunay_n16", "ego-Facebook", "email-Enron", "email-Eu-core",
    "p2p-Gnutella31", "rgg_n_2_15_s0", "wiki-Vote",
)  # fmt: skip
GREAT = (
    "cnr-2000", "ego-Twitter", "luxembourg_osm", "road-FLA", "road-NE", "road-NY",
    "road-porto-osm", "soc-Slashdot0902", "uk-2007-05-100000",
)  # fmt: skip
WEIGHTED = ("ak2010", "bremen_dist")

real = pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.full) for name in GREAT)]
)
weighted = pytest.mark.parametrize(
    "name", [*WEIGHTED, pytest.param("road-porto-osm", marks=pytest.mark.full)]
)


@cache
def answers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    with gzip.open(DATA / "answers.txt.gz", "rt") as lines:
        next(lines)
        for line in lines:
            graph, key, value, _ = line.rstrip("\n").split("\t")
            found.setdefault(graph, {})[key] = json.loads(value)
    return found


def small_matrices() -> list[str]:
    """Matrix Market files with an answer, which are square, well formed and not complex."""
    if not DATA.is_dir():
        return []
    return [
        name
        for name, known in answers().items()
        if "weak_cc" in known and "malformed" not in name and known["field"] != "complex"
    ]


@cache
def graph(name: str) -> gl.Matrix:
    A = gl.io.read(DATA / f"{name}.npz")
    assert isinstance(A, gl.Matrix)
    return A


def undirected(A: gl.Matrix) -> gl.Matrix:
    return gl.binary.pair(A | A.T).new(bool)


@real
@pytest.mark.parametrize("which", ["0", "maxdeg"])
def test_bfs_levels(name, which):
    known = answers()[name]
    levels, parents = bfs(graph(name), known[f"bfs_{which}_source"])
    assert levels.nvals == known[f"bfs_{which}_reached"]
    assert int(levels.to_coo()[1].sum()) == known[f"bfs_{which}_level_sum"]
    assert int(levels.reduce(gl.monoid.max).value) + 1 == known[f"bfs_{which}_levels"]
    # each vertex but the source is one level below its parent, to which an edge leads
    vertices, parent = parents.to_coo()
    level = levels.to_dense(-1)
    others = vertices != known[f"bfs_{which}_source"]
    assert (level[vertices[others]] == level[parent[others]] + 1).all()
    rows, columns, _ = graph(name).to_coo()
    n = graph(name).nrows
    edges = rows * n + columns
    taken = parent[others].astype(np.int64) * n + vertices[others]
    assert (edges[np.searchsorted(edges, taken)] == taken).all()


@weighted
@pytest.mark.parametrize("which", ["0", "maxdeg"])
def test_sssp_distances(name, which):
    known = answers()[name]
    source = known["bfs_0_source"] if which == "0" else known["max_out_degree_vertex"]
    _, distance = sssp(graph(name), source).to_coo()
    assert distance.size == known[f"sssp_{which}_reached"]
    assert distance.max() == known[f"sssp_{which}_max"]
    assert distance.sum() == known[f"sssp_{which}_sum"]


@real
def test_pagerank(name):
    known = answers()[name]
    rank = pagerank(graph(name), tolerance=1e-13, max_iterations=1000).to_dense()
    for vertex, value in known["pagerank_top5"]:
        assert rank[vertex] == pytest.approx(value, rel=1e-8)
    assert rank.max() == pytest.approx(known["pagerank_top5"][0][1], rel=1e-8)
    assert (rank**2).sum() == pytest.approx(known["pagerank_sumsq"], rel=1e-8)


@real
def test_components(name):
    known = answers()[name]
    sizes = np.bincount(connected_components(graph(name)).to_dense())
    assert np.count_nonzero(sizes) == known["weak_components"]
    assert sizes.max() == known["largest_weak_component"]


@real
def test_triangles(name):
    assert triangle_count(undirected(graph(name))) == answers()[name]["triangles"]


@pytest.mark.parametrize("name", small_matrices())
def test_small_matrices(name):
    known = answers()[name]
    stored = gl.io.mmread(DATA / f"{name}.gz", dup_op="any")
    rows, columns, _ = stored.to_coo(values=False)
    A = gl.Matrix.from_coo(rows, columns, True, nrows=stored.nrows, ncols=stored.ncols)
    labels = connected_components(A).to_dense()
    assert len(set(labels.tolist())) == known["weak_cc"]
    assert triangle_count(undirected(A)) == known["triangles"]


def test_lagraphs_expected_vectors():
    expected = np.load(DATA / "lagraph_expected.npz")
    for name, file in (
        ("karate", "karate"),
        ("west0067", "west0067"),
        ("ldbc_directed_example", "ldbc-directed-example"),
    ):
        A = gl.io.mmread(DATA / "lagraph" / f"{file}.mtx.gz")
        rank = pagerank(A, tolerance=1e-9, max_iterations=200)
        assert np.allclose(rank.to_dense(), expected[f"{name}_pagerank"], atol=1e-4)
    karate = gl.io.mmread(DATA / "lagraph" / "karate.mtx.gz")
    levels, parents = bfs(karate, 30)
    verify_bfs(edges_of(karate), 30, levels.to_dict(), parents.to_dict())
    assert levels.to_dense().tolist() == expected["karate_bfs30_levels"].tolist()
    valid = expected["karate_bfs30_valid_parents"]
    assert all(parent in valid[v] for v, parent in parents.to_dict().items())


# --- the validation graphs of LDBC Graphalytics ---------------------------------------------------


def ldbc(name: str) -> list[list[str]]:
    with gzip.open(DATA / "ldbc-graphalytics" / f"{name}.txt.gz", "rt") as lines:
        return [line.split() for line in lines if line.strip()]


def ldbc_graph(name: str, directed: bool, *, weighted: bool = False) -> gl.Matrix:
    """Lines `vertex neighbour ...`, or with weights `source target weight`; vertices from 1."""
    edges: dict[tuple[int, int], float] = {}
    n = 0
    for first, *rest in ldbc(name):
        n = max(n, int(first), *(int(v) for v in (rest[:1] if weighted else rest)))
        pairs = [(rest[0], float(rest[1]))] if weighted else [(v, 1.0) for v in rest]
        for v, w in pairs:
            edges[int(first) - 1, int(v) - 1] = w
            if not directed:
                edges[int(v) - 1, int(first) - 1] = w
    rows, columns = np.array(list(edges)).reshape(-1, 2).T
    return gl.Matrix.from_coo(rows, columns, list(edges.values()), nrows=n, ncols=n)


def ldbc_answer(name: str, missing: str) -> dict[int, float]:
    return {int(v) - 1: float(value) for v, value in ldbc(name) if value != missing}


FAR = "9223372036854775807"
both_kinds = pytest.mark.parametrize("kind", ["dir", "undir"])


@both_kinds
def test_ldbc_bfs(kind):
    A = ldbc_graph(f"bfs__{kind}-input", kind == "dir")
    assert bfs(A, 0).levels.to_dict() == ldbc_answer(f"bfs__{kind}-output", FAR)


@both_kinds
def test_ldbc_sssp(kind):
    A = ldbc_graph(f"sssp__{kind}-input.e", kind == "dir", weighted=True)
    assert sssp(A, 0).to_dict() == pytest.approx(ldbc_answer(f"sssp__{kind}-output", "Infinity"))


@both_kinds
def test_ldbc_components(kind):
    A = ldbc_graph(f"wcc__{kind}-input", kind == "dir")
    expected = ldbc_answer(f"wcc__{kind}-output", "")
    labels = connected_components(A).to_dense()
    assert {v: labels[v] + 1 for v in expected} == expected


@both_kinds
def test_ldbc_pagerank(kind):
    A = ldbc_graph(f"pr__{kind}-input", kind == "dir")
    expected = ldbc_answer(f"pr__{kind}-output", "")
    rank = pagerank(A, tolerance=1e-15, max_iterations=1000)
    assert rank.to_dict() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_ldbc_example(kind):
    name = f"example__example-{kind}"
    A = ldbc_graph(f"{name}.e", kind == "directed", weighted=True)
    levels, distance = ldbc_answer(f"{name}-BFS", FAR), ldbc_answer(f"{name}-SSSP", "Infinity")
    (source,) = (v for v, level in levels.items() if level == 0)
    assert bfs(A, source).levels.to_dict() == levels
    assert sssp(A, source).to_dict() == pytest.approx(distance)
    components = ldbc_answer(f"{name}-WCC", "")
    labels = connected_components(A).to_dense()
    assert {v: labels[v] + 1 for v in components} == components
