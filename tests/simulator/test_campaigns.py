"""Run the tests of operations and BFS on the simulated GPU with several seeds and sanitizers."""

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
    """Run tests on the device `cuda` in a separate process."""
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
def test_operations_are_correct_under_every_seed(seed, test):
    run("plain", seed, f"tests/{test}")


@pytest.mark.full
@pytest.mark.parametrize("test", [*OPERATIONS, BFS])
def test_kernels_make_no_invalid_access_in_whole_test_files(test):
    run("asan", 4, f"tests/{test}")


def test_bfs_makes_no_invalid_access_and_has_no_undefined_behavior():
    run("asan", 4, f"tests/{BFS}", "-k", FEW)


@pytest.mark.full
def test_bfs_has_no_data_race():
    run("tsan", 5, f"tests/{BFS}", "-k", FEW)
