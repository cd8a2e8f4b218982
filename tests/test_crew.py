"""Test the helper threads that wait for loops in compiled code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import algorithms as algo
from graphla.backends.cpu.cores import CoresTuning
from graphla.backends.cpu.loops.coloring import FINISHED, STOPPED
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.compilers import crew, machine_code, numba_ops, threads
from graphla.compilers.numba import load

pytest.importorskip("numba")
pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(not machine_code.is_supported(), reason="loops are called by Numba"),
]


def coloring(rows: list[list[int]], first: int = 0, count: int = 4) -> tuple[Any, ...]:
    """Return the loop that colors a graph, its arguments, the states of the vertices and the stop
    flag. The loop does not color the first `first` vertices."""
    lengths = [len(row) for row in rows]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    indices = np.array([v for row in rows for v in row], np.int32)
    n, width = len(rows), max(lengths) + 4
    states = np.arange(n, dtype=np.uint64) << np.uint64(32)
    marks, cursor, stop = np.zeros(count * width, np.int32), np.array([first]), np.zeros(1, int)
    arrays = indptr, indices, np.arange(n, dtype=np.int32), states, cursor, marks, stop
    loop = load("coloring.color", (numba_ops.sharing, True), arrays)
    return loop, (*arrays, width), states, stop


def path(n: int) -> list[list[int]]:
    return [[u for u in (v - 1, v + 1) if 0 <= u < n] for v in range(n)]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_threads_together_process_each_vertex_once(count: int) -> None:
    for n in (2, 5, 1000):
        loop, arguments, states, stop = coloring(path(n), count=count)
        assert crew.run_together(loop, arguments, count, stop) == FINISHED
        np.testing.assert_array_equal(states & np.uint64(0xFFFFFFFF), np.arange(n) % 2 + 1)


def test_without_machine_code_python_starts_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "is_supported", lambda: False)
    monkeypatch.setattr(crew, "_crews", None)
    loop, arguments, states, stop = coloring(path(100))
    assert crew.run_together(loop, arguments, 4, stop) == FINISHED
    np.testing.assert_array_equal(states & np.uint64(0xFFFFFFFF), np.arange(100) % 2 + 1)


def test_an_interrupt_ends_a_loop_and_its_helpers() -> None:
    # Vertex 0 never gets a color, so a thread that colors vertex 1 waits until the stop request.
    loop, arguments, _, stop = coloring(path(1000), first=1)
    found: list[int] = []
    timer = Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        threads.apart(lambda: found.append(crew.run_together(loop, arguments, 4, stop)), stop, 4)
    timer.join()
    assert found == [STOPPED]
    assert not crew._crews._idle[-1].mail[32]  # no helper is inside
    test_threads_together_process_each_vertex_once(4)


def test_several_python_threads_may_run_loops_at_the_same_time() -> None:
    A = gl.generators.kronecker(10, 8, seed=1)
    expected = algo.core_numbers(A)

    def call(_: int) -> bool:
        options = gl.config.set(compiled=True, threads=3)
        with options, using(PartsTuning(parallel=0), CoresTuning(alone=0, shared=16)):
            return all(algo.core_numbers(A).isequal(expected) for _ in range(20))

    with ThreadPoolExecutor(2 * crew.MOST) as pool:
        assert all(pool.map(call, range(2 * crew.MOST)))
    assert crew._crews._left >= 0
    assert len(crew._crews._idle) <= crew.MOST


def test_a_loop_runs_alone_if_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(crew, "_crews", crew._Crews())
    with monkeypatch.context() as patch:
        patch.setattr(crew.Thread, "start", fail)
        test_threads_together_process_each_vertex_once(4)
    assert crew._crews._idle[0].size == 0
    test_threads_together_process_each_vertex_once(4)
    assert crew._crews._idle[0].size == 3


def test_a_crew_that_could_not_be_built_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(crew, "_crews", crew._Crews())
    with monkeypatch.context() as patch:
        patch.setattr(crew, "load", fail)
        for _ in range(crew.MOST):
            with pytest.raises(KeyboardInterrupt):
                test_threads_together_process_each_vertex_once(4)
    test_threads_together_process_each_vertex_once(4)
    assert len(crew._crews._idle) == 1


SCRIPT = """
import os, sys
import graphla as gl
from graphla import algorithms as algo
from graphla.backends.cpu.cores import CoresTuning
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.compilers import crew

A = gl.generators.kronecker(10, 8, seed=1)
expected = algo.core_numbers(A)
with gl.config.set(compiled=True, threads=3):
    with using(PartsTuning(parallel=0), CoresTuning(alone=0, shared=16)):
        for _ in range(3):
            assert algo.core_numbers(A).isequal(expected)
            assert len(crew._crews._idle) == 1
            assert crew._crews._idle[0].size == 2
            child = os.fork()
            if not child:
                assert not crew._crews._idle
                for _ in range(3):
                    assert algo.core_numbers(A).isequal(expected)
                assert crew._crews._idle[0].size == 2
                break
            assert os.waitpid(child, 0)[1] == 0
print("done")
"""


def test_a_process_and_its_forked_children_use_their_own_threads_and_exit() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["done"] * 4
    assert not done.stderr
