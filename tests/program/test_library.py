"""Compare the library's algorithms that are compiled by `gl.jit` with their plain loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from devices import DEVICE

import graphla as gl
from graphla import Matrix, Vector
from graphla import algorithms as algo
from graphla.program import interpreter, running
from graphla.program.ir import Program
from graphla.program.jit import jit_if_large
from graphla.program.running import Arguments, Engine, Outcome

CASES: dict[str, tuple[int, Callable[[Matrix], Any]]] = {
    # name: (number of compiled loops, call)
    "eigenvector": (1, lambda A: algo.eigenvector(A)),
    "hits": (1, lambda A: algo.hits(A)),
    "katz": (1, lambda A: algo.katz(A, 0.01, weight=True)),
    "maximal_independent_set": (1, lambda A: algo.maximal_independent_set(A)),
    "path_count": (1, lambda A: algo.path_count(A, 0, dtype="FP64")),
    "path_count, weighted": (1, lambda A: algo.path_count(A, 0, weight=True, dtype="FP64")),
}


class Counting:
    """An engine that runs programs by another engine, and counts them."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.runs = 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        self.runs += 1
        return self.engine.run(program, arguments)


@pytest.fixture(params=["interpreter", "compiler"])
def engine(request: pytest.FixtureRequest) -> Counting:
    if request.param == "interpreter":
        return Counting(interpreter)
    if DEVICE == "cpu":
        pytest.importorskip("numba")
    compiler: Any = pytest.importorskip(f"graphla.program.{DEVICE}")
    return Counting(compiler)


@pytest.fixture(scope="module")
def graph() -> Matrix:
    """Return a random undirected graph with integer weights, without self-loops."""
    A = gl.generators.uniform(60, 120, seed=3)
    rows, columns, _ = A.to_coo(values=False)
    weights = 1 + (rows * columns) % 3
    return Matrix.from_coo(rows, columns, weights, nrows=60, ncols=60, symmetric=True)


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_algorithm_gives_the_result_of_its_plain_loop(name, engine, graph):
    count, call = CASES[name]
    with gl.config.set(compiled=False):
        expected = call(graph)
    with running.use(engine), gl.config.set(compile_threshold=0):
        found = call(graph)
    assert engine.runs == count
    for u, v in zip(*([x] if isinstance(x, Vector) else x for x in (found, expected)), strict=True):
        assert u.dtype == v.dtype
        assert u.isclose(v, rel_tol=1e-12, abs_tol=1e-12)


def test_the_rounds_of_hits_end_at_max_iter_with_an_error(graph):
    with (
        running.use(interpreter),
        gl.config.set(compile_threshold=0),
        pytest.raises(RuntimeError, match="max_iter is 2, but the error of the hubs was"),
    ):
        algo.hits(graph, max_iter=2)


def test_a_small_graph_waits_for_no_compilation():
    @jit_if_large
    def step(A: Matrix, x: Vector) -> Vector:
        for _ in range(3):
            x << gl.semiring.max_second(A @ x)
        return x

    small, large = (gl.generators.cycle(n) for n in (10, 500))
    engine = Counting(interpreter)

    def run(A: Matrix) -> int:
        before = engine.runs
        found = step(A, Vector.from_dense(np.arange(A.nrows)))
        assert found.to_dense()[0] == A.nrows - 1  # a neighbor of vertex 0 in the cycle
        return engine.runs - before

    with running.use(engine), gl.config.set(compile_threshold=100):
        assert run(small) == 0
        with gl.config.set(compiled=True):
            assert run(small.dup("FP64")) == 1
        assert run(large) == 1
        # The loop has been compiled for the same types.
        assert run(small) == 1
