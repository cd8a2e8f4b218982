"""The tests of operations and of BFS on the simulated card, by seeds and under sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import toolchain

TESTS = Path(__file__).parents[1]
OPERATIONS = ("test_operations.py", "test_identities.py", "test_assign.py", "test_forms.py")
BFS = "algorithms/test_bfs.py"
pytestmark = pytest.mark.skipif(
    toolchain.mode() != "plain", reason="a sanitizer is at work already"
)
FEW = "long_path or limit or self_loop"


def run(mode: str, seed: int, *tests: str) -> None:
    """Runs tests with `cuda` as the device, in a process of its own."""
    words = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=short")
    done = subprocess.run(
        toolchain.command(mode, sys.executable, *words, *tests),
        cwd=TESTS.parent,
        env={
            **os.environ,
            **toolchain.environment(mode),
            "GRAPHLA_TEST_DEVICE": "cuda",
            "GRAPHLA_SIMULATOR_SEED": str(seed),
            "HYPOTHESIS_PROFILE": "simulated",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}"


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("test", [*OPERATIONS, BFS])
def test_any_schedule_gives_the_right_answer(seed, test):
    run("plain", seed, f"tests/{test}")


@pytest.mark.full
@pytest.mark.parametrize("test", [*OPERATIONS, BFS])
def test_whole_suites_access_nothing_out_of_bounds(test):
    run("asan", 4, f"tests/{test}")


def test_no_access_out_of_bounds_and_nothing_undefined():
    run("asan", 4, f"tests/{BFS}", "-k", FEW)


@pytest.mark.full
def test_no_race_that_is_not_meant():
    run("tsan", 5, f"tests/{BFS}", "-k", FEW)
