"""Compare compiled with plain loops, for algorithms of graphla and benchmarks/definitions.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from devices import DEVICE

import graphla as gl
from graphla import Matrix, Vector
from graphla import algorithms as algo
from graphla.algorithms.biconnected import definition as definition_of_bridges
from graphla.program import interpreter, jit, running
from graphla.program.ir import Program
from graphla.program.jit import PLAIN, jit_if_large
from graphla.program.running import Arguments, Engine, Outcome
from semirings.exceptions import NotCompilable

CASES: dict[str, tuple[int, Callable[[Matrix], Any]]] = {
    # name: (number of compiled loops, call)
    "definition of bridges": (2, lambda A: definition_of_bridges(A)),
    "eigenvector": (1, lambda A: algo.eigenvector(A)),
    "hits": (1, lambda A: algo.hits(A)),
    "katz": (1, lambda A: algo.katz(A, 0.01, weight=True)),
    "maximal_independent_set": (1, lambda A: algo.maximal_independent_set(A)),
    "path_count": (1, lambda A: algo.path_count(A, 0, dtype="FP64")),
    "path_count, weighted": (1, lambda A: algo.path_count(A, 0, weight=True, dtype="FP64")),
}


class Counting:
    """An engine that runs programs with another engine, and counts the completed runs.

    A run with a program from the cache on disk may raise an exception that requests the whole
    program. The run is then repeated, and only the second attempt counts.
    """

    def __init__(self, engine: Engine):
        self.engine = engine
        self.runs = 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        outcome = self.engine.run(program, arguments)
        self.runs += 1
        return outcome


def load_definitions() -> Any:
    """Return the module benchmarks/definitions.py, which lists the definitions.

    Tests and benchmarks have modules with equal names, so the modules of benchmarks are unloaded.
    """
    folder = Path(__file__).parents[2] / "benchmarks"
    names = [path.stem for path in folder.glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for name in names:
            patch.delitem(sys.modules, name, raising=False)
        module = import_module("definitions")
        for name in names:
            sys.modules.pop(name, None)
    return module


definitions = load_definitions()
DEFINITIONS = {case.name: case for case in definitions.CASES}


def engine_of(kind: str) -> Any:
    if kind == "interpreter":
        return interpreter
    if DEVICE == "cpu":
        pytest.importorskip("numba")
    return pytest.importorskip(f"graphla.program.{DEVICE}")


SLOW = [("compiler", "hits")] if DEVICE == "cpu" else []
"""The loops whose compilation takes more than ten seconds."""


def runs(names: list[str]) -> list[Any]:
    """Return one test case per engine and name. `make test` skips the cases in SLOW."""
    pairs = [(kind, name) for kind in ("interpreter", "compiler") for name in names]
    return [pytest.param(*x, marks=pytest.mark.full if x in SLOW else ()) for x in pairs]


@pytest.fixture(scope="module")
def graph() -> Matrix:
    """Return a random undirected graph with integer weights, without self-loops."""
    A = gl.generators.uniform(60, 120, seed=3)
    rows, columns, _ = A.to_coo(values=False)
    weights = 1 + (rows * columns) % 3
    return Matrix.from_coo(rows, columns, weights, nrows=60, ncols=60, symmetric=True)


@pytest.mark.parametrize(("kind", "name"), runs([*CASES]))
def test_a_compiled_algorithm_gives_the_result_of_its_plain_loop(kind, name, graph):
    (count, call), engine = CASES[name], Counting(engine_of(kind))
    with gl.config.set(compiled=False):
        expected = call(graph)
    with running.use(engine), gl.config.set(compile_threshold=0):
        found = call(graph)
    assert engine.runs == count
    for u, v in zip(*([x] if isinstance(x, Vector) else x for x in (found, expected)), strict=True):
        assert u.dtype == v.dtype
        assert u.isclose(v, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("name", [x for x in DEFINITIONS if not DEFINITIONS[x].has_matrices])
@pytest.mark.parametrize("kind", ["interpreter", pytest.param("compiler", marks=pytest.mark.full)])
def test_a_compiled_definition_gives_the_same_result_as_the_plain_definition(name, kind, graph):
    case, engine = DEFINITIONS[name], Counting(engine_of(kind))
    pair = case.make(graph)
    options = dict(pair.options)
    expected = pair.definition(*pair.arguments, **options)
    with running.use(engine):
        found = gl.jit(pair.definition)(*pair.arguments, **options)
    assert engine.runs
    definitions.compare(case, graph, found, expected)


@pytest.mark.parametrize("name", [x for x in DEFINITIONS if DEFINITIONS[x].has_matrices])
def test_a_definition_that_multiplies_matrices_is_rejected(name, graph):
    pair = DEFINITIONS[name].make(graph)
    with running.use(interpreter), pytest.raises(NotCompilable):
        gl.jit(pair.definition)(*pair.arguments, **dict(pair.options))


def test_the_hits_algorithm_raises_an_error_after_max_iter_rounds(graph):
    with (
        running.use(interpreter),
        gl.config.set(compile_threshold=0),
        pytest.raises(RuntimeError, match="max_iter is 2, but the error of the hubs was"),
    ):
        algo.hits(graph, max_iter=2)


def test_a_call_with_a_small_graph_does_not_wait_for_a_compilation():
    @jit_if_large
    def step(A: Matrix, x: Vector) -> Vector:
        for _ in range(3):
            x << gl.semiring.max_second(A @ x)
        return x

    small, large = (gl.generators.cycle(n) for n in (5, 500))
    engine = Counting(interpreter)

    def run(A: Matrix) -> int:
        before = engine.runs
        found = step(A, Vector.from_dense(np.arange(A.nrows)))
        assert found.to_dense()[0] == A.nrows - 1  # a neighbor of vertex 0 in the cycle
        return engine.runs - before

    with running.use(engine), gl.config.set(compile_threshold=1000 // PLAIN):
        assert run(small) == 0
        assert run(large) == 1
        # The loop has been compiled for the same types.
        assert run(small) == 1


@pytest.mark.cpu
def test_a_function_is_compiled_once_its_calls_have_taken_as_long_as_a_compilation(monkeypatch):
    @jit_if_large
    def step(A: Matrix, x: Vector) -> Vector:
        for _ in range(3):
            x << gl.semiring.max_second(A @ x)
        return x

    A, engine = gl.generators.cycle(500), Counting(interpreter)
    x = Vector.from_dense(np.arange(500))
    with running.use(engine), gl.config.set(compile_threshold=100):
        step(A, x)
        assert engine.runs == 0
        monkeypatch.setattr(jit, "PRICE", 0.0)
        step(A, x)
        assert engine.runs == 1
