"""Tests of bridges, articulation points, biconnected and k-edge-connected components."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import graphs, integers
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    articulation_points,
    biconnected_components,
    bridges,
    k_edge_components,
)


def edges_of(A):
    rows, columns, values = gl.select.triu(A).new().to_coo()
    return dict(
        zip(zip(rows.tolist(), columns.tolist(), strict=True), values.tolist(), strict=True)
    )


def ordered(edges):
    return {(min(edge), max(edge)) for edge in edges}


@given(graphs(undirected=True, weights=integers))
def test_bridges_match_networkx_and_keep_their_edge_values(graph):
    nx = pytest.importorskip("networkx")
    A = graph.matrix()
    found = bridges(A)
    assert found.isequal(found.T.new()) and found.dtype == A.dtype
    expected = ordered(nx.bridges(graph.networkx()))
    assert edges_of(found) == {edge: w for edge, w in edges_of(A).items() if edge in expected}


@given(graphs(undirected=True))
def test_articulation_points_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    expected = nx.articulation_points(graph.networkx())
    assert articulation_points(graph.matrix()).to_dict() == dict.fromkeys(sorted(expected), True)


@given(graphs(undirected=True))
def test_biconnected_components_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    G = graph.networkx()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    found = biconnected_components(graph.matrix())
    assert found.isequal(found.T.new())
    components: dict[int, set] = {}
    for edge, number in edges_of(found).items():
        components.setdefault(number, set()).add(edge)
    assert list(components) == list(range(len(components)))
    expected = map(ordered, nx.biconnected_component_edges(G))
    assert sorted(map(sorted, components.values())) == sorted(map(sorted, expected))


def test_a_cycle_of_3000_vertices_is_one_component():
    n = 3000
    order = np.random.default_rng(1).permutation(n)
    edges = np.c_[order, np.roll(order, 1)]
    rows, columns = np.r_[edges, edges[:, ::-1]].T
    A = gl.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n)
    assert not bridges(A).nvals and not articulation_points(A).nvals
    assert set(biconnected_components(A).to_coo()[2].tolist()) == {0}
    rows, columns = np.r_[edges[1:], edges[1:, ::-1]].T
    A = gl.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n)
    assert bridges(A).isequal(A)
    assert articulation_points(A).nvals == n - 2


def test_results_use_the_vertex_labels_of_the_graph():
    G = gl.Graph.from_edges([("a", "b", 3), ("b", "c", 5), ("c", "d", 1), ("d", "b", 1)])
    assert bridges(G).to_dicts() == {"a": {"b": 3}, "b": {"a": 3}}
    assert articulation_points(G).to_dict() == {"b": True}
    assert biconnected_components(G).to_dicts()["b"] == {"a": 0, "c": 1, "d": 1}


@pytest.mark.parametrize("find", [bridges, articulation_points, biconnected_components])
def test_directed_graphs_are_rejected(find):
    with pytest.raises(ValueError, match="A has an edge 0 -> 1 but none 1 -> 0"):
        find(gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2))
    with pytest.raises(ValueError, match="A is a directed Graph"):
        find(gl.Graph.from_edges([(0, 1)], directed=True))
    assert find(gl.Matrix(int, 0, 0)).nvals == 0


# --- k-edge-connected components ----------------------------------------------------------------

few = settings(max_examples=settings().max_examples // 3)


@few
@given(graphs(least=2), st.integers(1, 5))
def test_k_edge_connected_components_match_networkx(graph, k):
    nx = pytest.importorskip("networkx")
    G = graph.networkx()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    expected = {min(part): part for part in nx.k_edge_components(G, k)}
    labels = k_edge_components(graph.matrix(), k, directed=not graph.undirected).to_dict()
    assert {v: {u for u in labels if labels[u] == v} for v in labels.values()} == expected


def test_the_3_edge_components_of_two_cliques_joined_by_two_edges_are_the_cliques():
    G = gl.Graph.from_edges(
        [(u, v) for part in ("abcd", "wxyz") for u in part for v in part if u < v]
        + [("a", "w"), ("b", "x")]
    )
    assert set(k_edge_components(G, 2).to_dict().values()) == {"a"}
    assert k_edge_components(G, 3).to_dict() == {v: "aw"[v > "d"] for v in "abcdwxyz"}
    # Four paths join a and b: the edge, a path through c, a path through d, and one through w and
    # x.
    assert k_edge_components(G, 4).to_dict() == dict(zip("abcdwxyz", "aacdwwyz", strict=True))
    with pytest.raises(ValueError, match="k is 0, but must be at least 1"):
        k_edge_components(G, 0)


@pytest.mark.parametrize("function", [bridges, biconnected_components])
def test_an_asymmetric_matrix_that_is_declared_symmetric_is_rejected(function):
    generator, errors = np.random.default_rng(1), []
    for _ in range(60):
        n = int(generator.integers(2, 7))
        rows, columns = generator.integers(0, n, (2, 6))
        options = {"dup_op": gl.binary.any, "nrows": n, "ncols": n}
        A = gl.Matrix.from_coo(rows, columns, 1, symmetric=True, **options)
        try:
            function(A)
        except gl.exceptions.InvalidValue as error:
            errors.append(str(error))
    assert errors
    assert all("must be symmetric" in error for error in errors)
