from __future__ import annotations

import numpy as np
import pytest
from graphs import Edges, edges_of, graphs, with_order, with_source
from hypothesis import given
from hypothesis import strategies as st
from verifiers import verify_bfs

import graphla as gl
from graphla.algorithms import bfs
from graphla.algorithms.bfs import definition

rooted = with_source(graphs())


@given(rooted)
def test_levels_and_parents_form_a_valid_breadth_first_search(rooted):
    graph, source = rooted
    levels, parents = bfs(graph.matrix(), source)
    verify_bfs(graph, source, levels.to_dict(), parents.to_dict())


@given(rooted)
def test_levels_match_shortest_path_lengths_of_networkx(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    expected = nx.single_source_shortest_path_length(graph.networkx(), source)
    assert bfs(graph.matrix(), source).levels.to_dict() == dict(expected)


@given(rooted)
def test_push_and_pull_give_the_same_levels(rooted):
    graph, source = rooted
    with gl.direction("push"):
        pushed = bfs(graph.matrix(), source)
    with gl.direction("pull"):
        pulled = bfs(graph.matrix(), source)
    assert pushed.levels.isequal(pulled.levels)
    verify_bfs(graph, source, pushed.levels.to_dict(), pushed.parents.to_dict())
    verify_bfs(graph, source, pulled.levels.to_dict(), pulled.parents.to_dict())


@given(rooted, st.integers(0, 5))
def test_a_search_with_a_cutoff_returns_only_the_levels_up_to_the_cutoff(rooted, cutoff):
    graph, source = rooted
    levels, parents = bfs(graph.matrix(), source, cutoff=cutoff)
    whole = bfs(graph.matrix(), source).levels.to_dict()
    assert levels.to_dict() == {v: level for v, level in whole.items() if level <= cutoff}
    assert parents.to_dict().keys() == levels.to_dict().keys()


@given(rooted, st.integers(0, 12))  # graphs have at most 12 vertices
def test_the_algebraic_definition_gives_the_same_levels_as_the_device_search(rooted, limit):
    graph, source = rooted
    A = graph.matrix()
    levels, parents = definition(A, source, cutoff=limit)
    assert levels.to_dict() == bfs(A, source, cutoff=limit).levels.to_dict()
    assert parents.to_dict().keys() == levels.to_dict().keys()
    if limit >= graph.n:
        verify_bfs(graph, source, levels.to_dict(), parents.to_dict())


@given(with_order(graphs()), st.data())
def test_relabeled_vertices_keep_their_levels(ordered, data):
    graph, order = ordered
    source = data.draw(st.integers(0, graph.n - 1))
    levels = bfs(graph.matrix(), source).levels.to_dict()
    relabeled = bfs(graph.relabeled(order).matrix(), order[source]).levels.to_dict()
    assert relabeled == {order[v]: level for v, level in levels.items()}


@given(with_source(graphs(weights=st.sampled_from([0, 1, 7]))))
def test_a_search_follows_all_edges_including_those_with_value_zero(rooted):
    graph, source = rooted
    levels, parents = bfs(graph.matrix(), source)
    verify_bfs(graph, source, levels.to_dict(), parents.to_dict())


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FP64"])
def test_the_matrix_of_a_graph_may_have_any_dtype(dtype):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, 1], dtype=dtype, nrows=3, ncols=3)
    assert bfs(A, 0).levels.to_dict() == {0: 0, 1: 1, 2: 2}


def test_each_vertex_of_a_long_path_has_its_own_level():
    n = 300
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 1, nrows=n, ncols=n)
    levels, parents = bfs(A, 0)
    assert levels.to_dense().tolist() == list(range(n))
    assert parents.to_dense().tolist() == [0, *range(n - 1)]


def test_the_levels_and_parents_in_a_random_graph_with_thousands_of_edges_are_valid():
    A = gl.generators.kronecker(10, seed=3)
    source = int(A.to_coo()[0][0])
    levels, parents = bfs(A, source)
    verify_bfs(edges_of(A), source, levels.to_dict(), parents.to_dict())


def test_the_levels_and_parents_in_a_graph_of_one_vertex_are_valid_with_and_without_a_self_loop():
    for entries in ([], [0]):
        A = gl.Matrix.from_coo(entries, entries, True, bool, nrows=1, ncols=1)
        levels, parents = bfs(A, 0)
        assert (levels.to_dict(), parents.to_dict()) == ({0: 0}, {0: 0})


