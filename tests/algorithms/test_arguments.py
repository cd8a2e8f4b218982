from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import DEVICE

import graphla as gl
from graphla.algorithms import (
    all_pairs_lengths,
    all_parents,
    average_clustering,
    average_neighbor_degree,
    bellman_ford,
    betweenness,
    bfs,
    center,
    closeness,
    clustering,
    connected_components,
    core_numbers,
    degree_assortativity,
    density,
    diameter,
    directed_laplacian_matrix,
    eccentricity,
    edge_betweenness,
    eigenvector,
    find_cycle,
    forceatlas2_layout,
    harmonic,
    hits,
    jaccard,
    k_core,
    katz,
    layers,
    lowest_common_ancestors,
    maximal_independent_set,
    minimax_path,
    modularity,
    most_reliable_path,
    neighborhood,
    pagerank,
    reachable,
    shortest_path,
    sssp,
    triangle_count,
    widest_path,
)

# Arguments are checked before any compiled loop is called, so `make test` need not test the
# compiled loops as well.
COMPILED = pytest.param("compiled", marks=pytest.mark.full)
ENGINES = ["cuda"] if DEVICE == "cuda" else ["numpy", COMPILED]
pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True, scope="module")

FROM_A_SOURCE = [bfs, sssp, reachable, widest_path, minimax_path, most_reliable_path]
from_a_source = pytest.mark.parametrize("algorithm", FROM_A_SOURCE)
every = pytest.mark.parametrize(
    "run",
    [
        *(lambda A, run=run: run(A, 0) for run in FROM_A_SOURCE),
        pagerank,
        connected_components,
        triangle_count,
    ],
)


@every
def test_a_matrix_that_is_not_square_is_rejected(run):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="A has 2 rows and 3 columns, but"):
        run(gl.Matrix(int, 2, 3))


@every
def test_an_argument_that_is_not_a_matrix_is_rejected(run):
    others = ([[0, 1]], "list"), (np.eye(2), "numpy.ndarray"), (gl.Vector(int, 2), "Vector")
    for A, name in (*others, (None, "NoneType")):
        with pytest.raises(TypeError, match=f"A must be a graphla.Matrix or Graph, not a {name}"):
            run(A)


@from_a_source
@pytest.mark.parametrize("source", [-1, 3, 2**70, np.int64(-3)])
def test_a_source_out_of_range_is_rejected(algorithm, source):
    with pytest.raises(IndexError, match=f"source is {source}, but the vertices are 0 to 2"):
        algorithm(gl.Matrix(int, 3, 3), source)


@from_a_source
@pytest.mark.parametrize("source", [0.0, "0", None, True, np.float64(1)])
def test_a_source_that_is_not_an_integer_is_rejected(algorithm, source):
    with pytest.raises(TypeError, match="source must be an integer, not"):
        algorithm(gl.Matrix(int, 3, 3), source)


@from_a_source
def test_every_source_is_rejected_for_an_empty_graph(algorithm):
    with pytest.raises(IndexError, match="source is 0, but the graph has no vertex"):
        algorithm(gl.Matrix(int, 0, 0), 0)


def test_an_expression_is_accepted_as_a_matrix():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=4, ncols=4)
    assert bfs(A.T, 0).levels.to_dict() == {0: 0, 2: 1, 1: 2}  # pyright: ignore[reportArgumentType]
    assert triangle_count(A | A.T) == 1


@from_a_source
def test_a_source_may_be_a_numpy_integer(algorithm):
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    algorithm(A, np.uint8(1))


