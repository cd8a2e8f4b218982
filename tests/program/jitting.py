"""Functions and checks that the tests of `gl.jit` share.

The interpreter runs the programs, so nothing is compiled to machine code here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import graphla as gl
from graphla import Matrix, Vector, binary, replace
from graphla.program import interpreter, running
from graphla.program.ir import Program
from graphla.program.running import Arguments, Outcome
from graphla.semiring import any_secondi


class Counting:
    """An interpreter that records the programs that it runs."""

    def __init__(self) -> None:
        self.programs: list[Program] = []

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        self.programs.append(program)
        return interpreter.run(program, arguments)


@contextmanager
def compiling() -> Iterator[Counting]:
    engine = Counting()
    with gl.config.set(device="cpu"), running.use(engine):
        yield engine


def path(n: int = 6) -> Matrix:
    """Return the path 0 -> 1 -> ... -> n - 1 with the weights 1, 2, ..."""
    with gl.config.set(device="cpu"):
        k = np.arange(n - 1)
        return Matrix.from_coo(k, k + 1, k + 1, nrows=n, ncols=n)


def ones(n: int = 6, dtype: Any = int) -> Vector:
    with gl.config.set(device="cpu"):
        return Vector.from_scalar(1, n, dtype)


def shown(value: Any) -> Any:
    """Return a comparable form of a value; for a vector, the dtype, the size and the entries."""
    if isinstance(value, Vector):
        return "vector", value.dtype, value.size, value.to_dict()
    if isinstance(value, (tuple, list)):
        return type(value), [shown(each) for each in value]
    return type(value), value


def check(function: Callable[..., Any], *makers: Callable[[], Any], runs: int = 1) -> None:
    """Check that a function has the same result and effects with and without `gl.jit`."""
    with gl.config.set(device="cpu"):
        args = [make() for make in makers]
        wanted = outcome(function, args)
    with compiling() as engine:
        given = [make() for make in makers]
        jitted = gl.jit(function)
        assert outcome(jitted, given) == wanted
        assert len(engine.programs) == runs


def outcome(function: Callable[..., Any], args: list[Any]) -> Any:
    try:
        return shown(function(*args)), [shown(x) for x in args if isinstance(x, Vector)]
    except (ValueError, IndexError, KeyError, OverflowError, AssertionError, ArithmeticError) as e:
        return type(e), str(e).partition("\n")[0], [shown(x) for x in args if isinstance(x, Vector)]


def bfs(A: Matrix, source: int) -> Vector:
    """Return a parent of each vertex."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def swap(u: Vector, v: Vector, rounds: int) -> tuple[Vector, Vector]:
    for _ in range(rounds):
        u, v = v, u
        u << u.apply(binary.plus, right=10)
    return u, v
