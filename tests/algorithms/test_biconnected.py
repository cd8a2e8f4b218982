"""Tests of bridges, articulation points, biconnected and k-edge-connected components."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from devices import DEVICE
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
from graphla.algorithms.biconnected import (
    definition,
    number_components,
    select_bridges,
    select_points,
)

BY_DEFINITION = select_bridges, select_points, number_components
"""What `bridges`, `articulation_points` and `biconnected_components` compute on a GPU."""


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


@given(graphs(undirected=True, weights=integers))
def test_the_definition_gives_the_results_of_the_search(graph):
    A, plain = graph.matrix(), graph.matrix().to("cpu")
    blocks = definition(A)
    with gl.config.set(device="cpu"):
        expected = bridges(plain), articulation_points(plain), biconnected_components(plain)
    for find, wanted in zip(BY_DEFINITION, expected, strict=True):
        assert find(A, blocks).to("cpu").isequal(wanted, check_dtype=True)


@st.composite
def joined_blocks(draw):
    """Draw a graph whose biconnected components are cliques, cycles and single edges.

    Return the matrix, and the list of the vertices of each component. The graph may have several
    connected components, isolated vertices and self-loops.
    """
    kinds = st.tuples(st.sampled_from(("clique", "cycle")), st.integers(2, 6), st.booleans())
    n, blocks, edges = draw(st.integers(1, 3)), [], []
    for kind, size, is_apart in draw(st.lists(kinds, max_size=7)):
        first = n if is_apart else draw(st.integers(0, n - 1))
        new = range(n + is_apart, n + is_apart + size - 1)
        members = [first, *new]
        n = members[-1] + 1
        blocks.append(members)
        if kind == "clique":
            edges += combinations(members, 2)
        else:
            edges += zip(members, [*members[1:], members[0]], strict=True)
    edges += [(v, v) for v in draw(st.sets(st.integers(0, n - 1)))]
    name = draw(st.permutations(range(n)))
    rows, columns = np.array(edges, np.int64).reshape(-1, 2).T
    rows, columns = np.array(name)[np.r_[rows, columns]], np.array(name)[np.r_[columns, rows]]
    dtype = draw(st.sampled_from(("BOOL", "INT8", "UINT64", "FP32", "FP64")))
    A = gl.Matrix.from_coo(rows, columns, 1, dtype, nrows=n, ncols=n, dup_op=gl.binary.any)
    return A, [{name[v] for v in members} for members in blocks]


@pytest.mark.parametrize("by_definition", [False, True])
@given(joined_blocks())
def test_components_that_share_vertices_are_found(by_definition, drawn):
    A, blocks = drawn
    if by_definition:
        B, a, C = (find(A, definition(A)) for find in BY_DEFINITION)
    else:
        B, a, C = bridges(A), articulation_points(A), biconnected_components(A)
    assert B.dtype == A.dtype
    assert set(edges_of(B)) == ordered(block for block in blocks if len(block) == 2)
    shared = Counter(v for block in blocks for v in block)
    assert a.to_dict() == {v: True for v in sorted(shared) if shared[v] > 1}
    found: dict[int, set[int]] = {}
    for edge, number in edges_of(C).items():
        found.setdefault(number, set()).update(edge)
    assert list(found) == list(range(len(blocks)))
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, blocks))


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_values_that_are_nan_or_zero_are_edges(dtype):
    values = [np.nan, np.nan, 0, 0]
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], values, dtype, nrows=3, ncols=3)
    for B in (bridges(A), select_bridges(A, definition(A))):
        assert B.isequal(A, check_dtype=True) or np.isnan(B.to_coo()[2]).tolist() == [1, 1, 0, 0]
    assert articulation_points(A).to_dict() == {1: True}
    assert biconnected_components(A).to_coo()[2].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("n", [3000])
def test_the_definition_finds_the_components_of_long_paths_and_cycles(n):
    order = np.random.default_rng(2).permutation(n)
    # A path, whose last vertex is also on a cycle of n / 2 vertices
    rows, columns = np.r_[order[:-1], order[-1]], np.r_[order[1:], order[n // 2]]
    A = gl.Matrix.from_coo(np.r_[rows, columns], np.r_[columns, rows], 1, nrows=n, ncols=n)
    blocks = definition(A)
    assert select_bridges(A, blocks).nvals == n
    assert set(select_points(A, blocks).to_coo()[0].tolist()) == set(order[1 : n // 2 + 1].tolist())
    assert np.unique(number_components(A, blocks).to_coo()[2]).size == n // 2 + 1


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
    assert find(gl.Matrix(int, 3, 3)).nvals == 0


@pytest.mark.parametrize("find", BY_DEFINITION)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_definition_accepts_graphs_without_edges(find, n):
    A = gl.Matrix(int, n, n)
    assert find(A, definition(A)).nvals == 0
    A = gl.Vector.from_scalar(1, n).diag()
    assert find(A, definition(A)).nvals == 0


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


def test_two_cliques_joined_by_two_edges_are_separate_three_edge_connected_components():
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
    # On a GPU, the functions end with some result, or raise the same error.
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
    assert errors or DEVICE != "cpu"
    assert all("must be symmetric" in error for error in errors)
