from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from graphs import Edges, graphs, with_order
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from verifiers import verify_pagerank

import graphla as gl
from graphla import Vector
from graphla.algorithms import ConvergenceError, pagerank
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.operations.accelerate import PageRank

algebra = import_module("graphla.algorithms.pagerank")
alphas = st.sampled_from([0.0, 0.5, 0.85, 0.95])
patient = {"tol": 1e-11, "max_iter": 5000}


@settings(max_examples=40)
@given(graphs(), alphas)
def test_one_more_round_changes_ranks_by_less_than_the_tolerance(graph, alpha):
    rank = pagerank(graph.matrix(), alpha, tol=1e-9 / graph.n, max_iter=5000)
    verify_pagerank(graph, rank.to_dense(), alpha, 1e-9)


@settings(max_examples=40)
@given(graphs(weights=st.integers(1, 9)), alphas, st.booleans())
def test_ranks_match_networkx(graph, alpha, weighted):
    nx = pytest.importorskip("networkx")
    weight = "weight" if weighted else None
    expected = nx.pagerank(graph.networkx(), alpha, max_iter=5000, tol=1e-12, weight=weight)
    rank = pagerank(graph.matrix(), alpha, weight=weight, **patient)
    assert np.allclose(rank.to_dense(), [expected[v] for v in range(graph.n)], atol=1e-8)


@settings(max_examples=40)
@given(graphs(), st.data())
def test_ranks_match_networkx_if_only_some_vertices_have_a_personalization_value(graph, data):
    nx = pytest.importorskip("networkx")
    vertices = st.integers(0, graph.n - 1)
    favors = data.draw(st.dictionaries(vertices, st.integers(0, 4), min_size=1))
    assume(sum(favors.values()))
    rank = pagerank(graph.matrix(), personalization=favors, **patient)
    G = graph.networkx()
    expected = nx.pagerank(G, max_iter=5000, tol=1e-12, personalization=favors)
    assert np.allclose(rank.to_dense(), [expected[v] for v in range(graph.n)], atol=1e-8)
    as_vector = gl.Vector.from_dict(favors, float, size=graph.n)
    assert pagerank(graph.matrix(), personalization=as_vector, **patient).isclose(rank)


@settings(max_examples=40)
@given(graphs(weights=st.integers(1, 9)), st.data())
def test_ranks_with_personalization_and_nstart_and_dangling_match_networkx(graph, data):
    nx = pytest.importorskip("networkx")
    some = st.dictionaries(st.integers(0, graph.n - 1), st.integers(1, 4), min_size=1)
    given_ = {name: data.draw(some) for name in ("personalization", "nstart", "dangling")}
    expected = nx.pagerank(graph.networkx(), max_iter=5000, tol=1e-12, **given_)
    rank = pagerank(graph.matrix(), **given_, **patient)
    assert np.allclose(rank.to_dense(), [expected[v] for v in range(graph.n)], atol=1e-8)


@settings(max_examples=40)
@given(graphs(), alphas)
def test_ranks_in_single_precision_are_close_to_those_in_double_precision(graph, alpha):
    A = graph.matrix()
    # The error is at most alpha / (1 - alpha) * n * tol.
    rank = pagerank(A, alpha, tol=1e-6, max_iter=5000, dtype="FP32")
    assert rank.dtype == "FP32"
    exact = pagerank(A, alpha, **patient).to_dense()
    assert np.allclose(rank.to_dense(), exact, atol=1e-3)


@settings(max_examples=40)
@given(graphs(weights=st.integers(1, 9)), alphas, st.booleans())
def test_device_loops_give_the_same_ranks_as_the_definition(graph, alpha, weight):
    A, n = graph.matrix(), graph.n
    jump = fall = Vector.from_dense(np.full(n, 1 / n))
    share = algebra._share(A, alpha, jump.dtype, weight)
    rank = algebra._first_ranks(A, share, jump, alpha)
    request = PageRank(A, share, rank, jump, fall, alpha, weight, 1e-6 * n, 999)
    told, _ = algebra.definition(request)
    with gl.config.set(deterministic=True):
        found = pagerank(A, alpha, max_iter=999, weight=weight)
    assert found.isclose(told, abs_tol=1e-12)


def exact_ranks(A, alpha):
    """Return the ranks as the solution of a system of linear equations."""
    steps = (A.to_dense(fill_value=0) != 0).astype(float)
    steps[~steps.any(axis=1)] = 1  # from a vertex without out-edges, a walk jumps to any vertex
    steps /= steps.sum(axis=1, keepdims=True)
    return np.linalg.solve(np.eye(A.nrows) - alpha * steps.T, np.full(A.nrows, 1 - alpha) / A.nrows)


@settings(max_examples=40)
@given(graphs(), alphas, st.sampled_from([1e-4, 1e-6]))
def test_the_size_of_the_last_change_bounds_the_error_of_the_ranks(graph, alpha, tol):
    A = graph.matrix()
    error = abs(pagerank(A, alpha, tol=tol, max_iter=5000).to_dense() - exact_ranks(A, alpha))
    # In-place rounds normalize the ranks so that they sum to 1, which may double the error.
    assert error.sum() <= 2 * alpha / (1 - alpha) * graph.n * tol + 1e-12


@settings(max_examples=40)
@given(graphs())
def test_pagerank_converges_in_one_round_when_started_from_its_own_result(graph):
    rank = pagerank(graph.matrix(), **patient)
    again = pagerank(graph.matrix(), nstart=rank, max_iter=1)
    assert again.isclose(rank, abs_tol=1e-9)


