"""Tests of label propagation as NetworkX defines it."""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module

import numpy as np
import pytest
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import asyn_lpa_communities, label_propagation_communities
from graphla.compilers.numba import is_installed

nx = pytest.importorskip("networkx")
lpa = import_module("graphla.algorithms.label_propagation_communities")
undirected = graphs(undirected=True)


def parts(labels: gl.Vector) -> set[frozenset[int]]:
    """Return the communities; verify that each label is the smallest vertex of its community."""
    assert labels.dtype == "INT64"
    found = defaultdict(set)
    for v, label in labels.to_dict().items():
        found[label].add(v)
    assert all(label == min(part) for label, part in found.items())
    return set(map(frozenset, found.values()))


@settings(max_examples=30)
@given(undirected)
def test_label_propagation_communities_match_networkx(graph):
    expected = set(map(frozenset, nx.community.label_propagation_communities(graph.networkx())))
    assert parts(label_propagation_communities(graph.matrix())) == expected
    assert parts(lpa.definition(graph.matrix())) == expected


@pytest.mark.cpu
def test_label_propagation_communities_of_a_larger_graph_match_networkx():
    G = nx.gnm_random_graph(300, 700, seed=1)
    expected = set(map(frozenset, nx.community.label_propagation_communities(G)))
    for compiled in (False, True) if is_installed() else (False,):
        with gl.config.set(compiled=compiled):
            assert parts(label_propagation_communities(gl.io.from_networkx(G))) == expected


@settings(max_examples=30)
@given(graphs(weights=st.integers(1, 4)), st.booleans(), st.integers(0, 5))
def test_the_label_of_each_vertex_is_one_of_the_most_frequent_among_its_neighbors(
    graph, weight, seed
):
    found = asyn_lpa_communities(graph.matrix(), weight, seed)
    parts(found)
    assert found.isequal(asyn_lpa_communities(graph.matrix(), weight, seed))
    labels, frequencies = found.to_dense(), defaultdict(lambda: defaultdict(int))
    for i, j, w in graph if graph.undirected else ():
        frequencies[i][labels[j]] += w if weight else 1
    for v, of_label in frequencies.items():
        assert of_label[labels[v]] == max(of_label.values())


@pytest.mark.cpu
def test_asynchronous_labels_are_the_same_with_and_without_compiled_loops():
    A = gl.io.from_networkx(nx.gnm_random_graph(100, 300, seed=3, directed=True))
    with gl.config.set(compiled=False):
        expected = asyn_lpa_communities(A, seed=4)
    for threads in (1, 2) if is_installed() else ():
        with gl.config.set(compiled=True, threads=threads):
            assert asyn_lpa_communities(A, seed=4).isequal(expected)


def test_different_seeds_give_different_labels():
    A = gl.io.from_networkx(nx.gnm_random_graph(60, 120, seed=3))
    found = {tuple(asyn_lpa_communities(A, seed=k).to_dense()) for k in range(4)}
    assert len(found) > 1


def test_label_propagation_finds_cliques():
    A = gl.io.from_networkx(nx.ring_of_cliques(8, 12))
    expected = np.arange(96) // 12 * 12
    for seed in range(3):
        assert (asyn_lpa_communities(A, seed=seed).to_dense() == expected).all()
    assert (label_propagation_communities(A).to_dense() == expected).all()


def test_wrong_arguments_are_rejected():
    A = gl.Matrix.from_coo([0], [1], [-1], nrows=2, ncols=2)
    with pytest.raises(gl.exceptions.InvalidValue, match="must be symmetric"):
        label_propagation_communities(A)
    with pytest.raises(gl.exceptions.InvalidValue, match="A has weight -1 on edge 0 -> 1"):
        asyn_lpa_communities(A, weight=True)
    with pytest.raises(gl.exceptions.InvalidValue, match="seed is -2"):
        asyn_lpa_communities(A, seed=-2)