@pytest.mark.parametrize(
    ("cutoff", "kind"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_an_invalid_cutoff_is_rejected(cutoff, kind):
    with pytest.raises(kind, match="cutoff"):
        bfs(gl.Matrix(int, 3, 3), 0, cutoff=cutoff)


@from_a_source
def test_a_list_with_an_invalid_source_is_rejected(algorithm):
    with pytest.raises(IndexError, match="source has 3, but the vertices are 0 to 2"):
        algorithm(gl.Matrix(int, 3, 3), [0, 3])
    with pytest.raises(TypeError, match="source must be a list of integers, not"):
        algorithm(gl.Matrix(int, 3, 3), [0.5])


@from_a_source
def test_a_source_vector_of_the_wrong_size_is_rejected(algorithm):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="source has size 2, but A has 3"):
        algorithm(gl.Matrix(int, 3, 3), gl.Vector(int, 2))


@from_a_source
def test_a_mask_of_the_wrong_size_or_type_is_rejected(algorithm):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="the mask has"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Vector(int, 2).S)
    with pytest.raises(TypeError, match="mask is that of a Matrix"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Matrix(int, 3, 3).S)
    with pytest.raises(TypeError, match="a mask"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Vector(int, 3))


def test_invalid_values_of_the_arguments_levels_and_parents_are_rejected():
    A = gl.Matrix(int, 3, 3)
    with pytest.raises(ValueError, match="levels must be INT32, UINT8 or None, not INT64"):
        bfs(A, 0, levels="INT64")
    with pytest.raises(ValueError, match="levels must be INT32, UINT8 or None, not True"):
        bfs(A, 0, levels=True)  # pyright: ignore[reportArgumentType, reportCallIssue]
    with pytest.raises(ValueError, match='parents must be True, "least" or False, not 1'):
        bfs(A, 0, parents=1)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_an_unknown_or_unsupported_dtype_is_rejected():
    A = gl.Matrix(int, 3, 3)
    for dtype, said in (("INT8", "INT8"), ("nothing", "'nothing'"), (-1, "-1")):
        with pytest.raises(gl.exceptions.InvalidValue, match=f"dtype is {said}, but must be FP32"):
            pagerank(A, dtype=dtype)


PATH = gl.Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1.0, nrows=4, ncols=4)
NAMED = gl.Graph(PATH, labels="abcd")


@pytest.mark.parametrize(
    "run",
    [
        lambda A, some: bfs(A, some, parents="least"),
        harmonic,
        layers,
        neighborhood,
        *(lambda A, some, run=run: run(A, sources=some) for run in (betweenness, harmonic)),
        closeness,
        eccentricity,
        maximal_independent_set,
    ],
)
def test_sets_and_generators_of_vertices_are_accepted_like_lists(run):
    def found(some):
        first = run(PATH, some)
        return str(first.to_dict() if isinstance(first, gl.Vector) else first)

    for some in ({0, 2}, frozenset({0, 2}), (v for v in (2, 0)), {0: 1, 2: 1}.keys()):
        assert found(some) == found([0, 2])


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("personalization", lambda: pagerank(PATH, personalization={9: 1})),
        ("dangling", lambda: pagerank(PATH, dangling={-1: 1})),
        ("beta", lambda: katz(PATH, beta={9: 1})),
        ("nstart", lambda: hits(PATH, nstart={"a": 1})),
        ("core_number", lambda: k_core(PATH, core_number={9: 1})),
        ("core_number", lambda: k_core(PATH, core_number="x")),  # pyright: ignore[reportArgumentType]
        ("e", lambda: center(PATH, e="x")),  # pyright: ignore[reportArgumentType]
        ("e", lambda: center(PATH, e=[1, 2, 3, 4])),  # pyright: ignore[reportArgumentType]
        ("e", lambda: center(PATH, e={7: 1})),
        ("sp", lambda: eccentricity(PATH, sp={})),  # pyright: ignore[reportArgumentType]
        ("sp", lambda: eccentricity(PATH, sp=gl.Matrix(int, 2, 2))),
        ("sources", lambda: layers(PATH, -1)),
        ("n", lambda: neighborhood(PATH, [7])),
        ("ebunch", lambda: jaccard(PATH, 5)),
        ("ebunch", lambda: jaccard(PATH, [7])),
        ("ebunch", lambda: jaccard(PATH, [(1, 2), (3,)])),
        ("ebunch", lambda: jaccard(NAMED, 5)),
        ("ebunch", lambda: jaccard(NAMED, [7])),
        ("communities", lambda: modularity(PATH, 3)),
        ("communities", lambda: modularity(PATH, [7])),
        ("nodes", lambda: average_clustering(PATH, [])),
        ("source", lambda: bfs(PATH, [[0], [1, 2]])),
    ],
)
def test_an_error_names_the_invalid_argument(name, run):
    with pytest.raises((TypeError, ValueError, IndexError), match=f"^{name} (has|is|must)"):
        run()


