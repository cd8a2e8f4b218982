"""Compiled loops on several streams respect the stream order while memory is freed.

The simulated GPU reports memory that is read before it is written, or freed while it is read.
"""

from __future__ import annotations

import gc
import inspect
import random
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace
from graphla.backends.cuda.launch import CounterTuning
from graphla.backends.cuda.program import ProgramTuning
from graphla.backends.tuning import using
from graphla.program import running
from graphla.program.ir import Program
from graphla.program.running import Arguments, Engine, Outcome
from graphla.semiring import min_plus, plus_second

cuda: Any = pytest.importorskip("graphla.program.cuda")

N = 24
SMALL = ProgramTuning(block=64, cluster=4, stack_entries=1, stack_items=2)
"""Small blocks, because a block of the simulator has one fiber per thread."""


def find_levels(A: Matrix, x: Vector) -> Vector:
    """Return the distance, in edges, of each vertex from the nearest entry of x."""
    levels, frontier, depth = Vector(int, x.size), x.dup(bool), 0
    while frontier.nvals:
        levels(frontier.S) << depth
        frontier(~levels.S, replace) << gl.semiring.any_pair(frontier @ A)
        depth += 1
    return levels


def relax(A: Matrix, x: Vector) -> Vector:
    """Relax the distances in x along paths of up to three edges; x changes in place."""
    for _ in range(3):
        before = x.reduce(monoid.plus).get(0)
        x(binary.min) << min_plus(x @ A)
        if x.reduce(monoid.plus).get(0) == before:
            break
    return x


def push(A: Matrix, x: Vector, items: list[Vector]) -> list[Vector]:
    """Append copies of x and of its products to a list."""
    for _ in range(3):
        items.append(x.dup())
        x(~x.S) << plus_second(A.T @ x)
    return items


def fold(items: list[Vector], x: Vector) -> Vector:
    """Remove all vectors from a list, and accumulate their elementwise minimum into x."""
    while items:
        last = items.pop()
        x(binary.min) << last
    return x


class Counting:
    """A CUDA engine that counts the programs that it runs."""

    def __init__(self) -> None:
        self.count = 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        self.count += 1
        return cuda.run(program, arguments)


JITTED = [gl.jit(function) for function in (find_levels, relax, push, fold)]


def graph(seed: int) -> Matrix:
    i, j, x = np.random.default_rng(seed).integers(0, N, (3, 3 * N))
    return Matrix.from_coo(i, j, x % 8 + 1, nrows=N, ncols=N, dup_op="min")


def loops(
    seed: int, functions: list[Callable[..., Any]], streams: list[Any] | None = None
) -> list[list[int]]:
    """Run a random sequence of loops, and return the values of the vectors that are kept."""
    levels, relaxed, pushed, folded = functions
    rng = random.Random(seed)
    A, found = graph(seed), [Vector.from_coo([1, 5], [0, 2], size=N)]
    items: list[Vector] = []
    for _ in range(12):
        k, s = rng.randrange(6), rng.randrange(N)
        x = rng.choice(found)
        if streams:
            streams[(k + s) % len(streams)].use()
        if k == 0:
            found.append(levels(A, x))
        elif k == 1:
            found.append(relaxed(A, x.dup()))
        elif k == 2:
            relaxed(A.T if s % 2 else A, x)
        elif k == 3:
            items = pushed(A, x.dup(), items)
        elif k == 4:
            found.append(folded(items, x.dup()))
        else:
            A = graph(seed + s)
        if len(found) > 4:
            del found[rng.randrange(len(found))]
        del x
    return [x.to_dense(-1).tolist() for x in [*found, *items]]


@pytest.mark.parametrize("seed", range(6))
def test_random_compiled_loops_on_three_streams_give_the_same_results_as_plain_python_on_the_cpu(
    seed: int,
):
    # With batch=1, each counter is a separate allocation. The simulator detects reads of freed
    # memory only for whole allocations.
    plain = [inspect.unwrap(function) for function in JITTED]
    with gl.config.set(device="cpu", compiled=False):
        expected = loops(seed, plain)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    engine: Engine | Any = Counting()
    try:
        with (
            gl.config.set(device="cuda"),
            using(CounterTuning(batch=1), SMALL),
            running.use(engine),
        ):
            found = loops(seed, JITTED, streams)
    finally:
        cupy.cuda.Stream.null.use()
    assert found == expected
    assert engine.count
    gc.collect()
    if not has_card():
        from simulator import machine

        machine.raise_faults()
