"""On a GPU, or in the simulator, each compiled loop is one cooperative launch."""

from __future__ import annotations

from typing import Any

import pytest
from devices import has_cuda, use_cuda

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

import numpy as np  # noqa: E402
from test_independence import Alone  # noqa: E402
from test_jit_programs import programs  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.compilers.cuda import Kernel  # noqa: E402
from graphla.program import cuda, running  # noqa: E402

SMALL = cuda.machine.ProgramTuning(block=64, cluster=4)
"""Small blocks, because a block of the simulator has one fiber per thread."""


class Counting(Alone):
    """An engine that counts the launches of each program."""

    def __init__(self) -> None:
        super().__init__(cuda, "cuda")
        self.launches: list[list[bool]] = []  # whether each launch of each program is cooperative

    def run(self, program: Any, arguments: Any) -> Any:
        found: list[bool] = []
        self.launches.append(found)
        launch = Kernel.__call__

        def count(kernel: Kernel, *args: Any, cooperative: bool = False, **options: Any) -> None:
            found.append(cooperative)
            launch(kernel, *args, cooperative=cooperative, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kernel, "__call__", count)
            return super().run(program, arguments)


def random_graph(n: int, edges: int) -> gl.Matrix:
    random = np.random.default_rng(7)
    once = np.unique(random.integers(0, n, edges) * n + random.integers(0, n, edges))
    return gl.Matrix.from_coo(once // n, once % n, True, nrows=n, ncols=n)


@pytest.mark.parametrize("name", ["bfs", "bfs_own_semiring", "bfs_with_levels", "bfs_levels"])
def test_a_search_is_one_launch_and_uses_no_algorithm_of_the_library(name: str):
    engine: Any = Counting()
    with gl.config.set(device="cuda"), using(SMALL):
        A, search = random_graph(60, 150), programs.PROGRAMS[name]
        jitted, expected = gl.jit(search), search(A, 3)
        with running.use(engine):
            jitted(A, 3)
            found = jitted(A, 3)
    assert engine.launches[-1] == [True]
    assert len(engine.launches) == 2
    pairs = zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]
    for each, wanted in pairs:
        assert each.to_dict().keys() == wanted.to_dict().keys()


def test_a_call_of_a_search_function_launches_one_kernel(monkeypatch: pytest.MonkeyPatch):
    launches: list[str] = []
    launch = Kernel.__call__

    def record(kernel: Kernel, *args: Any, **options: Any) -> None:
        launches.append(kernel.what)
        launch(kernel, *args, **options)

    with gl.config.set(device="cuda"), using(SMALL):
        A, search = random_graph(60, 150), gl.jit(programs.PROGRAMS["bfs"])
        search(A, 3)
        monkeypatch.setattr(Kernel, "__call__", record)
        found = search(A, 3)
    assert launches == ["the loop of bfs, line 39"]
    assert found[3].value == 3


def test_each_of_two_loops_is_one_launch():
    engine: Any = Counting()
    with gl.config.set(device="cuda"), using(SMALL):
        A, program = random_graph(30, 80), programs.PROGRAMS["betweenness_by_levels"]
        expected = program(A, 3)
        with running.use(engine):
            jitted = gl.jit(program)
            jitted(A, 3)  # this call also builds the transpose
            found = jitted(A, 3)
    assert engine.launches[2:] == [[True], [True]]
    assert found.isclose(expected)
