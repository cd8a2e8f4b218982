"""Test when small operands use compiled loops: if the loops are loaded or in the cache on disk.

A Recorder tells which code ran: the definition of an algorithm records its matrix operations, and a
compiled loop does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import algorithms as algo
from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.compilers import machine_code, numba

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(not numba.is_installed(), reason="Numba is not installed"),
    pytest.mark.skipif(
        not machine_code.is_supported(), reason="Numba loads loops on this platform"
    ),
]
SMALL = gl.generators.watts_strogatz(16, 4, 0.3, seed=1)

# Each process computes core numbers and the eigenvector centrality of a small graph, and a loop of
# the user. It prints which of them ran as matrix operations, and which compilers it has imported.
PROGRAM = """
import sys

import graphla as gl
from graphla import algorithms as algo


@gl.jit
def spread(A, x):
    for _ in range(3):
        x << gl.semiring.max_second(A @ x)
    return x


def call_all():
    A = gl.generators.watts_strogatz(16, 4, 0.3, seed=1)
    ran = []
    for call in (
        lambda: algo.core_numbers(A).to_dense().tolist(),
        lambda: [round(x, 4) for x in algo.eigenvector(A).to_dense().tolist()],
        lambda: spread(A, gl.Vector.from_dense(list(range(16)))).to_dense().tolist(),
    ):
        with gl.Recorder() as recorder:
            found = call()
        operations = {event.operation for event in recorder}
        ran.append((bool(operations & {"mxv", "vxm", "push", "pull"}), found))
    return ran


if "fill" in sys.argv:
    with gl.config.set(compile_threshold=0):
        before = call_all()
else:
    before = call_all()
print([is_plain for is_plain, _ in before])
print([found for _, found in before])
print([name for name in ("llvmlite", "numba") if name in sys.modules])
"""


def run(program: Path, folder: Path, *arguments: str) -> list[Any]:
    """Return what the program prints in a new process with this cache folder."""
    root = Path(__file__).parent.parent
    environment = {**os.environ, "GRAPHLA_CACHE_DIR": str(folder), "PYTHONPATH": str(root)}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [eval(line) for line in done.stdout.splitlines()]


def test_small_graphs_use_loops_from_the_cache_and_never_wait_for_a_compilation(
    tmp_path: Path,
) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "cache"
    program.write_text(PROGRAM)
    is_plain, plain, imported = run(program, folder)
    assert is_plain == [True] * 3
    assert not imported and not list(folder.iterdir()), "nothing is compiled"
    is_plain, compiled, imported = run(program, folder, "fill")
    assert is_plain == [False] * 3 and imported == ["llvmlite", "numba"]
    is_plain, loaded, imported = run(program, folder)
    assert is_plain == [False] * 3 and imported == ["llvmlite"]
    assert plain == compiled == loaded


# --- in this process ------------------------------------------------------------------------------


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget all loaded loops, and look for no machine code in the cache folder."""
    monkeypatch.setattr(numba, "_loaded", {})
    monkeypatch.setattr(numba, "_absent", set())
    monkeypatch.setattr(numba, "_cached_files", set)


def records(call: Callable[[], Any]) -> int:
    with gl.Recorder() as recorder:
        call()
    return len(recorder.events)


def count_cores() -> Any:
    return algo.core_numbers(SMALL)


def test_small_graphs_use_a_loop_once_a_large_graph_has_compiled_it(empty: None) -> None:
    assert records(count_cores) > 0
    with gl.config.set(compile_threshold=SMALL.nvals):
        assert records(count_cores) == 0
    assert records(count_cores) == 0


def test_compiled_false_and_true_hold_for_small_graphs_too(empty: None) -> None:
    with gl.config.set(compiled=True):
        assert records(count_cores) == 0
    with gl.config.set(compiled=False):
        assert records(count_cores) > 0
    assert records(count_cores) == 0


def test_a_function_is_called_again_without_loops_if_a_loop_is_missing(empty: None) -> None:
    threads = []

    @try_loops
    def compute(entries: int) -> str:
        threads.append(compiles(entries))
        if threads[-1]:
            numba.load("cores.peel", (), [np.zeros(1)])
        return "plain"

    assert compute(10) == "plain"
    assert threads == [gl.config.threads, 0]
    assert numba.patience.waits, "later loops of this thread wait again"
    with gl.config.set(compile_threshold=100):
        threads.clear()
        with pytest.raises(Exception, match=r"could not compile|unpack"):
            compute(100)  # this call does not give up, but compiles, which fails
        assert threads == [gl.config.threads]
