"""Run tests of operations, BFS and compiled loops on a simulated GPU with several seeds and
sanitizers."""

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
LOOPS = ("program/test_cuda_engine.py", "program/test_sources_on_cuda.py")
pytestmark = pytest.mark.skipif(
    toolchain.mode() != "plain", reason="these tests already run under a sanitizer"
)
FEW = "long_path or limit or self_loop"


def run(mode: str, seed: int, *tests: str) -> None:
    """Run tests with `cuda` as the device, in a separate process."""
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
@pytest.mark.parametrize("test", [*OPERATIONS, BFS, *LOOPS])
def test_tests_of_operations_pass_under_several_schedules(seed, test):
    run("plain", seed, f"tests/{test}")


@pytest.mark.full
@pytest.mark.parametrize("test", [*OPERATIONS, BFS, *LOOPS])
def test_whole_test_files_pass_under_the_address_sanitizer(test):
    run("asan", 4, f"tests/{test}")


@pytest.mark.full
def test_tests_of_bfs_pass_under_the_thread_sanitizer():
    run("tsan", 5, f"tests/{BFS}", "-k", FEW)
