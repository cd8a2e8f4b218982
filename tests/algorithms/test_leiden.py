"""Tests of Leiden communities."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from graphs import graphs, halves
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import leiden, louvain, modularity
from graphla.compilers.numba import is_installed

nx = pytest.importorskip("networkx")
leiden_file = import_module("graphla.algorithms.leiden")
weighted = graphs(weights=st.integers(1, 4)) | graphs(weights=halves, dtype="FP32")
resolutions = st.sampled_from([0.5, 1, 2.0])


def parts(labels) -> list[set[int]]:
    """Return the set of vertices with each label."""
    labels = np.asarray(labels)
    return [set(np.flatnonzero(labels == each).tolist()) for each in np.unique(labels)]


def verify(labels: gl.Vector, graph) -> None:
    """Verify that each community is connected and labeled with its smallest vertex."""
    assert labels.dtype == "INT64"
    found, G = labels.to_dense().tolist(), nx.Graph(graph.networkx())
    for part in parts(found):
        assert found[min(part)] == min(part)
        assert nx.is_connected(G.subgraph(part))


@settings(max_examples=60)
@given(weighted, resolutions, st.integers(0, 3), st.sampled_from([None, 1, 2]))
def test_each_community_is_connected_at_every_level(graph, resolution, seed, level):
    A, directed = graph.matrix(), not graph.undirected
    verify(leiden(A, True, resolution, level, seed, directed=directed), graph)
    if level is None and resolution == 1:
        verify(leiden_file.definition(A, seed=seed), graph)


@settings(max_examples=40)
@given(weighted, resolutions)
def test_no_level_reduces_the_modularity(graph, resolution):
    A, directed = graph.matrix(), not graph.undirected
    assume(sum(graph.weights))
    alone = gl.Vector.from_dense(range(graph.n))
    labels = [alone, *leiden_file.levels(A, True, resolution, directed=directed)]
    quality = [modularity(A, each, True, resolution, directed=directed) for each in labels]
    for before, after in pairwise(quality):
        assert after >= before - 1e-9
    assert leiden(A, True, resolution, directed=directed).isequal(labels[-1])


@settings(max_examples=40)
@given(weighted, st.data())
def test_refinement_divides_each_community_into_connected_parts(graph, data):
    assume(sum(graph.weights))
    n = graph.n
    drawn = data.draw(st.lists(st.integers(0, min(n - 1, 2)), min_size=n, max_size=n))
    community = gl.Vector.from_dense(np.array(drawn, np.int64))
    L, out, into, total = leiden_file.links_and_degrees(graph.matrix(), True, not graph.undirected)
    G = nx.Graph(graph.networkx())
    refined = []
    for refine in (leiden_file.refine_communities, leiden_file.refine_in_rounds):
        divided = refine(L, out, into, community, 1 / (2 * total), 5).to_dense()
        for part in parts(divided):
            assert len({drawn[v] for v in part}) == 1
            assert nx.is_connected(G.subgraph(part))
        refined.append(divided)
    before = modularity(graph.matrix(), gl.Vector.from_dense(range(n)), directed=True)
    for divided in refined if not graph.undirected else ():
        after = modularity(graph.matrix(), gl.Vector.from_dense(divided), directed=True)
        assert after >= before - 1e-9


def samples(seed: int):
    """Return random graphs with and without communities."""
    return (
        nx.gnp_random_graph(100, 0.05, seed=seed),
        nx.planted_partition_graph(5, 20, 0.5, 0.03, seed=seed),
        nx.barabasi_albert_graph(100, 3, seed=seed),
        nx.watts_strogatz_graph(100, 6, 0.1, seed=seed),
    )


def test_the_mean_modularity_is_at_least_that_of_louvain():
    ours, theirs = [], []
    for seed in range(3):
        for G in samples(seed):
            A = gl.io.from_networkx(G)
            ours.append(modularity(A, leiden(A, seed=seed)))
            theirs.append(modularity(A, louvain(A, seed=seed)))
    assert np.mean(ours) >= np.mean(theirs)


def test_the_algebraic_definition_finds_communities_of_similar_modularity():
    ours, theirs = [], []
    for G in samples(1)[1::2]:
        A = gl.io.from_networkx(G)
        ours.append(modularity(A, leiden(A)))
        theirs.append(modularity(A, leiden_file.definition(A)))
    assert np.mean(theirs) >= 0.97 * np.mean(ours)


def test_leiden_finds_planted_communities():
    G = nx.planted_partition_graph(5, 30, 0.6, 0.01, seed=1)
    labels = leiden(gl.io.from_networkx(G)).to_dense()
    assert labels.tolist() == [v // 30 * 30 for v in range(150)]


@pytest.mark.cpu
def test_the_same_seed_gives_the_same_communities_with_and_without_compiled_loops():
    A = gl.io.from_networkx(nx.gnp_random_graph(60, 0.1, seed=2))
    with gl.config.set(compiled=False):
        expected = leiden(A, seed=7)
    for threads in (1, 2) if is_installed() else ():
        with gl.config.set(compiled=True, threads=threads):
            assert leiden(A, seed=7).isequal(expected)


def test_each_vertex_of_a_graph_without_edges_is_a_community():
    assert leiden(gl.Matrix(bool, 3, 3)).to_dense().tolist() == [0, 1, 2]
    assert leiden(gl.Matrix(bool, 0, 0)).size == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resolution": -1}, "resolution is -1, but must lie between 0 and inf"),
        ({"max_level": 0}, "max_level is 0, but must be at least 1"),
        ({"seed": -1}, "seed is -1, but must be at least 0"),
    ],
)
def test_wrong_arguments_are_rejected(arguments, message):
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    with pytest.raises(gl.exceptions.InvalidValue, match=message):
        leiden(A, **arguments)


def test_negative_weights_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [-1, -1])
    with pytest.raises(gl.exceptions.InvalidValue, match="A has weight -1 on edge"):
        leiden(A)


def test_the_algorithm_terminates_even_if_an_asymmetric_matrix_is_declared_symmetric():
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = int(rng.integers(2, 60))
        places = np.unique(rng.integers(0, n * n, 4 * n))
        indptr = np.searchsorted(places // n, np.arange(n + 1))
        values = rng.integers(1, 9, places.size).astype(float)
        A = gl.Matrix.from_csr(indptr, places % n, values, ncols=n, symmetric=True)
        for find in (leiden, gl.algorithms.louvain):
            assert find(A, seed=3).nvals == n
