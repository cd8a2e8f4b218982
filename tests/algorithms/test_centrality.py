"""Compare degree, Katz, eigenvector, HITS, closeness and harmonic centrality with NetworkX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import Edges, graphs, with_order
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    ConvergenceError,
    closeness,
    degree,
    eigenvector,
    harmonic,
    hits,
    in_degree,
    katz,
    out_degree,
)

quarters = st.integers(1, 8).map(lambda k: k / 4)
weighted = st.one_of(graphs(weights=st.integers(1, 9)), graphs(weights=quarters, dtype="FP64"))
vectors = {
    "degree": degree,
    "in_degree": in_degree,
    "out_degree": out_degree,
    "katz": lambda A: katz(A, 0.05),
    "eigenvector": lambda A: eigenvector(A, max_iter=2000, tol=1e-4),
    "closeness": closeness,
    "harmonic": harmonic,
}


def near(found: gl.Vector, expected: dict[int, float], within: float = 1e-9) -> bool:
    return found.to_dict() == pytest.approx(expected, abs=within)


@settings(max_examples=60)
@given(graphs())
def test_degrees_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    assert near(degree(A, directed=not graph.undirected), nx.degree_centrality(G))
    if not graph.undirected:
        assert near(in_degree(A), nx.in_degree_centrality(G))
        assert near(out_degree(A), nx.out_degree_centrality(G))


@settings(max_examples=40)
@given(weighted, st.booleans(), st.booleans(), st.data())
def test_katz_centrality_matches_networkx(graph, normalized, is_weighted, data):
    nx = pytest.importorskip("networkx")
    values = st.floats(-2, 2, allow_subnormal=False)
    each = st.fixed_dictionaries(dict.fromkeys(range(graph.n), values))
    options: dict[str, Any] = {
        "alpha": 0.004,
        "beta": data.draw(st.one_of(st.just(1.0), each)),
        "nstart": data.draw(st.one_of(st.none(), each)),
        "normalized": normalized,
        "weight": "weight" if is_weighted else None,
        "tol": 1e-12,
    }
    found = katz(graph.matrix(), **options)
    assert near(found, nx.katz_centrality(graph.networkx(), **options))


@settings(max_examples=40)
@given(weighted, st.booleans())
def test_eigenvector_centrality_matches_networkx(graph, is_weighted):
    nx = pytest.importorskip("networkx")
    options: dict[str, Any] = {"max_iter": 300, "weight": "weight" if is_weighted else None}
    try:
        expected = nx.eigenvector_centrality(graph.networkx(), **options)
    except nx.PowerIterationFailedConvergence:
        with pytest.raises(ConvergenceError, match="max_iter is 300, but the eigenvector still"):
            eigenvector(graph.matrix(), **options)
    else:
        assert near(eigenvector(graph.matrix(), **options), expected)


@settings(max_examples=40)
@given(weighted)
def test_hub_and_authority_scores_are_the_leading_singular_vectors(graph):
    dense = graph.matrix().to("cpu").to_dense(0).astype(float)
    hubs, authorities = (x.to("cpu").to_dense() for x in hits(graph.matrix(), normalized=False))
    greatest = np.linalg.svd(dense, compute_uv=False)[0]
    assert np.allclose(dense @ authorities, hubs)
    assert np.allclose(hubs @ dense, greatest**2 * authorities, atol=1e-5 * max(greatest**2, 1))
    assert min(hubs.min(), authorities.min()) >= 0
    ours = [x.to("cpu").to_dense() for x in hits(graph.matrix())]
    for each, raw in zip(ours, (hubs, authorities), strict=True):
        assert np.allclose(each, raw / (raw.sum() or 1), atol=1e-6)


@settings(max_examples=30)
@given(weighted)
def test_hub_and_authority_scores_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    dense = graph.matrix().to("cpu").to_dense(0).astype(float)
    assume(graph.n > 2)
    values = np.linalg.svd(dense, compute_uv=False)
    assume(values[1] < 0.9 * values[0])
    hubs, authorities = nx.hits(graph.networkx())
    found = hits(graph.matrix())
    assert near(found.hubs, hubs, 1e-6)
    assert near(found.authorities, authorities, 1e-6)


@settings(max_examples=40)
@given(weighted, st.booleans(), st.booleans())
def test_closeness_matches_networkx(graph, wf_improved, is_weighted):
    nx = pytest.importorskip("networkx")
    options = {"distance": "weight" if is_weighted else None, "wf_improved": wf_improved}
    expected = nx.closeness_centrality(graph.networkx(), **options)
    assert near(closeness(graph.matrix(), **options), expected)
    assert closeness(graph.matrix(), 0, **options) == pytest.approx(expected[0])
    assert near(closeness(graph.matrix(), [0], **options), {0: expected[0]})


@settings(max_examples=40)
@given(weighted, st.booleans(), st.data())
def test_harmonic_centrality_matches_networkx(graph, is_weighted, data):
    nx = pytest.importorskip("networkx")
    some = st.one_of(st.none(), st.lists(st.integers(0, graph.n - 1), unique=True))
    options: dict[str, Any] = {name: data.draw(some) for name in ("nbunch", "sources")}
    options["distance"] = "weight" if is_weighted else None
    expected = nx.harmonic_centrality(graph.networkx(), **options)
    assert near(harmonic(graph.matrix(), **options), expected)


@settings(max_examples=15)
@given(with_order(graphs()))
def test_relabeled_vertices_keep_their_centrality(ordered):
    graph, order = ordered
    for name, algorithm in vectors.items():
        one, other = algorithm(graph.matrix()), algorithm(graph.relabeled(order).matrix())
        one, other = one.to("cpu").to_dense(), other.to("cpu").to_dense()
        assert np.allclose(other[order], one, atol=1e-9), name


@settings(max_examples=15)
@given(graphs())
def test_reversing_a_graph_swaps_indegrees_with_outdegrees_and_hubs_with_authorities(graph):
    A = graph.matrix()
    assert in_degree(A).isclose(out_degree(A.T.new()))
    one, other = hits(A), hits(A.T.new())
    dense = A.to("cpu").to_dense(0).astype(float)
    values = np.append(np.linalg.svd(dense, compute_uv=False), 0)
    if values[1] < 0.9 * values[0]:  # otherwise the singular vector is not unique
        assert one.hubs.isclose(other.authorities, abs_tol=1e-6)


@settings(max_examples=15)
@given(graphs())
def test_an_isolated_vertex_has_closeness_and_harmonic_centrality_zero(graph):
    more = Edges(graph.n + 1, graph.ends, graph.weights, graph.undirected, graph.dtype).matrix()
    one, other = harmonic(graph.matrix()).to_dict(), harmonic(more).to_dict()
    assert other == pytest.approx({**one, graph.n: 0.0})
    raw: dict[str, Any] = {"wf_improved": False}
    one, other = closeness(graph.matrix(), **raw).to_dict(), closeness(more, **raw).to_dict()
    assert other == pytest.approx({**one, graph.n: 0.0})


@pytest.mark.parametrize("algorithm", [*vectors.values(), lambda A: hits(A).hubs])
def test_all_vertices_of_a_graph_without_edges_have_the_same_centrality(algorithm):
    assert algorithm(gl.Matrix(bool, 0, 0)).size == 0
    alone = algorithm(gl.Matrix(bool, 3, 3)).to("cpu").to_dense()
    assert (alone == alone[0]).all()


def test_an_iterative_algorithm_that_does_not_converge_raises_an_error():
    A = Edges(3, ((0, 1), (1, 0), (1, 2)), (1,) * 3).matrix()
    with pytest.raises(ConvergenceError, match="max_iter is 1000, but x of Katz centrality"):
        katz(A, 1.5)
    with pytest.raises(ConvergenceError, match="max_iter is 1, but the error of the hubs"):
        hits(gl.generators.grid(3, 4), max_iter=1, tol=0)


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, -2], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="beta has 1 values, but there are 3 vertices"):
        katz(A, beta={0: 1.0})
    with pytest.raises(ValueError, match="nstart must be finite, and somewhere other than 0"):
        eigenvector(A, nstart={0: 0.0})
    for refusing in (
        hits,
        lambda A: closeness(A, distance=True),
        lambda A: harmonic(A, None, True),
    ):
        with pytest.raises(ValueError, match="A has weight -2 on edge 1 -> 2, but must have none"):
            refusing(A)
