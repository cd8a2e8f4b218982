"""Compiled loops on a GPU, or in the simulator, have the results that their programs define."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import handmade
import numpy as np
import pytest
from devices import has_cuda, use_cuda
from hypothesis import given

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from programs import Case, assume_outcome, cases  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.program import cuda as engine  # noqa: E402
from graphla.program import interpreter  # noqa: E402
from graphla.program.running import Arguments  # noqa: E402
from graphla.stores import VectorStore  # noqa: E402

SMALL = engine.machine.ProgramTuning(block=64, stack_entries=1, stack_items=2)
"""Small blocks, because a block of the simulator has one fiber per thread."""


@pytest.fixture(autouse=True)
def small_blocks() -> Iterator[None]:
    """Use small blocks, and stacks that soon lack room."""
    with using(SMALL):
        yield


def random_matrix(n: int, edges: int, seed: int, dtype: Any = bool) -> gl.Matrix:
    random = np.random.default_rng(seed)
    rows, columns = random.integers(0, n, (2, edges))
    once = np.unique(rows * n + columns)
    with gl.config.set(device="cuda"):
        return gl.Matrix.from_coo(once // n, once % n, dtype(1), nrows=n, ncols=n, dtype=dtype)


def vector_of(entries: dict[int, Any], n: int, dtype: Any) -> VectorStore:
    with gl.config.set(device="cuda"):
        indices, values = list(entries), list(entries.values())
        return gl.Vector.from_coo(indices, values, size=n, dtype=dtype)._read()


def arguments_of(a: gl.Matrix, vectors: list[VectorStore], *scalars: Any) -> Arguments:
    return Arguments(a.device, (a.nrows,), (a._read(),), (), scalars, tuple(vectors), ())


def entries(store: VectorStore) -> dict[int, Any]:
    indices, values = gl.Vector._of(store).to_coo()
    return dict(zip(np.asarray(indices).tolist(), np.asarray(values).tolist(), strict=True))


def search(neighbors: dict[int, set[int]], source: int) -> dict[int, int]:
    """Return the distance of each vertex within reach."""
    levels, frontier, level = {source: 0}, {source}, 0
    while frontier:
        level += 1
        frontier = {v for u in frontier for v in neighbors.get(u, ())} - levels.keys()
        levels |= dict.fromkeys(frontier, level)
    return levels


def neighbors_of(a: gl.Matrix) -> dict[int, set[int]]:
    rows, columns, _ = (np.asarray(x).tolist() for x in a.to_coo())
    found: dict[int, set[int]] = {}
    for i, j in zip(rows, columns, strict=True):
        found.setdefault(i, set()).add(j)
    return found


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_a_breadth_first_search_finds_the_parents_of_all_vertices_within_reach(direction: Any):
    n = 300
    a = random_matrix(n, 700, 1)
    given = arguments_of(a, [vector_of({5: 5}, n, int), vector_of({5: 5}, n, int)])
    with gl.direction(direction):
        outcome = engine.run(handmade.bfs(), given)
    assert (outcome.exit, outcome.fault, entries(outcome.slots[1])) == (0, None, {})
    neighbors = neighbors_of(a)
    levels, parents = search(neighbors, 5), entries(outcome.slots[0])
    assert parents.keys() == levels.keys()
    assert parents.pop(5) == 5
    for v, parent in parents.items():
        assert v in neighbors[parent] and levels[parent] + 1 == levels[v]


def test_pagerank_is_that_of_the_interpreter():
    n = 200
    a = random_matrix(n, 900, 2)
    degree = vector_of({i: 1.0 + i % 7 for i in range(n)}, n, float)
    rank = vector_of(dict.fromkeys(range(n), 1 / n), n, float)
    given = arguments_of(a, [rank, degree], 1e-6, 0.85, 0.15 / n, 0, 40)
    program = handmade.pagerank()
    expected, outcome = interpreter.run(program, given), engine.run(program, given)
    assert (expected.fault, outcome.fault) == (None, None)
    assert outcome.scalars["rounds"] == expected.scalars["rounds"] > 5
    assert outcome.scalars["change"] == pytest.approx(expected.scalars["change"])
    assert entries(outcome.slots[0]) == pytest.approx(entries(expected.slots[0]))


@given(cases())
def test_the_engine_agrees_with_dictionaries(case: Case):
    assume_outcome(case, engine.run)