@settings(max_examples=40)
@given(with_order(graphs()))
def test_relabeled_vertices_keep_their_ranks(ordered):
    graph, order = ordered
    rank = pagerank(graph.matrix(), **patient).to_dense()
    relabeled = pagerank(graph.relabeled(order).matrix(), **patient).to_dense()
    assert np.allclose(relabeled[order], rank, atol=1e-8)


def test_all_vertices_of_a_graph_without_edges_have_the_same_rank():
    rank = pagerank(gl.Matrix(bool, 4, 4))
    assert rank.to_dense().tolist() == [0.25] * 4


def test_an_empty_graph_has_no_ranks():
    assert pagerank(gl.Matrix(bool, 0, 0)).size == 0


def test_pagerank_that_does_not_converge_raises_an_error_that_reports_the_last_change():
    A = Edges(3, ((0, 1), (1, 2), (2, 0), (0, 2)), (1,) * 4).matrix()
    with pytest.raises(ConvergenceError, match="max_iter is 2, but PageRank still changed"):
        pagerank(A, max_iter=2)


def test_pagerank_without_jumps_may_not_converge():
    A = Edges(3, ((0, 1), (1, 0), (2, 0)), (1,) * 3).matrix()
    with pytest.raises(ConvergenceError):
        pagerank(A, alpha=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.5}, "alpha is 1.5, but must lie between 0 and 1"),
        ({"tol": -1}, "tol is -1, but must lie between 0 and inf"),
        ({"tol": float("nan")}, "tol is nan, but must lie between 0 and inf"),
        ({"max_iter": 0}, "max_iter is 0, but must be at least 1"),
        ({"personalization": {0: 0.0}}, "personalization must be finite, nowhere below 0"),
        ({"personalization": {0: 2.0, 1: -1.0}}, "personalization must be finite, nowhere below"),
        ({"personalization": gl.Vector(float, 5)}, "personalization has size 5, but A has 3"),
    ],
)
def test_invalid_arguments_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        pagerank(gl.Matrix(bool, 3, 3), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": "high"}, "alpha must be a number, not 'high'"),
        ({"max_iter": 3.0}, "max_iter must be an integer, not 3.0"),
        ({"personalization": [1, 2, 3]}, "personalization must be a Vector or a mapping"),
    ],
)
def test_arguments_of_the_wrong_type_are_rejected(options, message):
    with pytest.raises(TypeError, match=message):
        pagerank(gl.Matrix(bool, 3, 3), **options)


def test_a_negative_weight_is_rejected_if_weights_are_used():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, -3], nrows=3, ncols=3)
    assert pagerank(A, weight=None).nvals == 3
    with pytest.raises(ValueError, match="A has weight -3 on edge 1 -> 2, but"):
        pagerank(A, weight=True)


@pytest.mark.parametrize("weights", [(1e308, 1e308), (float("inf"), 1.0)])
def test_weights_that_add_up_to_infinity_are_rejected_if_weights_are_used(weights):
    A = gl.Matrix.from_coo([1, 1], [0, 2], weights, nrows=3, ncols=3)
    assert pagerank(A, weight=None).nvals == 3
    with pytest.raises(ValueError, match="A has weights out of vertex 1 that add up to inf, but"):
        pagerank(A, weight=True)


@pytest.mark.parametrize(
    ("weight", "dtype"), [(5e-324, "FP64"), (1e-310, "FP64"), (1e-39, "FP32"), (1e39, "FP32")]
)
def test_weights_too_small_or_too_large_for_the_dtype_are_rejected(weight, dtype):
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1.0, weight], nrows=2, ncols=2)
    assert pagerank(A, weight=None, dtype=dtype).nvals == 2
    with pytest.raises(ValueError, match=r"A has weights out of vertex 1 that add up to .*, but"):
        pagerank(A, dtype=dtype)


@pytest.mark.cpu
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("deterministic", [False, True])
def test_ranks_in_single_precision_count_as_converged_when_they_no_longer_change(
    compiled, deterministic
):
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1, nrows=3, ncols=3)
    if compiled:
        pytest.importorskip("numba")
    with gl.config.set(compiled=compiled, deterministic=deterministic):
        rank = pagerank(A, 0.1, tol=1e-20, dtype="FP32", nstart={0: 1})
    assert np.allclose(rank.to_dense(), 1 / 3)


@pytest.mark.cpu
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("weight", [False, True])
def test_any_number_of_threads_gives_the_ranks_of_the_definition(threads, weight):
    """The path, the grid and the Kronecker graph have rows of all lengths."""
    pytest.importorskip("numba")
    path = gl.Matrix.from_coo(np.arange(98), np.arange(1, 99), True, nrows=100, ncols=100)
    for A in (path, gl.generators.grid(30, 31), gl.generators.kronecker(8, seed=3)):
        B = gl.binary.plus(gl.unary.one["FP64"](A), 0.25).new()
        (i, j, x) = B.to_coo()
        B = gl.Matrix.from_coo(i, j, x + j % 3, nrows=A.nrows, ncols=A.ncols)
        with gl.config.set(compiled=False):
            expected = pagerank(B, weight=weight, **patient)
        for deterministic in (False, True):
            with (
                gl.config.set(compiled=True, threads=threads, deterministic=deterministic),
                using(PartsTuning(parallel=1)),
            ):
                found = pagerank(B, weight=weight, **patient)
                assert np.allclose(found.to_dense(), expected.to_dense(), rtol=0, atol=1e-8)
                if deterministic:
                    assert pagerank(B, weight=weight, **patient).isequal(found)
