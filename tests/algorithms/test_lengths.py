from __future__ import annotations

import numpy as np
import pytest
from graphs import graphs, halves, integers, magnitudes, with_order
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import algorithms
from graphla.algorithms import all_pairs_lengths, bfs, bfs_levels, closeness, eccentricity

cutoffs = st.none() | st.integers(0, 4)


def table(levels) -> np.ndarray:
    return gl.backends.backend(gl.config.device).to_host(levels)


@given(graphs(), cutoffs, st.data())
def test_levels_equal_those_of_a_separate_search_from_each_source(graph, cutoff, data):
    A = graph.matrix()
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=8))
    allowed = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), unique=True))
    mask = None if allowed is None else gl.Vector.from_coo(allowed, True, bool, size=graph.n).S
    found = table(bfs_levels(A, sources, cutoff=cutoff, mask=mask))
    narrow = table(bfs_levels(A, sources, cutoff=cutoff, mask=mask, dtype="UINT8"))
    assert found.shape == narrow.shape == (len(sources), graph.n)
    assert found.dtype == np.int32 and narrow.dtype == np.uint8
    assert (found.astype(np.uint8) == narrow).all()
    for row, source in zip(found, sources, strict=True):
        levels = bfs(A, source, cutoff=cutoff, mask=mask).levels.to_dict()
        assert row.tolist() == [levels.get(v, -1) for v in range(graph.n)]


@pytest.mark.parametrize("count", [63, 64, 65, 130])
def test_any_number_of_sources_is_accepted(count):
    n = 150
    A = gl.Matrix.from_coo(np.arange(n), (np.arange(n) + 1) % n, 1, nrows=n, ncols=n)
    sources = np.random.default_rng(count).integers(0, n, count)
    expected = (np.arange(n) - sources[:, None]) % n
    assert (table(bfs_levels(A, sources)) == expected).all()
    assert (table(bfs_levels(A, sources.tolist(), dtype="UINT8")) == expected).all()


def test_a_level_above_254_is_rejected_for_uint8():
    n = 300
    A = gl.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), 1, nrows=n, ncols=n)
    assert table(bfs_levels(A, [n - 255], dtype="UINT8"))[0, -1] == 254
    with pytest.raises(OverflowError):
        bfs_levels(A, [0], dtype="UINT8")


@given(graphs(), cutoffs)
def test_all_pairs_path_lengths_match_networkx(graph, cutoff):
    nx = pytest.importorskip("networkx")
    lengths = dict(nx.all_pairs_shortest_path_length(graph.networkx(), cutoff=cutoff))
    found = all_pairs_lengths(graph.matrix(), cutoff=cutoff)
    assert found.shape == (graph.n, graph.n)
    assert found.to_dicts() == {v: dict(sorted(row.items())) for v, row in lengths.items()}


@given(graphs(), st.data())
def test_path_lengths_from_some_sources_are_rows_of_the_full_result(graph, data):
    A = graph.matrix()
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=4))
    assert all_pairs_lengths(A, sources).isequal(all_pairs_lengths(A)[sources, :].new())


@given(graphs(), st.booleans())
def test_closeness_matches_networkx(graph, wf_improved):
    nx = pytest.importorskip("networkx")
    expected = nx.closeness_centrality(graph.networkx(), wf_improved=wf_improved)
    found = closeness(graph.matrix(), wf_improved=wf_improved).to_dict()
    assert found == pytest.approx(expected, rel=1e-12)


@given(graphs())
def test_eccentricity_matches_networkx(graph):
    nx = pytest.importorskip("networkx")
    G = graph.networkx()
    joined = nx.is_connected(G) if graph.undirected else nx.is_strongly_connected(G)
    found = eccentricity(graph.matrix()).to_dict()
    if joined:
        assert found == nx.eccentricity(G)
    lengths = dict(nx.all_pairs_shortest_path_length(G))
    whole = {v: max(row.values()) for v, row in lengths.items() if len(row) == graph.n}
    assert found == whole


@pytest.mark.parametrize("algorithm", [closeness, eccentricity])
@given(graphs(), st.data())
def test_results_for_some_vertices_equal_those_for_all_vertices(algorithm, graph, data):
    A = graph.matrix()
    some = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=5))
    whole = algorithm(A).to_dict()
    assert algorithm(A, some).to_dict() == {v: x for v, x in whole.items() if v in some}


@pytest.mark.parametrize("algorithm", [closeness, eccentricity])
@given(with_order(graphs()))
def test_relabeled_vertices_keep_their_results(algorithm, ordered):
    graph, order = ordered
    found = algorithm(graph.matrix()).to_dict()
    relabeled = algorithm(graph.relabeled(order).matrix()).to_dict()
    assert relabeled == {order[v]: x for v, x in found.items()}


@pytest.mark.parametrize("name", ["bfs_levels", "all_pairs_lengths", "closeness", "eccentricity"])
def test_invalid_vertices_are_rejected(name):
    algorithm, A = getattr(algorithms, name), gl.Matrix(int, 3, 3)
    with pytest.raises(gl.exceptions.IndexOutOfBound, match="has 3, but the vertices are 0 to 2"):
        algorithm(A, [0, 3])
    with pytest.raises(TypeError, match="must be a list of integers"):
        algorithm(A, [0.5])
    with pytest.raises(gl.exceptions.DimensionMismatch):
        algorithm(gl.Matrix(int, 3, 4), [0])


def test_a_matrix_mask_is_rejected():
    A = gl.Matrix(int, 3, 3)
    reached = gl.Vector.from_coo([0], True, bool, size=3)
    assert table(bfs_levels(A, [0, 2], mask=reached)).tolist() == [[0, -1, -1], [-1, -1, 0]]
    with pytest.raises(TypeError, match="must be that of a Vector"):
        bfs_levels(A, [0], mask=A.S)


def test_the_dtype_of_levels_must_be_int32_or_uint8():
    with pytest.raises(ValueError, match="dtype is INT64, but must be INT32 or UINT8"):
        bfs_levels(gl.Matrix(int, 3, 3), [0], dtype="INT64")


def test_searches_that_run_in_one_batch_appear_among_the_events_of_a_recorder():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=4, ncols=4)
    with gl.Recorder() as recorder:
        bfs_levels(A, [0, 1])
    assert {event.operation for event in recorder.events} == {"bfs_levels"}
    assert sum(event.seconds for event in recorder.events) > 0


@pytest.mark.parametrize("n", [0, 1])
def test_results_on_graphs_with_at_most_one_vertex_are_correct(n):
    A = gl.Matrix(bool, n, n)
    assert closeness(A).to_dict() == dict.fromkeys(range(n), 0.0)
    assert eccentricity(A).to_dict() == dict.fromkeys(range(n), 0)
    assert all_pairs_lengths(A).to_dicts() == {v: {v: 0} for v in range(n)}
    assert bfs_levels(A, []).shape == (0, n)


@given(graphs(weights=integers | halves | magnitudes, dtype="FP64"))
def test_distances_from_many_sources_equal_those_of_a_separate_search_from_each_source(graph):
    A = graph.matrix()
    found = all_pairs_lengths(A, weight=True)
    for v in range(A.nrows):
        assert found[v, :].new().isequal(algorithms.sssp(A, v).distances, check_dtype=True)
