"""Tests of topological orders, cycles, longest paths, condensations and transitive reductions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from graphs import Edges, graphs, halves
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    HasCycle,
    ancestors,
    condensation,
    dag_longest_path,
    dag_longest_path_length,
    descendants,
    find_cycle,
    is_directed_acyclic_graph,
    lowest_common_ancestors,
    topological_generations,
    topological_sort,
    transitive_reduction,
)
from graphla.algorithms.topological_sort import count_generations, definition
from graphla.algorithms.transitive_reduction import definition as definition_of_reduction

# Run fewer examples, because each of them runs many loops.
few = settings(max_examples=settings().max_examples // 3)


@st.composite
def dags(draw, weights=None, dtype="INT64"):
    """Draw a directed graph without cycles, whose vertices are in any order."""
    graph = draw(graphs(undirected=False, loops=False, weights=weights, dtype=dtype))
    kept = [(i, j, w) for i, j, w in graph if i < j]
    ends, values = tuple((i, j) for i, j, _ in kept), tuple(w for *_, w in kept)
    ordered = Edges(graph.n, ends, values, dtype=dtype)
    return ordered.relabeled(draw(st.permutations(range(graph.n))))


signed = st.integers(-3, 9)
weighted = st.one_of(dags(signed), dags(signed.map(lambda k: k / 2), "FP64"), dags(halves, "FP64"))


# --- orders and cycles --------------------------------------------------------------------------


@few
@given(st.one_of(dags(), graphs(undirected=False)))
def test_topological_generations_and_orders_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    assert is_directed_acyclic_graph(A) == nx.is_directed_acyclic_graph(G)
    try:
        expected = [sorted(each) for each in nx.topological_generations(G)]
    except nx.NetworkXUnfeasible:
        for sort in (topological_sort, topological_generations):
            with pytest.raises(HasCycle, match="A has a cycle through vertex") as raised:
                sort(A)
            cycle = raised.value.cycle
            assert set(pairwise([*cycle, cycle[0]])) <= set(graph.ends)
        return
    assert topological_generations(A) == expected
    assert topological_sort(A) == [v for each in expected for v in each]


@few
@given(graphs(undirected=False))
def test_removing_one_generation_at_a_time_gives_the_same_topological_generations(graph):
    A = graph.matrix()
    assert definition(A).isequal(count_generations(A))


@given(graphs(), st.data())
def test_a_cycle_is_found_if_and_only_if_networkx_finds_one(graph, data):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    sources = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=2))
    cycle = find_cycle(A, sources, directed=not graph.undirected)
    try:
        nx.find_cycle(G, sources)
    except nx.NetworkXNoCycle:
        assert cycle is None
        return
    assert cycle is not None
    assert cycle[0] == cycle[-1] and len(set(cycle)) == len(cycle) - 1
    assert set(pairwise(cycle)) <= set(graph.ends)
    assert not graph.undirected or len(cycle) != 3
    if sources is not None:
        assert any(nx.has_path(G, s, cycle[0]) for s in sources)


def test_an_undirected_graph_has_no_topological_order():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c")])
    assert not is_directed_acyclic_graph(G)
    assert find_cycle(G) is None
    with pytest.raises(HasCycle, match="cycle through vertex 'a'") as raised:
        topological_sort(G)
    assert raised.value.cycle == ["a", "b"]


def test_results_use_the_vertex_labels_of_the_graph():
    G = gl.Graph.from_edges([("c", "a", 3), ("a", "b", 1), ("c", "b", 2)], directed=True)
    assert topological_sort(G) == ["c", "a", "b"]
    assert topological_generations(G) == [["c"], ["a"], ["b"]]
    assert dag_longest_path(G) == ["c", "a", "b"]
    assert descendants(G, "a").to_dict() == {"b": True}
    assert ancestors(G, "b").to_dict() == {"c": True, "a": True}
    assert transitive_reduction(G).to_dicts() == {"c": {"a": 3}, "a": {"b": 1}}
    assert condensation(G).component.to_dict() == {"c": 0, "a": 1, "b": 2}
    assert find_cycle(G.add_edges([("b", "a")])) == ["a", "b", "a"]


def test_a_path_of_3000_vertices_is_sorted_topologically():
    n = 3000
    order = np.random.default_rng(1).permutation(n)
    A = gl.Matrix.from_coo(order[:-1], order[1:], 2, nrows=n, ncols=n)
    with gl.config.set(device="cpu"):
        A = A.to("cpu")
        assert topological_sort(A) == order.tolist()
        assert dag_longest_path(A) == order.tolist()
        assert dag_longest_path_length(A) == 2 * (n - 1)


@pytest.mark.parametrize("n", [0, 1])
def test_a_graph_without_edges_has_one_topological_generation(n):
    A = gl.Matrix(int, n, n)
    assert topological_sort(A) == list(range(n)) == dag_longest_path(A)
    assert topological_generations(A) == [[0]][:n]
    assert dag_longest_path_length(A) == 0
    assert is_directed_acyclic_graph(A)
    assert condensation(A).matrix.shape == (n, n)
    assert transitive_reduction(A).isequal(A)
    assert find_cycle(A) is None


# --- longest paths ------------------------------------------------------------------------------


@given(weighted)
def test_a_longest_path_has_the_length_that_networkx_finds(graph):
    nx = pytest.importorskip("networkx")
    A, G = graph.matrix(), graph.networkx()
    weights = {(u, v): w for u, v, w in graph}
    path, length = dag_longest_path(A), dag_longest_path_length(A)
    assert length == sum(weights[edge] for edge in pairwise(path))
    assert length == nx.dag_longest_path_length(G)
    assert dag_longest_path_length(A, None) == nx.dag_longest_path_length(G, weight=None)
    assert type(length) is (float if graph.dtype == "FP64" else int)


def test_longest_path_rejects_cycles_and_nan_weights():
    loop = gl.Matrix.from_coo([0, 1, 2], [1, 2, 1], 1, nrows=3, ncols=3)
    for find in (dag_longest_path, dag_longest_path_length, transitive_reduction):
        with pytest.raises(HasCycle) as raised:
            find(loop)
        assert raised.value.cycle == [1, 2]
    with pytest.raises(ValueError, match="A has weight nan on edge 0 -> 1"):
        dag_longest_path(gl.Matrix.from_coo([0], [1], [float("nan")], nrows=2, ncols=2))


# --- reachability -------------------------------------------------------------------------------


@few
@given(graphs(), st.data())
def test_descendants_and_ancestors_match_networkx(graph, data):
    nx = pytest.importorskip("networkx")
    v = data.draw(st.integers(0, graph.n - 1))
    A, G = graph.matrix(), graph.networkx()
    assert descendants(A, v).to_dict().keys() == nx.descendants(G, v)
    assert ancestors(A, v).to_dict().keys() == nx.ancestors(G, v)


@few
@given(graphs(undirected=False))
def test_the_condensation_matches_networkx(graph):
    nx = pytest.importorskip("networkx")
    C = nx.condensation(graph.networkx())
    matrix, component = condensation(graph.matrix())
    numbers = component.to_dense().tolist()
    firsts = [numbers.index(c) for c in range(matrix.nrows)]
    assert firsts == sorted(firsts) == sorted(min(each) for _, each in C.nodes(data="members"))
    members = C.graph["mapping"]
    renamed = {members[v]: c for v, c in enumerate(numbers)}
    rows, columns, _ = matrix.to_coo()
    found = set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert found == {(renamed[u], renamed[v]) for u, v in C.edges}


@few
@given(dags(st.integers(1, 9)))
def test_the_transitive_reduction_matches_networkx(graph):
    nx = pytest.importorskip("networkx")
    A = graph.matrix()
    rows, columns, values = transitive_reduction(A).to_coo()
    expected = nx.transitive_reduction(graph.networkx()).edges
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == set(expected)
    assert values.tolist() == [A[i, j].value for i, j in zip(rows, columns, strict=True)]


@pytest.mark.parametrize("n", [61, 62, 63, 200])
def test_the_transitive_reduction_of_a_larger_graph_equals_its_definition(n):
    generator = np.random.default_rng(n)
    i, j = generator.integers(0, n, (2, 4 * n))
    names = generator.permutation(n)
    shape = {"nrows": n, "ncols": n}
    A = gl.Matrix.from_coo(names[i[i < j]], names[j[i < j]], 2, dup_op="any", **shape)
    found = transitive_reduction(A)
    assert found.isequal(definition_of_reduction(A))
    assert 0 < found.nvals < A.nvals


def test_a_longest_path_whose_length_overflows_int64_raises_an_error():
    A = gl.Matrix.from_coo([0, 1, 0], [1, 2, 2], [2**62, 2**62, 5], nrows=3, ncols=3)
    for find in (dag_longest_path, dag_longest_path_length):
        with pytest.raises(OverflowError, match="INT64 does not hold"):
            find(A)
    assert dag_longest_path_length(gl.select.offdiag(A.select("<", 2**62).new())) == 5
    B = gl.Matrix.from_coo([0, 1], [1, 2], [2**62, 2**62 - 2**12], nrows=3, ncols=3)
    assert dag_longest_path_length(B) == 2**63 - 2**12


@few
@given(dags(), st.data())
def test_no_descendant_of_a_lowest_common_ancestor_is_also_a_common_ancestor(graph, data):
    nx = pytest.importorskip("networkx")
    A, G, n = graph.matrix(), graph.networkx(), graph.n
    ends = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends), max_size=4)) if n else []
    every = [(i, j) for i in range(n) for j in range(i, n)]
    above = {v: nx.ancestors(G, v) | {v} for v in G}
    for asked, given_pairs in ((pairs, pairs), (every, None)):
        found = lowest_common_ancestors(A, given_pairs)
        assert len(found) == len(asked)
        for (u, v), w in zip(asked, found.tolist(), strict=True):
            common = above[u] & above[v]
            assert w in common if common else w == -1
            assert not any(w in above[x] for x in common - {w})