def test_a_search_does_not_change_the_graph():
    graph = Edges(3, ((0, 1), (1, 2)), (1, 1))
    A = graph.matrix()
    bfs(A, 0)
    assert A.isequal(graph.matrix())


# --- options ------------------------------------------------------------------------------------


@given(rooted)
def test_levels_as_uint8_equal_levels_as_int32(rooted):
    graph, source = rooted
    levels = bfs(graph.matrix(), source, levels="UINT8", parents=False).levels
    assert levels.dtype == "UINT8"
    assert levels.to_dict() == bfs(graph.matrix(), source).levels.to_dict()


def test_a_level_above_254_is_rejected_for_uint8():
    n = 300
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 1, nrows=n, ncols=n)
    with pytest.raises(OverflowError, match="254"):
        bfs(A, 0, levels="UINT8")
    levels = bfs(A, 0, levels="UINT8", cutoff=254).levels
    assert levels.to_dict() == {v: v for v in range(255)}


@given(rooted)
def test_bfs_can_return_the_smallest_valid_parent_of_each_vertex(rooted):
    graph, source = rooted
    levels, parents = (w.to_dict() for w in bfs(graph.matrix(), source, parents="least"))
    before = {
        v: min((u for u, w in graph.ends if w == v and levels.get(u) == level - 1), default=v)
        for v, level in levels.items()
    }
    assert parents == before


@given(graphs(), st.data())
def test_one_search_may_start_at_several_sources(graph, data):
    sources = data.draw(st.sets(st.integers(0, graph.n - 1)))
    A = graph.matrix()
    levels, parents = bfs(A, sorted(sources))
    verify_bfs(graph, sources, levels.to_dict(), parents.to_dict())
    for way in (
        gl.Vector.from_coo(sorted(sources), 0, size=graph.n),
        np.array([*sources, *sources], dtype=np.uint16),
    ):
        assert bfs(A, way, parents=False).levels.isequal(levels)


@given(rooted, st.data())
def test_a_search_avoids_vertices_outside_the_mask(rooted, data):
    graph, source = rooted
    forbidden = data.draw(st.sets(st.integers(0, graph.n - 1)))
    wall = gl.Vector.from_coo(sorted(forbidden), 1, size=graph.n)
    levels, parents = bfs(graph.matrix(), source, mask=~wall.S)
    allowed = tuple((u, v) for u, v in graph.ends if v not in forbidden or v == source)
    left = Edges(graph.n, allowed, (1,) * len(allowed))
    verify_bfs(left, source, levels.to_dict(), parents.to_dict())


def test_a_search_returns_only_the_requested_results():
    A = gl.Matrix.from_coo([0], [1], 1, nrows=3, ncols=3)
    levels, parents = bfs(A, 0, levels=None)
    assert levels is None
    assert parents.to_dict() == {0: 0, 1: 0}
    assert bfs(A, 0, parents=False).parents is None
    assert bfs(A, []).levels.nvals == bfs(A, []).parents.nvals == 0


@pytest.mark.parametrize("way", ["push", "pull"])
def test_a_recorder_records_each_level(way):
    A = gl.Matrix.from_coo([0, 1, 2, 2], [1, 2, 3, 4], 1, nrows=6, ncols=6)
    with gl.direction(way), gl.Recorder() as recorder:
        bfs(A, 0)
    events = [event for event in recorder.events if event.operation == "bfs"]
    assert [event.nvals_in for event in events][:3] == [1, 1, 1]
    assert all(event.direction.startswith(way) for event in events)
    assert all(event.seconds >= 0 for event in events)


def test_a_search_of_a_directed_graph_pulls_once_the_transpose_is_worth_building():
    rng = np.random.default_rng(3)
    ends = np.unique(rng.integers(0, 2000, (40_000, 2)), axis=0)
    A = gl.Matrix.from_coo(ends[:, 0], ends[:, 1], 1, nrows=2000, ncols=2000)
    forms = A._store
    first = bfs(A, 0, parents=False).levels
    assert not forms.has_csc
    owed = forms.add_loss(0.0)
    assert bfs(A, 0, parents=False).levels.isequal(first)
    assert forms.add_loss(0.0) > owed > 0
    forms.add_loss(1e12)
    with gl.Recorder() as recorder:
        assert bfs(A, 0, parents=False).levels.isequal(first)
    assert forms.has_csc
    assert any(event.direction.startswith("pull") for event in recorder.events)
