"""Compare our results on the graphs of ../shared/data with those of other tools."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import algorithms as algo
from graphla import binary, monoid, select

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

QUICK = (
    "4elt", "USpowerGrid", "ak2010", "as-caida20071105", "bcsstk25", "bremen_dist",
    "ca-AstroPh-cc1", "cit-HepPh", "delaunay_n16", "ego-Facebook", "email-Enron", "email-Eu-core",
    "p2p-Gnutella31", "rgg_n_2_15_s0", "wiki-Vote",
)  # fmt: skip
GREAT = (
    "cnr-2000", "ego-Twitter", "luxembourg_osm", "road-FLA", "road-NE", "road-NY",
    "road-porto-osm", "soc-Slashdot0902", "uk-2007-05-100000",
)  # fmt: skip
LONG = {"cnr-2000", "road-FLA", "road-NE", "road-porto-osm", "uk-2007-05-100000"}
"""Graphs on which PageRank takes seconds to reach full precision."""

Check = Callable[[gl.Matrix, dict[str, Any]], None]
CHECKS: dict[Check, str] = {}
"""Maps each check to a key of the expected results.

The check runs on each graph that has an expected result with this key.
"""


@cache
def answers() -> dict[str, dict[str, Any]]:
    """Return the expected results of each graph, as {graph: {key: result}}.

    The dictionary is empty if the folder with the data does not exist.
    """
    found: dict[str, dict[str, Any]] = {}
    if not DATA.is_dir():
        return found
    with gzip.open(DATA / "answers.txt.gz", "rt") as lines:
        next(lines)
        for line in lines:
            graph, key, value, _ = line.rstrip("\n").split("\t")
            found.setdefault(graph, {})[key] = json.loads(value)
    return found


@cache
def graph(name: str) -> gl.Matrix:
    A = gl.io.read(DATA / f"{name}.npz")
    assert isinstance(A, gl.Matrix)
    return A


def cases(names: tuple[str, ...]) -> list[Any]:
    """Return the test cases for the named graphs.

    There is one case for each pair of a graph and a check with a known expected result.
    """
    return [
        pytest.param(
            name,
            check,
            id=f"{name}-{check.__name__}",
            marks=[pytest.mark.full] if check is ranks and name in LONG else [],
        )
        for name in names
        for check, key in CHECKS.items()
        if key in answers().get(name, {})
    ]


def undirected(A: gl.Matrix) -> gl.Matrix:
    """Return an undirected copy of A without self-loops.

    Each edge is stored in both directions. If the two directions have different weights in A, both
    get the smaller weight.
    """
    return select.offdiag(binary.min(A | A.T)).new()


def pattern(A: gl.Matrix) -> gl.Matrix:
    """Return the edges of `undirected` with the value True."""
    rows, columns, _ = undirected(A).to_coo(values=False)
    return gl.Matrix.from_coo(rows, columns, True, nrows=A.nrows, ncols=A.ncols)


def asks(key: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        CHECKS[check] = key
        return check

    return keep


@asks("vertices")
def sizes(A: gl.Matrix, known: dict[str, Any]) -> None:
    assert A.nrows == A.ncols == known["vertices"]
    assert A.nvals == known["matrix_nnz"]
    loops = A.diag().nvals
    assert loops == known["self_loops"]
    assert known["stored_edges"] == (A.nvals if known["directed"] else A.nvals // 2)
    both = undirected(A)
    assert both.nvals // 2 == known["undirected_edges_no_loops"]
    assert A.isequal(A.T.new()) or known["directed"]
    for way, degrees in (("out", _degrees(A)), ("in", _degrees(A.T.new()))):
        assert degrees.max() == known[f"max_{way}_degree"]
        assert degrees.argmax() == known[f"max_{way}_degree_vertex"]
    assert np.count_nonzero(_degrees(A) == 0) == known["zero_out_degree_vertices"]


def _degrees(A: gl.Matrix) -> np.ndarray:
    return np.diff(A.to("cpu").to_csr()[0])


@asks("weight_sum")
def weights(A: gl.Matrix, known: dict[str, Any]) -> None:
    counted = A if known["directed"] else select.triu(A).new()
    assert counted.reduce_scalar(monoid.plus["INT64"]).value == known["weight_sum"]
    assert A.reduce_scalar(monoid.min).value == known["weight_min"]
    assert A.reduce_scalar(monoid.max).value == known["weight_max"]
    assert counted.select("==", 0).nvals == known["zero_weight_edges"]


@asks("bfs_0_source")
def levels(A: gl.Matrix, known: dict[str, Any]) -> None:
    rows, columns, _ = A.to("cpu").to_coo(values=False)
    n = A.nrows
    edges = rows.astype(np.int64) * n + columns
    for which in ("0", "maxdeg"):
        source = known[f"bfs_{which}_source"]
        level, parents = algo.bfs(A, source)
        assert level.nvals == known[f"bfs_{which}_reached"]
        vertices, parent = parents.to("cpu").to_coo()
        level = level.to("cpu").to_dense(-1)
        assert level[vertices].sum() == known[f"bfs_{which}_level_sum"]
        assert level.max() + 1 == known[f"bfs_{which}_levels"]
        # Each vertex has an edge from its parent, and is one level deeper than its parent.
        others = vertices != source
        assert (level[vertices[others]] == level[parent[others]] + 1).all()
        taken = parent[others].astype(np.int64) * n + vertices[others]
        assert (edges[np.searchsorted(edges, taken)] == taken).all()


@asks("sssp_0_sum")
def distances(A: gl.Matrix, known: dict[str, Any]) -> None:
    for which, source in (("0", 0), ("maxdeg", known["max_out_degree_vertex"])):
        _, distance = algo.sssp(A, source).distances.to("cpu").to_coo()
        assert distance.size == known[f"sssp_{which}_reached"]
        assert distance.max() == known[f"sssp_{which}_max"]
        assert distance.sum() == known[f"sssp_{which}_sum"]


@asks("pagerank_sumsq")
def ranks(A: gl.Matrix, known: dict[str, Any]) -> None:
    # In the last round, the changes of all ranks add up to less than tol * n.
    rank = algo.pagerank(A, tol=1e-13 / A.nrows, max_iter=1000, weight=None).to("cpu").to_dense()
    for vertex, value in known["pagerank_top5"]:
        assert rank[vertex] == pytest.approx(value, rel=1e-8)
    assert rank.max() == pytest.approx(known["pagerank_top5"][0][1], rel=1e-8)
    assert (rank**2).sum() == pytest.approx(known["pagerank_sumsq"], rel=1e-8)


@asks("weak_components")
def weak_components(A: gl.Matrix, known: dict[str, Any]) -> None:
    sizes = part_sizes(algo.connected_components(A))
    assert sizes.size == known["weak_components"]
    assert sizes.max() == known["largest_weak_component"]


@asks("strong_components")
def strong_components(A: gl.Matrix, known: dict[str, Any]) -> None:
    sizes = part_sizes(algo.strong_components(A))
    assert sizes.size == known["strong_components"]
    assert sizes.max() == known["largest_strong_component"]


def part_sizes(labels: gl.Vector) -> np.ndarray:
    """Return the number of vertices in each part; each part is labeled with its smallest vertex."""
    dense = labels.to("cpu").to_dense()
    parts, least, sizes = np.unique(dense, return_index=True, return_counts=True)
    assert (parts == least).all()
    return sizes


@asks("triangles")
def triangles(A: gl.Matrix, known: dict[str, Any]) -> None:
    both = pattern(A)
    assert algo.triangle_count(both) == known["triangles"]
    assert algo.transitivity(both) == pytest.approx(known["transitivity"], rel=1e-12)


@asks("degeneracy_max_core")
def cores(A: gl.Matrix, known: dict[str, Any]) -> None:
    both = pattern(A)
    core = algo.core_numbers(both)
    most = core.reduce(monoid.max).value
    assert most == known["degeneracy_max_core"]
    # Each vertex in the innermost core has `most` or more neighbors in that core.
    inside = np.flatnonzero(core.to("cpu").to_dense() == most)
    assert _degrees(both[inside, inside].new()).min() >= most


@asks("msf_weight")
def forest(A: gl.Matrix, known: dict[str, Any]) -> None:
    tree = select.triu(algo.spanning_forest(undirected(A))).new()
    assert tree.nvals == known["msf_edges"]
    assert tree.reduce_scalar(monoid.plus["INT64"]).value == known["msf_weight"]