def test_betweenness_without_sources_is_zero():
    assert betweenness(PATH, sources=[]).to_dict() == dict.fromkeys(range(4), 0.0)
    assert not any(edge_betweenness(PATH, sources=[]).to_dict().values())


@pytest.mark.parametrize("run", [widest_path, minimax_path])
def test_widest_and_minimax_paths_reject_nan_weights(run):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1.0, float("nan")], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="A has weight nan on edge 1 -> 2, but"):
        run(A, 0)


@pytest.mark.parametrize("weight", [float("inf"), 1e308])
def test_the_hits_algorithm_rejects_weights_whose_squares_overflow(weight):
    with pytest.raises(ValueError, match="A has weights"):
        hits(gl.Matrix.from_coo([0, 1, 1], [1, 0, 2], weight, nrows=3, ncols=3))


def test_eigenvector_centrality_accepts_weights_whose_squares_overflow():
    A = PATH.apply(gl.binary.times, right=1e300).new()
    expected = eigenvector(PATH, 500, 1e-9, nstart={0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}).to_dense()
    found = eigenvector(A, 500, 1e-9, nstart={0: 1.0, 1: 1.6, 2: 1.6, 3: 1.0}, weight=True)
    assert np.allclose(found.to_dense(), expected, atol=1e-6)


def test_modularity_does_not_depend_on_the_scale_of_the_weights():
    parts = [{0, 1}, {2, 3}]
    for weight in (1e-300, 5e-324, 1e300):
        A = PATH.apply(gl.binary.times, right=weight).new()
        assert modularity(A, parts) == pytest.approx(modularity(PATH, parts))
    with pytest.raises(ValueError, match="A has weights that add up to inf"):
        modularity(PATH.apply(gl.binary.times, right=np.inf).new(), parts)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda G: shortest_path(G, "c", "d"), "A has no path from 'c' to 'd'"),
        (lambda G: sssp(G, "a").distances, "on edge 'b' -> 'c', but"),
        (diameter, "A has no path from 'a' to 'd'"),
        (
            lambda G: bellman_ford(G, "a").distances,
            "A has a cycle of negative weight through vertex '[bc]'",
        ),
        (lambda G: maximal_independent_set(G, ["b", "c"]), "nodes has 'b' and 'c', which"),
    ],
)
def test_error_messages_use_vertex_labels(run, said):
    G = gl.Graph.from_edges([("a", "b", 1), ("b", "c", -2)], labels="abcd")
    with pytest.raises(ValueError, match=said):
        run(G)
    # A Matrix has no labels, so the message shows vertex numbers.
    with pytest.raises(ValueError, match="on edge 1 -> 2, but"):
        pagerank(gl.Matrix.from_coo([1], [2], -1, nrows=4, ncols=4))


on_cuda = pytest.mark.skipif(DEVICE == "cpu", reason="one device")


@on_cuda
@pytest.mark.parametrize(
    "run",
    [
        lambda A, v: bfs(A, v, parents=False).levels,
        neighborhood,
        all_pairs_lengths,
        closeness,
        eccentricity,
        lambda A, v: harmonic(A, nbunch=v),
        lambda A, v: betweenness(A, sources=v),
        clustering,
        maximal_independent_set,
        lambda A, v: jaccard(A, v.reshape(1, 2)),
    ],
)
def test_an_array_on_the_gpu_is_accepted_as_a_list_of_vertices(run):
    from graphla.backends import backend

    vertices = np.array([3, 0])
    there = backend("cuda").asarray(vertices)
    for A in (PATH, gl.Graph(PATH), gl.Graph(PATH, labels=[3, 2, 1, 0]), PATH.to("cpu")):
        assert run(A, there).isequal(run(A, vertices))


