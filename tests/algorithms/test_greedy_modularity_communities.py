"""Tests of communities by greedy maximization of modularity."""

from __future__ import annotations

from collections import defaultdict

import pytest
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import greedy_modularity_communities
from graphla.compilers.numba import is_installed

nx = pytest.importorskip("networkx")
pytestmark = pytest.mark.cpu


def parts(labels: gl.Vector) -> set[frozenset[int]]:
    """Return the communities; verify that each label is the smallest vertex of its community."""
    assert labels.dtype == "INT64"
    found = defaultdict(set)
    for v, label in labels.to_dict().items():
        found[label].add(v)
    assert all(label == min(part) for label, part in found.items())
    return set(map(frozenset, found.values()))


@settings(max_examples=80)
@given(graphs(weights=st.integers(1, 4)), st.booleans(), st.sampled_from([0.5, 1, 2]), st.data())
def test_greedy_modularity_communities_match_networkx(graph, weight, resolution, data):
    cutoff = data.draw(st.integers(1, graph.n))
    options = {"weight": "weight" if weight else None, "resolution": resolution, "cutoff": cutoff}
    expected = nx.community.greedy_modularity_communities(graph.networkx(), **options)
    found = greedy_modularity_communities(graph.matrix(), **options, directed=not graph.undirected)
    assert parts(found) == set(map(frozenset, expected))


@pytest.mark.parametrize("best_n", [None, 12])
@pytest.mark.parametrize("make", [nx.barabasi_albert_graph, nx.gnm_random_graph])
def test_the_communities_of_a_larger_graph_are_the_same_with_and_without_compiled_loops(
    make, best_n
):
    G = make(150, 3 if make is nx.barabasi_albert_graph else 300, seed=5)
    G = G.subgraph(max(nx.connected_components(G), key=len))
    G = nx.convert_node_labels_to_integers(G)
    expected = nx.community.greedy_modularity_communities(G, best_n=best_n)
    for compiled in (False, True) if is_installed() else (False,):
        with gl.config.set(compiled=compiled):
            found = greedy_modularity_communities(gl.io.from_networkx(G), best_n=best_n)
        assert parts(found) == set(map(frozenset, expected))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cutoff": 0}, "cutoff is 0, but must be at least 1"),
        ({"cutoff": 2, "best_n": 1}, "best_n is 1, but must be at least 2"),
        ({"resolution": -1}, "resolution is -1, but must lie between 0 and inf"),
        ({"weight": True}, "A has weight -1 on edge"),
    ],
)
def test_wrong_arguments_are_rejected(arguments, message):
    A = gl.Matrix.from_coo([0, 1], [1, 0], [-1, -1])
    with pytest.raises(gl.exceptions.InvalidValue, match=message):
        greedy_modularity_communities(A, **arguments)


def test_an_asymmetric_matrix_that_is_treated_as_undirected_is_rejected():
    A = gl.generators.uniform(30, 80, seed=1, symmetric=False)
    claimed = gl.Matrix.from_csr(*A.to_csr(), ncols=30, symmetric=True)
    with pytest.raises(gl.exceptions.InvalidValue, match="but none"):
        greedy_modularity_communities(A, directed=False)
    with pytest.raises(gl.exceptions.InvalidValue, match="symmetric=True, but is not"):
        greedy_modularity_communities(claimed)
