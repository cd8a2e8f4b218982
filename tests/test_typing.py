"""Test inferred types: pyright checks `assert_type`, and pytest runs the calls."""

from __future__ import annotations

from typing import assert_type

import pytest

from graphla import Graph, Matrix, Vector, closure, ladder
from graphla.algorithms import (
    bellman_ford,
    bfs,
    closeness,
    clustering,
    core_numbers,
    eccentricity,
    minimax_path,
    most_reliable_path,
    pagerank,
    square_clustering,
    sssp,
    triangles,
    widest_path,
)
from graphla.algorithms.bfs import Traversal
from graphla.semiring import min_plus

A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 1.0, 0.5, 0.5], nrows=3, ncols=3)
start = Vector.from_coo([0], [0.0], size=3)
G = Graph.from_edges([("ann", "bob", 1.0), ("bob", "eve", 0.5)])


def test_algorithms_accept_an_expression_that_computes_a_matrix():
    assert_type(bfs(A.T, 0), Traversal[Vector, Vector])
    assert_type(sssp(A.T, 0).distances, Vector)
    assert_type(bellman_ford(A.T, 0).distances, Vector)
    assert_type(widest_path(A.T, 0).widths, Vector)
    assert_type(minimax_path(A.T, 0).heights, Vector)
    assert_type(most_reliable_path(A.T, 0).probabilities, Vector)
    assert_type(closeness(A.T), Vector)
    assert_type(clustering(A.T), Vector)
    assert_type(eccentricity(A.T), Vector)
    assert_type(square_clustering(A.T), Vector)
    assert_type(triangles(A.T), Vector)
    assert_type(pagerank(A + A), Vector)
    assert_type(closure(start, A.T, min_plus).values, Vector)
    assert_type(Graph(A.T).nedges, int)


def test_the_ladder_accepts_an_expression_that_computes_a_matrix():
    assert_type(ladder.bfs(A.T, 0, strategy="sequential"), Vector)
    assert_type(ladder.sssp(A.T, 0), Vector)
    assert_type(ladder.Paths(A.T).sssp(0), Vector)
    assert_type(ladder.prepare(A.T, "sequential").bfs(0), Vector)
    assert_type(ladder.compare(A.T, ["sequential"], sources=1), ladder.Comparison)


def test_arguments_determine_which_results_have_the_type_none():
    assert_type(bfs(G, "ann"), Traversal[Vector, Vector])
    assert_type(bfs(G, "ann", levels=None), Traversal[None, Vector])
    assert_type(bfs(G, "ann", parents=False), Traversal[Vector, None])
    assert_type(bfs(G, "ann", parents="least").parents, Vector)
    assert_type(sssp(G, "ann").distances, Vector)
    assert_type(sssp(G, "ann").parents, None)
    assert_type(sssp(G, "ann", parents=True).parents, Vector)
    assert_type(widest_path(G, "ann", parents=True).parents, Vector)
    assert_type(minimax_path(G, "ann").parents, None)


def test_the_method_get_returns_a_number_or_the_default():
    assert_type(start.get(0), bool | int | float | None)
    assert_type(A.get(0, 0, "none"), bool | int | float | str)
    assert_type(start[0].get(0.0), bool | int | float)
    assert start.get(0) == 0
    assert start.get(1) is None
    assert A.get(0, 0, "none") == "none"
    assert start[1].get(7.0) == 7


@pytest.mark.parametrize("vertex", ["ann", "bob"])
def test_a_single_vertex_gives_a_scalar_and_several_vertices_give_a_vector(vertex: str):
    assert_type(closeness(G, vertex), float)
    assert_type(closeness(G), Vector)
    assert_type(closeness(G, [vertex]), Vector)
    assert_type(clustering(G, vertex), float)
    assert_type(square_clustering(G, vertex), float)
    assert_type(triangles(G, vertex), int)
    assert_type(triangles(A, 0), int)
    assert_type(eccentricity(A, [0, 1]), Vector)
    assert isinstance(closeness(G, vertex), float)
    assert isinstance(closeness(G, [vertex]), Vector)


def test_the_type_checker_knows_the_parameters_of_an_algorithm_other_than_the_graph():
    assert_type(core_numbers(G, directed=False), Vector)
    with pytest.raises(TypeError):
        core_numbers("G")  # pyright: ignore[reportArgumentType]