@on_cuda
def test_an_array_on_the_gpu_is_accepted_as_vertex_labels():
    from graphla.backends import backend

    pairs = backend("cuda").asarray(np.array([[5, 7], [7, 9]]))
    assert gl.Graph.from_edges(pairs).labels == (5, 7, 9)
    assert gl.Graph(gl.Matrix(bool, 2, 2), labels=pairs[0]).labels == (5, 7)


@on_cuda
@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("personalization", lambda A, v: pagerank(A, personalization=v)),
        ("beta", lambda A, v: katz(A, beta=v)),
        ("nstart", lambda A, v: hits(A, nstart=v)),
        ("core_number", lambda A, v: k_core(A, core_number=v)),
        ("communities", modularity),
        ("e", center),
        ("sp", lambda A, v: eccentricity(A, sp=v.diag())),
        ("ebunch", lambda A, v: jaccard(A, v.diag())),
        ("source", bfs),
    ],
)
def test_the_error_about_an_argument_on_another_device_names_the_argument(name, run):
    v = gl.Vector.from_dense(np.ones(4))
    for A, other in ((PATH, v.to("cpu")), (PATH.to("cpu"), v)):
        with pytest.raises(gl.exceptions.DeviceMismatch, match=f"^A and {name} are on {A.device}"):
            run(A, other)


def test_a_vector_is_rejected_as_a_list_of_vertices():
    v = gl.Vector.from_coo([0], True, size=4)
    for name, run in {"u": closeness, "v": eccentricity, "nodes": clustering}.items():
        with pytest.raises(TypeError, match=f"{name} must be a list of integers, not"):
            run(PATH, v)
    with pytest.raises(TypeError, match="u must be an integer"):
        closeness(PATH, 1.5)


def test_errors_about_unknown_or_missing_arguments_name_the_algorithm():
    G = gl.Graph.from_edges([("a", "b")])
    wrong: dict[str, Any] = {"weight": True}
    first: list[Any] = [0]
    for A in (G, G.matrix):
        with pytest.raises(TypeError, match=r"closeness\(\) got an unexpected .*'weight'"):
            gl.algorithms.closeness(A, **wrong)
        with pytest.raises(TypeError, match=r"shortest_path\(\) missing .*'target'"):
            gl.algorithms.shortest_path(A, *first)


@pytest.mark.parametrize("directed", [0, "no", [True], np.array([True, False])])
def test_values_of_the_directed_flag_must_be_booleans(engine, directed):
    A = gl.Matrix.from_coo([0, 1], [1, 0], 1)
    for run in (core_numbers, density, find_cycle):
        with pytest.raises(TypeError, match="directed must be True, False or None, not"):
            run(A, directed=directed)


@pytest.mark.parametrize(
    ("run", "name", "value"),
    [
        (degree_assortativity, "nodes", 3),
        (forceatlas2_layout, "pos", 3),
        (forceatlas2_layout, "gravity", np.inf),
        (forceatlas2_layout, "scaling_ratio", -np.inf),
        (lowest_common_ancestors, "pairs", 3),
        (lowest_common_ancestors, "pairs", [(0, 1), (0,)]),
        (all_parents, "method", np.array([[1, 2]])),
        (directed_laplacian_matrix, "walk_type", np.array([[1, 2]])),
        (average_neighbor_degree, "source", np.array([[1, 2]])),
    ],
)
def test_the_error_about_an_argument_of_a_wrong_type_names_the_argument(engine, run, name, value):
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3)
    given = {"source": 0} if run is all_parents else {}
    with pytest.raises((TypeError, gl.exceptions.InvalidValue), match=name):
        run(A, **given, **{name: value})
