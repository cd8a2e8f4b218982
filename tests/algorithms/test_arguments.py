from __future__ import annotations

import numpy as np
import pytest

import graphla as gl
from graphla.algorithms import (
    bfs,
    connected_components,
    minimax_path,
    most_reliable_path,
    pagerank,
    reachable,
    sssp,
    triangle_count,
    widest_path,
)

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
def test_a_matrix_that_is_not_square_is_refused(run):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="A has 2 rows and 3 columns, but"):
        run(gl.Matrix(int, 2, 3))


@every
def test_what_is_not_a_matrix_is_refused(run):
    for A in ([[0, 1], [1, 0]], np.eye(2), gl.Vector(int, 2), None):
        with pytest.raises(
            TypeError, match=f"A must be a graphla.Matrix or Graph, not a {type(A).__name__}"
        ):
            run(A)


@from_a_source
@pytest.mark.parametrize("source", [-1, 3, 2**70, np.int64(-3)])
def test_a_source_out_of_range_is_refused(algorithm, source):
    with pytest.raises(IndexError, match=f"source is {source}, but the vertices are 0 to 2"):
        algorithm(gl.Matrix(int, 3, 3), source)


@from_a_source
@pytest.mark.parametrize("source", [0.0, "0", None, True, np.float64(1), {0}])
def test_a_source_that_is_no_integer_is_refused(algorithm, source):
    with pytest.raises(TypeError, match="source must be an integer, not"):
        algorithm(gl.Matrix(int, 3, 3), source)


@from_a_source
def test_an_empty_graph_has_no_source(algorithm):
    with pytest.raises(IndexError, match="source is 0, but the graph has no vertex"):
        algorithm(gl.Matrix(int, 0, 0), 0)


def test_an_expression_computes_itself():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=4, ncols=4)
    assert bfs(A.T, 0).levels.to_dict() == {0: 0, 2: 1, 1: 2}
    assert triangle_count(A | A.T) == 1


@from_a_source
def test_a_source_may_be_a_numpy_integer(algorithm):
    A = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    algorithm(A, np.uint8(1))


@pytest.mark.parametrize(("cutoff", "kind"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_a_cutoff_that_makes_no_sense_is_refused(cutoff, kind):
    with pytest.raises(kind, match="cutoff"):
        bfs(gl.Matrix(int, 3, 3), 0, cutoff=cutoff)


@from_a_source
def test_a_source_among_several_that_is_out_of_range_is_refused(algorithm):
    with pytest.raises(IndexError, match="source has 3, but the vertices are 0 to 2"):
        algorithm(gl.Matrix(int, 3, 3), [0, 3])
    with pytest.raises(TypeError, match="source must be a list of integers, not"):
        algorithm(gl.Matrix(int, 3, 3), [0.5])


@from_a_source
def test_sources_of_another_size_are_refused(algorithm):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="source has size 2, but A has 3"):
        algorithm(gl.Matrix(int, 3, 3), gl.Vector(int, 2))


@from_a_source
def test_a_mask_of_another_size_is_refused(algorithm):
    with pytest.raises(gl.exceptions.DimensionMismatch, match="the mask has"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Vector(int, 2).S)
    with pytest.raises(TypeError, match="mask is that of a Matrix"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Matrix(int, 3, 3).S)
    with pytest.raises(TypeError, match="a mask"):
        algorithm(gl.Matrix(int, 3, 3), 0, mask=gl.Vector(int, 3))


def test_dtypes_of_levels_and_kinds_of_parents_are_refused_by_name():
    A = gl.Matrix(int, 3, 3)
    with pytest.raises(ValueError, match="levels must be INT32, UINT8 or None, not INT64"):
        bfs(A, 0, levels="INT64")
    with pytest.raises(ValueError, match="levels must be INT32, UINT8 or None, not True"):
        bfs(A, 0, levels=True)
    with pytest.raises(ValueError, match='parents must be True, "least" or False, not 1'):
        bfs(A, 0, parents=1)  # pyright: ignore[reportArgumentType]
