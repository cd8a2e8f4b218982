from __future__ import annotations

import pytest
from graphs import graphs, with_order
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import core_numbers, k_core, k_corona, k_crust, k_shell, onion_layers
from graphla.algorithms.cores import definition

simple = graphs(loops=False)


def way(graph) -> bool | None:
    """Return the argument `directed`: True for a directed graph, even a symmetric one."""
    return None if graph.undirected else True


@given(simple)
def test_core_numbers_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    found = core_numbers(graph.matrix(), directed=way(graph))
    assert found.to_dict() == nx.core_number(graph.networkx())
    assert found.isequal(definition(graph.matrix(), directed=way(graph)), check_dtype=True)


@given(simple, st.none() | st.integers(0, 4))
def test_the_k_core_matches_networkx(graph, k):
    nx = pytest.importorskip("networkx")
    edges = set(nx.k_core(graph.networkx(), k).edges())
    if graph.undirected:
        edges |= {(j, i) for i, j in edges}
    A = graph.matrix()
    core = k_core(A, k, directed=way(graph))
    assert core.shape == A.shape
    assert {(i, j) for i, row in core.to_dicts().items() for j in row} == edges
    assert core.isequal(A.dup(mask=core.S), check_dtype=True)
    numbers = core_numbers(A, directed=way(graph))
    assert core.isequal(k_core(A, k, numbers))
    assert core.isequal(k_core(A, k, numbers.to_dict()))


@given(simple, st.none() | st.integers(0, 4))
@pytest.mark.parametrize("part", [k_shell, k_crust, k_corona], ids=lambda each: each.__name__)
def test_the_k_shell_and_k_crust_and_k_corona_match_networkx(part, graph, k):
    nx = pytest.importorskip("networkx")
    k = 2 if part is k_corona and k is None else k
    edges = set(getattr(nx, part.__name__)(graph.networkx(), k).edges())
    if graph.undirected:
        edges |= {(j, i) for i, j in edges}
    A, numbers = graph.matrix(), core_numbers(graph.matrix(), directed=way(graph))
    found = part(A, k, directed=way(graph))
    assert found.shape == A.shape
    assert {(i, j) for i, row in found.to_dicts().items() for j in row} == edges
    assert found.isequal(A.dup(mask=found.S), check_dtype=True)
    assert found.isequal(part(A, k, numbers))
    assert found.isequal(part(A, k, numbers.to_dict()))


@given(graphs(loops=False, undirected=True))
def test_onion_layers_match_networkx(graph):
    nx = pytest.importorskip("networkx")
    found = onion_layers(graph.matrix())
    assert found.dtype == "INT64"
    assert found.to_dict() == nx.onion_layers(graph.networkx())


def test_onion_layers_reject_self_loops_and_directed_graphs():
    with pytest.raises(gl.exceptions.InvalidValue, match="A has a self-loop at vertex 1"):
        onion_layers(gl.Matrix.from_coo([1], [1], 1))
    with pytest.raises(gl.exceptions.InvalidValue, match="must be symmetric"):
        onion_layers(gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2))


@given(with_order(simple))
def test_relabeling_and_reversal_preserve_core_numbers(ordered):
    graph, order = ordered
    directed = way(graph)
    numbers = core_numbers(graph.matrix(), directed=directed).to_dict()
    relabeled = core_numbers(graph.relabeled(order).matrix(), directed=directed).to_dict()
    assert relabeled == {order[v]: k for v, k in numbers.items()}
    assert core_numbers(graph.matrix().T.new(), directed=directed).to_dict() == numbers
    wider = core_numbers(graph.wider().matrix(), directed=directed).to_dict()
    assert wider == {**numbers, graph.n: 0}


def test_a_symmetric_matrix_is_undirected_by_default_but_can_be_treated_as_directed():
    ends = [0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]
    for symmetric in (False, True):
        A = gl.Matrix.from_coo(*ends, 1.5, nrows=3, ncols=3, symmetric=symmetric)
        assert core_numbers(A).to_dense().tolist() == [2, 2, 2]
        assert core_numbers(A, directed=True).to_dense().tolist() == [4, 4, 4]
    with pytest.raises(ValueError, match="A has an edge 0 -> 1 but none 1 -> 0"):
        core_numbers(gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2), directed=False)


def test_self_loops_are_rejected():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 0, 2], 1, nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has a self-loop at vertex 2, but cores are of graphs"):
        core_numbers(A)


def test_core_numbers_of_graphs_without_edges_are_zero():
    for n in (0, 1, 3):
        A = gl.Matrix(bool, n, n)
        assert core_numbers(A).to_dense().tolist() == [0] * n
        assert k_core(A).nvals == k_core(A, 5).nvals == 0


def test_invalid_arguments_are_rejected():
    A = gl.Matrix(bool, 3, 3)
    with pytest.raises(ValueError, match="k is -1, but must be at least 0"):
        k_core(A, -1)
    with pytest.raises(gl.exceptions.DimensionMismatch, match="core_number has size 2, but A has"):
        k_core(A, 1, gl.Vector(int, 2))
    with pytest.raises(TypeError, match="core_number must be a Vector or a mapping from vertex"):
        k_core(A, 1, "x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(IndexError, match="core_number has 9, but the vertices are 0 to 2"):
        k_core(A, 1, {9: 1})
